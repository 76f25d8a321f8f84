"""Rows taken out of all parts: the model that never saw them, and a proof."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

import onlinesvm
from onlinesvm import IncrementalSVC, SmoSVC
from onlinesvm.cluster import LocalParts, ProcessParts, cascade, unlearn, verify
from onlinesvm.datasets import make_checkerboard
from onlinesvm.unlearn.certificate import CertificateError

X, Y = make_checkerboard(500, noise=0.1, random_state=2)
KEYS = [("shop", i % 25) for i in range(len(X))]
MODELS: list[Any] = [
    SmoSVC(C=10.0, gamma=4.0, tol=1e-8, dtype="float64"),
    IncrementalSVC(C=10.0, gamma=4.0),
]


def without(*shops: int) -> np.ndarray:
    return np.array([i for i, (_, shop) in enumerate(KEYS) if shop not in shops])


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
@pytest.mark.parametrize("order", ["as they came", "sorted"])
def test_is_the_model_that_never_saw_them(model, order):
    rows = np.arange(len(X)) if order == "as they came" else np.argsort(Y, kind="stable")
    keys = [KEYS[i] for i in rows]
    parts = LocalParts.cut(X[rows], Y[rows], 4, keys=keys)
    whole = cascade(parts, model)
    held = whole.model.decision_function(X)
    learned = unlearn(parts, whole.model, [("shop", 3), ("shop", 7)])
    never = clone(model).fit(X[without(3, 7)], Y[without(3, 7)])
    np.testing.assert_allclose(
        learned.model.decision_function(X), never.decision_function(X), atol=1e-4
    )
    proof = learned.certificate
    assert proof.holds
    assert sum(proof.rows) == len(without(3, 7))
    gone = [i for i, key in enumerate(keys) if key[1] in (3, 7)]
    assert proof.ids_removed == gone
    assert not np.isin(learned.model.support_, gone).any()
    assert not learned.model._core.holds(np.array(gone))
    assert not {("shop", 3), ("shop", 7)} & set(learned.model.keys_held())
    np.testing.assert_array_equal(whole.model.decision_function(X), held)  # it stays
    assert verify(proof, learned.model, parts)
    with pytest.raises(CertificateError, match="holds an example that was removed"):
        verify(proof, whole.model, parts)


@pytest.mark.filterwarnings("ignore::onlinesvm.SettledWarning")
def test_what_all_parts_had_settled_is_named(tmp_path):
    rows = X.copy()
    rows[[i for i, (_, shop) in enumerate(KEYS) if shop == 3]] *= 30
    parts = LocalParts.cut(rows, Y, 4, keys=KEYS)
    whole = cascade(parts, IncrementalSVC(C=10.0, class_weight="balanced")).model
    learned = unlearn(parts, whole, ("shop", 3))
    proof = learned.certificate
    assert proof.settled == {"gamma": whole.gamma, "class_weight": "balanced"}
    assert f"for gamma = {whole.gamma:.3g} and class_weight" in proof.statement
    assert verify(proof, learned.model, parts)
    with pytest.raises(CertificateError, match="class_weight, gamma was settled"):
        verify(replace(proof, settled={}).sealed(), learned.model, parts)
    whole.save(tmp_path / "model")  # and by itself
    alone = onlinesvm.load(tmp_path / "model")
    held = alone._core.labels()[0][:1]
    assert list(alone.unlearn(held, certificate=True).settled) == ["gamma", "class_weight"]
    given = cascade(parts, IncrementalSVC(C=10.0, gamma=0.5)).model
    assert unlearn(parts, given, ("shop", 3)).certificate.settled == {}


def test_again_and_again():
    parts = LocalParts.cut(X, Y, 3, keys=KEYS)
    model = cascade(parts, MODELS[0]).model
    gone: list[int] = []
    for shop in range(5):
        gone.append(shop)
        learned = unlearn(parts, model, [("shop", s) for s in gone])
        model = learned.model
    never = clone(MODELS[0]).fit(X[without(*gone)], Y[without(*gone)])
    np.testing.assert_allclose(model.decision_function(X), never.decision_function(X), atol=1e-4)
    assert learned.certificate.ids_removed == np.setdiff1d(np.arange(500), without(*gone)).tolist()


def test_rows_that_left_their_source_before():
    """With ids of their own the parts may be read without them already."""
    ids, stay = np.arange(len(X)) + 7000, without(3)
    parts = LocalParts.cut(X, Y, 3, keys=KEYS, ids=ids)
    model = cascade(parts, MODELS[0]).model
    left = LocalParts.cut(X[stay], Y[stay], 5, keys=[KEYS[i] for i in stay], ids=ids[stay])
    learned = unlearn(left, model, ("shop", 3))
    never = clone(MODELS[0]).fit(X[stay], Y[stay])
    np.testing.assert_allclose(
        learned.model.decision_function(X), never.decision_function(X), atol=1e-4
    )


def test_everybody_of_one_class_leaves():
    keys = np.where(Y == 1, "yes", "no")
    parts = LocalParts.cut(X, Y, 4, keys=keys)
    learned = unlearn(parts, cascade(parts, MODELS[0]).model, "yes")
    assert learned.certificate.holds
    assert not (learned.model.predict(X) == 1).any()


def test_what_is_refused():
    parts = LocalParts.cut(X, Y, 3, keys=KEYS)
    model = cascade(parts, MODELS[0]).model
    with pytest.raises(ValueError, match=r"\('shop', 99\), which no row of any part bears"):
        unlearn(parts, model, [("shop", 1), ("shop", 99)])
    with pytest.raises(ValueError, match="rows of no part"):
        unlearn(LocalParts.cut(X[:100], Y[:100], 3, keys=KEYS[:100]), model, [("shop", 1)])


def test_over_processes():
    cut = LocalParts.cut(X, Y, 3, keys=KEYS)
    here = unlearn(cut, cascade(cut, MODELS[0]).model, ("shop", 1))
    with ProcessParts((cut[i] for i in range(3)), processes=2) as cluster:
        there = unlearn(cluster, cascade(cluster, MODELS[0]).model, ("shop", 1))
    assert here.certificate == there.certificate
