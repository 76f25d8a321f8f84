"""
A few rows decide the model
===========================

:class:`~onlinesvm.CoreVectorSVC` trains on a small core of the rows, which are circled. A smaller
``tol`` takes a larger core and one pass over all rows to verify the bound.
"""

import matplotlib.pyplot as plt
import numpy as np

from onlinesvm import CoreVectorSVC
from onlinesvm.report import plot_decision


def moons(rows, seed):
    """Two half moons that lean on each other."""
    rng = np.random.default_rng(seed)
    angle, y = rng.uniform(0, np.pi, rows), rng.choice([-1, 1], rows)
    X = np.column_stack([y * np.cos(angle) - 0.5 * y, y * np.sin(angle) - 0.25 * y])
    return X + rng.normal(0, 0.12, X.shape), y


X, y = moons(4_000, seed=0)
X_test, y_test = moons(4_000, seed=1)
figure = plt.figure(figsize=(12, 5), layout="constrained")
for ax, tol in zip(figure.subplots(1, 2), (0.5, 1e-3), strict=True):
    model = CoreVectorSVC(C=100, gamma=2, tol=tol).fit(X, y)
    plot_decision(model, X, y, ax=ax)
    passes = f"{model.passes_} pass{'es' if model.passes_ > 1 else ''}"
    ax.set_title(
        f"tol = {tol:g}: {model.score(X_test, y_test):.1%} right, "
        f"a core of {len(model.support_)}, {passes}"
    )
plt.show()
