"""
Find wrong labels
=================

:func:`~onlinesvm.label_issues.find_label_issues` ranks rows by how clearly models that did not
learn them contradict their labels. Here one label in ten is wrong.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

from onlinesvm.label_issues import find_label_issues

X, truth = make_moons(400, noise=0.2, random_state=0)
wrong = np.random.default_rng(0).random(400) < 0.1
given = np.where(wrong, 1 - truth, truth)
issues = find_label_issues(X, given)
worst = issues.rows[: wrong.sum()]

figure = plt.figure(figsize=(13, 5), layout="constrained")
left, right = figure.subplots(1, 2)
left.scatter(*X.T, c=given, cmap="coolwarm", s=16)
left.scatter(*X[worst].T, s=110, facecolors="none", edgecolors="black")
left.set_title(f"The {wrong.sum()} most suspicious labels, circled")
found = np.cumsum(wrong[issues.rows])
right.plot(np.arange(1, 401), found / wrong.sum(), label="find_label_issues")
right.plot([1, 400], [0, 1], color="#999999", ls="--", label="in any order")
right.set(xlabel="rows looked at", ylabel="share of wrong labels found", title="What looking finds")
right.legend()
print(f"{wrong[worst].mean():.0%} of them are wrong")
plt.show()
