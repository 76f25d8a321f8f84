"""Budgeted kernel learners of other Python packages: few there are, and all of them regress.

Regression, 100 examples, one rbf kernel, one thread: 2,000 rows of five features once, tested on
2,000 others. BudgetedSVR against krls (recursive least squares: a sliding window, a fixed basis, a
tracker; not its quantised dictionary, which has no bound) and online-svr (libsvm, refitted on its
working set). krls wants torch for a kernel that is not used here; where torch is missing an empty
module stands in.

Two classes: of the packages that could be found only Vowpal Wabbit learns online with a kernel, in
C++ and without a budget: its --ksvm keeps every support vector. BudgetedSVC has 500 on the same
rows. No other peer was found: river, scikit-multiflow and capymoa have random features at most,
padasip and pydaptivefiltering linear and Volterra filters, kaftools (0.1.1) kernel filters without
a bound, mlpack batch machines; BudgetedSVM, LIBOL and DOGMA have no Python package, and jubatus no
kernels online.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib.util import find_spec
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.common import Lap, Options, Report, benchmark, figure, race
from bench.peers import Fitted, Learner, present
from bench.peers.streams import VOWPAL_KSVM
from onlinesvm import BudgetedSVC, BudgetedSVR
from onlinesvm.datasets import Task, paper_task

BUDGET, GAMMA = 100, 0.3
NO_TORCH = find_spec("torch") is None
OURS, ONE_BY_ONE = "BudgetedSVR", "BudgetedSVR, one by one"
Floats = NDArray[np.float64]


def waves(n: int, seed: int) -> tuple[Floats, Floats]:
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, size=(n, 5))
    return X, np.sin(2 * X[:, 0]) * X[:, 1] + 0.5 * X[:, 2] + 0.1 * rng.normal(size=n)


def one_by_one(X: Floats, y: Floats) -> Any:
    model = BudgetedSVR(BUDGET, gamma=GAMMA)
    for x, target in zip(X, y, strict=True):
        model.learn_one(x, target)
    return model


def recursive(name: str, **options: Any) -> Callable[[Floats, Floats], Any]:
    def learn(X: Floats, y: Floats) -> Any:
        if NO_TORCH:
            sys.modules.setdefault("torch", ModuleType("torch"))
        from krls import krls

        width = (2 * GAMMA) ** -0.5
        model = getattr(krls, name)(kernel_type="Gaussian", sigma=width, **options)
        model.fit(X, y)
        return model

    return learn


class Refitted:
    """online-svr: it wants a first model, of a tenth of the rows, and the size of its errors."""

    def __init__(self, X: Floats, y: Floats) -> None:
        from online_svr import BudgetedOnlineSVR

        settings = {"kernel": "rbf", "C": 10.0, "gamma": GAMMA, "epsilon": 0.1}
        self.model = BudgetedOnlineSVR(settings, M=BUDGET)
        first = len(y) // 10
        self.model.fit_initial(X[:first], y[:first], resid_scale_init=0.1)
        for x, target in zip(X[first:], y[first:], strict=True):
            self.model.predict_update(x, target)

    def predict(self, X: Floats) -> Any:
        return self.model.model.predict(X)


PEERS: dict[str, tuple[str, Callable[[Floats, Floats], Any]]] = {
    "krls SW_KRLS": ("krls", recursive("SW_KRLS", N=BUDGET, c=1e-2)),
    "krls FB_KRLS": ("krls", recursive("FB_KRLS", N=BUDGET, c=1e-2)),
    "krls KRLS_T": ("krls", recursive("KRLS_T", N=BUDGET)),
    "online-svr BudgetedOnlineSVR": ("online_svr", Refitted),
}


def targets(report: Report, options: Options) -> None:
    X, y = waves(options.size(2_000, 150), 0)
    X_test, y_test = waves(2_000, 1)
    runs: dict[str, Callable[[], Any]] = {
        OURS: lambda: BudgetedSVR(BUDGET, gamma=GAMMA).partial_fit(X, y),
        ONE_BY_ONE: lambda: one_by_one(X, y),
    }
    for name, (module, learn) in PEERS.items():
        if find_spec(module) is None:
            report.note(f"{name} left out: {module} is not installed")
        else:
            runs[name] = lambda learn=learn: learn(X, y)
    laps = race(runs, repeats=options.repeats)
    facts = {
        name: {
            "R2": round(1 - np.mean((lap.product.predict(X_test) - y_test) ** 2) / y_test.var(), 3)
        }
        for name, lap in laps.items()
    }
    peers = [name for name in laps if name in PEERS]
    if not peers:
        return
    case = f"regression, {len(y):,} rows, {BUDGET} examples"
    fastest = show(report, case, laps, facts, len(y), peers)
    for name in (OURS, ONE_BY_ONE):
        report.bar(
            f"{name}: examples a second / {fastest}", report.speed_up(case, name), at_least=5
        )


def budgeted(task: Task) -> Callable[[], Fitted]:
    X, y = task.data.X_train, task.data.y_train

    def learn() -> Fitted:
        model = BudgetedSVC(500, gamma=task.gamma, alpha=1 / (task.C * len(y)))
        model.partial_fit(X, y, classes=[-1, 1])
        return Fitted(model.predict, len(model.support_), len(y))

    return learn


def classes(report: Report, options: Options) -> None:
    task = paper_task("Checkerboard", train_rows=options.size(10_000, 300))
    ours = Learner("BudgetedSVC, 500 examples", budgeted)
    field = present([ours, VOWPAL_KSVM], report.note)
    if VOWPAL_KSVM not in field:
        return
    laps = race({one.name: one.enter(task) for one in field}, repeats=options.repeats)
    facts = {name: lap.product.facts(task) for name, lap in laps.items()}
    for fact in facts.values():
        del fact["labels"]
    rows = len(task.data.y_train)
    case = f"two classes, Checkerboard, {rows:,} rows"
    fastest = show(report, case, laps, facts, rows, [VOWPAL_KSVM.name])
    report.bar(
        f"{ours.name}: examples a second / {fastest}",
        report.speed_up(case, ours.name),
        at_least=5,
    )


def show(
    report: Report,
    case: str,
    laps: dict[str, Lap],
    facts: dict[str, dict[str, Any]],
    rows: int,
    peers: list[str],
) -> str:
    """Adds the case and a table of its own, beside the fastest peer."""
    fastest = report.baseline = min(peers, key=lambda name: laps[name].best)
    report.add(case, laps, facts=facts, units=rows)
    columns = list(dict.fromkeys(key for fact in facts.values() for key in fact))
    head = ["contestant", "examples a second", f"x {fastest}", *columns]
    table = [
        [
            name,
            figure(rows / lap.best),
            figure(report.speed_up(case, name)),
            *(figure(facts[name][key]) for key in columns),
        ]
        for name, lap in laps.items()
    ]
    report.matrix(case, head, table)
    return fastest


@benchmark("On a budget, against Python's peers", "")
def main(report: Report, options: Options) -> None:
    if options.wants("regression"):
        targets(report, options)
    if options.wants("classes"):
        classes(report, options)
