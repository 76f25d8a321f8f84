"""
Merge models of four parts
==========================

Four :class:`~onlinesvm.StreamSVC` learn a quarter of the stream each and are merged. The merged
model is better than one model of the whole stream, and a lookahead makes both more stable. Each dot
is one random order of the stream.
"""

import matplotlib.pyplot as plt
import numpy as np

from onlinesvm import StreamSVC

PARTS = 4


def stream(rows, seed):
    """Two clouds in twenty dimensions, overlapping a little."""
    rng = np.random.default_rng(seed)
    y = rng.choice([-1, 1], rows)
    return rng.normal(size=(rows, 20)) + 0.4 * y[:, None], y


def merged(X, y, lookahead):
    """A model of each part, made anywhere; then one of the whole."""
    models = [
        StreamSVC(lookahead=lookahead, max_iter=1).fit(X[part], y[part])
        for part in np.array_split(np.arange(len(y)), PARTS)
    ]
    for other in models[1:]:
        models[0].merge(other)
    return models[0]


X, y = stream(20_000, seed=0)
X_test, y_test = stream(20_000, seed=1)
ways = {
    "one machine": lambda X, y, L: StreamSVC(lookahead=L, max_iter=1).fit(X, y),
    f"{PARTS} machines, merged": merged,
}
lookaheads = (1, 2, 5, 10, 20)
figure = plt.figure(figsize=(9, 5), layout="constrained")
ax = figure.subplots()
for shift, (name, learn), colour in zip((-1, 1), ways.items(), ("#222222", "#009E73"), strict=True):
    scores = np.array(
        [
            [learn(X[order], y[order], L).score(X_test, y_test) for L in lookaheads]
            for order in map(np.random.default_rng(2).permutation, [len(y)] * 15)
        ]
    )
    places = np.arange(len(lookaheads)) + 0.1 * shift
    ax.plot(places, scores.T, ".", color=colour, alpha=0.35)
    ax.plot(places, scores.mean(axis=0), "-o", color=colour, ms=5, label=name)
ax.set_xticks(range(len(lookaheads)), map(str, lookaheads))
ax.set_xlabel("lookahead")
ax.set_ylabel("accuracy after one pass")
ax.set_title("StreamSVC: models of four parts, merged, beat one of the whole stream", loc="left")
ax.legend(loc="lower right", frameon=False)
plt.show()
