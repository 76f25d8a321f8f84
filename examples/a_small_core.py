"""Which examples decide? The core of a core vector machine, for a loose and for a tight bound.

    python examples/a_small_core.py a-small-core.png

Of 4,000 examples only those on the rim of the ball count; they are ringed. A tighter bound lets
more of them in, and a pass over all examples proves it.
"""

import sys

import numpy as np
from matplotlib.figure import Figure

from onlinesvm import CoreVectorSVC
from onlinesvm.report import plot_decision


def moons(rows, seed):
    """Two half moons that lean on each other."""
    rng = np.random.default_rng(seed)
    angle, y = rng.uniform(0, np.pi, rows), rng.choice([-1, 1], rows)
    X = np.column_stack([y * np.cos(angle) - 0.5 * y, y * np.sin(angle) - 0.25 * y])
    return X + rng.normal(0, 0.12, X.shape), y


def main(path):
    X, y = moons(4_000, seed=0)
    X_test, y_test = moons(4_000, seed=1)
    figure = Figure(figsize=(12, 5), layout="constrained")
    for ax, tol in zip(figure.subplots(1, 2), (0.5, 1e-3), strict=True):
        model = CoreVectorSVC(C=100, gamma=2, tol=tol).fit(X, y)
        plot_decision(model, X, y, ax=ax)
        passes = f"{model.passes_} pass{'es' if model.passes_ > 1 else ''}"
        ax.set_title(
            f"tol = {tol:g}: {model.score(X_test, y_test):.1%} right, "
            f"a core of {len(model.support_)}, {passes}"
        )
    figure.savefig(path, dpi=110)
    print(path)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "a-small-core.png")
