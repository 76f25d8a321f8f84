"""
An endless noisy stream in 100 rows
===================================

A checkerboard with 15 % wrong labels. Two models keep at most 100 rows. With the same budget,
the ramp loss (:class:`~onlinesvm.BudgetedRampSVC`) is several points more accurate than the hinge
loss (:class:`~onlinesvm.BudgetedSVC`). The kernel perceptron is a point better than either, but its
memory grows with each mistake.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.ticker import PercentFormatter

from onlinesvm import BudgetedRampSVC, BudgetedSVC, KernelPerceptron

LABELS, COLOURS = [-1, 1], ["#009E73", "#222222", "#B0457F"]


def board(rows, seed):
    """Places on a checkerboard, their true labels, and what one is told."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(0, 4, size=(rows, 2)).astype(np.float32)
    truth = np.where(np.floor(X).sum(axis=1) % 2, 1, -1)
    return X, truth, np.where(rng.random(rows) < 0.15, -truth, truth)


X, truth, told = board(60_000, seed=0)
machines = {
    "BudgetedRampSVC(100)": BudgetedRampSVC(100, gamma=2.0, classes=LABELS),
    "BudgetedSVC(100)": BudgetedSVC(100, gamma=2.0, classes=LABELS),
    "KernelPerceptron": KernelPerceptron(gamma=2.0, classes=LABELS),
}
figure = plt.figure(figsize=(12, 4.6), layout="constrained")
accuracy, memory = figure.subplots(1, 2)
for (name, machine), colour in zip(machines.items(), COLOURS, strict=True):
    right, kilobytes = [], []
    for start in range(0, len(told), 1_000):
        part = slice(start, start + 1_000)
        if start:
            right.append(machine.score(X[part], truth[part]))
        machine.partial_fit(X[part], told[part])
        kilobytes.append(machine.nbytes_ / 1e3)
    seen = 1_000 * np.arange(1, len(kilobytes) + 1)
    end = f"{name}: {np.mean(right[-10:]):.1%} in the end"
    accuracy.plot(seen[:-1], right, color=colour, linewidth=1.6, label=end)
    memory.plot(seen, kilobytes, color=colour, linewidth=1.6)
    look = {"xytext": (0, 5), "textcoords": "offset points", "ha": "right", "color": colour}
    memory.annotate(f"{name}: {kilobytes[-1]:,.0f} kB", (seen[-1], kilobytes[-1]), **look)
accuracy.set_title("accuracy on the next 1,000", loc="left")
accuracy.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
accuracy.legend(frameon=False, loc="lower right")
memory.set_title("kilobytes", loc="left")
memory.set_yscale("log")
memory.yaxis.set_major_formatter("{x:,g}")
for ax in (accuracy, memory):
    ax.set_xlabel("rows seen")
    ax.xaxis.set_major_formatter("{x:,.0f}")
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(axis="y", color="#E5E5E5", linewidth=0.8)
plt.show()
