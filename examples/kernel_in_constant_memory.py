"""
A kernel in constant memory
===========================

Two spirals with one label in ten wrong. 100 Nyström or Fourier features before a linear model match
a kernel model, and their memory stays constant. The kernel perceptron stores every mistake.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.ticker import PercentFormatter

from onlinesvm import FourierFeatures, KernelPerceptron, NystroemFeatures, PegasosSVC

GAMMA, LABELS = 8.0, [-1, 1]


def spirals(rows, seed):
    """Two spirals around each other; one label in ten is wrong."""
    rng = np.random.default_rng(seed)
    turn, y = np.sqrt(rng.uniform(0.02, 1, rows)) * 4 * np.pi, rng.choice(LABELS, rows)
    X = (y * turn / (4 * np.pi))[:, None] * np.column_stack([np.cos(turn), np.sin(turn)])
    return 2 * X + rng.normal(0, 0.05, X.shape), np.where(rng.random(rows) < 0.1, -y, y)


class Behind:
    """A linear machine behind features that learn from the same stream."""

    def __init__(self, features):
        self.features, self.machine = features, PegasosSVC(1e-4, classes=LABELS)

    def partial_fit(self, X, y):
        self.machine.partial_fit(self.features.partial_fit(X).transform(X), y)

    def score(self, X, y):
        return self.machine.score(self.features.transform(X), y)

    @property
    def nbytes_(self):
        return self.features.nbytes_ + self.machine.nbytes_


X, y = spirals(20_000, seed=0)
machines = {
    "100 landmarks": Behind(NystroemFeatures(n_components=100, gamma=GAMMA)),
    "100 waves": Behind(FourierFeatures(n_components=100, gamma=GAMMA)),
    "kernel perceptron": KernelPerceptron(gamma=GAMMA, classes=LABELS),
}
figure = plt.figure(figsize=(12, 4.5), layout="constrained")
accuracy, memory = figure.subplots(1, 2)
for name, machine in machines.items():
    right, kilobytes = [], []
    for start in range(0, len(y), 100):
        part = slice(start, start + 100)
        if start:
            right.append(machine.score(X[part], y[part]))
        machine.partial_fit(X[part], y[part])
        kilobytes.append(machine.nbytes_ / 1e3)
    smooth = np.convolve(right, np.full(10, 0.1), mode="valid")
    seen = 100 * np.arange(11, len(right) + 2)
    accuracy.plot(seen, smooth, label=f"{name}: {np.mean(right[-50:]):.1%} at the end")
    memory.plot(100 * np.arange(1, len(kilobytes) + 1), kilobytes, label=name)
accuracy.set(xlabel="rows seen", ylabel="accuracy on the next 1,000")
accuracy.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
memory.set(xlabel="rows seen", ylabel="kilobytes", ylim=0)
accuracy.legend(loc="lower right")
memory.legend(loc="lower right")
plt.show()
