"""What a run that survives costs beyond reading and learning: covtype as CSV, 581,012 rows.

"loop" reads the file block by block and learns, without a test; "prequential" tests first, in the
lessons that the run takes, with the same metrics and baselines; "run" is `Run.begin` with its
defaults: it tests, writes metrics, a log and checkpoints. All read with the same source.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench.common import Options, Report, benchmark, race

MOST = 1.15
CLASSES = tuple(range(1, 8))


def write_csv(path: Path, rows: int) -> None:
    import pyarrow as pa
    import pyarrow.csv as csv

    from onlinesvm.datasets import fetch

    data = fetch("covtype")
    X, y = data.X_train, data.y_train
    columns = {f"x{j}": X[:rows, j] for j in range(X.shape[1])} | {"cover": y[:rows]}
    csv.write_csv(pa.table(columns), path)


def blocks(path: Path) -> Iterator[Any]:
    from onlinesvm.stream.sources import open_source

    for block in open_source(str(path), target="cover").blocks():
        yield block.examples


def loop(model: Any, path: Path) -> None:
    for examples in blocks(path):
        model.partial_fit(examples.X, examples.y, classes=CLASSES)


def tested(model: Any, path: Path) -> None:
    from onlinesvm.stream import Lesson, evaluate
    from onlinesvm.stream.run import RunOptions

    def lessons() -> Iterator[Lesson]:
        for e in blocks(path):
            for a in range(0, len(e), RunOptions().lesson):
                yield Lesson(e.X[a : a + RunOptions().lesson], e.y[a : a + RunOptions().lesson])

    evaluate(model, lessons(), classes=CLASSES, every=5000)


def run(model: Any, path: Path) -> None:
    from onlinesvm.stream.run import Run, RunOptions
    from onlinesvm.stream.sources import open_source

    source = open_source(str(path), target="cover")
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        options = RunOptions(classes=CLASSES)
        with Run.begin(f"{folder}/run", source, model, options) as running:
            for _ in running.steps():
                pass


def contest(cls: Any, path: Path, rows: int, report: Report, options: Options) -> None:
    laps = race(
        {
            "loop": lambda: loop(cls(), path),
            "prequential": lambda: tested(cls(), path),
            "run": lambda: run(cls(), path),
        },
        repeats=options.repeats,
    )
    report.add(cls.__name__, laps, units=rows)
    beyond = laps["run"].best / laps["prequential"].best
    report.bar(f"{cls.__name__}: run over prequential", beyond, at_most=MOST)
    report.bar(f"{cls.__name__}: run over loop", report.ratio(cls.__name__, "run"), at_most=MOST)


@benchmark("a run that survives, covtype as CSV", "loop")
def main(report: Report, options: Options) -> None:
    from onlinesvm import PassiveAggressiveClassifier, StreamSVC

    rows = options.size(581_012, 5000)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "covtype.csv")
        write_csv(path, rows)
        for cls in (PassiveAggressiveClassifier, StreamSVC):
            if options.wants(cls.__name__):
                contest(cls, path, rows, report, options)
