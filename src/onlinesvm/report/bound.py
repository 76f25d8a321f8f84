"""What a learner cost along a stream, beside what its theorem allows."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone, is_classifier
from sklearn.metrics.pairwise import pairwise_kernels

import onlinesvm
from onlinesvm.model.bounds import Floats, counted
from onlinesvm.model.bounds import rivals as rivals_of
from onlinesvm.report.style import INK, LINES, axes_or_new

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_bound"]


def plot_bound(
    model: Any,
    stream: Iterable[tuple[Any, ...]],
    *,
    u: Any = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the mistakes of a learner along a stream below the most that its theorem allows.

    A fresh copy of the model learns the stream, row by row; what counts is the newest hypothesis,
    of which theorems speak, also where a mean predicts. Of a regressor, the squared errors are
    drawn. The bound holds for any rival ``u`` that stays the same along the stream, and is drawn as
    it grows with the rows and with the rival's own losses; where it ends, nothing is proved.

    Parameters
    ----------
    model : classifier or regressor
        One that has a proved bound; it is left as it is. ``gamma`` given as a word is that of the
        whole stream, and has no time to settle.
    stream : iterable of Lesson
        Or of plain tuples ``(X, y)``; `onlinesvm.stream.lessons` makes one from arrays. Of two
        classes.
    u : array-like, optional
        The rival: a weight for each feature, and one for the bias where there is one; with a
        kernel, a coefficient for each row of the stream. Not given, it is found on the stream
        itself: of batch solutions between a soft and a hard margin (of regressors, ridge
        regressions), that with the lowest bound in the end.
    ax : matplotlib Axes, optional
        Where to draw; a new figure if not given.

    Returns
    -------
    matplotlib Axes

    Notes
    -----
    Holds the stream as a dense array and solves a dozen batch problems on it; with a kernel it
    takes n^2 kernel values and n^3 steps for n rows: a picture for a few thousand.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from onlinesvm import KernelPerceptron
    >>> from onlinesvm.datasets import make_checkerboard
    >>> from onlinesvm.report import plot_bound
    >>> from onlinesvm.stream import lessons
    >>> X, y = make_checkerboard(300, random_state=0)
    >>> ax = plot_bound(KernelPerceptron(gamma=4), lessons(X, y))
    >>> paid, allowed = (line.get_ydata()[-1] for line in ax.get_lines())
    >>> bool(paid < allowed)
    True
    """
    X, y = _collect(stream)
    learner = _fresh(model, X, y)
    paid = _learn(learner, X, y)
    rows, span = _as_seen(learner, X)
    y = np.where(y == np.unique(y)[-1], 1.0, -1.0) if is_classifier(learner) else y
    rivals = rivals_of(learner, rows, y) if u is None else [_weights(u, X, rows, span)]
    bound = min((learner._bound(rows, y, v) for v in rivals), key=lambda after: after[-1])
    if not np.isfinite(bound).any():
        raise ValueError(
            f"stream has no bound by {learner._theorem}: no u was found that makes no mistake, "
            "or the steps are too long; give u, a finite C or a smaller eta0, where there is one"
        )
    ax = axes_or_new(ax)
    _draw(ax, learner, paid, bound)
    return ax


def _collect(stream: Iterable[tuple[Any, ...]]) -> tuple[Floats, NDArray[Any]]:
    taught = [(lesson[0], np.asarray(lesson[1])) for lesson in stream]
    if not taught:
        raise ValueError("stream is empty: give at least one lesson")
    rows = [X.toarray() if sparse.issparse(X) else np.asarray(X) for X, _ in taught]
    return np.vstack(rows).astype(np.float64), np.concatenate([y for _, y in taught])


def _fresh(model: Any, X: Floats, y: NDArray[Any]) -> Any:
    """A copy that has seen nothing, with a kernel that stays what it is."""
    if not getattr(model, "_theorem", None):
        known = [c.__name__ for c in onlinesvm.all_estimators() if hasattr(c, "_theorem")]
        raise ValueError(
            f"model must have a proved bound, which {type(model).__name__} has not; "
            f"these have: {', '.join(known)}"
        )
    learner: Any = clone(model)
    if getattr(learner, "class_weight", None) is not None:
        raise ValueError("class_weight must be None for a proved bound")
    if isinstance(getattr(learner, "gamma", None), str):
        spread = float(X.var()) if learner.gamma == "scale" else 1.0
        learner.set_params(gamma=1.0 / (X.shape[1] * (spread or 1.0)))
    if is_classifier(learner):
        labels = np.unique(y)
        if len(labels) != 2:
            raise ValueError(f"stream must hold examples of two classes, got {len(labels)}")
        learner.set_params(classes=labels.tolist())
    return learner


def _learn(learner: Any, X: Floats, y: NDArray[Any]) -> Floats:
    """What it has paid after each row."""
    after = []
    for t in range(len(y)):
        learner.partial_fit(X[t : t + 1], y[t : t + 1])
        after.append(learner.mistakes_ if is_classifier(learner) else learner._core.suffered)
    if is_classifier(learner):
        return np.array(after, dtype=np.float64)
    return np.asarray(np.cumsum(np.diff(after, prepend=0.0) ** 2))


def _as_seen(learner: Any, X: Floats) -> tuple[Floats, Floats | None]:
    """Rows whose dot products are the kernel's values; what coefficients make of weights."""
    kernel = learner._core_settings["kernel"]
    if kernel["name"] == "linear":
        constant = np.full((len(X), 1), np.sqrt(kernel["offset"]))
        return (np.hstack([X, constant]) if kernel["offset"] else X), None
    if kernel["name"] == "function":
        K = np.array([kernel["function"](x, X) for x in X])
    else:
        options = {name: kernel[name] for name in ("gamma", "degree", "coef0")}
        K = pairwise_kernels(X, metric=kernel["name"], filter_params=True, **options)
    values, vectors = np.linalg.eigh(K + kernel["offset"])
    rows = np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)))
    return rows, rows.T


def _weights(u: Any, X: Floats, rows: Floats, span: Floats | None) -> Floats:
    """The rival of the caller as weights of the rows."""
    u = np.asarray(u, dtype=np.float64)
    n = len(X) if span is not None else rows.shape[1]
    if u.shape == (X.shape[1],) and span is None:
        u = np.concatenate([u, np.zeros(n - len(u))])  # no bias is one of 0
    if u.shape != (n,):
        of = "row of the stream" if span is not None else "feature, the bias last"
        raise ValueError(f"u must have {n} values, one for each {of}; got shape {u.shape}")
    return np.asarray(u if span is None else span @ u)


def _draw(ax: Axes, learner: Any, paid: Floats, bound: Floats) -> None:
    lines = (
        (counted(learner), paid, LINES[1]),
        (f"bound of {learner._theorem}", bound, (INK, "--")),
    )
    for name, values, (colour, dash) in lines:
        drawn = values[np.isfinite(values)]
        seen = np.arange(1, len(drawn) + 1)
        ax.plot(seen, drawn, color=colour, linestyle=dash, linewidth=1.8, label=name)
        last = f"{drawn[-1]:,.0f}" if drawn[-1] >= 10 else f"{drawn[-1]:.2g}"
        ax.annotate(
            f"{name}: {last}",
            (seen[-1], drawn[-1]),
            xytext=(0, 5),
            textcoords="offset points",
            ha="right" if len(drawn) > len(paid) / 2 else "left",
            va="bottom",
            color=colour,
        )
    ax.margins(x=0.02, y=0.12)
    top = bound[np.isfinite(bound)][-1]
    if top > 25 * max(paid[-1], 1e-9):
        ax.set_yscale("log")  # else the line below would lie on the floor
    else:
        ax.set_ylim(0, max(1.12 * top, 1.12 * paid[-1], ax.get_ylim()[1]))  # axes may be shared
    ax.set_title(type(learner).__name__, loc="left")
    ax.set_xlabel("examples seen")
    ax.set_ylabel(f"{counted(learner)} so far")
    ax.xaxis.set_major_formatter("{x:,.0f}")
    ax.yaxis.set_major_formatter("{x:,g}")
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(axis="y", color="#E5E5E5", linewidth=0.8)
    ax.set_axisbelow(True)
