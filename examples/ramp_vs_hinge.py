"""Ramp against hinge on a noisy checkerboard: the picture in the README.

    python examples/ramp_vs_hinge.py docs/images/ramp-vs-hinge.png

Both machines see the same 4,000 examples once, 15 % of them with the wrong label. The hinge keeps
every wrong label as a support vector and bends its boundary towards it; the ramp lets go of them.
"""

import math
import sys

import numpy as np
from matplotlib.figure import Figure

from onlinesvm import RampSVC
from onlinesvm.datasets import make_checkerboard
from onlinesvm.report import plot_decision


def board(rows, *, noise, seed):
    """A 4 x 4 checkerboard on unit scale."""
    X, y = make_checkerboard(rows, noise=noise, random_state=seed)
    return (X - 2) / (4 / math.sqrt(12)), y


def main(path):
    X, y = board(4_000, noise=0.15, seed=0)
    X_test, y_test = board(10_000, noise=0.0, seed=1)
    machines = {
        "Hinge loss": RampSVC(C=50, gamma=4, s=-np.inf),
        "Ramp loss": RampSVC(C=50, gamma=4),
    }
    figure = Figure(figsize=(12, 6.8), layout="constrained")
    for ax, (name, machine) in zip(figure.subplots(1, 2), machines.items(), strict=True):
        machine.fit(X, y)
        plot_decision(machine, X, y, ax=ax)
        right = machine.score(X_test, y_test)
        ax.set_title(
            f"{name}: {right:.1%} right on clean labels, {len(machine.support_):,} support vectors"
        )
    figure.savefig(path, dpi=110)
    print(path)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "ramp-vs-hinge.png")
