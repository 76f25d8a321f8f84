"""Every public estimator keeps every promise: ours, and scikit-learn's.

Expected failures, with their reasons, and the settings to try stand beside the tests of each class:
``CONTRACT`` in tests/<family>/test_<stem>.py.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from contract import Contract, contracts, scikit_learns_checks
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import ConvergenceWarning
from tiers import examples

import onlinesvm
from onlinesvm.checks import (
    checks_for,
    inputs,
    keys,
    learning,
    memory,
    mistakes,
    name_of,
    parametrize,
    persistence,
)
from onlinesvm.checks.streams import (
    assert_same_model,
    comparable,
    learned,
    precise,
    scores,
    stream_for,
    streaming,
    with_gamma,
)

CONTRACTS = contracts()


def estimators() -> list[Any]:
    """Every public class with its defaults, and its variants."""
    return [
        cls(**params)
        for cls in onlinesvm.all_estimators()
        for params in [{}, *CONTRACTS.get(cls.__name__, Contract()).variants]
    ]


@parametrize(*estimators())
def test_ours(estimator: BaseEstimator, check: Any) -> None:
    check(estimator)


def expected_failures(estimator: BaseEstimator) -> dict[str, str]:
    return CONTRACTS.get(type(estimator).__name__, Contract()).expected_failures


@scikit_learns_checks([cls() for cls in onlinesvm.all_estimators()], expected_failures)
def test_scikit_learns(estimator: BaseEstimator, check: Any) -> None:
    name = check.func.__name__
    contract = CONTRACTS.get(type(estimator).__name__, Contract())
    estimator = clone(estimator).set_params(**contract.settings.get(name, {}))
    if "sample_weight_equivalence" in name:  # copies of rows have another X.var()
        estimator = precise(with_gamma(estimator))
    with warnings.catch_warnings():
        if name == "check_class_weight_classifiers":  # weights of 1000 against 0.0001
            warnings.simplefilter("ignore", ConvergenceWarning)
        check(estimator)


@pytest.mark.parametrize("estimator", list(filter(streaming, estimators())), ids=name_of)
@settings(max_examples=examples(15), deadline=None)
@given(data=st.data())
def test_any_chunking_of_any_stream(estimator: Any, data: st.DataObject) -> None:
    """Duplicates, contradictions, constant features, one class first, huge and tiny scales."""
    n = data.draw(st.integers(2, 40), label="rows")
    seed = data.draw(st.integers(0, 1000), label="seed")
    # Where bits are not promised: sums of 1e4 squared, as of a linear kernel, have no six digits.
    exact = estimator._any_cut_gives == "bits" or estimator.kernel == "rbf"
    scale = data.draw(st.sampled_from([1e-6, 1.0, 1e4 if exact else 1e2]), label="scale")
    stream = stream_for(estimator, n, seed=seed)
    if data.draw(st.booleans(), label="constant feature"):
        stream.X[:, 1] = 1.0
    if data.draw(st.booleans(), label="sorted, so one class comes first"):
        order = np.argsort(stream.y, kind="stable")
        stream.X[:], stream.y[:] = stream.X[order], stream.y[order]
    stream = stream.holding(stream.X * scale)
    sizes = data.draw(st.lists(st.integers(1, 20), min_size=1, max_size=5), label="chunks")
    model = comparable(estimator)
    with warnings.catch_warnings():
        # Unscaled rows may be more than float32 can solve: that is said.
        warnings.simplefilter("ignore", ConvergenceWarning)
        whole, pieces = learned(model, stream), learned(model, *stream.pieces(*sizes))
    assert_same_model(whole, pieces, stream.X, f"chunks of {sizes}")
    assert np.isfinite(scores(whole, stream.X)).all()


def test_every_public_class_is_found() -> None:
    names = [cls.__name__ for cls in onlinesvm.all_estimators()]
    assert names == sorted(names)
    assert {"RampSVC", "PassiveAggressiveClassifier"} <= set(names)
    assert set(CONTRACTS) == set(names)


def test_every_check_applies_somewhere() -> None:
    """A check that nobody runs is no promise."""
    applied = {check.__name__ for model in estimators() for check in checks_for(model)}
    written = {
        name
        for part in (inputs, keys, learning, memory, mistakes, persistence)
        for name in vars(part)
        if name.startswith("check_")
    }
    assert written == applied
