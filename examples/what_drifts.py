"""Three streams that drift, in their own order, beside the two predictors that know nothing.

    python examples/what_drifts.py what-drifts.png

Electricity: does the price rise? Weather: does it rain, over fifty years? Mail: is it spam? Every
row is predicted before it is learned. "As before" says the last label again; where labels come in
long runs, as prices do, it is hard to beat: none of the learners does, until it is told the last
label as one more feature. The data is looked for where `onlinesvm.datasets.fetch` does; of river
(if it is installed) a forest that adapts, of three trees for the sake of time, runs beside.
"""

import sys
from collections import Counter

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from onlinesvm import BudgetedSVC, NormaSVC, PassiveAggressiveClassifier, PegasosSVC
from onlinesvm.datasets import fetch, make_rotating_boundary

try:
    from river.forest import ARFClassifier
    from river.linear_model import LogisticRegression
except ImportError:
    ARFClassifier = LogisticRegression = None

BOTH = {"classes": [0, 1]}
COLOURS = ["#009E73", "#0072B2", "#B0457F"]


class AsBefore:
    """Says the last label again."""

    last = 0

    def predict_one(self, x):
        return self.last

    def learn_one(self, x, y):
        self.last = y


class Majority:
    """Says the most frequent label so far."""

    def __init__(self):
        self.seen = Counter([0])

    def predict_one(self, x):
        return self.seen.most_common(1)[0][0]

    def learn_one(self, x, y):
        self.seen[y] += 1


class ToldTheLast:
    """A learner with one more feature: the last label."""

    def __init__(self, learner):
        self.learner, self.last = learner, 0.0

    def predict_one(self, x):
        return self.learner.predict_one(np.append(x, self.last))

    def learn_one(self, x, y):
        self.learner.learn_one(np.append(x, self.last), y)
        self.last = 2.0 * y - 1.0


class River:
    """A learner of river, which takes dictionaries."""

    def __init__(self, learner):
        self.learner = learner

    def predict_one(self, x):
        return self.learner.predict_one(x if isinstance(x, dict) else dict(enumerate(x.tolist())))

    def learn_one(self, x, y):
        self.learner.learn_one(x if isinstance(x, dict) else dict(enumerate(x.tolist())), y)


def standardised(X):
    """Every row by the mean and the spread of the rows up to it."""
    count = np.arange(1, len(X) + 1)[:, None]
    mean = np.cumsum(X, axis=0) / count
    spread = np.sqrt(np.maximum(np.cumsum(X**2, axis=0) / count - mean**2, 1e-6))
    return list((X - mean) / spread)


def electricity():
    X, y, *_ = fetch("stream_electricity")
    X = np.delete(
        np.asarray(X, dtype=float), [0, 3], axis=1
    )  # its source says: not date, nor nswprice
    linear = {"C": 0.01, "average": False, **BOTH}
    return (
        "Electricity: does the price rise?",
        standardised(X),
        y,
        {
            "PassiveAggressive": PassiveAggressiveClassifier(**linear | {"C": 0.1}),
            "NORMA, 500 examples": NormaSVC(truncation=500, gamma=1.3, eta0=0.3, **BOTH),
            "PA, told the last label": ToldTheLast(PassiveAggressiveClassifier(**linear)),
        },
        forest(),
    )


def weather():
    X, y, *_ = fetch("stream_weather")
    return (
        "Weather: does it rain?",
        standardised(np.asarray(X, dtype=float)),
        y,
        {
            "PassiveAggressive": PassiveAggressiveClassifier(0.01, average=False, **BOTH),
            "BudgetedSVC, 300 examples": BudgetedSVC(300, gamma=0.25, alpha=1e-3, **BOTH),
        },
        forest(),
    )


def mail():
    X, y, *_ = fetch("stream_spam")
    X = X.tocsr()
    words = [X.indices[a:b].tolist() for a, b in zip(X.indptr[:-1], X.indptr[1:], strict=True)]
    return (
        "Mail: is it spam?",
        [{f"word {word}": 1.0 for word in row} for row in words],
        y,
        {
            "PassiveAggressive": PassiveAggressiveClassifier(0.1, average=False, **BOTH),
            "Pegasos": PegasosSVC(1e-4, average=False, **BOTH),
        },
        {"river: LogisticRegression": River(LogisticRegression())} if LogisticRegression else {},
    )


def generated():
    X, y = make_rotating_boundary(10_000, random_state=0)
    machine = BudgetedSVC(300, gamma=0.5, **BOTH)
    return "A boundary that turns", list(X), y > 0, {"BudgetedSVC": machine}, forest()


def forest():
    return {"river: forest, 3 trees": River(ARFClassifier(3, seed=0))} if ARFClassifier else {}


def streams():
    """Those that are at hand; one that is generated where none is."""
    found = []
    for stream in (electricity, weather, mail):
        try:
            found.append(stream())
        except ValueError as missing:
            print(f"{stream.__name__}: left out, {missing}")
    return found or [generated()]


def test_then_train(learner, rows, y):
    right = []
    for x, label in zip(rows, y, strict=True):
        right.append(learner.predict_one(x) == label)
        learner.learn_one(x, label)
    return np.array(right)


def main(path):
    shown = streams()
    figure = Figure(figsize=(5.6 * len(shown), 5.4), layout="constrained")
    for ax, (title, rows, y, ours, peers) in zip(
        figure.subplots(1, len(shown), squeeze=False)[0], shown, strict=True
    ):
        y = [int(label) for label in y]
        looks = dict(zip(ours, [{"color": colour, "lw": 1.8} for colour in COLOURS], strict=False))
        looks |= {name: {"color": "#E69F00", "lw": 1.6} for name in peers}
        ignorant = {"as before": AsBefore(), "majority": Majority()}
        looks |= {
            name: {"color": "#888888", "lw": 1.2, "ls": dash}
            for name, dash in zip(ignorant, ("--", ":"), strict=True)
        }
        lines = []
        for name, learner in (ours | peers | ignorant).items():
            right = test_then_train(learner, rows, y)
            parts = np.array_split(right, 40)
            seen = np.cumsum([len(part) for part in parts])
            (line,) = ax.plot(seen, [part.mean() for part in parts], **looks[name])
            line.set_label(f"{name}: {right.mean():.1%}")
            lines.append((right.mean(), line))
        ax.set_title(title, loc="left")
        ax.set_xlabel("examples seen")
        ax.xaxis.set_major_formatter("{x:,.0f}")
        ax.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
        ax.spines[["top", "right"]].set_visible(False)
        ax.grid(axis="y", color="#E5E5E5", linewidth=0.8)
        best_first = [line for _, line in sorted(lines, key=lambda pair: -pair[0])]
        ax.legend(handles=best_first, frameon=False, loc="upper left", bbox_to_anchor=(0, -0.13))
    figure.axes[0].set_ylabel("right, of a fortieth of the stream")
    figure.savefig(path, dpi=110)
    print(path)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "what-drifts.png")
