"""
Follow a moving boundary
========================

The boundary turns by half a circle in the middle of the stream. The current weights of
:class:`~onlinesvm.PegasosSVC` and :class:`~onlinesvm.SGDSVC` follow it, and so does
:class:`~onlinesvm.NormaSVC` with at most 500 rows. An average over all past weights, as in
:class:`~onlinesvm.KernelPerceptron`, lags behind.
"""

import matplotlib.pyplot as plt
import numpy as np

from onlinesvm import SGDSVC, KernelPerceptron, NormaSVC, PegasosSVC


def turning_stream(rows, seed):
    """Points of a plane; the line that separates them turns between one and two thirds."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, 2))
    angle = np.pi * np.clip(3 * np.arange(rows) / rows - 1, 0, 1)
    y = np.where(X[:, 0] * np.cos(angle) + X[:, 1] * np.sin(angle) > 0, 1, -1)
    return X, y


X, y = turning_stream(6_000, seed=0)
machines = {
    "averaged perceptron": KernelPerceptron(kernel="linear", classes=[-1, 1]),
    "Pegasos": PegasosSVC(1e-3, classes=[-1, 1]),
    "SGD, constant step": SGDSVC(0.01, learning_rate="constant", classes=[-1, 1]),
    "NORMA, 500 examples": NormaSVC(truncation=500, classes=[-1, 1]),
}
figure = plt.figure(figsize=(9, 5), layout="constrained")
ax = figure.subplots()
for name, machine in machines.items():
    right = []
    for start in range(0, len(y), 100):
        block = slice(start, start + 100)
        if start:
            right.append(machine.score(X[block], y[block]))  # tested first, then learned
        machine.partial_fit(X[block], y[block])
    ax.plot(np.arange(1, len(right) + 1) * 100, right, label=f"{name}: {np.mean(right):.1%}")
ax.axvspan(2_000, 4_000, alpha=0.1, color="gray")
ax.set_xlabel("rows seen; the boundary turns in the grey part")
ax.set_ylabel("accuracy on the next 100 examples")
ax.legend(loc="lower left")
plt.show()
