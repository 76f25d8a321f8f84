"""
Regression residuals and novelty scores
=======================================

Left and middle: a regressor on a stream whose values shift by one after two thirds; its residuals
show the shift and the recovery. Right: the scores of a novelty detector on rows with a few
outliers.
"""

import matplotlib.pyplot as plt
import numpy as np

from onlinesvm import NormaOneClassSVM, PassiveAggressiveRegressor
from onlinesvm.report import plot_novelty, plot_regression, plot_residuals

EPSILON, SHIFT = 0.2, 4_000


def shifting_stream(rows, seed):
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.normal(size=(rows, 2)), np.ones(rows)])
    y = X @ [1.0, -0.5, 0.0] + (np.arange(rows) >= SHIFT) + 0.15 * rng.normal(size=rows)
    return X, y


X, y = shifting_stream(6_000, seed=0)
model = PassiveAggressiveRegressor(C=0.005, epsilon=EPSILON)
said = []
for x, value in zip(X, y, strict=True):
    said.append(model.predict_one(x))
    model.learn_one(x, value)

rng = np.random.default_rng(1)
odd = rng.random(4_000) < 0.03
rows = rng.normal(size=(4_000, 2)) * np.where(odd, 4.0, 0.7)[:, None]
detector = NormaOneClassSVM(gamma=0.5, nu=0.05).partial_fit(rows[:2_000])

figure = plt.figure(figsize=(13.5, 4.4), layout="constrained")
left, middle, right = figure.subplots(1, 3)
plot_regression(y[500:], said[500:], epsilon=EPSILON, ax=left)
plot_residuals(y, said, epsilon=EPSILON, ax=middle)
plot_novelty(detector.decision_function(rows[2_000:]), odd[2_000:], ax=right)
middle.set_ylim(-2, 2)
print(f"{left.get_title()}; {right.get_title()}")
plt.show()
