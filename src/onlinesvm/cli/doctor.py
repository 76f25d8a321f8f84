"""Is everything well: versions, instruction set, extras, and a self-test of a second."""

from __future__ import annotations

import platform
import re
import sys
import tempfile
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path

import numpy as np
from rich.table import Table

import onlinesvm
from onlinesvm import _core  # type: ignore[attr-defined]

__all__ = ["doctor_table", "self_test"]

_FOR_DEVELOPERS = {"bench", "coverage", "docs", "lint", "test"}


def doctor_table() -> Table:
    """What is installed, as a person would report it with a bug."""
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(style="bold", no_wrap=True)
    table.add_column()
    table.add_row("onlinesvm", onlinesvm.__version__)
    table.add_row("Python", f"{platform.python_version()} ({platform.python_implementation()})")
    table.add_row("system", f"{sys.platform}, {platform.machine()}")
    table.add_row("core", f"{_core.isa}, built by {_core.compiler}")
    for name in ("numpy", "scipy", "scikit-learn", "narwhals"):
        table.add_row(name, _version_of(name) or "missing")
    for extra, packages in _extras().items():
        missing = [name for name in packages if _version_of(name) is None]
        found = ", ".join(f"{n} {_version_of(n)}" for n in packages if n not in missing)
        lacks = f"no {', '.join(missing)}: pip install '.\\[{extra}]'" if missing else ""
        table.add_row(f"extra {extra}", "; ".join(filter(None, [found, lacks])))
    return table


def _extras() -> dict[str, list[str]]:
    """The packages of each extra that users install."""
    found: dict[str, list[str]] = {}
    for line in requires("onlinesvm") or ():
        marker = re.search(r"extra == ['\"]([\w-]+)['\"]", line)
        package = re.match(r"[\w.-]+", line)
        if marker and package and marker[1] not in _FOR_DEVELOPERS:
            found.setdefault(marker[1], []).append(package[0])
    return found


def _version_of(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def self_test() -> Iterator[tuple[str, bool]]:
    """What was tried, and whether it came out as it must."""
    from onlinesvm.datasets import make_checkerboard

    X, y = make_checkerboard(400, noise=0.1, random_state=0)
    one_by_one = onlinesvm.RampSVC(C=10, gamma=4, settle="example", classes=[-1, 1])
    model = onlinesvm.RampSVC(**one_by_one.get_params()).partial_fit(X, y)
    for xi, yi in zip(X, y, strict=True):
        one_by_one.learn_one(xi, yi)
    scores = model.decision_function(X)
    yield "one by one and all at once give the same bits", _same(one_by_one, X, scores)
    yield "what is learned is optimal", bool(model.kkt_residual() <= model.tol)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.safetensors"
        model.save(path)
        yield "a saved model is the same, bit for bit", _same(onlinesvm.load(path), X, scores)
    model.unlearn([0, 1, 2])
    yield "what is forgotten leaves an optimum behind", bool(model.kkt_residual() <= model.tol)


def _same(model: onlinesvm.RampSVC, X: np.ndarray, scores: np.ndarray) -> bool:
    return np.array_equal(model.decision_function(X), scores)
