"""The contract as a test suite: what every estimator of the library promises, one check each.

Run it on an estimator of your own that follows :class:`onlinesvm.base.OnlineEstimator`::

    from onlinesvm.checks import check_estimator, parametrize

    check_estimator(MySVC())             # raises at the first broken promise

    @parametrize(MySVC(), MySVC(C=10))   # or one pytest case per promise
    def test_contract(estimator, check):
        check(estimator)
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from . import inputs, keys, learning, memory, mistakes, persistence
from .streams import fingerprint

Check = Callable[[Any], None]

__all__ = ["Check", "check_estimator", "checks_for", "fingerprint", "name_of", "parametrize"]


def checks_for(estimator: Any) -> Iterator[Check]:
    """The checks that apply to an estimator; they copy it, so it stays unlearned."""
    for part in (learning, inputs, mistakes, persistence, memory, keys):
        for name, check in vars(part).items():
            if name.startswith("check_") and check.applies(estimator):
                yield check


def check_estimator(estimator: Any) -> None:
    """Run every check that applies; an AssertionError tells which promise is broken and how."""
    for check in checks_for(estimator):
        check(estimator)


def name_of(estimator: Any) -> str:
    """The estimator on one line, the same in every process: functions without their address."""
    return re.sub(r"<function (\S+) at 0x\w+>", r"\1", " ".join(repr(estimator).split()))


def parametrize(*estimators: Any) -> Any:
    """A pytest decorator: one case for each estimator and each check that applies to it."""
    import pytest

    cases = [
        pytest.param(estimator, check, id=f"{name_of(estimator)}-{check.__name__}")
        for estimator in estimators
        for check in checks_for(estimator)
    ]
    return pytest.mark.parametrize(("estimator", "check"), cases)
