"""This checkout against another, built beside it: the same work in both, turn and turn about.

    git worktree add ../before b81c776 && make -C ../before build
    python -m bench.against ../before
    python -m bench.against ../before --tasks

Two processes take turns, ``--rounds`` times, and the least processor time of each counts; a ratio
above 1 means that this checkout is slower. Settings that only one side knows are left out there.
With ``--tasks`` the work is one pass of RampSVC, by the defaults of each side, over the tasks of
the ramp paper where no noise shortens it.
"""

from __future__ import annotations

import argparse
import inspect
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

Work = Callable[[], Any]

TASKS = ("Adult", "Banana", "Checkerboard", "Cover", "DNA", "USPS", "Waveform")

# The papers' own, where defaults have changed: both sides do the same work.
SETTINGS: dict[str, dict[str, Any]] = {
    "RampSVC": {"tol": 1e-3, "stopping": "paper"},
    "LASVC": {"reprocess": 1},
    "PassiveAggressiveClassifier": {"average": False},
    "SGDSVC": {"average": False},
    "PegasosSVC": {"average": False, "t0": 0.0},
    "StreamSVC": {"lookahead": 1, "bias": "none"},
}


def works() -> Iterator[tuple[str, Work]]:
    """What is timed, by name."""
    import onlinesvm

    rng = np.random.default_rng(0)
    d = 20
    X = rng.standard_normal((20_000, d))
    y = np.where(np.sin(2 * X[:, 0]) + X[:, 1] + 0.5 * rng.standard_normal(len(X)) > 0, 1, -1)
    names = [f"f{j}" for j in range(d)]
    records = [dict(zip(names, x, strict=True)) for x in X.tolist()]

    def fresh(name: str) -> Any:
        cls = getattr(onlinesvm, name)
        known = inspect.signature(cls).parameters
        wanted = {"classes": [-1, 1], "gamma": 1 / d} | SETTINGS.get(name, {})
        return cls(**{key: value for key, value in wanted.items() if key in known})

    def batch(name: str, n: int) -> Work:
        return lambda: fresh(name).partial_fit(X[:n], y[:n])

    def one_by_one(name: str, rows: Any) -> Work:
        labels = y[: len(rows)].tolist()

        def run() -> None:
            model = fresh(name)
            for row, label in zip(rows, labels, strict=True):
                model.learn_one(row, label)

        return run

    def predict(name: str, n: int, asked: int) -> Work:
        model = fresh(name).partial_fit(X[:n], y[:n])
        return lambda: [model.predict_one(x) for x in X[:asked]]

    def scores(name: str, n: int) -> Work:
        model = fresh(name).partial_fit(X[:n], y[:n])
        return lambda: model.decision_function(X)

    def row_by_row(model: Any, verb: str) -> Work:
        model.partial_fit(X[:300], y[:300])
        cuts = [slice(i, i + 1) for i in range(300, 600)]
        if verb == "predict":
            return lambda: [model.predict(X[cut]) for cut in cuts]
        return lambda: [model.partial_fit(X[cut], y[cut]) for cut in cuts]

    for verb in ("partial_fit", "predict"):
        for name in ("SGDSVC", "PassiveAggressiveClassifier", "LASVC", "RampSVC", "NormaSVC"):
            yield f"{name}, {verb} of a row", row_by_row(fresh(name), verb)
        scaled = onlinesvm.make_online_pipeline(onlinesvm.OnlineScaler(), fresh("SGDSVC"))
        yield f"pipeline, {verb} of a row", row_by_row(scaled, verb)
    cheap = ("PassiveAggressiveClassifier", "SGDSVC", "PegasosSVC", "StreamSVC")
    for name in cheap:
        yield f"{name}, batch", batch(name, len(X))
        yield f"{name}, one by one", one_by_one(name, X)
    yield "PassiveAggressiveClassifier, dicts", one_by_one(cheap[0], records)
    kernel = {
        "RampSVC": 1500,
        "IncrementalSVC": 700,
        "PokerSVC": 700,
        "LASVC": 2000,
        "HullerSVC": 2000,
        "SmoSVC": 3000,
        "CoreVectorSVC": 3000,
        "NormaSVC": 2000,
        "KernelPerceptron": 2000,
    }
    for name, n in kernel.items():
        yield f"{name}, batch", batch(name, n)
        if name not in ("SmoSVC", "CoreVectorSVC"):
            yield f"{name}, one by one", one_by_one(name, X[: min(n, 700)])
    yield "RampSVC, predict_one", predict("RampSVC", 1000, 2000)
    yield "PassiveAggressiveClassifier, predict_one", predict(cheap[0], 1000, 10_000)
    yield "RampSVC, decision_function", scores("RampSVC", 1000)


def passes() -> Iterator[tuple[str, Work]]:
    """One pass over each task, by name."""
    from onlinesvm import RampSVC
    from onlinesvm.datasets import paper_task

    def one_pass(task: Any) -> Work:
        X, y = task.data.X_train, task.data.y_train
        return lambda: RampSVC(C=task.C, gamma=task.gamma).partial_fit(X, y, classes=[-1, 1])

    for name in TASKS:
        yield f"RampSVC, {name}", one_pass(paper_task(name))


def measure(all_works: Iterable[tuple[str, Work]], only: list[str]) -> dict[str, float]:
    seconds = {}
    for name, work in all_works:
        if only and not any(word in name for word in only):
            continue
        laps: list[float] = []
        while len(laps) < 3 or sum(laps) < 0.3:
            start = time.process_time()
            work()
            laps.append(time.process_time() - start)
        seconds[name] = min(laps)
    return seconds


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("other", nargs="?", type=Path, help="another checkout, built")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", nargs="+", default=[], metavar="WORD")
    parser.add_argument("--tasks", action="store_true")
    told = parser.parse_args()
    if told.other is None:  # one side's turn
        print(json.dumps(measure(passes() if told.tasks else works(), told.only)))
        return
    asked = [*(["--tasks"] if told.tasks else []), *(["--only", *told.only] if told.only else [])]
    sides = {"here": Path.cwd(), "there": told.other.resolve()}
    best: dict[str, dict[str, float]] = {side: {} for side in sides}
    for turn in range(told.rounds):
        for side in list(sides)[:: 1 if turn % 2 == 0 else -1]:
            for name, s in _turn(sides[side], asked).items():
                best[side][name] = min(s, best[side].get(name, np.inf))
    for name, s in best["there"].items():
        print(f"{name:42} {1e3 * s:8.1f} ms there   x {best['here'][name] / s:.3f} here")
    mean = np.exp(np.mean([np.log(best["here"][name] / s) for name, s in best["there"].items()]))
    print(f"{'geometric mean':57}   x {mean:.3f} here")


def _turn(root: Path, asked: list[str]) -> dict[str, float]:
    python = root / ".venv/bin/python"
    command = [str(python), os.path.abspath(__file__), *asked]
    told = subprocess.run(
        command, cwd=root, check=True, capture_output=True, text=True,
        env=os.environ | {"OMP_NUM_THREADS": "1", "PYTHONWARNINGS": "ignore"},
    )  # fmt: skip
    return dict(json.loads(told.stdout))


if __name__ == "__main__":
    sys.exit(main())
