"""Accuracy on a budget: against the time of one pass, and against the bytes that are held.

MNIST (ten classes) and ijcnn1 are learned once, in chunks of 1,000, and tested on their own test
rows. Three streams that drift (electricity without date and nswprice, weather, mail) come in their
order, ten rows at a time, predicted before they are learned; beside them the last label again and
the most frequent one. Electricity and weather are standardised by the rows so far, the others are
as they are. The kernel is rbf for all who have one.

Everybody's gamma and strength are the best of one grid, off the clock, at the smallest size: on
2,000 rows after a pass over 8,000, or on the first tenth of a stream, which then does not count.
scikit-learn's landmarks, which cannot be learned from a stream, are drawn from those rows, too.
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import SGDClassifier
from threadpoolctl import threadpool_limits

import onlinesvm
from bench.common import Lap, Options, Report, benchmark, console, figure
from bench.quality.contests import Contest, ignorant, standardised_so_far
from onlinesvm.datasets import fetch
from onlinesvm.report.style import figure as new_figure

PEER = "Nystroem + SGDClassifier"
SIZES, QUICK_SIZES = (100, 400, 1600), (10, 20)
GAMMAS = (0.5, 2.0, 8.0)  # in units of one over the mean squared distance
ALPHAS = (1e-3, 1e-4, 1e-5)
COSTS = (1.0, 10.0)


# --- what is learned -----------------------------------------------------------------------------


def sizes(contest: Contest, options: Options) -> tuple[int, ...]:
    """Budgets, or numbers of features; what drifts is not worth the largest."""
    every = QUICK_SIZES if options.quick else SIZES
    return every[:-1] if contest.drifts and not options.quick else every


def contests(options: Options) -> Iterator[Contest]:
    for name, make in {
        "MNIST": _digits,
        "ijcnn1": _ijcnn1,
        "electricity": _electricity,
        "weather": _weather,
        "mail": _mail,
    }.items():
        if options.wants(name):
            one = make()
            if options.quick:
                one = replace(one, X=one.X[:600], y=one.y[:600])
                if not one.drifts:
                    one = replace(one, X_test=one.X_test[:200], y_test=one.y_test[:200])
            yield one.measured()


def _digits() -> Contest:
    X, y, X_test, y_test = fetch("mnist")
    X, X_test = (np.asarray(rows, dtype=np.float32) / 255 for rows in (X, X_test))
    return Contest("MNIST", X, y.astype(int), X_test, y_test.astype(int))


def _ijcnn1() -> Contest:
    X, y, X_test, y_test = fetch("ijcnn1")
    order = np.random.default_rng(0).permutation(len(y))
    return Contest("ijcnn1", X[order], y[order].astype(int), X_test, y_test.astype(int))


def _electricity() -> Contest:
    X, y, *_ = fetch("stream_electricity")
    return Contest("electricity", standardised_so_far(np.delete(X, [0, 3], axis=1)), y.astype(int))


def _weather() -> Contest:
    X, y, *_ = fetch("stream_weather")
    return Contest("weather", standardised_so_far(X), y.astype(int))


def _mail() -> Contest:
    X, y, *_ = fetch("stream_spam")
    return Contest("mail", sparse.csr_array(X, dtype=np.float32), y.astype(int))


# --- who learns ----------------------------------------------------------------------------------

# A learner for a contest, of a size, with the settings of one point of the grid.
Make = Callable[[Contest, int, Mapping[str, Any]], Any]


Takes = Callable[[Contest], bool]


def every(contest: Contest) -> bool:
    return True


@dataclass(frozen=True)
class Family:
    """Learners that differ in size: a line of the picture."""

    name: str
    make: Make
    grid: Mapping[str, Sequence[Any]]
    sized: bool = True
    takes: Takes = every
    there: bool = True
    ours: bool = True


def ours(
    name: str, *, size: str = "budget", label: str = "", takes: Takes = every, **grid: Sequence[Any]
) -> Family:
    """A class of the package, if it is there; settings that it does not have are left out.

    A grid of one value is no grid: that is how settings are fixed.
    """
    known = getattr(getattr(onlinesvm, name, None), "_parameters", {})

    def make(contest: Contest, n: int, settings: Mapping[str, Any]) -> Any:
        told = {**settings, size: n, "gamma": settings["gamma"] * contest.unit}
        return getattr(onlinesvm, name)(**{key: told[key] for key in told if key in known})

    return Family(
        name + label,
        make,
        {"gamma": GAMMAS, **grid},
        size in known,
        takes,
        hasattr(onlinesvm, name),
    )


class Behind:
    """A linear machine behind features; both learn."""

    def __init__(self, features: Any, machine: Any) -> None:
        self.features, self.machine = features, machine

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> None:
        if hasattr(self.features, "partial_fit"):
            self.features.partial_fit(X)
        known = {"classes": classes} if not hasattr(self.machine, "classes_") else {}
        self.machine.partial_fit(self.features.transform(X), y, **known)

    def predict(self, X: Any) -> Any:
        return self.machine.predict(self.features.transform(X))

    @property
    def nbytes_(self) -> int:
        return sum(_nbytes(part) for part in (self.features, self.machine))


def features(name: str) -> Family:
    """Features of ours before SGDSVC; of the rows of a stream that drifts, no mean."""

    def make(contest: Contest, n: int, settings: Mapping[str, Any]) -> Any:
        gamma = settings["gamma"] * contest.unit
        steps = {key: settings[key] for key in ("alpha", "eta0")}
        machine = onlinesvm.SGDSVC(average=not contest.drifts, **steps)
        return Behind(getattr(onlinesvm, name)(n_components=n, gamma=gamma), machine)

    grid = {"gamma": GAMMAS, "alpha": ALPHAS, "eta0": (0.1, 1.0, 10.0)}
    return Family(f"{name} + SGDSVC", make, grid, there=hasattr(onlinesvm, name))


def _theirs(contest: Contest, n: int, settings: Mapping[str, Any]) -> Any:
    gamma = settings["gamma"] * contest.unit
    rows = contest.trial.X
    machine = SGDClassifier(alpha=settings["alpha"], average=not contest.drifts, random_state=0)
    landmarks = Nystroem(gamma=gamma, n_components=min(n, rows.shape[0]), random_state=0)
    return Behind(landmarks.fit(rows), machine)


class Forest:
    """river's forest that adapts, ten trees, one row at a time."""

    def __init__(self) -> None:
        from river.forest import ARFClassifier

        self.forest = ARFClassifier(seed=0)

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> None:
        for x, label in zip(X.tolist(), y.tolist(), strict=True):
            self.forest.learn_one(dict(enumerate(x)), label)

    def predict(self, X: Any) -> Any:
        guesses = [self.forest.predict_one(dict(enumerate(x))) for x in X.tolist()]
        return np.array([0 if guess is None else guess for guess in guesses])

    @property
    def nbytes_(self) -> int:
        return int(self.forest._raw_memory_usage)


FIELD = (
    ours("BudgetedSVC", alpha=ALPHAS),
    ours("BudgetedRampSVC", alpha=ALPHAS),
    ours("ForgetronClassifier"),
    ours("ProjectronClassifier"),
    ours(
        "IndependentSVC",
        C=COSTS,
        window=(2000,),
        takes=lambda contest: contest.name != "MNIST",  # ten machines, an hour
    ),
    ours("ForgettingSVC", C=COSTS, takes=lambda contest: contest.drifts),
    ours("NormaSVC", size="truncation", eta0=(0.1, 1.0), takes=lambda contest: contest.drifts),
    ours(
        "RampSVC",
        size="max_support",
        C=COSTS,
        keep_non_support=(100,),
        takes=lambda contest: contest.name != "MNIST",  # of ten machines, it would take hours
    ),
    ours("LASVC", C=COSTS, takes=lambda contest: contest.name == "ijcnn1"),
    ours(
        "PassiveAggressiveClassifier",
        label=", linear",
        C=(0.01, 0.1, 1.0),
        gamma=(1.0,),  # it has no use for one
        kernel=("linear",),
        average=(False,),
    ),
    features("NystroemFeatures"),
    features("FourierFeatures"),
    Family(PEER, _theirs, {"gamma": GAMMAS, "alpha": ALPHAS}, ours=False),
    Family(
        "river ARFClassifier",
        lambda contest, n, settings: Forest(),
        {},
        sized=False,
        takes=lambda contest: contest.drifts and not sparse.issparse(contest.X),
        there=find_spec("river") is not None,
        ours=False,
    ),
)


def _nbytes(model: Any) -> int:
    """What a model holds: by its own account, or the arrays of one of scikit-learn's."""
    if hasattr(model, "nbytes_"):
        return int(model.nbytes_)
    parts = []
    for part in vars(model).values():
        parts += [part.data, part.indices, part.indptr] if sparse.issparse(part) else [part]
    return int(sum(part.nbytes for part in parts if hasattr(part, "nbytes")))


# --- the contest ---------------------------------------------------------------------------------


def play(model: Any, contest: Contest, *, first: int = 0) -> tuple[float, float]:
    """Seconds and accuracy of a pass; of a stream, that of the rows from `first` on."""
    labels, right, seconds = np.unique(contest.y), [], 0.0
    for start in range(0, len(contest.y), contest.chunk):
        rows = slice(start, start + contest.chunk)
        X, y = contest.X[rows], contest.y[rows]
        clock = perf_counter()
        if contest.drifts and start:
            right.append(model.predict(X) == y)
        model.partial_fit(X, y, **({} if start else {"classes": labels}))
        seconds += perf_counter() - clock
    if contest.drifts:
        return seconds, float(np.concatenate(right)[max(0, first - contest.chunk) :].mean())
    parts = range(0, len(contest.y_test), 1000)
    guesses = np.concatenate([model.predict(contest.X_test[i : i + 1000]) for i in parts])
    return seconds, float(np.mean(guesses == contest.y_test))


def tune(family: Family, contest: Contest, size: int, options: Options) -> dict[str, Any]:
    """The point of the grid that is best on what does not count."""
    points = [
        dict(zip(family.grid, values, strict=True))
        for values in itertools.product(*family.grid.values())
    ]
    if options.quick or len(points) == 1:
        return points[0]
    trial = contest.trial
    return max(points, key=lambda point: play(family.make(contest, size, point), trial)[1])


def run(report: Report, contest: Contest, options: Options) -> None:
    widths = sizes(contest, options)
    laps, facts, chosen = {}, {}, {}
    for family in (one for one in FIELD if one.there and one.takes(contest)):
        start = perf_counter()
        point = chosen[family.name] = tune(family, contest, widths[0], options)
        for size in widths if family.sized else widths[:1]:
            name = f"{family.name}, {size:,}" if family.sized else family.name
            model = family.make(contest, size, point)
            seconds, right = play(model, contest, first=len(contest.y) // 10)
            laps[name] = Lap([seconds], None)
            facts[name] = {
                "accuracy": round(100 * right, 2),
                "kB": round(_nbytes(model) / 1e3, 1),
            }
        console.print(f"[dim]{contest.name}: {family.name}, {perf_counter() - start:.1f} s[/]")
    report.baseline = f"{PEER}, {widths[-1]:,}"
    report.add(contest.name, laps, facts=facts, units=len(contest.y))
    report.details.setdefault("settings", {})[contest.name] = chosen
    peers = {family.name for family in FIELD if not family.ours}
    best = {
        side: max(fact["accuracy"] for name, fact in facts.items() if (kin(name) in peers) != side)
        for side in (True, False)
    }
    claim = f"{contest.name}: points of the best of ours above the best peer"
    report.bar(claim, best[True] - best[False], at_least=0)
    if contest.drifts:
        blind = {name: round(100 * share, 2) for name, share in ignorant(contest).items()}
        report.details.setdefault("ignorant", {})[contest.name] = blind
        for name, share in blind.items():
            claim = f"{contest.name}: points of the best of ours above {name}"
            report.bar(claim, best[True] - share, at_least=0)


@benchmark("Accuracy on a budget", PEER, repeats=1)
def main(report: Report, options: Options) -> None:
    for name in sorted({one.name for one in FIELD if not one.there}):
        report.note(f"{name} left out: it is not there")
    with threadpool_limits(limits=1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for contest in contests(options):
            run(report, contest, options)
    show(report)
    draw(report, report.path.with_suffix(".png"))


def kin(name: str) -> str:
    """The family of a contestant: its name without its size."""
    family, _, size = name.rpartition(", ")
    return family if size.replace(",", "").isdigit() else name


def show(report: Report) -> None:
    """A table for each contest: families by row, sizes by column."""
    for case, rows in report.cases.items():
        sizes = [name.rpartition(", ")[2] for name in rows if kin(name) == PEER]
        cells: dict[str, list[str]] = {}
        for name, row in rows.items():
            cell = f"{row['accuracy']:.1f} ({figure(row['best_s'])} s, {figure(row['kB'])} kB)"
            cells.setdefault(kin(name), []).append(cell)
        blank = [""] * (len(sizes) - 1)
        table = [[name, *line, *blank[len(line) - 1 :]] for name, line in cells.items()]
        for name, share in report.details.get("ignorant", {}).get(case, {}).items():
            table.append([name, f"{share:.1f}", *blank])
        head = ["accuracy % (one pass, memory)", *(f"size {size}" for size in sizes)]
        report.matrix(case, head, table)


# --- the picture ---------------------------------------------------------------------------------

COLOURS = ("#222222", "#009E73", "#CC79A7", "#0072B2", "#D55E00", "#56B4E9", "#E69F00")
SHOWN = 12.0  # points below the best; who is farther down is named at the bottom


def draw(report: Report, path: Path) -> None:
    """A row for each contest: accuracy against time, and against memory, a line for each family."""
    from matplotlib.ticker import EngFormatter, LogLocator, NullFormatter

    names = dict.fromkeys(kin(name) for rows in report.cases.values() for name in rows)
    looks = {
        name: {"color": COLOURS[k % 7], "linestyle": "-" if k < 7 else "--", "marker": "os"[k // 7]}
        for k, name in enumerate(names)
    }
    picture = new_figure(figsize=(14, 3.7 * len(report.cases)))
    panels = picture.subplots(len(report.cases), 2, squeeze=False, sharey="row")
    for (time, memory), (case, rows) in zip(panels, report.cases.items(), strict=True):
        best = max(row["accuracy"] for row in rows.values())
        worst = min(row["accuracy"] for row in rows.values())
        floor = max(worst, best - SHOWN) - 0.04 * min(best - worst, SHOWN)
        blind = report.details.get("ignorant", {}).get(case, {})
        top = max(best, *blind.values()) if blind else best
        ends: dict[str, list[dict[str, Any]]] = {}
        for name, row in rows.items():
            ends.setdefault(kin(name), []).append(row)
        for family, line in ends.items():
            look = {"linewidth": 1.6, "markersize": 5, **looks[family]}
            heights = [row["accuracy"] for row in line]
            time.plot([row["best_s"] for row in line], heights, **look)
            memory.plot([1e3 * row["kB"] for row in line], heights, **look)
        for name, share in blind.items():
            if share > floor:
                for ax in (time, memory):
                    ax.axhline(share, color="#888888", linewidth=1, linestyle=":")
                time.annotate(name, (0.01, share), (0, 2), **_AT_LEFT)
        for ax, quantity, unit in ((time, "time of one pass", "s"), (memory, "memory held", "B")):
            ax.set_xscale("log")
            left, right = ax.get_xlim()
            steps = (1.0,) if right > 300 * left else (1.0, 2.0, 5.0)
            ax.xaxis.set_major_locator(LogLocator(subs=steps))
            ax.xaxis.set_major_formatter(EngFormatter(unit))
            ax.xaxis.set_minor_formatter(NullFormatter())
            ax.set_ylim(floor, top + 0.06 * (top - floor))
            ax.set_xlabel(quantity)
            ax.spines[["top", "right"]].set_visible(False)
            ax.grid(color="#EEEEEE", linewidth=0.8)
            ax.set_axisbelow(True)
        time.set_title(case, loc="left")
        time.set_ylabel("accuracy, %")
        _name(memory, {family: line[-1] for family, line in ends.items()}, looks)
    picture.savefig(path, dpi=100)


_AT_LEFT: dict[str, Any] = {
    "xycoords": ("axes fraction", "data"),
    "textcoords": "offset points",
    "fontsize": "small",
    "color": "#666666",
}


def _name(ax: Any, last: dict[str, dict[str, Any]], looks: dict[str, dict[str, Any]]) -> None:
    """Names on the right, in the order of accuracy, none over another; a thread leads to each."""
    low, high = ax.get_ylim()
    ordered = sorted(last.items(), key=lambda item: item[1]["accuracy"], reverse=True)
    wanted = np.array([(row["accuracy"] - low) / (high - low) for _, row in ordered])
    gap, places = 1.0 / max(14, len(ordered)), np.clip(wanted, 0.0, 1.0)
    for k in range(1, len(places)):
        places[k] = min(places[k], places[k - 1] - gap)
    places += max(0.0, -places[-1])  # those at the bottom push the others up
    for k in range(len(places) - 2, -1, -1):
        places[k] = max(min(places[k], 1.05), places[k + 1] + gap)
    for (family, row), place in zip(ordered, places, strict=True):
        colour = looks[family]["color"]
        ax.annotate(
            f"{family}: {row['accuracy']:.1f}",
            (1e3 * row["kB"], max(row["accuracy"], low)),
            (1.04, place),
            textcoords="axes fraction",
            va="center",
            fontsize="small",
            color=colour,
            annotation_clip=False,
            arrowprops={"arrowstyle": "-", "color": colour, "linewidth": 0.5, "alpha": 0.5},
        )
