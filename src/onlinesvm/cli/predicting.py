"""`predict`: rows in, the same rows out with what the model says of them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from rich.console import Console

from onlinesvm.cli.console import plain, visible
from onlinesvm.cli.opening import say_notes
from onlinesvm.cli.options import PredictOptions
from onlinesvm.cli.rows_out import Added, is_formula, writer_for
from onlinesvm.cli.saved import Saved
from onlinesvm.cli.targets import check_target
from onlinesvm.cli.words import rows_in_words
from onlinesvm.files.atomic import replacing
from onlinesvm.stream.sources import Examples

__all__ = ["predict"]


def predict(console: Console, given: PredictOptions) -> None:
    """Write each row with what the model says of it."""
    if given.scores and given.proba:
        raise ValueError("--scores and --proba do not go together; ask for one of them")
    columns = "scores" if given.scores else "probabilities" if given.proba else "prediction"
    out, safe_csv = given.out, given.safe_csv
    saved = Saved.find(Path(str(given.model)))
    saved.demand("predict", "makes features and predicts nothing; name the model behind it")
    if columns == "scores":
        saved.demand("decision_function", "predicts numbers and has no scores")
    if columns == "probabilities":
        saved.demand("predict_proba", "has no probabilities; save a CalibratedOnline around it")
    if out is not None:
        check_target("--out", out)
    source = saved.open(str(given.source), given.reading())
    bad = 0
    try:
        say_notes(console, source)
        with _opened(out) as write:
            rows = writer_for(source, safe=safe_csv)
            names = _names(saved, columns)
            if not safe_csv:
                _say_formulas(console, saved)
            write(rows.head(names))
            for block in source.blocks():
                write(rows.body(block, Added(names, _values(saved, columns, block.examples))))
                bad += len(block.bad)
    finally:
        source.close()
    if bad:
        they = "it has" if bad == 1 else "they have"
        console.print(f"[yellow]{rows_in_words(bad)}[/] could not be read: {they} no prediction")


def _say_formulas(console: Console, saved: Saved) -> None:
    """A note where a spreadsheet would run a label."""
    for label in getattr(saved.model, "classes_", ()):
        if is_formula(label):
            console.print(
                f"[yellow]note:[/] labels such as {plain(repr(str(label)[:40]))} are formulas to a "
                "spreadsheet: --safe-csv puts an apostrophe before them",
                soft_wrap=True,
            )
            return


def _names(saved: Saved, columns: str) -> list[str]:
    if columns == "prediction":
        return ["prediction"]
    classes = list(getattr(saved.model, "classes_", ()))
    if columns == "probabilities":
        return ["prediction", *(f"probability_{label}" for label in classes)]
    if len(classes) <= 2:
        return ["prediction", "score"]
    return ["prediction", *(f"score_{label}" for label in classes)]


def _values(saved: Saved, columns: str, examples: Examples) -> list[list[object]]:
    """The cells to be added to each row."""
    if not len(examples):
        return []
    predictions = np.asarray(saved.model.predict(examples.X)).tolist()
    if columns == "prediction":
        return [[label] for label in predictions]
    verb = "decision_function" if columns == "scores" else "predict_proba"
    numbers: NDArray[np.float64] = np.asarray(getattr(saved.model, verb)(examples.X))
    rows = numbers.reshape(len(predictions), -1).tolist()
    return [
        [label, *(float(f"{f:.6g}") for f in row)]
        for label, row in zip(predictions, rows, strict=True)
    ]


@contextmanager
def _opened(out: Path | None) -> Iterator[Callable[[bytes], object]]:
    """A file that is written whole or not at all, or standard output, which is not."""
    if out is not None:
        with replacing(out) as file:
            yield file.write
    elif sys.stdout.isatty():  # what a terminal would obey is spelt out
        yield lambda data: print(_seen(data), end="")
    else:
        yield _piped
        sys.stdout.flush()


def _seen(data: bytes) -> str:
    lines = data.decode(errors="backslashreplace").splitlines()
    return "".join(visible(line) + "\n" for line in lines)


def _piped(data: bytes) -> None:
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()
