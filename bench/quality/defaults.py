"""A tournament of defaults: every public class as it comes, beside scikit-learn's, on many sets.

Nothing is tuned and nothing is said to any class but the rows: `fit` with default parameters, and
one pass of `partial_fit` in the order of the rows. Accuracy (R2 for regressors, area under the ROC
curve for outlier detectors) on held-out rows, in percent. Peers have a seed. Sets are raw or
standardised, balanced or not, some sorted by class; those of scikit-learn and the generated ones
are always there, the others come with ONLINESVM_DATA.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn import datasets as bundled
from sklearn.base import is_classifier, is_regressor
from sklearn.linear_model import LogisticRegression, SGDClassifier, SGDOneClassSVM, SGDRegressor
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR, OneClassSVM

import onlinesvm
from bench.common import Report, console, parse
from onlinesvm.datasets import fetch, make_checkerboard, make_gauss, make_waveform

TRAIN, TEST = 1500, 1000  # rows, at most
FEW = 10  # classes up to which one-vs-rest is held against one-vs-one
CHANCE = 2.0  # standard errors of the test rows that a score may be off by chance
BATCH, LINEAR, REGRESSION = "SVC", "SGDClassifier", "SGDRegressor"
PEERS = [SVC, SGDClassifier, LogisticRegression, SVR, SGDRegressor, OneClassSVM, SGDOneClassSVM]


@dataclass(frozen=True)
class Contest:
    """A set, cut into rows to learn and rows to judge by."""

    name: str
    X: NDArray[Any]
    y: NDArray[Any]
    X_test: NDArray[Any]
    y_test: NDArray[Any]
    task: str = "classes"  # "numbers", "usual"

    @property
    def classes(self) -> int:
        return len(np.unique(self.y))

    @property
    def majority(self) -> float:
        """What the commonest label alone would reach, in percent."""
        values, counts = np.unique(self.y, return_counts=True)
        return 100 * float((self.y_test == values[counts.argmax()]).mean())

    @property
    def chance(self) -> float:
        """What a score at the majority may lose by the draw of the test rows."""
        share = self.majority / 100
        return CHANCE * 100 * float(np.sqrt(share * (1 - share) / len(self.y_test)))

    def admits(self, cls: type) -> bool:
        model = cls()
        kind = "classes" if is_classifier(model) else "numbers" if is_regressor(model) else "usual"
        return kind == self.task

    def judge(self, model: Any) -> float:
        if self.task == "usual":
            return 100 * float(roc_auc_score(self.y_test, model.decision_function(self.X_test)))
        return 100 * float(model.score(self.X_test, self.y_test))


# --- sets ----------------------------------------------------------------------------------------


def _cut(name: str, X: Any, y: Any, *ways: str, task: str = "classes") -> Contest:
    """Training and test rows, drawn by class; ``ways``: "std" for standardised, "sorted" by y."""
    X, y = np.asarray(X, dtype=float), np.asarray(y)
    rng = np.random.default_rng(0)
    keep = rng.permutation(len(y))[: 4 * (TRAIN + TEST)]
    X, y = X[keep], y[keep]
    if task == "classes":
        common = np.isin(
            y, [c for c, n in zip(*np.unique(y, return_counts=True), strict=True) if n > 3]
        )
        X, y = X[common], y[common]
    train = min(TRAIN, 7 * len(y) // 10)
    test = min(TEST, len(y) - train)
    parts = train_test_split(
        X,
        y,
        train_size=train,
        test_size=test,
        random_state=0,
        stratify=y if task == "classes" else None,
    )
    X, X_test, y, y_test = parts
    if "std" in ways:
        scaler = StandardScaler().fit(X)
        X, X_test = scaler.transform(X), scaler.transform(X_test)
    if "sorted" in ways:
        order = np.argsort(y, kind="stable")
        X, y = X[order], y[order]
    return Contest(", ".join((name, *ways)), X, y, X_test, y_test, task)


def _local(name: str) -> tuple[Any, Any]:
    data = fetch(name)
    X = data.X_train.toarray() if sparse.issparse(data.X_train) else data.X_train
    return X, data.y_train


def _rare(seed: int = 0) -> tuple[Any, Any]:
    return bundled.make_classification(
        3000, 12, n_informative=5, weights=[0.93], flip_y=0.01, random_state=seed
    )


def _usual(name: str, X: Any, y: Any) -> Contest:
    """Half of one class to learn; its other half is to be told from all other classes."""
    X = StandardScaler().fit_transform(X)
    learn = np.flatnonzero(y == 0)[::2]
    rest = np.setdiff1d(np.arange(len(y)), learn)
    return Contest(f"{name} 0, std", X[learn], np.zeros(len(learn)), X[rest], y[rest] == 0, "usual")


def _always() -> Iterator[Callable[[], Contest]]:
    yield lambda: _cut("iris", *bundled.load_iris(return_X_y=True), "sorted")
    yield lambda: _cut("wine", *bundled.load_wine(return_X_y=True))
    yield lambda: _cut("wine", *bundled.load_wine(return_X_y=True), "std", "sorted")
    yield lambda: _cut("breast cancer", *bundled.load_breast_cancer(return_X_y=True))
    yield lambda: _cut("breast cancer", *bundled.load_breast_cancer(return_X_y=True), "std")
    yield lambda: _cut("digits", *bundled.load_digits(return_X_y=True))
    yield lambda: _cut("digits", *bundled.load_digits(return_X_y=True), "std", "sorted")
    yield lambda: _cut("checkerboard", *make_checkerboard(4000, noise=0.15, random_state=0))
    yield lambda: _cut("waveform", *make_waveform(4000, random_state=0))
    yield lambda: _cut("gauss", *make_gauss(4000, random_state=0))
    yield lambda: _cut("rare class", *_rare())
    yield lambda: _cut("diabetes", *bundled.load_diabetes(return_X_y=True), task="numbers")
    raw = bundled.load_diabetes(return_X_y=True, scaled=False)
    yield lambda: _cut("diabetes", *raw, "std", task="numbers")
    friedman = bundled.make_friedman1(3000, noise=1.0, random_state=0)
    yield lambda: _cut("friedman", *friedman, "std", task="numbers")
    yield lambda: _cut("friedman / 10", friedman[0], friedman[1] / 10, "std", task="numbers")
    yield lambda: _usual("wine", *bundled.load_wine(return_X_y=True))
    yield lambda: _usual("digit", *bundled.load_digits(return_X_y=True))


def _with_data() -> Iterator[Callable[[], Contest]]:
    for name, ways in (
        ("adult", ()),
        ("banana", ()),
        ("covtype", ()),
        ("covtype", ("std", "sorted")),
        ("dna", ()),
        ("usps", ()),
        ("ijcnn1", ()),
        ("w3a", ()),
        ("stream_electricity", ()),
        ("stream_weather", ("std",)),
        ("stream_phishing", ()),
        ("abalone", ("std",)),
    ):
        yield lambda name=name, ways=ways: _cut(name.removeprefix("stream_"), *_local(name), *ways)
    yield lambda: _cut("abalone rings", *_local("abalone"), "std", task="numbers")


def contests(report: Report) -> Iterator[Contest]:
    """Every set that can be had without a download."""
    makers = list(_always())
    if "ONLINESVM_DATA" in os.environ:
        makers += _with_data()
    else:
        report.note("without ONLINESVM_DATA only bundled and generated sets take part")
    for make in makers:
        contest = make()
        if report.options.wants(contest.name):
            yield contest


# --- the tournament ------------------------------------------------------------------------------


def play(contest: Contest, cls: type) -> tuple[float, float | None, float]:
    """The score after ``fit``, after one pass of ``partial_fit``, and the seconds of ``fit``."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        start = perf_counter()
        model = _seeded(cls).fit(contest.X, contest.y)
        seconds = perf_counter() - start
        fitted = contest.judge(model)
        if not hasattr(cls, "partial_fit"):
            return fitted, None, seconds
        known = {"classes": np.unique(contest.y)} if contest.task == "classes" else {}
        return (
            fitted,
            contest.judge(_seeded(cls).partial_fit(contest.X, contest.y, **known)),
            seconds,
        )


def _seeded(cls: type) -> Any:
    """With its defaults, but peers draw the same numbers in every run."""
    model = cls()
    return model.set_params(random_state=0) if hasattr(model, "random_state") else model


def _shown(score: tuple[float, float | None, float] | None) -> str:
    if score is None:
        return ""
    fitted, passed, _ = score
    return f"{fitted:.1f}" if passed is None else f"{fitted:.1f} / {passed:.1f}"


Table = dict[str, dict[str, tuple[float, float | None, float]]]  # set -> class -> scores


def family(cls: type) -> str:
    """The folder of a class of ours; "" for a peer."""
    parts = cls.__module__.split(".")
    return parts[1] if parts[0] == "onlinesvm" else ""


def hold_to_bars(
    report: Report, contests: Sequence[Contest], table: Table, ours: list[type]
) -> None:
    """One bar per promise: its value is the worst case, its misses become notes."""
    shortfalls: dict[str, list[tuple[float, str]]] = {
        "exact and dual, points below SVC() on up to ten classes": [],
        "linear, points below SGDClassifier()": [],
        "classifiers, points below the majority less two standard errors": [],
        "regressors, R2 (percent) below 0 where SGDRegressor() is above": [],
    }
    exact, linear, majority, regression = shortfalls.values()
    for contest in contests:
        scores = table[contest.name]
        for cls in ours:
            if cls.__name__ not in scores:
                continue
            reached, who = scores[cls.__name__][0], f"{cls.__name__} on {contest.name}"
            if contest.task == "numbers" and scores[REGRESSION][0] > 0:
                regression.append((-reached, who))
            if contest.task != "classes":
                continue
            majority.append((contest.majority - contest.chance - reached, who))
            if family(cls) in ("exact", "dual") and contest.classes <= FEW:
                exact.append((scores[BATCH][0] - reached, who))
            if getattr(cls(), "kernel", "") == "linear":
                linear.append((scores[LINEAR][0] - reached, who))
    for (claim, cases), bound in zip(shortfalls.items(), (1.0, 2.0, 0.0, 0.0), strict=True):
        if not cases:
            continue
        worst, who = max(cases)
        report.bar(f"{claim}: worst of {len(cases)}, {who}", worst, at_most=bound)
        for below, who in sorted(cases, reverse=True):
            if below > bound:
                report.note(f"missed, {claim}: {who} by {below:.1f}")


def main() -> None:
    options = parse(__doc__, repeats=1)
    report = Report(
        "defaults", "A tournament of defaults, in percent: fit / one pass", BATCH, options
    )
    ours = list(onlinesvm.all_estimators())
    table: Table = {}
    played = []
    for contest in contests(report):
        entrants = [cls for cls in (*PEERS, *ours) if contest.admits(cls)]
        table[contest.name] = {cls.__name__: play(contest, cls) for cls in entrants}
        played.append(contest)
        console.print(f"[dim]defaults: {contest.name} done[/]")
    names = [cls.__name__ for cls in (*PEERS, *ours)]
    report.matrix(
        ["set", "rows", "classes", "majority", *names],
        [
            [
                contest.name,
                f"{len(contest.y):,}",
                str(contest.classes) if contest.task == "classes" else "",
                f"{contest.majority:.1f}" if contest.task == "classes" else "",
                *(_shown(table[contest.name].get(name)) for name in names),
            ]
            for contest in played
        ],
    )
    report.details["seconds"] = {
        name: sum(scores[name][2] for scores in table.values() if name in scores) for name in names
    }
    hold_to_bars(report, played, table, ours)
    report.finish()


if __name__ == "__main__":
    main()
