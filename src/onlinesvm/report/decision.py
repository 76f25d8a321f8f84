"""What a two-dimensional classifier thinks of the plane, and which examples it rests on."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from onlinesvm.report.style import CLASS_COLOURS, INK, PAPER, axes_or_new

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_decision"]

_MOST_CLASSES = 50  # each takes a megabyte and two lines
_LONGEST = 24  # letters of a label in the legend

Floats = NDArray[np.float64]
Labels = NDArray[Any]
Mask = NDArray[np.bool_]


def plot_decision(
    model: Any,
    X: Any,
    y: Any,
    *,
    ax: Axes | None = None,
    resolution: int = 300,
    legend: bool = True,
) -> Axes:
    """Draw a classifier of two features: boundary, margins, support vectors, ignored examples.

    The solid line is the boundary f = 0, dashed lines are the margins f = -1 and f = +1, rings are
    support vectors and crosses are examples outside the ramp (y f < s), which the model has
    decided not to believe. With more than two classes the plane is coloured by the winner, dashed
    lines are f = +1 of each class, and an example is outside the ramp when its own class's
    f < s.

    Parameters
    ----------
    model : fitted classifier with `decision_function`
        One of ours, or a scikit-learn pipeline that ends in one.
    X : array-like of shape (n, 2)
        Examples to show; column names become axis labels.
    y : array-like of shape (n,)
        Their labels.
    ax : matplotlib Axes, optional
        Where to draw; a new figure if not given.
    resolution : int, default=300
        The plane is scored on resolution x resolution points: the whole cost of the picture.
    legend : bool, default=True
        Explain the marks below the plot.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from onlinesvm import RampSVC
    >>> from onlinesvm.datasets import make_checkerboard
    >>> from onlinesvm.report import plot_decision
    >>> X, y = make_checkerboard(300, random_state=0)
    >>> ax = plot_decision(RampSVC(C=10, gamma=4).fit(X, y), X, y)
    >>> [text.get_text() for text in ax.get_legend().get_texts()][:2]
    ['class -1', 'class 1']
    """
    names = _axis_names(X)
    X, y = _points(X), np.asarray(y)
    if resolution < 2:
        raise ValueError(f"resolution must be at least 2, got {resolution!r}")
    classes = _known_classes(model, X, y)
    ax = axes_or_new(ax)
    plane = _Plane.around(X, resolution)
    f = _scores(model, plane.points())
    if f.ndim == 1:
        _draw_two_sides(ax, plane, f.reshape(plane.shape))
    else:
        _draw_regions(ax, plane, f.reshape(*plane.shape, f.shape[1]))

    outside = _outside_ramp(model, X, y, classes)
    _draw_examples(ax, X, y, classes, outside)
    _draw_support(ax, _support_vectors(model), len(X))
    ax.set_xlim(plane.left, plane.right)
    ax.set_ylim(plane.bottom, plane.top)
    ax.set_xlabel(names[0])
    ax.set_ylabel(names[1])
    ax.set_aspect("auto" if plane.lopsided else "equal")
    if legend:
        _draw_legend(ax, len(classes))
    return ax


def _known_classes(model: Any, X: Any, y: Any) -> Any:
    """The classes of the model; a ValueError where they cannot be drawn or y has others."""
    if y.shape != (len(X),):
        raise ValueError(f"y needs one label for each of the {len(X)} rows of X, got {y.shape}")
    classes = _classes(model)
    if not 2 <= len(classes) <= _MOST_CLASSES:
        raise ValueError(
            f"the model knows {len(classes):,} classes; a plane is drawn for 2 to {_MOST_CLASSES}"
        )
    strangers = set(y.tolist()) - set(classes.tolist())
    if strangers:
        raise ValueError(f"y holds labels the model does not know: {_listing(strangers)}")
    return classes


class _Plane(NamedTuple):
    """The rectangle shown and the grid on which the model is asked."""

    left: float
    right: float
    bottom: float
    top: float
    resolution: int

    @classmethod
    def around(cls, X: Floats, resolution: int) -> _Plane:
        low, high = X.min(axis=0), X.max(axis=0)
        span = np.where(high > low, high - low, 2.0)  # a constant feature still gets a strip
        middle = (low + high) / 2
        (left, bottom), (right, top) = middle - 0.52 * span, middle + 0.52 * span
        return cls(float(left), float(right), float(bottom), float(top), resolution)

    @property
    def shape(self) -> tuple[int, int]:
        return self.resolution, self.resolution

    @property
    def lopsided(self) -> bool:
        """Whether one unit must not look the same on both axes, or the plot would be a thread."""
        ratio = (self.right - self.left) / (self.top - self.bottom)
        return not 0.4 < ratio < 2.5

    def axes(self) -> tuple[Floats, Floats]:
        return (
            np.linspace(self.left, self.right, self.resolution),
            np.linspace(self.bottom, self.top, self.resolution),
        )

    def points(self) -> Floats:
        across, up = np.meshgrid(*self.axes())
        return np.column_stack([across.ravel(), up.ravel()])


def _draw_two_sides(ax: Axes, plane: _Plane, f: Floats) -> None:
    from matplotlib.colors import LinearSegmentedColormap

    first, second = (_tint(colour, 0.32) for colour in CLASS_COLOURS[:2])
    sides = LinearSegmentedColormap.from_list("sides", [first, PAPER, second])
    _paint(ax, plane, np.clip(f, -1.5, 1.5), cmap=sides, vmin=-1.5, vmax=1.5)
    _contour(ax, plane, f, [-1.0, 1.0], linestyles="dashed", linewidths=0.8, alpha=0.7)
    _contour(ax, plane, f, [0.0], linestyles="solid", linewidths=1.8)


def _draw_regions(ax: Axes, plane: _Plane, f: Floats) -> None:
    from matplotlib.colors import to_rgb

    n_classes = f.shape[-1]
    tints = np.array([to_rgb(_tint(_colour(k), 0.28)) for k in range(n_classes)])
    _paint(ax, plane, tints[f.argmax(axis=-1)])
    for k in range(n_classes):
        rivals = np.delete(f, k, axis=-1).max(axis=-1)
        _contour(ax, plane, f[..., k], [1.0], colors=_colour(k), linestyles="dashed", linewidths=1)
        _contour(ax, plane, f[..., k] - rivals, [0.0], linestyles="solid", linewidths=1.4)


def _paint(ax: Axes, plane: _Plane, image: Floats, **look: Any) -> None:
    extent = plane.left, plane.right, plane.bottom, plane.top
    look |= {"origin": "lower", "interpolation": "bilinear", "aspect": "auto", "zorder": 0}
    ax.imshow(image, extent=extent, **look)


def _contour(ax: Axes, plane: _Plane, f: Floats, levels: list[float], **look: Any) -> None:
    if look.get("colors") is None:
        look["colors"] = INK
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="No contour levels were found")
        ax.contour(*plane.axes(), f, levels=levels, zorder=3, **look)


def _draw_examples(ax: Axes, X: Floats, y: Labels, classes: Labels, outside: Mask) -> None:
    size = _dot_size(len(X))
    for k, label in enumerate(classes):
        mine = y == label
        believed, ignored = X[mine & ~outside], X[mine & outside]
        _dots(ax, believed, c=_colour(k), s=size, linewidths=0, label=f"class {_seen(label)}")
        _dots(ax, ignored, c=_colour(k), s=3 * size, linewidths=_stroke(2 * size), marker="x")
    if outside.any():  # one grey cross stands for those of all classes in the legend
        count = f"outside the ramp ({outside.sum():,})"
        ax.scatter([], [], c="#666666", marker="x", label=count)


def _draw_support(ax: Axes, vectors: Floats | None, n_examples: int) -> None:
    if vectors is None or not len(vectors):
        return
    size = _dot_size(n_examples)
    _dots(
        ax,
        vectors,
        s=2.2 * size,
        facecolors="none",
        edgecolors=INK,
        linewidths=_stroke(size),
        zorder=4,
        label=f"support vectors ({len(vectors):,})",
    )


def _dots(ax: Axes, points: Floats, **look: Any) -> None:
    ax.scatter(points[:, 0], points[:, 1], **{"zorder": 2, **look})


def _draw_legend(ax: Axes, n_classes: int) -> None:
    from matplotlib.lines import Line2D

    handles, labels = ax.get_legend_handles_labels()
    margin = "margins f = ±1" if n_classes == 2 else "margins f = +1"
    lines = [
        Line2D([], [], color=INK, linewidth=1.8, label="boundary"),
        Line2D([], [], color=INK, linewidth=0.8, linestyle="dashed", label=margin),
    ]
    legend = ax.legend(
        handles=[*handles, *lines],
        labels=[*labels, *(str(line.get_label()) for line in lines)],
        loc="upper center",
        bbox_to_anchor=(0.5, 0.0),
        borderaxespad=4.0,  # in letters, below ticks and axis label
        ncols=2,
        frameon=False,
        fontsize="small",
        handletextpad=0.4,
        columnspacing=1.4,
    )
    for text in legend.get_texts():
        text.set_parse_math(False)  # a label with dollars is a label
    for handle in legend.legend_handles[: len(handles)]:
        handle.set_sizes([28.0])  # type: ignore[union-attr]


def _outside_ramp(model: Any, X: Floats, y: Labels, classes: Labels) -> Mask:
    """Which examples lie so deep on the wrong side that the ramp loss has let go of them."""
    s = getattr(_last_step(model), "s", None)
    if s is None or not np.isfinite(s):
        return np.zeros(len(X), dtype=bool)
    f = _scores(model, X)
    if f.ndim == 1:
        own = np.where(y == classes[1], f, -f)
    else:
        own = f[np.arange(len(X)), (y[:, None] == classes).argmax(axis=1)]
    outside: Mask = own < s
    return outside


def _support_vectors(model: Any) -> Floats | None:
    """In the coordinates of X: a pipeline's are carried back through its scalers."""
    vectors = getattr(_last_step(model), "support_vectors_", None)
    if vectors is None:
        return None
    vectors = vectors.toarray() if hasattr(vectors, "toarray") else np.asarray(vectors)
    if not hasattr(model, "steps") or len(model.steps) == 1 or not len(vectors):
        return vectors
    before = model[:-1]
    if not hasattr(before, "inverse_transform"):
        return None
    carried: Floats = before.inverse_transform(vectors)
    return carried


def _last_step(model: Any) -> Any:
    return model.steps[-1][1] if hasattr(model, "steps") else model


def _scores(model: Any, points: Floats) -> Floats:
    with warnings.catch_warnings():
        # Grid points are bare numbers also for a model that was fitted on named columns.
        warnings.filterwarnings("ignore", message="X does not have valid feature names")
        return np.asarray(model.decision_function(points), dtype=np.float64)


def _classes(model: Any) -> Labels:
    if not hasattr(model, "decision_function"):
        raise ValueError(
            f"model must be a classifier with decision_function, got {type(model).__name__}"
        )
    if not hasattr(model, "classes_"):
        raise ValueError("model is not fitted: call fit or partial_fit before plot_decision")
    return np.asarray(model.classes_)


def _points(X: Any) -> Floats:
    X = X.toarray() if hasattr(X, "toarray") else np.asarray(X)
    if X.ndim != 2 or X.shape[1] != 2:
        raise ValueError(
            f"X must have exactly 2 features to be drawn, got shape {X.shape}; "
            "fit on two columns or on a two-dimensional projection"
        )
    if not len(X):
        raise ValueError("X is empty: give at least one example to draw")
    points: Floats = X.astype(np.float64)
    if not np.isfinite(points).all():
        raise ValueError("X holds NaN or infinity: drop or fill those rows first")
    return points


def _axis_names(X: Any) -> tuple[str, str]:
    columns = list(getattr(X, "columns", []))
    return (str(columns[0]), str(columns[1])) if len(columns) == 2 else ("$x_1$", "$x_2$")


def _dot_size(n: int) -> float:
    """Points of area per dot: large for a handful, dust for ten thousand."""
    return float(np.clip(9000 / n, 1.6, 30))


def _stroke(size: float) -> float:
    """Line width that suits marks of that area."""
    return float(np.clip(0.32 * np.sqrt(size), 0.5, 1.0))


def _colour(k: int) -> str:
    return CLASS_COLOURS[k % len(CLASS_COLOURS)]


def _tint(colour: str, strength: float) -> Any:
    """A colour thinned with paper."""
    from matplotlib.colors import to_rgb

    return tuple(strength * np.array(to_rgb(colour)) + (1 - strength) * np.array(to_rgb(PAPER)))


def _seen(label: Any) -> str:
    """A label as fonts can draw it."""
    text = str(label)
    text = text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
    return "".join(c if c.isprintable() else "?" for c in text)


def _listing(values: set[Any]) -> str:
    shown = sorted(map(repr, values))
    return ", ".join(shown[:5]) + (", ..." if len(shown) > 5 else "")
