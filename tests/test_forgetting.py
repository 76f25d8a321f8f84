"""Policies of forgetting are values, and words mean them."""

from __future__ import annotations

import pickle

import pytest

from onlinesvm import forgetting
from onlinesvm.forgetting import LeastSignificant, LinearDependence, Oldest, OutlierFirst, Random

EVERY = [Oldest(), Random(), LeastSignificant(), LinearDependence(), OutlierFirst()]


def test_policies_are_values() -> None:
    assert Random() == Random(seed=0, tries=20)
    assert Random(1) != Random(2)
    assert len({*EVERY, *EVERY}) == 5
    assert repr(LinearDependence(eta=0.1)) == "LinearDependence(eta=0.1)"
    assert pickle.loads(pickle.dumps(Random(seed=3))) == Random(seed=3)
    with pytest.raises(AttributeError):
        Random().seed = 7  # type: ignore[misc]


@pytest.mark.parametrize("policy", EVERY, ids=lambda policy: policy.word)
def test_words_mean_objects(policy: forgetting.Forgetting) -> None:
    assert forgetting.resolve(policy.word) == policy
    assert forgetting.resolve(policy) is policy
    assert policy.core_params()["forget"] == policy.word


@pytest.mark.parametrize("odd", ["sometimes", None, 3, Random, [Oldest()]])
def test_other_words_are_refused(odd: object) -> None:
    with pytest.raises(ValueError, match="forget must be 'oldest', 'random', 'least_significant'"):
        forgetting.resolve(odd)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("policy", "named"),
    [
        (Random(seed=-1), "forget.seed"),
        (Random(tries=1.5), "forget.tries"),  # type: ignore[arg-type]
        (LinearDependence(eta=-1e-9), "forget.eta"),
        (LinearDependence(eta=float("inf")), "forget.eta"),
    ],
)
def test_what_a_policy_is_told_is_checked(policy: forgetting.Forgetting, named: str) -> None:
    with pytest.raises(ValueError, match=named):
        policy.core_params()
