"""Kernel features and a linear model behind them, against scikit-learn's, in one process.

Covtype, class 2 against the rest, standardised by the training rows, in random order. First the
features alone: NystroemFeatures against Nystroem, each with landmarks of its own, and
FourierFeatures against RBFSampler, 1000 components each, on 20,000 rows. Then the whole: 500,000
rows once, as a stream in chunks of 1000, each transformed and learned at once by an averaged linear
machine; tested on the other 81,012. Nystroem cannot learn from a stream, so it draws its landmarks
from all training rows beforehand, off the clock. Each side's gamma and linear machine are tuned by
one rule, off the clock: the best of a grid on the last fifth of 50,000 training rows after one pass
over the others.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.linear_model import SGDClassifier
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from bench.common import Options, Report, benchmark, race
from onlinesvm import SGDSVC, FourierFeatures, NystroemFeatures
from onlinesvm.datasets import fetch

GAMMA, COMPONENTS, CHUNK = 2 / 54, 1000, 1000
GAMMAS = (2 / 54, 4 / 54, 8 / 54)
LABELS = [-1, 1]
ALPHAS = (1e-5, 3e-6, 1e-6, 3e-7, 1e-7)
FIRST_STEPS = (1.0, 3.0, 10.0)
THEIRS, THEIRS_32 = "scikit-learn, float64", "scikit-learn, float32"
OURS, OURS_64 = "onlinesvm, float32", "onlinesvm, float64"
FOURIER, THEIR_FOURIER = "onlinesvm, Fourier", "scikit-learn, Fourier"

Array = NDArray[Any]


@dataclass(frozen=True)
class Rows:
    X: Array
    y: Array
    X_test: Array
    y_test: Array

    def single(self) -> Rows:
        return replace(self, X=self.X.astype(np.float32), X_test=self.X_test.astype(np.float32))


def covtype(train: int) -> Rows:
    data = fetch("covtype")
    order = np.random.default_rng(0).permutation(len(data.y_train))
    X, y = data.X_train[order].astype(np.float64), np.where(data.y_train[order] == 2, 1, -1)
    scaler = StandardScaler().fit(X[:train])
    X = scaler.transform(X)
    return Rows(X[:train], y[:train], X[train:], y[train:])


def transforms(report: Report, options: Options, rows: Rows) -> None:
    n, components = options.size(20_000, 300), options.size(COMPONENTS, 50)
    X, X32 = rows.X_test[:n], rows.X_test[:n].astype(np.float32)
    sample = rows.X[: 20 * components]
    pairs = {"Nystroem": (NystroemFeatures, Nystroem), "Fourier": (FourierFeatures, RBFSampler)}
    for name, (ours, theirs) in pairs.items():
        settings = {"gamma": GAMMA, "n_components": components}
        single, double = (
            ours(dtype=dtype, **settings).fit(sample) for dtype in ("float32", "float64")
        )
        sampled, sampled32 = (
            theirs(random_state=0, **settings).fit(sample.astype(dtype))
            for dtype in (np.float64, np.float32)
        )
        contestants: dict[str, Callable[[], Any]] = {
            OURS: lambda model=single: model.transform(X32),
            OURS_64: lambda model=double: model.transform(X),
            THEIRS: lambda model=sampled: model.transform(X),
            THEIRS_32: lambda model=sampled32: model.transform(X32),
        }
        case = f"{name} transform, {components} components"
        report.add(case, race(contestants, repeats=options.repeats), units=n)
        rates = {who: row["per_second"] for who, row in report.cases[case].items()}
        for mine, other in ((OURS, THEIRS_32), (OURS_64, THEIRS)):
            claim = f"{name}: time of {other} / {mine}"
            report.bar(claim, rates[mine] / rates[other], at_least=1)


def learn(model: Any, Z: Array, y: Array) -> Any:
    return model.partial_fit(Z, y, classes=LABELS)


def tuned(make: Callable[[float], Any], machines: list[Any], X: Array, y: Array) -> Any:
    """The gamma and the machine that are best on the last fifth after one pass over the others."""
    cut, best = len(y) * 4 // 5, (-1.0, 0.0, None)
    for gamma in GAMMAS:
        Z = make(gamma).fit(X).transform(X)
        for machine in machines:
            accuracy = learn(machine(), Z[:cut], y[:cut]).score(Z[cut:], y[cut:])
            best = max(best, (accuracy, gamma, machine), key=lambda found: found[0])
    return best[1:]


def ours_grid() -> list[Callable[[], Any]]:
    return [
        lambda alpha=alpha, eta0=eta0: SGDSVC(alpha=alpha, eta0=eta0, dtype="float32")
        for alpha, eta0 in itertools.product(ALPHAS, FIRST_STEPS)
    ]


def their_grid() -> list[Callable[[], Any]]:
    optimal = [
        lambda alpha=alpha: SGDClassifier(alpha=alpha, average=True, random_state=0)
        for alpha in ALPHAS
    ]
    scaled = [
        lambda alpha=alpha, eta0=eta0: SGDClassifier(
            alpha=alpha,
            average=True,
            learning_rate="invscaling",
            power_t=0.25,
            eta0=eta0,
            random_state=0,
        )
        for alpha, eta0 in itertools.product(ALPHAS, FIRST_STEPS)
    ]
    return optimal + scaled


def stream(features: Any, machine: Any, rows: Rows) -> tuple[Any, Any]:
    """One pass in chunks; features that learn do so from the same chunk."""
    for start in range(0, len(rows.y), CHUNK):
        part = slice(start, start + CHUNK)
        if hasattr(features, "partial_fit"):
            features.partial_fit(rows.X[part])
        learn(machine, features.transform(rows.X[part]), rows.y[part])
    return features, machine


def entrant(
    make: Callable[[float], Any], gamma: float, machine: Callable[[], Any], rows: Rows
) -> Callable[[], Any]:
    if hasattr(make(gamma), "partial_fit"):
        return lambda: stream(make(gamma), machine(), rows)
    features = make(gamma).fit(rows.X)
    return lambda: stream(features, machine(), rows)


def score(features: Any, machine: Any, rows: Rows) -> float:
    right = 0.0
    for start in range(0, len(rows.y_test), 10_000):
        part = slice(start, start + 10_000)
        Z = features.transform(rows.X_test[part])
        right += machine.score(Z, rows.y_test[part]) * len(Z)
    return 100 * right / len(rows.y_test)


def whole(report: Report, options: Options, rows: Rows) -> None:
    components, few = options.size(COMPONENTS, 50), options.size(50_000, 1000)
    makers: dict[str, Callable[[float], Any]] = {
        OURS: lambda gamma: NystroemFeatures(gamma=gamma, n_components=components),
        FOURIER: lambda gamma: FourierFeatures(gamma=gamma, n_components=components),
        THEIRS: lambda gamma: Nystroem(gamma=gamma, n_components=components, random_state=0),
        THEIR_FOURIER: lambda gamma: RBFSampler(
            gamma=gamma, n_components=components, random_state=0
        ),
    }
    contestants = {}
    for name, make in makers.items():
        grid = ours_grid() if name in (OURS, FOURIER) else their_grid()
        with threadpool_limits(limits=1):
            gamma, machine = tuned(make, grid, rows.X[:few], rows.y[:few])
        contestants[name] = entrant(make, gamma, machine, rows)
        if name == THEIRS:  # the same at half the width
            contestants[THEIRS_32] = entrant(make, gamma, machine, rows.single())
        report.details[name] = f"gamma={gamma:.4g}, {' '.join(repr(machine()).split())}"
    laps = race(contestants, repeats=max(1, options.repeats // 3))
    facts = {name: {"accuracy": round(score(*lap.product, rows), 2)} for name, lap in laps.items()}
    case = f"covtype, {len(rows.y):,} rows once, {components} components"
    report.add(case, laps, facts=facts, units=len(rows.y))
    for mine, other in ((OURS, THEIRS), (OURS, THEIRS_32), (FOURIER, THEIR_FOURIER)):
        faster = report.ratio(case, other) / report.ratio(case, mine)
        report.bar(f"{len(rows.y):,} rows: time of {other} / {mine}", faster, at_least=1)
        gain = facts[mine]["accuracy"] - facts[other]["accuracy"]
        report.bar(f"points of accuracy, {mine} over {other}", gain, at_least=-0.3)


@benchmark("Kernel features and a linear model", THEIRS, repeats=3)
def main(report: Report, options: Options) -> None:
    rows = covtype(options.size(500_000, 3_000))
    if options.wants("transform"):
        transforms(report, options, rows)
    if options.wants("stream"):
        if options.quick:
            rows = Rows(rows.X, rows.y, rows.X_test[:1000], rows.y_test[:1000])
        whole(report, options, rows)
