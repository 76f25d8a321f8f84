"""Balanced classes of a stream: the definition by hand, the bits of a cut, and nothing lost."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.utils.class_weight import compute_class_weight

import onlinesvm
from onlinesvm import LASVC, SGDSVC, IncrementalSVC, PassiveAggressiveClassifier, StreamSVC
from onlinesvm.checks.streams import assert_same_bits
from onlinesvm.model.balance import ClassCounts

RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 3))
Y = np.where(X[:, 0] + RNG.normal(0, 0.5, 300) > 1.2, "rare", "usual")


def nothing() -> ClassCounts:
    return ClassCounts(np.zeros(0, dtype=np.int64))


def by_hand(codes: list[int]) -> list[float]:
    weights = []
    for i, code in enumerate(codes):
        so_far = codes[: i + 1]
        weights.append(len(so_far) / (len(set(so_far)) * so_far.count(code)))
    return weights


@given(codes=st.lists(st.integers(0, 20), min_size=1, max_size=40), cut=st.integers(0, 40))
def test_running_weights_by_hand(codes: list[int], cut: int) -> None:
    head, tail = np.array(codes[:cut], dtype=np.intp), np.array(codes[cut:], dtype=np.intp)
    counts = nothing()
    pieces = [*counts.running(head), *counts.and_then(head).running(tail)]
    assert pieces == by_hand(codes)


def test_at_the_end_it_is_scikit_learns_definition() -> None:
    codes = (Y == "usual").astype(np.intp)
    expected = compute_class_weight("balanced", classes=np.array([0, 1]), y=codes)
    assert np.allclose(nothing().and_then(codes).factors(2), expected)


@pytest.mark.parametrize(
    "model",
    [
        SGDSVC(class_weight="balanced", classes="open"),
        LASVC(class_weight="balanced", classes="open"),  # gamma by word: the first rows are held
        IncrementalSVC(
            class_weight="balanced", classes=["rare", "usual"], gamma=1.0, settle="example"
        ),
    ],
    ids=lambda model: type(model).__name__,
)
def test_cut_saved_and_one_by_one(model: Any, tmp_path: Any) -> None:
    whole = clone(model).partial_fit(X[:120], Y[:120])
    model.partial_fit(X[:50], Y[:50])
    model.save(tmp_path / "half")
    model = onlinesvm.load(tmp_path / "half")
    for x, y in zip(X[50:120], Y[50:120], strict=True):
        model.learn_one(x, y)
    assert_same_bits(whole, model, "balanced, cut and saved")


def test_fit_hands_its_counts_on() -> None:
    model = SGDSVC(class_weight="balanced").fit(X[:200], Y[:200])
    counts = [int((Y[:200] == label).sum()) for label in model.classes_]
    assert model._class_counts.counts.tolist() == counts
    model.partial_fit(X[200:], Y[200:])
    assert model._class_counts.counts.sum() == 300


def test_what_fails_is_not_counted() -> None:
    model = SGDSVC(class_weight="balanced", classes=["rare", "usual"]).partial_fit(X[:9], Y[:9])
    before = model._class_counts
    with pytest.raises(ValueError):
        model.partial_fit(np.full((2, 3), np.nan), Y[:2])
    assert model._class_counts is before
    with pytest.raises(ValueError, match="cannot weigh"):
        StreamSVC(class_weight="balanced", balls=2, classes=["rare", "usual"]).partial_fit(X, Y)


def test_ctrl_c_counts_what_was_learned(monkeypatch: pytest.MonkeyPatch) -> None:
    model = PassiveAggressiveClassifier(class_weight="balanced", classes=["rare", "usual"])
    X_long, y_long = np.tile(X, (20, 1)), np.tile(Y, 20)
    slabs = 0
    learn = type(model)._learn_slab

    def interrupted(self: Any, *args: Any) -> None:
        nonlocal slabs
        slabs += 1
        if slabs == 3:
            raise KeyboardInterrupt
        learn(self, *args)

    monkeypatch.setattr(type(model), "_learn_slab", interrupted)
    with pytest.raises(KeyboardInterrupt):
        model.partial_fit(X_long, y_long)
    monkeypatch.undo()
    seen = model.n_seen_
    assert 0 < seen < len(X_long)
    again = PassiveAggressiveClassifier(class_weight="balanced", classes=["rare", "usual"])
    again.partial_fit(X_long[:seen], y_long[:seen])
    assert_same_bits(again, model, "interrupted")


def test_a_forged_count_is_refused(tmp_path: Any) -> None:
    model = SGDSVC(class_weight="balanced", classes=["rare", "usual"]).partial_fit(X, Y)
    model._class_counts = ClassCounts(np.array([1, 2, 3], dtype=np.int64))
    model.save(tmp_path / "forged")
    with pytest.raises(ValueError, match="class counts do not fit"):
        onlinesvm.load(tmp_path / "forged")


def test_other_weights_of_the_classes_take_effect_in_the_next_fit() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(90, 2)), (np.arange(90) % 3 == 0).astype(int)
    weights = {0: 5.0, 1: 1.0}
    model = SGDSVC(class_weight="balanced").fit(X, y).set_params(class_weight=weights).fit(X, y)
    assert np.array_equal(model.coef_, SGDSVC(class_weight=weights).fit(X, y).coef_)
