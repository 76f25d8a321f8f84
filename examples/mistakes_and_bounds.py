"""How many mistakes may a learner make? What is proved, and what three learners really made.

    python examples/mistakes_and_bounds.py mistakes-and-bounds.png

Theorems about online learners hold for every stream, row by row: so many mistakes and no more,
beside any fixed weights that one could have known beforehand. Here 2 % of the labels are wrong;
the rival is the support vector machine of the whole stream that makes each bound lowest.
"""

import sys

import numpy as np
from matplotlib.figure import Figure

from onlinesvm import KernelPerceptron, PassiveAggressiveClassifier, RommaClassifier
from onlinesvm.report import plot_bound
from onlinesvm.stream import lessons


def noisy_margin(rows, seed):
    """Rows of 20 features with a margin around the boundary; 2 % of the labels are wrong."""
    rng = np.random.default_rng(seed)
    direction = rng.normal(size=20)
    X = rng.normal(size=(4 * rows, 20))
    distance = X @ direction / np.linalg.norm(direction)
    X, distance = X[np.abs(distance) > 0.7][:rows], distance[np.abs(distance) > 0.7][:rows]
    return X, np.where(rng.random(len(X)) < 0.02, -1, 1) * np.where(distance > 0, 1, -1)


def main(path):
    X, y = noisy_margin(1_500, seed=0)
    learners = [
        KernelPerceptron(kernel="linear"),
        RommaClassifier(C=0.02, bias="none"),
        PassiveAggressiveClassifier(C=0.01, bias="none"),
    ]
    figure = Figure(figsize=(14, 4.6), layout="constrained")
    panels = figure.subplots(1, 3, sharey=True)
    for learner, ax in zip(learners, panels, strict=True):
        plot_bound(learner, lessons(X, y), ax=ax)
        ax.label_outer()
    figure.savefig(path, dpi=110)
    print(path)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "mistakes-and-bounds.png")
