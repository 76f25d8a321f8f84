"""
What to evict from a full memory
================================

The SVM is retrained after every 100 rows and may keep 60 of them. Evicting rows on the wrong side
works best: they are mostly noise, and after the classes swap they are outdated. Evicting the
smallest coefficients works worst, because with a soft margin these rows define the margin.
"""

import matplotlib.pyplot as plt
import numpy as np

from onlinesvm import ForgettingSVC

POLICIES = ["oldest", "random", "least_significant", "linear_dependence", "outlier_first"]
STREAMS = {"one label in ten is wrong": (0.1, False), "the classes change places": (0.0, True)}


def stream(rows, wrong, swap, seed):
    """Points, the label they are learned with, and the true one."""
    rng = np.random.default_rng(seed)
    truth = rng.choice([-1, 1], rows)
    side = np.where(swap & (np.arange(rows) >= rows // 2), -truth, truth)
    X = rng.normal(size=(rows, 2)) + side[:, None] * [1.2, 0.0]
    return X, np.where(rng.random(rows) < wrong, -truth, truth), truth


def progress(policy, wrong, swap):
    """Right answers on the next 100 examples while the stream passes, over four streams."""
    blocks = []
    for seed in range(4):
        X, y, truth = stream(6_000, wrong, swap, seed)
        model = ForgettingSVC(gamma=0.5, budget=60, forget=policy, classes=[-1, 1])
        model.partial_fit(X[:100], y[:100])
        right = []
        for start in range(100, len(y), 100):
            block = slice(start, start + 100)
            right.append(model.score(X[block], truth[block]))  # tested first, then learned
            model.partial_fit(X[block], y[block])
        blocks.append(right)
    return np.mean(blocks, axis=0)


figure = plt.figure(figsize=(10, 4.6), layout="constrained")
panels = figure.subplots(1, 2, sharey=True)
for ax, (title, (wrong, swap)) in zip(panels, STREAMS.items(), strict=True):
    for policy in POLICIES:
        right = progress(policy, wrong, swap)
        ax.plot(100 * np.arange(1, len(right) + 1), right, label=f"{policy}: {right.mean():.1%}")
    ax.set_title(title)
    ax.set_xlabel("rows seen")
    ax.legend(loc="lower left", fontsize="small")
panels[0].set_ylabel("accuracy on the next 100 examples")
panels[0].set_ylim(0, 1)
plt.show()
