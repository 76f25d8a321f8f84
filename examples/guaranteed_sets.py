"""
Intervals and sets with a guarantee
===================================

:class:`~onlinesvm.FullConformalSVR` gives intervals and :class:`~onlinesvm.FullConformalSVC` sets
of labels that hold the truth with 90 % probability, without a calibration split.
"""

import matplotlib.pyplot as plt
import numpy as np

from onlinesvm import FullConformalSVC, FullConformalSVR, IncrementalSVC, PokerSVR

rng = np.random.default_rng(0)
x = rng.uniform(-3, 3, (160, 1))
y = np.sin(2 * x[:, 0]) + rng.normal(0, 0.2, 160)
curve = FullConformalSVR(PokerSVR(C=5, gamma=0.7)).fit(x[:120], y[:120])
grid = np.linspace(-3, 3, 60)[:, None]
low, high = curve.predict_interval(grid, alpha=0.1).T

X = rng.normal(size=(400, 2)) * [1.2, 1.0]
labels = np.where(X[:, 0] + rng.normal(0, 0.5, 400) > 0, "right", "left")
model = FullConformalSVC(IncrementalSVC(gamma=0.3)).fit(X[:160], labels[:160])
sets = model.predict_set(X[160:], alpha=0.1)

figure = plt.figure(figsize=(13, 5), layout="constrained")
left, right = figure.subplots(1, 2)
left.fill_between(grid[:, 0], low, high, color="#56B4E9", alpha=0.4, lw=0, label="90 % interval")
left.plot(grid[:, 0], curve.predict(grid), color="#0072B2", label="prediction")
left.scatter(x[120:], y[120:], s=14, color="#222222", label="new rows")
left.set_title("FullConformalSVR")
left.legend()
names = {0: "no label", 1: "one label", 2: "both labels"}
for size, colour in {0: "#CC79A7", 1: "#009E73", 2: "#E69F00"}.items():
    those = sets.sum(axis=1) == size
    right.scatter(*X[160:][those].T, s=30, color=colour, label=names[size])
right.scatter(*X[:160].T, s=6, color="#999999", label="rows learned", zorder=0)
right.set_title("FullConformalSVC")
right.legend()
held = sets[np.arange(240), np.searchsorted(model.classes_, labels[160:])]
print(f"{held.mean():.0%} of the new labels are in their set")
plt.show()
