"""An endless stream with wrong labels, on 100 examples: what a budget holds, and what a ramp saves.

    python examples/endless_noise.py endless-noise.png

A board of sixteen squares, 15 % of the labels wrong. Two machines keep 100 examples each whatever
comes; the ramp loss lets go of what lies far on the wrong side, the hinge loss never does. The
average of a kernel perceptron is a point better than either, but it keeps every mistake, and with
such labels they never end. All are tested on the next 1,000 examples, by their true labels, before
they learn them.
"""

import sys

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from onlinesvm import BudgetedRampSVC, BudgetedSVC, KernelPerceptron

LABELS, COLOURS = [-1, 1], ["#009E73", "#222222", "#B0457F"]


def board(rows, seed):
    """Places on a checkerboard, their true labels, and what one is told."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(0, 4, size=(rows, 2)).astype(np.float32)
    truth = np.where(np.floor(X).sum(axis=1) % 2, 1, -1)
    return X, truth, np.where(rng.random(rows) < 0.15, -truth, truth)


def main(path):
    X, truth, told = board(60_000, seed=0)
    machines = {
        "BudgetedRampSVC(100)": BudgetedRampSVC(100, gamma=2.0, classes=LABELS),
        "BudgetedSVC(100)": BudgetedSVC(100, gamma=2.0, classes=LABELS),
        "KernelPerceptron": KernelPerceptron(gamma=2.0, classes=LABELS),
    }
    figure = Figure(figsize=(12, 4.6), layout="constrained")
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
    accuracy.set_title("right on the next 1,000", loc="left")
    accuracy.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
    accuracy.legend(frameon=False, loc="lower right")
    memory.set_title("kilobytes", loc="left")
    memory.set_yscale("log")
    memory.yaxis.set_major_formatter("{x:,g}")
    for ax in (accuracy, memory):
        ax.set_xlabel("examples seen")
        ax.xaxis.set_major_formatter("{x:,.0f}")
        ax.spines[["top", "right"]].set_visible(False)
        ax.grid(axis="y", color="#E5E5E5", linewidth=0.8)
    figure.savefig(path, dpi=110)
    print(path)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "endless-noise.png")
