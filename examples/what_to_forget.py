"""What should a full memory give up? Two streams, one budget, five policies.

    python examples/what_to_forget.py what-to-forget.png

The support vector machine is trained again after every 100 examples and may keep 60 of them; all
that support would be hundreds, and ever more. Those on the wrong side are the best to lose: where
one label in ten is wrong they are mostly noise, and when the classes change places they are the
past. The oldest is a plain window. The smallest coefficients are the worst to lose: with a soft
margin they are the margin itself.
"""

import sys

import numpy as np
from matplotlib.figure import Figure

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


def main(path):
    figure = Figure(figsize=(10, 4.6), layout="constrained")
    panels = figure.subplots(1, 2, sharey=True)
    for ax, (title, (wrong, swap)) in zip(panels, STREAMS.items(), strict=True):
        for policy in POLICIES:
            right = progress(policy, wrong, swap)
            ax.plot(
                100 * np.arange(1, len(right) + 1), right, label=f"{policy}: {right.mean():.1%}"
            )
        ax.set_title(title)
        ax.set_xlabel("examples seen")
        ax.legend(loc="lower left", fontsize="small")
    panels[0].set_ylabel("right on the next 100 examples")
    panels[0].set_ylim(0, 1)
    figure.savefig(path, dpi=110)
    print(path)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "what-to-forget.png")
