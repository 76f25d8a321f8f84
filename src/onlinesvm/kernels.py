"""Kernels by name or by function, and how a constructor's words become the core's numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numpy.typing import NDArray

from .params import count, number, word

#: The words ``kernel=`` understands.
NAMES = ("linear", "rbf", "poly", "laplacian", "chi2")

#: Those that use ``gamma``.
WITH_GAMMA = ("rbf", "poly", "laplacian", "chi2")

#: A kernel of your own: ``k(x, X)`` gives the values of ``x`` against the rows of ``X``.
KernelFunction = Callable[[NDArray[Any], NDArray[Any]], Any]

_BIAS_OFFSET = {"none": 0.0, "kernel": 1.0}


def resolve(
    kernel: str | KernelFunction,
    *,
    gamma: float | str,
    degree: int,
    coef0: float,
    bias: str,
    n_features: int,
) -> dict[str, Any]:
    """The kernel as the core takes it: every number fixed.

    A word for ``gamma`` gives ``1 / n_features`` here, right for data of variance 1; what it means
    for the rows that come is settled by the estimator that sees them.
    """
    numbers = {
        "gamma": _gamma(gamma, n_features),
        "degree": float(count("degree", degree, at_least=1)),
        "coef0": number("coef0", coef0, at_least=0),
        "offset": _BIAS_OFFSET[word("bias", bias, _BIAS_OFFSET)],
    }
    if callable(kernel):
        return {"name": "function", "function": kernel, **numbers}
    return {"name": word("kernel", kernel, NAMES), **numbers}


def _gamma(gamma: float | str, n_features: int) -> float:
    if isinstance(gamma, str):
        word("gamma", gamma, ("scale", "auto"))
        return 1.0 / max(1, n_features)
    return number("gamma", gamma, above=0)
