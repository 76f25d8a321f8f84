"""
Ignore wrong labels
===================

15 % of the labels of this checkerboard are wrong. With the hinge loss every wrong label becomes a
support vector and bends the boundary. :class:`~onlinesvm.RampSVC` ignores points far on the wrong
side: a cleaner boundary from a fifth of the support vectors.
"""

import math

import matplotlib.pyplot as plt
import numpy as np

from onlinesvm import RampSVC
from onlinesvm.datasets import make_checkerboard
from onlinesvm.report import plot_decision


def board(rows, *, noise, seed):
    """A 4 x 4 checkerboard on unit scale."""
    X, y = make_checkerboard(rows, noise=noise, random_state=seed)
    return (X - 2) / (4 / math.sqrt(12)), y


X, y = board(4_000, noise=0.15, seed=0)
X_test, y_test = board(10_000, noise=0.0, seed=1)
machines = {
    "Hinge loss": RampSVC(C=50, gamma=4, s=-np.inf),
    "Ramp loss": RampSVC(C=50, gamma=4),
}
figure = plt.figure(figsize=(12, 6.8), layout="constrained")
for ax, (name, machine) in zip(figure.subplots(1, 2), machines.items(), strict=True):
    machine.fit(X, y)
    plot_decision(machine, X, y, ax=ax)
    right = machine.score(X_test, y_test)
    ax.set_title(f"{name}: accuracy {right:.1%}, {len(machine.support_):,} support vectors")
plt.show()
