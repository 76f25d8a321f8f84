"""A tournament of defaults: every public class as it comes, beside scikit-learn's, on many sets.

Nothing is tuned and nothing is said to any class but the rows: `fit` with default parameters, and
one pass of `partial_fit` in the order of the rows. Accuracy (R2 for regressors, area under the ROC
curve for outlier detectors) on held-out rows, in percent. Peers that draw lots without a seed of
their own show the mean of five. Sets are raw or standardised, balanced or not, some sorted by
class; those of scikit-learn and the generated ones are always there, the others come with
ONLINESVM_DATA.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
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
from sklearn.multiclass import OneVsRestClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR, OneClassSVM

import onlinesvm
from bench.common import Options, Report, benchmark, console
from onlinesvm.datasets import fetch, make_checkerboard, make_gauss, make_waveform

TRAIN, TEST = 1500, 1000  # rows, at most
FEW = 10  # classes up to which one-vs-rest is held against one-vs-one
CHANCE = 2.0  # standard errors of the test rows that a score may be off by chance
SEEDS = range(5)  # of peers that draw lots


class OneVsRestSVC(OneVsRestClassifier):
    """SVC() the way our machines part more than two classes; SVC itself sets one against one."""

    def __init__(self) -> None:
        super().__init__(SVC())


BATCH, ONE_VS_REST, LINEAR, REGRESSION = "SVC", "OneVsRestSVC", "SGDClassifier", "SGDRegressor"
DRAWING = [SGDClassifier, SGDRegressor, SGDOneClassSVM]
PEERS = [SVC, OneVsRestSVC, LogisticRegression, SVR, OneClassSVM, *DRAWING]
Score = tuple[float, float | None, float]  # after fit, after one pass, seconds of fit
Scores = dict[str, Score]  # by class
Table = dict[str, Scores]  # by set


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


def play(contest: Contest, cls: type) -> Score:
    """The score after ``fit``, after one pass of ``partial_fit``, and the seconds of ``fit``."""
    if cls not in DRAWING:
        return _play(contest, cls)
    fitted, passed, seconds = zip(
        *(_play(contest, cls, random_state=seed) for seed in SEEDS), strict=True
    )
    return float(np.mean(fitted)), float(np.mean(passed)), float(np.mean(seconds))


def _play(contest: Contest, cls: type, **seed: int) -> Score:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        start = perf_counter()
        model = cls().set_params(**seed).fit(contest.X, contest.y)
        seconds = perf_counter() - start
        fitted = contest.judge(model)
        if not hasattr(model, "partial_fit"):
            return fitted, None, seconds
        known = {"classes": np.unique(contest.y)} if contest.task == "classes" else {}
        model = cls().set_params(**seed).partial_fit(contest.X, contest.y, **known)
        return fitted, contest.judge(model), seconds


def family(cls: type) -> str:
    """The folder of a class of ours; "" for a peer."""
    parts = cls.__module__.split(".")
    return parts[-2] if parts[0] == "onlinesvm" else ""


# --- what must hold ------------------------------------------------------------------------------

# By how many points a class is below what it should reach on a set; None: it need not.
Bar = Callable[[Contest, type, Scores], float | None]


def _below(peer: str, contest: Contest, cls: type, scores: Scores) -> float | None:
    if contest.task != "classes" or contest.classes > FEW or family(cls) not in ("exact", "dual"):
        return None
    return scores[peer][0] - scores[cls.__name__][0]


def _below_linear(contest: Contest, cls: type, scores: Scores) -> float | None:
    if contest.task != "classes" or getattr(cls(), "kernel", "") != "linear":
        return None
    return scores[LINEAR][0] - scores[cls.__name__][0]


def _below_majority(contest: Contest, cls: type, scores: Scores) -> float | None:
    if contest.task != "classes":
        return None
    return contest.majority - contest.chance - scores[cls.__name__][0]


def _below_zero(contest: Contest, cls: type, scores: Scores) -> float | None:
    if contest.task != "numbers" or scores[REGRESSION][0] <= 0:
        return None
    return -scores[cls.__name__][0]


BARS: dict[str, tuple[Bar, float]] = {
    "exact and dual, points below SVC() on up to ten classes": (partial(_below, BATCH), 1.0),
    "exact and dual, points below one-vs-rest SVC(), likewise": (partial(_below, ONE_VS_REST), 1.0),
    "linear, points below SGDClassifier()": (_below_linear, 2.0),
    "classifiers, points below the majority less two standard errors": (_below_majority, 0.0),
    "regressors, R2 (percent) below 0 where SGDRegressor() is above": (_below_zero, 0.0),
}


def misses(contest: Contest, cls: type, scores: Scores) -> list[tuple[str, float]]:
    """The bars that a class misses on a set, and by how many points it is below."""
    found = []
    for claim, (below, bound) in BARS.items():
        short = below(contest, cls, scores)
        if short is not None and short > bound:
            found.append((claim, short))
    return found


def hold_to_bars(
    report: Report, contests: Sequence[Contest], table: Table, ours: Sequence[type]
) -> None:
    """One bar per promise: its value is the worst case, its misses become notes."""
    pairs = [(one, cls) for one in contests for cls in ours if cls.__name__ in table[one.name]]
    for claim, (below, bound) in BARS.items():
        cases = [
            (short, f"{cls.__name__} on {one.name}")
            for one, cls in pairs
            if (short := below(one, cls, table[one.name])) is not None
        ]
        if not cases:
            continue
        worst, who = max(cases)
        report.bar(f"{claim}: worst of {len(cases)}, {who}", worst, at_most=bound)
        for short, who in sorted(cases, reverse=True):
            if short > bound:
                report.note(f"missed, {claim}: {who}, {short:.1f}")


# --- tables --------------------------------------------------------------------------------------

# What is shown together: few enough columns to be read.
KINDS: dict[str, Callable[[Contest], bool]] = {
    "two classes": lambda one: one.task == "classes" and one.classes == 2,
    "more classes": lambda one: one.task == "classes" and one.classes > 2,
    "regression, R2": lambda one: one.task == "numbers",
    "outliers, area under the ROC curve": lambda one: one.task == "usual",
}
COLUMNS = 8


def show(report: Report, contests: Sequence[Contest], table: Table, everybody: list[type]) -> None:
    """Classes by row, sets by column, `fit` / one pass; what misses a bar is bold."""
    for kind, belongs in KINDS.items():
        chosen = [one for one in contests if belongs(one)]
        for part in (chosen[i : i + COLUMNS] for i in range(0, len(chosen), COLUMNS)):
            head = [f"{one.name} ({len(one.y):,})" for one in part]
            rows = [
                [cls.__name__, *(_shown(one, cls, table[one.name]) for one in part)]
                for cls in everybody
                if any(cls.__name__ in table[one.name] for one in part)
            ]
            if part[0].task == "classes":
                rows.insert(0, ["the majority", *(f"{one.majority:.1f}" for one in part)])
            report.matrix(kind, ["set (rows)", *head], rows)


def _shown(contest: Contest, cls: type, scores: Scores) -> str:
    if cls.__name__ not in scores:
        return ""
    fitted, passed, _ = scores[cls.__name__]
    first = f"**{fitted:.1f}**" if family(cls) and misses(contest, cls, scores) else f"{fitted:.1f}"
    return first if passed is None else f"{first} / {passed:.1f}"


@benchmark("A tournament of defaults, fit / one pass", BATCH, repeats=1)
def main(report: Report, options: Options) -> None:
    ours = list(onlinesvm.all_estimators())
    table: Table = {}
    played = []
    for contest in contests(report):
        start = perf_counter()
        table[contest.name] = {
            cls.__name__: play(contest, cls) for cls in (*PEERS, *ours) if contest.admits(cls)
        }
        played.append(contest)
        console.print(f"[dim]defaults: {contest.name} done, {perf_counter() - start:.1f} s[/]")
    show(report, played, table, [*PEERS, *ours])
    names = [cls.__name__ for cls in (*PEERS, *ours)]
    report.details["seconds"] = {
        name: sum(scores[name][2] for scores in table.values() if name in scores) for name in names
    }
    hold_to_bars(report, played, table, ours)
