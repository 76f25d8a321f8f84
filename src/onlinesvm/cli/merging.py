"""`merge`: two models of two parts of a stream become one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from onlinesvm.cli.console import plain
from onlinesvm.cli.methods import estimators
from onlinesvm.cli.saved import Saved
from onlinesvm.cli.targets import check_target

__all__ = ["merge"]


def merge(console: Console, paths: list[Path], out: Path) -> None:
    """Merge models in their order, and write the result; the files are left as they are."""
    if len(paths) < 2:
        raise ValueError("merge needs two models at least")
    check_target("--out", out)
    first, *others = [Saved.find(path) for path in paths]
    if not hasattr(first.last, "merge"):
        able = ", ".join(name for name, cls in estimators().items() if hasattr(cls, "merge"))
        raise ValueError(
            f"{first.path}: a {type(first.last).__name__} cannot be merged: what it took from each "
            "row depends on the rows before, so two models are not that of both streams; learn "
            f"the second into the first, or use {able}, whose balls enclose both"
        )
    for other in others:
        _demand_same_preparation(first, other)
        first.last.merge(other.last)
    first.model.save(out)
    console.print(f"{first.last.n_seen_:,} examples in [bold]{plain(out)}[/]", soft_wrap=True)


def _demand_same_preparation(one: Saved, other: Saved) -> None:
    """Features must mean the same to both: only then can what was learned be joined."""
    steps = [
        [(type(step), step._arrays()) for _, step in getattr(saved.model, "steps", ())[:-1]]
        for saved in (one, other)
    ]
    same = len(steps[0]) == len(steps[1]) and all(
        a[0] is b[0] and _equal(a[1], b[1]) for a, b in zip(*steps, strict=True)
    )
    if not same:
        raise ValueError(
            f"{other.path}: its columns are prepared otherwise than those of {one.path}; learn "
            "both with --prepare as-is, or from one model that has settled"
        )


def _equal(one: dict[str, Any], other: dict[str, Any]) -> bool:
    return one.keys() == other.keys() and all(np.array_equal(one[k], other[k]) for k in one)
