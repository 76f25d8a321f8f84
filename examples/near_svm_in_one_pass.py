"""
Close to a batch SVM after one pass
===================================

:class:`~onlinesvm.LASVC` sees each of 5,000 rows once and can predict at any time. It ends half a
point below ``SVC``, which is trained on all rows at once.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.svm import SVC

from onlinesvm import LASVC
from onlinesvm.datasets import make_checkerboard
from onlinesvm.report import plot_decision

X, y = make_checkerboard(5_000, random_state=0)
X_test, y_test = make_checkerboard(5_000, random_state=1)
batch = SVC(C=10, gamma=4).fit(X, y)
online = LASVC(C=10, gamma=4, reprocess="auto", classes=[-1, 1])

seen, right, held = [], [], []
for start in range(0, len(y), 100):
    online.partial_fit(X[start : start + 100], y[start : start + 100])
    seen.append(online.n_seen_)
    right.append(online.score(X_test, y_test))
    held.append(len(online.support_))

online.finish()
settled = online.score(X_test, y_test)

figure = plt.figure(figsize=(12, 6), layout="constrained")
board, curves = figure.subplots(1, 2)
plot_decision(online, X, y, ax=board)
board.set_title(f"LASVC after one pass and finish(): accuracy {settled:.1%}")
curves.plot(seen, right, color="#222222", label=f"LASVC, {held[-1]:,} support vectors")
curves.plot(seen[-1], settled, "o", color="#222222", label=f"after finish(): {settled:.1%}")
level = batch.score(X_test, y_test)
curves.axhline(
    level,
    color="#D55E00",
    ls="--",
    lw=1.2,
    label=f"SVC on all rows, {batch.n_support_.sum():,} support vectors: {level:.1%}",
)
curves.set_xlabel("rows seen")
curves.set_ylabel("accuracy, clean labels")
curves.set_ylim(min(0.8, np.min(right[3:])), 1)
curves.legend(loc="lower right", frameon=False)
plt.show()
