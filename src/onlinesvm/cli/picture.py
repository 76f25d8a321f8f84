"""The picture that closes the demo: what each machine learnt, and how it got there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from onlinesvm.cli.targets import check_target
from onlinesvm.report import plot_decision, plot_history
from onlinesvm.report.style import figure
from onlinesvm.stream import Snapshot

if TYPE_CHECKING:
    from onlinesvm.cli.demo import Board

__all__ = ["check_picture", "draw_contest"]


def check_picture(option: str, path: Path) -> None:
    """Fail before the work, not after it, when the picture could not be written."""
    check_target(option, path)
    formats = figure().canvas.get_supported_filetypes()
    if path.suffix.lower().lstrip(".") not in formats:
        endings = ", ".join(f".{name}" for name in sorted(formats))
        raise ValueError(f"{option} {path}: the name must end in one of {endings}")


def draw_contest(
    path: Path,
    models: Mapping[str, Any],
    board: Board,
    history: Sequence[Mapping[str, Snapshot]],
    accuracy: Mapping[str, float],
) -> None:
    """Write one panel for each model above the curves of accuracy and support vectors."""
    fig = figure(figsize=(15, 9.2))
    fig.suptitle(
        f"{len(board.y):,} examples, seen once, {(board.y != board.truth).mean():.0%} of them with "
        "the wrong label",
        fontsize="x-large",
        fontweight="bold",
    )
    halves: Any = fig.subfigures(2, 1, height_ratios=[2.2, 1])
    panels = halves[0].subplots(1, len(models))
    for ax, (name, model) in zip(panels, models.items(), strict=True):
        plot_decision(model, board.X, board.y, ax=ax)
        last = history[-1][name]
        ax.set_title(
            f"{name}: {accuracy[name]:.1%} right\n"
            f"{last.support_vectors:,} support vectors, {last.labels_used:,} labels used",
            fontsize="large",
        )
    left, right = halves[1].subplots(1, 2)
    plot_history(history, "recent_accuracy", ax=left, smooth=10)
    left.set_ylabel("right before learning it\n(true labels, moving average)")
    plot_history(history, "support_vectors", ax=right)
    fig.savefig(path, dpi=120)
