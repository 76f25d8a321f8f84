"""Three features decide, and there are ever more that do not: who is disturbed by them?

    python examples/few_features_of_many.py few-features-of-many.png

The label is the vote of three of D features, all of them -1 or 1. Learners that add examples to
their weights (the perceptron, gradient descent) make mistakes in proportion to D; those that
multiply their weights (exponentiated gradient, Winnow) or measure them by a norm that suits few
(ALMA with a large p) in proportion to its logarithm.
"""

import sys

import numpy as np
from matplotlib.figure import Figure

from onlinesvm import (
    AlmaClassifier,
    ExponentiatedGradientClassifier,
    GradientDescentClassifier,
    KernelPerceptron,
    WinnowClassifier,
)

SIZES, LABELS = [10, 30, 100, 300, 1_000, 3_000], [-1, 1]
COLOURS = ["#222222", "#D55E00", "#56B4E9", "#009E73", "#B0457F"]


def votes(rows, features, seed):
    X = np.random.default_rng(seed).choice([-1.0, 1.0], size=(rows, features))
    return X, np.sign(X[:, :3].sum(axis=1)).astype(int)


def learners(features):
    return {
        "perceptron": KernelPerceptron("plain", kernel="linear", classes=LABELS),
        "gradient descent": GradientDescentClassifier("hinge", classes=LABELS),
        "ALMA, p = 2 ln D": AlmaClassifier(p=max(2.0, 2 * np.log(features)), classes=LABELS),
        "exponentiated gradient": ExponentiatedGradientClassifier(
            "perceptron", U=10.0, eta0=10.0, classes=LABELS
        ),
        "Winnow": WinnowClassifier(classes=LABELS),
    }


def main(path):
    mistakes = {name: [] for name in learners(10)}
    for features in SIZES:
        X, y = votes(2_000, features, seed=0)
        for name, learner in learners(features).items():
            mistakes[name].append(learner.partial_fit(X, y).mistakes_)
    figure = Figure(figsize=(9.5, 5.2), layout="constrained")
    ax = figure.subplots()
    for (name, counts), colour in zip(mistakes.items(), COLOURS, strict=True):
        ax.plot(SIZES, counts, "o-", color=colour, linewidth=1.8, markersize=5)
        end = SIZES[-1], counts[-1]
        side = {"perceptron": 5, "gradient descent": -5}.get(name, 0)  # these two end together
        look = {"xytext": (9, side), "textcoords": "offset points", "va": "center"}
        ax.annotate(f"{name}: {counts[-1]:,}", end, color=colour, **look)
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_xlim(8, 20_000)
    ax.set_xticks(SIZES, [f"{size:,}" for size in SIZES])
    ax.set_yticks([10, 30, 100, 300, 1_000], ["10", "30", "100", "300", "1,000"])
    ax.minorticks_off()
    ax.set_xlabel("features, of which three decide")
    ax.set_ylabel("mistakes on 2,000 examples, seen once")
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(axis="y", color="#E5E5E5", linewidth=0.8)
    figure.savefig(path, dpi=110)
    print(path)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "few-features-of-many.png")
