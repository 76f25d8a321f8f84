"""Kernels by name or by function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numpy.typing import NDArray

from .data.arguments import check_word

#: The words ``kernel=`` understands.
NAMES = ("linear", "rbf", "poly", "laplacian", "chi2", "precomputed")

#: Those that use ``gamma``.
WITH_GAMMA = ("rbf", "poly", "laplacian", "chi2")

#: Rows are kernel values with the examples by id, in place of features.
PRECOMPUTED = "precomputed"

#: A kernel of your own: ``k(x, X)`` gives the values of ``x`` against the rows of ``X``.
KernelFunction = Callable[[NDArray[Any], NDArray[Any]], Any]


def check_kernel(name: str, kernel: Any) -> str | KernelFunction:
    """``kernel`` if it is a function or one of the words."""
    return kernel if callable(kernel) else check_word(name, kernel, NAMES)
