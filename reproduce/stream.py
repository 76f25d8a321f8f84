"""Streamed Learning: One-Pass SVMs (Rai, Daume & Venkatasubramanian 2009), table 1 and figure 3.

    python -m reproduce stream             # what was measured before is read from results/
    python -m reproduce stream --afresh

The paper states neither C nor how inputs were scaled. Both are chosen here, by one rule for all
sets and for both algorithms together: of every C of a grid, rows as they are, centred or
standardised by the training rows, with and without a constant feature, at their own length or at
length one, the combination with the highest mean accuracy in five-fold cross-validation of the
training rows, averaged over the two algorithms. Each model is one pass and a flush at its end.

Five-fold cross-validation is the textbook's rule, written down before this table was measured by it
and kept whatever came out. Earlier revisions of this file changed their rule (a fifth held out,
other orders, each algorithm by itself) after test figures had been seen; their tables are gone.

Not stated at all are Synthetic A to C ("normally distributed clusters", "about 85 % separability",
where a batch SVM scores 96.5, 66.0 and 93.2): two round clusters stand in, so far apart that the
best possible accuracy is that of the paper's batch SVM. Nor is it said how Waveform's three classes
became two; class 1 against the others comes nearest to the paper's batch SVM. w3a's rows are used
as the paper's sizes say, 44,837 to train: the reverse of the usual direction.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from onlinesvm import StreamSVC
from onlinesvm.datasets import fetch
from onlinesvm.report.style import LINES, figure
from reproduce.journal import Journal

Array = NDArray[Any]
Params = dict[str, Any]
ORDERS = 20  # of the rows, to measure
FOLDS = 5  # of the training rows, to choose by
CS = (1e-2, 1.0, 1e2, 1e4)
SCALINGS = ("as is", "centred", "standardised")
ALGORITHMS = {"algorithm 1": 1, "algorithm 2": 10}  # lookahead
LOOKAHEADS = (1, 2, 3, 5, 10, 20, 50)
FEW_FEATURES = 100  # up to here the ellipsoid has a C and a scaling of its own
PAGE = Path(__file__).parents[1] / "docs" / "papers" / "stream.md"


@dataclass(frozen=True)
class Task:
    """Rows and labels -1, +1 to learn from and to be tested on."""

    X: Array
    y: Array
    X_test: Array
    y_test: Array

    def in_order(self, seed: int) -> tuple[Array, Array]:
        order = np.random.default_rng(seed).permutation(len(self.y))
        return self.X[order], self.y[order]

    def folds(self) -> Iterator[Task]:
        """Each fifth of the training rows once in place of the test rows."""
        X, y = self.in_order(1_000_003)
        for fold in range(FOLDS):
            held_out = np.arange(len(y)) % FOLDS == fold
            yield Task(X[~held_out], y[~held_out], X[held_out], y[held_out])

    def scaled(self, how: str) -> Task:
        """By the training rows."""
        if how == "as is":
            return self
        mean, sd = self.X.mean(axis=0), self.X.std(axis=0)
        sd = np.where(sd > 0, sd, 1.0) if how == "standardised" else 1.0
        return Task((self.X - mean) / sd, self.y, (self.X_test - mean) / sd, self.y_test)


@dataclass(frozen=True)
class Row:
    """A row of table 1: where its data come from, and the paper's accuracies in percent."""

    load: Callable[[], Task]
    batch: float
    algorithm_1: float
    algorithm_2: float
    stated: bool = True  # enough to repeat it


def clusters(dims: int, accuracy: float) -> Task:
    """Two round clusters that nobody separates better than ``accuracy``."""
    rng = np.random.default_rng(dims)
    y = rng.choice([-1, 1], 20_200)
    apart = norm.ppf(accuracy) * np.ones(dims) / np.sqrt(dims)
    X = rng.normal(size=(len(y), dims)) + y[:, None] * apart
    return Task(X[200:], y[200:], X[:200], y[:200])


def waveform() -> Task:
    data = fetch("waveform")
    order = np.random.default_rng(0).permutation(len(data.y_train))
    X, y = np.asarray(data.X_train, float)[order], np.where(data.y_train == 1, 1, -1)[order]
    return Task(X[:4000], y[:4000], X[4000:], y[4000:])


def digits(one: int, other: int) -> Task:
    data = fetch("mnist")

    def pair(X: Any, y: Array) -> tuple[Array, Array]:
        kept = (y == one) | (y == other)
        return np.asarray(X[kept], float) / 255, np.where(y[kept] == one, 1, -1)

    return Task(*pair(data.X_train, data.y_train), *pair(data.X_test, data.y_test))


def ijcnn() -> Task:
    data = fetch("ijcnn1")
    dense = [
        np.asarray(X.todense() if hasattr(X, "todense") else X, float)
        for X in (data.X_train, data.X_test)
    ]
    return Task(dense[0][:35_000], data.y_train[:35_000], dense[1], data.y_test)


def w3a() -> Task:
    data = fetch("w3a")
    dense = [
        np.asarray(X.todense() if hasattr(X, "todense") else X, float)
        for X in (data.X_train, data.X_test)
    ]
    return Task(dense[1], data.y_test, dense[0], data.y_train)


TABLE_1 = {
    "Synthetic A": Row(partial(clusters, 2, 0.965), 96.5, 95.5, 97.0, stated=False),
    "Synthetic B": Row(partial(clusters, 3, 0.660), 66.0, 64.4, 68.5, stated=False),
    "Synthetic C": Row(partial(clusters, 5, 0.932), 93.2, 73.1, 87.5, stated=False),
    "Waveform": Row(waveform, 89.4, 74.3, 78.4, stated=False),
    "MNIST 0v1": Row(partial(digits, 0, 1), 99.52, 99.34, 99.71),
    "MNIST 8v9": Row(partial(digits, 8, 9), 96.57, 84.75, 94.70),
    "IJCNN": Row(ijcnn, 91.64, 85.32, 87.81),
    "w3a": Row(w3a, 98.29, 88.56, 89.06),
}


def accuracy(task: Task, seed: int, **params: Any) -> float:
    """One pass in the order drawn from ``seed``, then the test rows, in percent."""
    model = StreamSVC(classes=[-1, 1], **params).partial_fit(*task.in_order(seed)).flush()
    return 100 * float(model.score(task.X_test, task.y_test))


def choices() -> Iterator[tuple[str, Params]]:
    """How rows are scaled, and what the learner is told."""
    for how in SCALINGS:
        for bias in ("none", "kernel"):
            for normalize in (True, False):
                for C in CS:
                    yield how, {"C": C, "bias": bias, "normalize": normalize}


def choose(task: Task) -> tuple[str, Params]:
    """The rule of the module's first lines."""
    folds = list(task.folds())
    scaled = {how: [fold.scaled(how) for fold in folds] for how in SCALINGS}

    def validation(choice: tuple[str, Params]) -> float:
        how, params = choice
        runs = [
            accuracy(fold, seed, lookahead=L, **params)
            for L in ALGORITHMS.values()
            for seed, fold in enumerate(scaled[how])
        ]
        return float(np.mean(runs))

    return max(choices(), key=validation)


def measure_row(row: Row) -> dict[str, Any]:
    task = row.load()
    how, params = choose(task)
    task = task.scaled(how)
    facts: dict[str, Any] = {"scaling": how, "params": params, "majority": majority(task)}
    for name, L in ALGORITHMS.items():
        facts[name] = [accuracy(task, seed, lookahead=L, **params) for seed in range(ORDERS)]
    return facts


def majority(task: Task) -> float:
    share = 100 * float(np.mean(task.y_test > 0))
    return max(share, 100 - share)


def measure_lookahead(how: str, params: Params, L: int) -> dict[str, Any]:
    task = digits(8, 9).scaled(how)
    return {"accuracies": [accuracy(task, seed, lookahead=L, **params) for seed in range(100)]}


def entry(journal: Journal, name: str) -> dict[str, Any]:
    """Of table 1."""
    return journal.measure(f"table 1, {name}", partial(measure_row, TABLE_1[name]))


def spread(accuracies: list[float]) -> str:
    return f"{np.mean(accuracies):.2f} ± {np.std(accuracies):.2f}"


def settings(facts: dict[str, Any]) -> str:
    params = facts["params"]
    words = [f"{params['C']:g}", facts["scaling"]]
    words += ["constant"] * (params["bias"] == "kernel") + ["unit"] * params["normalize"]
    return ", ".join(words)


def table(journal: Journal) -> str:
    lines = [
        "| data | C, rows | algorithm 1 | paper | algorithm 2, L = 10 | paper | batch |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, row in TABLE_1.items():
        facts = entry(journal, name)
        one, two = (spread(facts[algorithm]) for algorithm in ALGORITHMS)
        lines.append(
            f"| {name}{'' if row.stated else ' *'} | {settings(facts)} "
            f"| {one} | {row.algorithm_1:g} | {two} | {row.algorithm_2:g} | {row.batch:g} |"
        )
    return "\n".join(lines)


def measure_ellipsoid(row: Row, known: dict[str, Any]) -> dict[str, Any]:
    """The ellipsoid of section 6.2, by a choice of its own or, for wide rows, that of the balls."""
    task, ellipsoid = row.load(), {"shape": "ellipsoid"}
    how, params = known["scaling"], known["params"]
    if task.X.shape[1] <= FEW_FEATURES:
        folds = list(task.folds())
        scaled = {how: [fold.scaled(how) for fold in folds] for how in SCALINGS}

        def validation(choice: tuple[str, Params]) -> float:
            how, params = choice
            runs = [accuracy(fold, k, **ellipsoid, **params) for k, fold in enumerate(scaled[how])]
            return float(np.mean(runs))

        how, params = max(choices(), key=validation)
    task = task.scaled(how)
    runs = [accuracy(task, seed, **ellipsoid, **params) for seed in range(ORDERS)]
    return {"scaling": how, "params": params, "ellipsoid": runs}


def ellipsoids(journal: Journal) -> str:
    lines = [
        "| data | algorithm 1 | algorithm 2, L = 10 | ellipsoid | its C, rows |",
        "|---|---|---|---|---|",
    ]
    for name, row in TABLE_1.items():
        balls = entry(journal, name)
        facts = journal.measure(f"shape ellipsoid, {name}", partial(measure_ellipsoid, row, balls))
        runs = [*(balls[algorithm] for algorithm in ALGORITHMS), facts["ellipsoid"]]
        lines.append(f"| {name} | {' | '.join(map(spread, runs))} | {settings(facts)} |")
    return "\n".join(lines)


def write_into(page: Path, name: str, text: str) -> None:
    """What stands between the comments of that name is replaced."""
    place = re.compile(rf"(<!-- reproduce: {name} -->\n).*?(<!-- end -->)", re.DOTALL)
    page.write_text(place.sub(rf"\g<1>\n{text}\n\n\g<2>", page.read_text()))


def figure_3(journal: Journal) -> None:
    """Accuracy against the lookahead over 100 orders of MNIST 8 against 9."""
    chosen = entry(journal, "MNIST 8v9")
    how, params = chosen["scaling"], chosen["params"]
    runs = [
        np.array(
            journal.measure(f"figure 3, L = {L}", partial(measure_lookahead, how, params, L))[
                "accuracies"
            ]
        )
        for L in LOOKAHEADS
    ]
    picture = figure(figsize=(7, 4.2))
    ax = picture.subplots()
    colour, _ = LINES[1]
    for L, accuracies in zip(LOOKAHEADS, runs, strict=True):
        ax.plot([L] * len(accuracies), accuracies, ".", color=colour, alpha=0.25, ms=4, zorder=1)
    ax.errorbar(
        LOOKAHEADS,
        [r.mean() for r in runs],
        [r.std() for r in runs],
        color=LINES[0][0],
        capsize=4,
        marker="o",
        ms=4,
        label="mean and standard deviation, 100 orders",
        zorder=2,
    )
    ax.axhline(94.7, color="gray", lw=1, ls="--", label="the paper's algorithm 2 in table 1")
    ax.set_xscale("log")
    ax.set_xticks(LOOKAHEADS, [str(L) for L in LOOKAHEADS])
    ax.minorticks_off()
    ax.set_xlabel("lookahead L")
    ax.set_ylabel("test accuracy after one pass, %")
    ax.set_title("MNIST 8 against 9: a larger lookahead is better and steadier", loc="left")
    ax.legend(loc="lower right", frameon=False)
    print(journal.picture("figure_3", picture))


def main() -> None:
    parser = argparse.ArgumentParser(prog="reproduce stream", description=__doc__.split("\n")[0])
    parser.add_argument("--afresh", action="store_true", help="forget what was measured before")
    journal = Journal("stream", afresh=parser.parse_args().afresh)
    bodies = ellipsoids(journal)
    write_into(PAGE, "ellipsoids", bodies)
    text = f"{table(journal)}\n\n{bodies}"
    (journal.folder / "stream.md").write_text(text + "\n")
    print(text)
    figure_3(journal)


if __name__ == "__main__":
    main()
