"""
Is 80 % accuracy good?
======================

Labels come in runs, and the classes swap sides half way. A baseline that repeats the last label is
right nine times in ten. Accuracy makes both models look good; kappa against that baseline shows
that only the model which also sees the last label has learned anything beyond it.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from onlinesvm import SGDSVC
from onlinesvm.report import plot_history
from onlinesvm.stream import evaluate, lessons

DRIFT = 6_000


def stream_of_runs(rows, seed):
    """Two measurements of a class and the label before; the classes swap sides at `DRIFT`."""
    rng = np.random.default_rng(seed)
    y = np.where(np.cumsum(rng.random(rows) < 0.1) % 2, 1, -1)
    side = np.where(np.arange(rows) < DRIFT, 1, -1)
    measured = rng.normal(size=(rows, 2)) + (side * y)[:, None] * [0.8, 0.5]
    return np.column_stack([measured, np.roll(y, 1)]), y


def measurements(X):
    return X[:, :2]


def sgd():
    """The newest weights, which follow a stream; their mean would stay behind."""
    return SGDSVC(0.01, learning_rate="constant", eta0=0.02, average=False)


X, y = stream_of_runs(12_000, seed=0)
models = {
    "measurements": make_pipeline(FunctionTransformer(measurements), sgd()),
    "and the label before": sgd(),
}
result = evaluate(models, lessons(X, y, size=20), classes=[-1, 1], every=200, window=1000)
figure = plt.figure(figsize=(11, 4.4), layout="constrained")
left, right = figure.subplots(1, 2)
plot_history(result, "window_accuracy", drifts=[DRIFT], ax=left)
plot_history(result, "window_kappa_temporal", drifts=[DRIFT], ax=right)
left.set_ylabel("accuracy, last 1,000")
right.set_ylabel("kappa against no-change, last 1,000")
print(result)
plt.show()
