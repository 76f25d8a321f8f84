"""Who follows a stream that turns round? One step per example, and what remembers too well.

    python examples/drifting_stream.py drifting-stream.png

The boundary between two classes turns by half a circle in the middle of the stream. An average
over the whole past, as the perceptron takes it, stays behind; the newest weights of Pegasos and of
SGD turn along, and so does NORMA, with a kernel and never more than 500 examples.
"""

import sys

import numpy as np
from matplotlib.figure import Figure

from onlinesvm import SGDSVC, KernelPerceptron, NormaSVC, PegasosSVC


def turning_stream(rows, seed):
    """Points of a plane; the line that separates them turns between one and two thirds."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, 2))
    angle = np.pi * np.clip(3 * np.arange(rows) / rows - 1, 0, 1)
    y = np.where(X[:, 0] * np.cos(angle) + X[:, 1] * np.sin(angle) > 0, 1, -1)
    return X, y


def main(path):
    X, y = turning_stream(6_000, seed=0)
    machines = {
        "averaged perceptron": KernelPerceptron(kernel="linear", classes=[-1, 1]),
        "Pegasos": PegasosSVC(1e-3, classes=[-1, 1]),
        "SGD, constant step": SGDSVC(0.01, learning_rate="constant", classes=[-1, 1]),
        "NORMA, 500 examples": NormaSVC(truncation=500, classes=[-1, 1]),
    }
    figure = Figure(figsize=(9, 5), layout="constrained")
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
    ax.set_xlabel("examples seen; the boundary turns where the ground is grey")
    ax.set_ylabel("right on the next 100 examples")
    ax.legend(loc="lower left")
    figure.savefig(path, dpi=110)
    print(path)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "drifting-stream.png")
