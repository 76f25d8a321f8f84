"""
The Huller: two convex hulls
============================

:class:`~onlinesvm.HullerSVC` moves a point in each class's convex hull until the two are as near as
possible; the boundary lies halfway. Insertions alone get stuck; random removals shorten the
distance further.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.spatial import ConvexHull

from onlinesvm import HullerSVC

COLOURS = {-1: "#E69F00", 1: "#0072B2"}


def two_clouds(rows, *, gap, seed):
    """Points on both sides of a slanted strip."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, 2))
    side = X @ [0.8, 0.6]
    y = np.where(side > 0, 1, -1)
    return X + gap / 2 * y[:, None] * [0.8, 0.6], y


def draw_hulls(ax, model, X, y):
    """The hulls, their nearest points, and the line across the segment between them."""
    a = np.abs(model.dual_coef_[0]) * model.objective() / 2  # alpha = 2 a / N2
    sign, support = np.sign(model.dual_coef_[0]), model.support_vectors_
    nearest = {}
    for label, colour in COLOURS.items():
        mine = X[y == label]
        corner = mine[ConvexHull(mine).vertices]
        ax.fill(*corner.T, color=colour, alpha=0.12)
        ax.plot(*mine.T, ".", color=colour, markersize=4)
        nearest[label] = a[sign == label] @ support[sign == label]
    ax.plot(*support.T, "o", color="#222222", fillstyle="none", markersize=9)
    ax.plot(*np.array(list(nearest.values())).T, "-D", color="#222222", markersize=6)
    grid = np.linspace(-3.8, 3.8, 200)
    plane = np.meshgrid(grid, grid)
    f = model.decision_function(np.column_stack([p.ravel() for p in plane])).reshape(200, 200)
    ax.contour(*plane, f, [-1, 0, 1], colors="#222222", linestyles=["--", "-", "--"])
    ax.set(xlim=(-3.8, 3.8), ylim=(-3.8, 3.8), aspect="equal")
    ax.set_title(f"{len(y)} examples, {len(support)} support vectors (circles)")


def draw_distances(ax, X, y, best):
    for reprocess, colour in ((0, "#D55E00"), (1, "#0072B2"), (5, "#009E73")):
        model = HullerSVC(C=np.inf, kernel="linear", classes=[-1, 1], reprocess=reprocess)
        distance = []
        for row, label in zip(X, y, strict=True):
            model.learn_one(row, label)
            distance.append(np.sqrt(model.objective()) or np.nan)  # 0: one class has yet to come
        excess = 100 * (np.array(distance) / best - 1)
        ax.plot(excess, color=colour, label=f"{reprocess}")
    ax.set(xlabel="rows", ylabel="distance of the hulls above the minimum, %", yscale="log")
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(title="removals tried per row", frameon=False)


X, y = two_clouds(600, gap=0.6, seed=3)
model = HullerSVC(C=np.inf, kernel="linear", max_iter=5, dtype="float64").fit(X, y).finish()
figure = plt.figure(figsize=(12, 5.8), layout="constrained")
left, right = figure.subplots(1, 2)
draw_hulls(left, model, X, y)
draw_distances(right, X, y, best=np.sqrt(model.objective()))
plt.show()
