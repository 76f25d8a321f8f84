"""How time and memory grow with the stream: every kernel class, from 5,000 to 500,000 rows.

covtype (class 2 against the rest) and MNIST (8 against the rest), scaled to [0, 1], gamma = 10 / d
for covtype and 0.02 for MNIST, C = 1. A stream learner makes one pass in chunks of 1,000 and is
looked at on its way; a batch learner is fitted anew at each size. Whoever has taken half a minute
goes no further. The exponent is the slope of log time over log n at the last three sizes, at least;
memory is `nbytes_`, or what the arrays of a peer take. Processor time, one thread each;
contestants run in processes beside each other.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

import onlinesvm
from bench.common import Lap, Options, Report, benchmark, figure
from onlinesvm.datasets import fetch
from onlinesvm.report.style import figure as new_figure

SIZES = (5_000, 10_000, 20_000, 40_000, 80_000, 160_000, 320_000, 500_000)
QUICK_SIZES = (500, 1_000, 2_000)
CHUNK = 1_000
LIMIT = 30.0  # seconds of processor time
JOBS = 8
PEER = "Nystroem + SGDClassifier"


@dataclass(frozen=True)
class Grower:
    """Somebody who learns; `how` says whether he goes on, or begins anew at each size."""

    name: str
    make: Callable[[float], Any]
    how: Literal["stream", "batch"] = "stream"


def _ours(name: str, **params: Any) -> Callable[[float], Any]:
    def make(gamma: float) -> Any:
        cls = getattr(onlinesvm, name)
        wanted = {"C": 1.0, "kernel": "rbf", "gamma": gamma, **params}
        known = cls().get_params()
        return cls(**{key: value for key, value in wanted.items() if key in known})

    return make


def _nystroem(gamma: float) -> Any:
    from sklearn.kernel_approximation import Nystroem
    from sklearn.linear_model import SGDClassifier
    from sklearn.pipeline import make_pipeline

    return make_pipeline(
        Nystroem(gamma=gamma, n_components=1000, random_state=0), SGDClassifier(alpha=1e-5)
    )


def _svc(gamma: float) -> Any:
    from sklearn.svm import SVC

    return SVC(gamma=gamma, cache_size=1000)


def _intelex(gamma: float) -> Any:
    from sklearnex.svm import SVC

    return SVC(gamma=gamma)


def growers() -> list[Grower]:
    """Everybody who has a kernel, and the peers that are here."""
    bounded = {"budget": 1000}
    every = [
        Grower("RampSVC", _ours("RampSVC", settle="example")),
        Grower("RampSVC by call", _ours("RampSVC", settle="call")),
        Grower("IncrementalSVC", _ours("IncrementalSVC", settle="example")),
        Grower("PokerSVC", _ours("PokerSVC")),
        Grower("LASVC", _ours("LASVC")),
        Grower("HullerSVC", _ours("HullerSVC")),
        Grower("SmoSVC", _ours("SmoSVC"), "batch"),
        Grower("CoreVectorSVC", _ours("CoreVectorSVC"), "batch"),
        Grower("StreamSVC", _ours("StreamSVC")),
        Grower("KernelPerceptron", _ours("KernelPerceptron")),
        Grower("PassiveAggressiveClassifier", _ours("PassiveAggressiveClassifier")),
        Grower("NormaSVC", _ours("NormaSVC")),
        Grower("PegasosSVC", _ours("PegasosSVC")),
        Grower("FixedPartitionSVC", _ours("FixedPartitionSVC", chunk=1000)),
        Grower("ForgettingSVC, 1,000", _ours("ForgettingSVC", chunk=1000, **bounded)),
        Grower("IndependentSVC, 1,000", _ours("IndependentSVC", **bounded)),
        Grower("BudgetedSVC, 1,000", _ours("BudgetedSVC", **bounded)),
        Grower("ProjectronClassifier, 1,000", _ours("ProjectronClassifier", **bounded)),
        Grower("ForgetronClassifier, 1,000", _ours("ForgetronClassifier", **bounded)),
        Grower(PEER, _nystroem, "batch"),
        Grower("SVC", _svc, "batch"),
    ]
    return every + ([Grower("intelex SVC", _intelex, "batch")] if find_spec("sklearnex") else [])


@cache
def data(name: str) -> tuple[NDArray[np.float64], NDArray[np.int64], float]:
    X, y, *_ = fetch(name)
    X = np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=np.float64)
    order = np.random.default_rng(0).permutation(len(y))
    span = np.ptp(X, axis=0)
    X = (X - X.min(axis=0)) / np.where(span > 0, span, 1.0)
    one = y == (2 if name == "covtype" else 8)
    gamma = 10.0 / X.shape[1] if name == "covtype" else 0.02
    return X[order], np.where(one, 1, -1)[order], gamma


def grow(set_name: str, who: str, sizes: tuple[int, ...], limit: float) -> list[dict[str, Any]]:
    """Seconds, bytes and support vectors of one contestant at each size that he reached."""
    warnings.simplefilter("ignore")
    grower = next(g for g in growers() if g.name == who)
    X, y, gamma = data(set_name)
    there = [n for n in sizes if n <= len(y)]
    points: list[dict[str, Any]] = []
    with threadpool_limits(limits=1):
        model, taken, at = grower.make(gamma), 0.0, 0
        for n in there:
            if grower.how == "batch":
                model, taken, at = grower.make(gamma), 0.0, 0
            while at < n and taken < limit:
                stop = n if grower.how == "batch" else min(at + CHUNK, n)
                start = time.process_time()
                if grower.how == "batch":
                    model.fit(X[:n], y[:n])
                else:
                    model.partial_fit(X[at:stop], y[at:stop], classes=[-1, 1])
                taken += time.process_time() - start
                at = stop
            if at == n:
                points.append({"n": n, "seconds": taken, **_size(model)})
            if taken >= limit or _next_is_too_long(points, limit, grower.how):
                break
    return points


def _next_is_too_long(points: list[dict[str, Any]], limit: float, how: str) -> bool:
    """A batch learner cannot be stopped on its way."""
    return how == "batch" and bool(points) and 3.0 * points[-1]["seconds"] > limit


def _size(model: Any) -> dict[str, Any]:
    vectors = getattr(model, "support_", None)
    if hasattr(model, "nbytes_"):
        held = int(model.nbytes_)
    else:
        parts = [step for _, step in model.steps] if hasattr(model, "steps") else [model]
        held = sum(v.nbytes for p in parts for v in vars(p).values() if isinstance(v, np.ndarray))
    return {"bytes": held, "vectors": None if vectors is None else len(vectors)}


def exponent(points: list[dict[str, Any]], what: str) -> float | None:
    """The slope at the end, over the last three sizes or more."""
    last = [p for p in points if p[what]][-4:]
    if len(last) < 3:
        return None
    n, value = np.log([p["n"] for p in last]), np.log([p[what] for p in last])
    return float(np.polyfit(n, value, 1)[0])


def _slope(value: float | None) -> str:
    return "-" if value is None else f"{value + 0.0:.2f}"


def show(report: Report, name: str, grown: dict[str, list[dict[str, Any]]]) -> None:
    rows = []
    for who, points in grown.items():
        if not points:
            rows.append([who, "-", "> half a minute", "-", "-", "-", "-"])
            continue
        last = points[-1]
        slopes = [_slope(exponent(points, what)) for what in ("seconds", "bytes")]
        vectors = figure(last["vectors"])
        size = [figure(last["n"]), figure(last["seconds"]), slopes[0]]
        rows.append([who, *size, figure(last["bytes"] / 1e6), slopes[1], vectors])
    head = ["contestant", "rows", "s", "time ~ n^", "MB", "memory ~ n^", "SVs"]
    report.matrix(name, head, rows)


COLOURS = ("#222222", "#009E73", "#CC79A7", "#0072B2", "#D55E00", "#56B4E9", "#E69F00")


def draw(grown: dict[str, dict[str, list[dict[str, Any]]]], path: Path) -> None:
    """Time and memory against the rows, log-log, a row for each set."""
    names = list(dict.fromkeys(who for sets in grown.values() for who in sets))
    picture = new_figure(figsize=(14, 6.2 * len(grown)))
    panels = picture.subplots(len(grown), 2, squeeze=False)
    for axes, (name, sets) in zip(panels, grown.items(), strict=True):
        for ax, what, unit in ((axes[0], "seconds", 1.0), (axes[1], "bytes", 1e6)):
            for who, points in sets.items():
                k = names.index(who)
                ax.plot(
                    [p["n"] for p in points],
                    [p[what] / unit for p in points],
                    color=COLOURS[k % 7],
                    linestyle=("-", "--", ":", "-.")[k // 7],
                    marker="os^D"[k // 7],
                    markersize=4,
                    linewidth=1.4,
                    label=who,
                )
            ax.set_xscale("log")
            ax.set_yscale("log")
            ax.set_xlabel("rows")
            ax.set_ylabel("seconds of one pass or fit" if what == "seconds" else "MB held")
            ax.grid(color="#EEEEEE", linewidth=0.8)
            ax.spines[["top", "right"]].set_visible(False)
        axes[0].set_title(name, loc="left")
        axes[1].legend(fontsize="small", frameon=False, loc="center left", bbox_to_anchor=(1, 0.5))
    picture.savefig(path, dpi=100, bbox_inches="tight")


@benchmark("Growth", PEER, repeats=1)
def main(report: Report, options: Options) -> None:
    sizes, limit = (QUICK_SIZES, 5.0) if options.quick else (SIZES, LIMIT)
    names = [name for name in ("covtype", "mnist") if options.wants(name)]
    everybody = [g.name for g in growers()]
    if "intelex SVC" not in everybody:
        report.note("scikit-learn-intelex is not there and left out.")
    with ProcessPoolExecutor(JOBS, mp_context=get_context("spawn")) as pool:
        runs = {
            (name, who): pool.submit(grow, name, who, sizes, limit)
            for who in everybody
            for name in names
        }
        grown = {name: {who: runs[name, who].result() for who in everybody} for name in names}
    for name, sets in grown.items():
        laps = {who: Lap([p[-1]["seconds"]], None) for who, p in sets.items() if p}
        report.add(name, laps)
        show(report, name, sets)
    report.details["growth"] = grown
    if not options.quick:
        draw(grown, Path("docs/images/growth.png"))
