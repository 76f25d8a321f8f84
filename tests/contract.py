"""What the contract's tests have to know of a class; each stands in the class's own test module."""

from __future__ import annotations

import importlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks


@dataclass(frozen=True)
class Contract:
    """How a class is tested besides its defaults.

    A test module ``tests/<family>/test_<stem>.py`` has them by class, in ``CONTRACT``.
    """

    #: Settings under which the class behaves differently.
    variants: list[dict[str, Any]] = field(default_factory=list)
    #: scikit-learn's checks that cannot hold, each with the reason.
    expected_failures: dict[str, str] = field(default_factory=dict)
    #: By scikit-learn's check, settings under which it holds where the defaults stop too early.
    settings: dict[str, dict[str, Any]] = field(default_factory=dict)


def weights_are_not_copies(reason: str) -> dict[str, str]:
    """The expected failures where an example of weight 2 is not the same as two examples."""
    return {
        f"check_sample_weight_equivalence_on_{kind}_data": reason for kind in ("dense", "sparse")
    }


def scikit_learns_checks(estimators: list[Any], expected_failures: Any) -> Any:
    """scikit-learn's own decorator; what fails on dense rows is not tried on sparse ones again."""
    mark = parametrize_with_checks(estimators, expected_failed_checks=expected_failures)
    names, cases = mark.args
    once = [case for case in cases if not (is_waived(case) and "on_sparse_data" in str(case))]
    return pytest.mark.parametrize(names, once, **mark.kwargs)


def is_waived(case: Any) -> bool:
    return any(mark.name == "xfail" for mark in getattr(case, "marks", ()))


def contracts() -> dict[str, Contract]:
    """The contract of every class that has one, by its name."""
    found: dict[str, Contract] = {}
    here = Path(__file__).parent
    for path in sorted(here.glob("*/**/test_*.py")):
        if "\nCONTRACT = " in path.read_text(encoding="utf-8"):
            module = importlib.import_module(".".join(path.relative_to(here).with_suffix("").parts))
            found |= module.CONTRACT
    return found


def inner(x: Any, X: Any) -> Any:
    """A kernel of one's own; the same bits however many rows are asked for, unlike ``X @ x``."""
    return (X * x).sum(axis=1)


def bell(x: Any, X: Any) -> Any:
    """A bounded kernel of one's own."""
    return np.exp(-((X - x) ** 2).sum(axis=1))
