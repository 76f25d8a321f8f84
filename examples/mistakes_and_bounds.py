"""
Mistake bounds and actual mistakes
==================================

Theorems bound the mistakes of online methods on any stream in terms of the best fixed weights.
The bounds hold and are rarely tight. 2 % of the labels are wrong here.
"""

import matplotlib.pyplot as plt
import numpy as np

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


X, y = noisy_margin(1_500, seed=0)
learners = [
    KernelPerceptron(kernel="linear"),
    RommaClassifier(C=0.02, bias="none"),
    PassiveAggressiveClassifier(C=0.01, bias="none"),
]
figure = plt.figure(figsize=(14, 4.6), layout="constrained")
panels = figure.subplots(1, 3, sharey=True)
for learner, ax in zip(learners, panels, strict=True):
    plot_bound(learner, lessons(X, y), ax=ax)
    ax.label_outer()
plt.show()
