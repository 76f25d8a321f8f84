"""
Three relevant features among thousands
=======================================

The label is the majority of three of D binary features. Additive methods (perceptron, gradient
descent) make mistakes in proportion to D. Multiplicative ones (exponentiated gradient, Winnow) and
ALMA with a large ``p`` make mistakes in proportion to its logarithm.
"""

import matplotlib.pyplot as plt
import numpy as np

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


mistakes = {name: [] for name in learners(10)}
for features in SIZES:
    X, y = votes(2_000, features, seed=0)
    for name, learner in learners(features).items():
        mistakes[name].append(learner.partial_fit(X, y).mistakes_)
figure = plt.figure(figsize=(9.5, 5.2), layout="constrained")
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
ax.set_xlabel("features, three of them relevant")
ax.set_ylabel("mistakes in one pass over 2,000 rows")
ax.spines[["top", "right"]].set_visible(False)
ax.grid(axis="y", color="#E5E5E5", linewidth=0.8)
plt.show()
