"""
Remove a customer's rows
========================

One customer wrote 12 of 300 rows. :class:`~onlinesvm.IncrementalSVC` unlearns them; a model trained
from scratch on the other 288 rows gives the same decision function.
"""

import matplotlib.pyplot as plt
import numpy as np

from onlinesvm import IncrementalSVC
from onlinesvm.report import plot_decision


def records(rows, *, seed):
    """Two habits that overlap, with one customer whose records stand out."""
    rng = np.random.default_rng(seed)
    y = rng.choice(["leaves", "returns"], rows)
    X = rng.normal(size=(rows, 2)) + np.where(y == "returns", 0.9, -0.9)[:, None]
    customer = np.sort(rng.choice(rows, 12, replace=False))
    X[customer] = rng.normal((-1.5, 1.8), 0.35, (12, 2))
    y[customer] = "returns"
    return X, y, customer


X, y, customer = records(300, seed=3)
others = np.setdiff1d(np.arange(len(y)), customer)

model = IncrementalSVC(C=5, gamma=0.4).fit(X, y)
figure = plt.figure(figsize=(16, 6.7), layout="constrained")
before, after, retrained = figure.subplots(1, 3)
plot_decision(model, X, y, ax=before)
before.scatter(*X[customer].T, s=160, facecolors="none", edgecolors="black", linewidths=1.4)
before.set_title(f"Before: 300 records, {len(customer)} of them from one customer (circled)")

proof = model.unlearn(customer, certificate=True)
plot_decision(model, X[others], y[others], ax=after)
after.set_title(f"After unlearning them: KKT residual {proof['kkt_residual']:.0e}")

fresh = IncrementalSVC(C=5, gamma=0.4).fit(X[others], y[others])
plot_decision(fresh, X[others], y[others], ax=retrained)
apart = np.abs(model.decision_function(X) - fresh.decision_function(X)).max()
retrained.set_title(f"Retrained without them: scores differ by {apart:.0e} at most")

for ax in (after, retrained):
    ax.set(xlim=before.get_xlim(), ylim=before.get_ylim())
for name, value in proof.items():
    print(f"{name}: {value}")
plt.show()
