"""
What each row is worth
======================

Shapley values by :func:`~onlinesvm.value.data_values`: rows with a wrong label are worth least.
Removed worst first, the rows that are left give a better model; removed best first, a worse one.
"""

import matplotlib.pyplot as plt
import numpy as np

from onlinesvm import IncrementalSVC
from onlinesvm.value import data_values, removal_curve

rng = np.random.default_rng(0)
X = rng.normal(size=(700, 2))
y = np.where(X[:, 0] * X[:, 1] > 0, 1, -1)
wrong = rng.random(100) < 0.12
y[:100][wrong] *= -1
train, valid, test = (X[:100], y[:100]), (X[100:300], y[100:300]), (X[300:], y[300:])

svm = IncrementalSVC(C=10, gamma=0.5)
found = data_values(svm, *train, *valid, n_rounds=30)
order = found.order()

figure = plt.figure(figsize=(13, 5), layout="constrained")
left, right = figure.subplots(1, 2)
drawn = left.scatter(*train[0].T, c=found.values, cmap="coolwarm_r", s=40)
left.scatter(*train[0][wrong].T, s=140, facecolors="none", edgecolors="black")
left.set_title("Value of each row; wrong labels circled")
figure.colorbar(drawn, ax=left)
for name, which in (
    ("worst first", order),
    ("best first", order[::-1]),
    ("at random", rng.permutation(100)),
):
    right.plot(*removal_curve(svm, *train, *test, which), label=name)
right.set(xlabel="share of rows removed", ylabel="test accuracy", title="Removal curves")
right.legend()
print(
    f"{wrong[order[: wrong.sum()]].mean():.0%} of the {wrong.sum()} least valuable rows are wrong"
)
plt.show()
