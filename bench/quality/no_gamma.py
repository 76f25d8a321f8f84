"""No gamma to choose: a mixture of bandwidths beside the best single one, and beside others.

The protocol, fixed before anything was measured:

- Contests: the 15 sets and 4 streams of bench/quality/contests.py, each cut to its first `ROWS`
  rows of learning, in the order that file gives them. Everybody is tested, then trained, `CHUNK`
  rows at a time. The first tenth does not count, for the tuned rivals choose their settings on it.
- Ours is `MultiKernelClassifier()` with untouched defaults but for the seed, the mean of `SEEDS`.
  Its defaults are chosen on problems of bench/quality/wide.py and on scikit-learn's own sets, never
  on a contest.
- A single bandwidth is the same class with `n_bandwidths=1` at one gamma of the ladder that the
  mixture had in the end, with the same seeds; the best of all of them in hindsight is the bar.
- Rivals: Nystroem and SGDClassifier (its landmarks are rows of the first tenth, 500 of them; gamma,
  alpha and averaging are the best of 18 points on the first tenth); river's PAClassifier and
  ALMAClassifier (likewise tuned), LogisticRegression behind StandardScaler, HoeffdingAdaptiveTree
  and ARFClassifier with their defaults, the last three on dense rows only.
- Whoever has used `LIMIT` seconds of the processor stops, and is compared on the rows it reached.
- The error of a test is twice the standard error of the mean paired difference, row by row.

Bars: accuracy at least that of the best single bandwidth less .5 points on each contest, and not
below it on the four streams; no rival ahead by more than the error of the test on more than two
contests; time per example at most 2.5 times one bandwidth of the same size (bench/speed).

Streams in order (electricity, weather, mail): also beside the last label said again, and with the
last label as one more feature, which must be ahead of it.

python -m bench no_gamma                    mixture and single bandwidths on all contests
python -m bench no_gamma --rivals           the rivals, too
python -m bench no_gamma --only adult usps  these contests
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import product
from time import process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import SGDClassifier
from threadpoolctl import threadpool_limits

from bench.common import RESULTS
from bench.quality.contests import SETS, STREAMS, TEXTS, Contest, contest, ignorant
from bench.quality.rivals import River
from bench.tables import table
from onlinesvm import MultiKernelClassifier
from reproduce.journal import Journal

ROWS, CHUNK, SEEDS, LIMIT = 10_000, 10, (0, 1, 2), 60
GAMMAS, ALPHAS, LANDMARKS = (0.5, 2.0, 8.0), (1e-5, 1e-4, 1e-3), 500
RUNGS = 8
QUICK_ROWS = 300

Hits = NDArray[np.bool_]
Facts = dict[str, Any]


# --- what is learned, and by whom ----------------------------------------------------------------


def stream(name: str, rows: int = ROWS) -> Contest:
    """The rows to learn of a contest, as a stream."""
    one = contest(name)
    return replace(one, X=one.X[:rows], y=one.y[:rows], X_test=None, y_test=None)


def with_last_label(one: Contest) -> Contest:
    """The label of the row before as one more feature, on the scale of the others."""
    last = np.concatenate([[0], one.y[:-1]])[:, None] * np.ones(1)
    stack = sparse.hstack if sparse.issparse(one.X) else np.hstack
    joined = stack([one.X, last])
    return replace(one, X=sparse.csr_matrix(joined) if sparse.issparse(one.X) else joined)


def played(model: Any, one: Contest, limit: float = LIMIT) -> tuple[Hits, float]:
    """Which rows were right, test then train, as far as the seconds reach; and the seconds."""
    right = np.zeros(len(one.y), dtype=bool)
    X = model.prepare(one.X) if hasattr(model, "prepare") else one.X
    began = process_time()
    for start in range(0, len(one.y), CHUNK):
        rows = slice(start, start + CHUNK)
        if start:
            right[rows] = model.predict(X[rows]) == one.y[rows]
        model.partial_fit(X[rows], one.y[rows], classes=one.classes)
        if process_time() - began > limit:
            return right[: start + CHUNK], process_time() - began
    return right, process_time() - began


def ours(seed: int, **options: Any) -> MultiKernelClassifier:
    return MultiKernelClassifier(random_state=seed, **options)


class Behind:
    """A linear machine behind landmarks of the first tenth."""

    def __init__(self, one: Contest, gamma: float, **options: Any) -> None:
        first = one.X[: len(one.y) // 10]
        n = min(LANDMARKS, first.shape[0])
        self.features = Nystroem(gamma=gamma * one.unit, n_components=n, random_state=0).fit(first)
        self.machine = SGDClassifier(random_state=0, **options)

    def partial_fit(self, X: Any, y: Any, classes: Any) -> None:
        self.machine.partial_fit(self.features.transform(X), y, classes=classes)

    def predict(self, X: Any) -> Any:
        return self.machine.predict(self.features.transform(X))


def rivers(name: str, one: Contest, **options: Any) -> River:
    from river import forest, linear_model, multiclass, preprocessing, tree

    model: Any
    if name == "LogisticRegression":
        model = preprocessing.StandardScaler() | linear_model.LogisticRegression()
    elif name == "HoeffdingAdaptiveTree":
        return River(tree.HoeffdingAdaptiveTreeClassifier(seed=0))
    elif name == "ARFClassifier":
        return River(forest.ARFClassifier(seed=0))
    else:
        model = getattr(linear_model, name)(**options)
    return River(model if len(one.classes) == 2 else multiclass.OneVsRestClassifier(model))


def rivals(one: Contest) -> Iterator[tuple[str, list[Callable[[], Any]]]]:
    """By name, each with the points it may choose from."""
    yield (
        "Nystroem + SGD",
        [
            lambda g=g, a=a, m=m: Behind(one, g, alpha=a, average=m)
            for g, a, m in product(GAMMAS, ALPHAS, (True, False))
        ],
    )
    yield (
        "river PA",
        [
            lambda C=C, mode=mode: rivers("PAClassifier", one, C=C, mode=mode)
            for C, mode in product((0.01, 0.1, 0.001, 1.0), (1, 2))
        ],
    )
    yield (
        "river ALMA",
        [lambda a=a: rivers("ALMAClassifier", one, alpha=a) for a in (0.9, 0.7, 0.5)],
    )
    if not sparse.issparse(one.X):
        for name in ("LogisticRegression", "HoeffdingAdaptiveTree", "ARFClassifier"):
            yield f"river {name}", [lambda name=name: rivers(name, one)]


def chosen(points: list[Callable[[], Any]], one: Contest) -> Any:
    """The one that is best on the first tenth."""
    if len(points) == 1:
        return points[0]()
    n = len(one.y) // 10
    trial = replace(one, X=one.X[:n], y=one.y[:n])
    scores = [played(make(), trial, LIMIT / len(points))[0].mean() for make in points]
    return points[int(np.argmax(scores))]()


# --- measuring -----------------------------------------------------------------------------------


def of_ours(name: str, rows: int) -> Facts:
    """The mixture and each of its bandwidths alone, in percent of the rows that count."""
    one = stream(name, rows)
    first = len(one.y) // 10
    hits, seconds, alone = [], [], []
    for seed in SEEDS:
        model = ours(seed)
        right, spent = played(model, one, 10 * LIMIT)
        hits.append(right[first:]), seconds.append(spent)
        ladder = model.gammas_[-RUNGS:]
        singles = [ours(seed, gamma=float(g), n_bandwidths=1, linear=False) for g in ladder]
        alone.append([played(each, one, 10 * LIMIT)[0][first:].mean() for each in singles])
    mean = 100 * np.mean(alone, axis=0)
    facts = {
        "rows": len(one.y),
        "mixture": 100 * float(np.mean(hits)),
        "alone": mean.tolist(),
        "best": float(mean.max()),
        "rung": int(mean.argmax()) - RUNGS // 2,
        "s": float(np.mean(seconds)),
        "hits": np.packbits(hits[0]).tolist(),
    }
    if name in STREAMS:
        told = with_last_label(one)
        known = [played(ours(seed), told, 10 * LIMIT)[0][first:].mean() for seed in SEEDS]
        blind = {key: 100 * value for key, value in ignorant(one).items()}
        facts |= {**blind, "with the last label": 100 * float(np.mean(known))}
    return facts


def of_rival(name: str, number: int, rows: int) -> Facts:
    """One rival on one contest: accuracy, and the paired difference to the mixture."""
    one = stream(name, rows)
    first = len(one.y) // 10
    who, points = list(rivals(one))[number]
    right, seconds = played(chosen(points, one), one)
    mine = played(ours(SEEDS[0]), one, 10 * LIMIT)[0][first : len(right)]
    apart = right[first:].astype(float) - mine
    error = 2 * apart.std() / np.sqrt(max(1, len(apart)))
    return {
        "rival": who,
        "rows": len(right),
        "accuracy": 100 * float(right[first:].mean()) if len(apart) else None,
        "ahead": 100 * float(apart.mean()) if len(apart) else None,
        "error": 100 * float(error),
        "s": seconds,
    }


# --- the tables ----------------------------------------------------------------------------------


def show_ours(told: dict[str, Facts]) -> None:
    head = ["contest", "rows", "mixture, %", "best single, %", "its octave", "difference", "s"]
    lines = [
        [
            name,
            f"{one['rows']:,}",
            f"{one['mixture']:.2f}",
            f"{one['best']:.2f}",
            f"{one['rung']:+d}",
            f"{one['mixture'] - one['best']:+.2f}",
            f"{one['s']:.1f}",
        ]
        for name, one in told.items()
    ]
    print(table(head, lines))
    behind = [name for name, one in told.items() if one["mixture"] < one["best"] - 0.5]
    print(f"more than .5 points behind the best single bandwidth: {', '.join(behind) or 'none'}")
    ordered = {name: one for name, one in told.items() if name in STREAMS}
    if ordered:
        keys = ["the majority", "the last label", "mixture", "with the last label"]
        rows = [[name, *(f"{one[key]:.2f}" for key in keys)] for name, one in ordered.items()]
        print(table(["stream", *keys], rows))


def show_rivals(told: dict[str, list[Facts]]) -> None:
    lines, ahead = [], {}
    for name, each in told.items():
        for one in each:
            if one["accuracy"] is None:
                continue
            cells = [one["rival"], f"{one['rows']:,}", f"{one['accuracy']:.2f}"]
            lines.append([name, *cells, f"{one['ahead']:+.2f}", f"{one['error']:.2f}"])
            if one["ahead"] > one["error"]:
                ahead.setdefault(one["rival"], []).append(name)
    print(table(["contest", "rival", "rows", "accuracy, %", "ahead", "error"], lines))
    for rival, names in ahead.items():
        print(f"{rival} is ahead by more than the error on {len(names)}: {', '.join(names)}")


def main(words: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    every = [*SETS, *TEXTS, *STREAMS]
    parser.add_argument("--only", nargs="+", metavar="CONTEST", choices=every, default=every)
    parser.add_argument("--rivals", action="store_true", help="the rivals, too")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="processes (default 1)")
    parser.add_argument("--quick", action="store_true", help="tiny sizes, kept in results/local")
    parser.add_argument("--afresh", action="store_true", help="forget what was measured before")
    told = parser.parse_args(words)
    journal = Journal(
        "no_gamma", folder=RESULTS / "cells", jobs=told.jobs, quick=told.quick, afresh=told.afresh
    )
    rows = QUICK_ROWS if told.quick else ROWS
    warnings.simplefilter("ignore")
    with threadpool_limits(limits=1):
        todo = [{"name": name, "rows": rows} for name in told.only]
        show_ours(dict(zip(told.only, journal.work(todo, of_ours), strict=True)))
        if told.rivals:
            found = {}
            for name in told.only:
                n = len(list(rivals(stream(name, rows))))
                todo = [{"name": name, "number": i, "rows": rows} for i in range(n)]
                found[name] = list(journal.work(todo, of_rival))
            show_rivals(found)
