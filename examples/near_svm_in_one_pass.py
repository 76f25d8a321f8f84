"""One pass of LASVM against a batch SVM: how near does it come, and how soon?

    python examples/near_svm_in_one_pass.py near-svm-in-one-pass.png

A board of 16 fields. The batch machine sees all 5,000 examples at once; LASVC sees each once, keeps
those it needs, and could have been asked at any time. ``finish`` settles what it holds at the end.
"""

import sys

import numpy as np
from matplotlib.figure import Figure
from sklearn.svm import SVC

from onlinesvm import LASVC
from onlinesvm.datasets import make_checkerboard
from onlinesvm.report import plot_decision


def main(path):
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

    figure = Figure(figsize=(12, 6), layout="constrained")
    board, curves = figure.subplots(1, 2)
    plot_decision(online, X, y, ax=board)
    board.set_title(f"LASVC after one pass and finish(): {settled:.1%} right")
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
    curves.set_xlabel("examples seen")
    curves.set_ylabel("right on clean labels")
    curves.set_ylim(min(0.8, np.min(right[3:])), 1)
    curves.legend(loc="lower right", frameon=False)
    figure.savefig(path, dpi=110)
    print(path)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "near-svm-in-one-pass.png")
