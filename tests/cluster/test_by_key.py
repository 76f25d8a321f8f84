"""A model for each key over parts: the models of a plain loop, bit for bit."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from onlinesvm import ModelBank, PassiveAggressiveClassifier, PegasosSVC, SmoSVC
from onlinesvm.cluster import LocalParts, Part, deal_by_key, fit_by_key

RNG = np.random.default_rng(0)
KEYS = RNG.integers(60, size=900)
X = RNG.normal(size=(900, 4))
Y = np.where((X * RNG.normal(size=(60, 4))[KEYS]).sum(axis=1) > 0, "yes", "no")
MODEL = PassiveAggressiveClassifier(classes=["no", "yes"])


def alone(key: object, model=MODEL):
    from sklearn.base import clone

    of = key == KEYS
    return clone(model).partial_fit(X[of], Y[of])


@pytest.mark.parametrize("parts", [1, 2, 5, 200])
def test_every_model_is_the_one_of_a_loop(parts):
    learned = fit_by_key(LocalParts.cut(X, Y, deal_by_key(KEYS, parts), keys=KEYS), MODEL)
    bank = learned.model
    assert isinstance(bank, ModelBank)
    assert sorted(bank) == sorted(set(KEYS.tolist()))
    for key in bank:
        assert np.array_equal(bank.model(key).coef_, alone(key).coef_)
        assert bank.model(key).n_seen_ == (key == KEYS).sum()
    assert learned.rounds == 1
    assert learned.bytes_up > len(bank) * 4 * 8
    assert not hasattr(MODEL, "classes_")


def test_weights_and_other_methods_go_with_it():
    model, weight = PegasosSVC(alpha=1e-2, classes=["no", "yes"]), RNG.uniform(0.5, 2, 900)
    cut = LocalParts.cut(X, Y, deal_by_key(KEYS, 3), keys=KEYS, sample_weight=weight)
    bank = fit_by_key(cut, model).model
    whole = ModelBank(model).learn_many(KEYS, X, Y, weight)
    for key in whole:
        assert np.array_equal(bank.model(key).coef_, whole.model(key).coef_)


def test_a_deal_holds_every_row_once_and_every_key_in_one_part():
    keys = [*KEYS.tolist(), *(f"shop {k}" for k in KEYS), *(("shop", k) for k in KEYS.tolist())]
    dealt = deal_by_key(keys, 7)
    assert sorted(np.concatenate(dealt).tolist()) == list(range(len(keys)))
    assert all((np.diff(rows) > 0).all() for rows in dealt)
    homes = [{keys[row] for row in rows} for rows in dealt]
    assert sum(map(len, homes)) == len(set(keys))
    assert min(map(len, homes)) > 0.3 * len(set(keys)) / 7
    assert deal_by_key([], 2)[1].tolist() == []
    for same in (KEYS, KEYS.astype(np.int32), list(KEYS)):
        assert [r.tolist() for r in deal_by_key(same, 3)] == [
            r.tolist() for r in deal_by_key(KEYS.tolist(), 3)
        ]


def test_another_process_deals_alike():
    code = "from onlinesvm.cluster import deal_by_key as d; print([r.tolist() for r in d(list('abcdefgh'), 3)])"  # noqa: E501
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == str([r.tolist() for r in deal_by_key(list("abcdefgh"), 3)])


def test_refusals():
    with pytest.raises(ValueError, match="in two parts"):
        fit_by_key(LocalParts.cut(X, Y, 2, keys=KEYS), MODEL)
    with pytest.raises(ValueError, match="has no keys"):
        fit_by_key(LocalParts.cut(X, Y, 2), MODEL)
    with pytest.raises(NotImplementedError, match="bank"):
        fit_by_key(LocalParts.cut(X, Y, 2, keys=KEYS), SmoSVC())
    with pytest.raises(ValueError, match="parts"):
        deal_by_key(KEYS, 0)
    with pytest.raises(ValueError, match="no key"):
        deal_by_key([1.5], 2)


def test_empty_parts_have_no_models():
    nothing = Part(X[:0], Y[:0], keys=KEYS[:0])
    assert len(fit_by_key(LocalParts([nothing, nothing]), MODEL).model) == 0
    assert len(fit_by_key(LocalParts([]), MODEL).model) == 0
    assert len(fit_by_key(LocalParts([nothing, Part(X, Y, keys=KEYS)]), MODEL).model) == 60
