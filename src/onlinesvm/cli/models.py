"""Models in files: learn one, use one, look at one."""

from __future__ import annotations

import csv
import io
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.filesize import decimal
from rich.table import Table
from sklearn.base import is_classifier

import onlinesvm
from onlinesvm.atomic import replacing
from onlinesvm.cli.console import plain, visible
from onlinesvm.cli.files import Examples, Wanted, check_target, read_examples
from onlinesvm.cli.recipe import build, parse_params

__all__ = ["describe_file", "fit_file", "predict_file"]


def fit_file(
    console: Console,
    data: Path,
    *,
    method: str,
    params: list[str],
    target: str | None,
    header: bool | None,
    save: Path,
) -> None:
    """Learn `data` row by row with a live bar, write the model to `save`, say what came out."""
    model = build(method, parse_params(params))
    check_target("--save", save)
    examples = read_examples(data, target=target, header=header)
    if examples.y is None:
        raise ValueError(f"{data}: no labels; an .npz archive needs an array y")
    _hint_at_scales(console, examples)
    start = perf_counter()
    with _watched(model):
        model.fit(examples.X, examples.y)
    seconds = perf_counter() - start
    if examples.names is not None:
        model.feature_names_in_ = np.array(examples.names, dtype=object)
    model.save(save)
    _say_what_was_assumed(console, examples)
    console.print(
        f"learnt {examples.n:,} rows in {seconds:.2f} s "
        f"({examples.n / seconds:,.0f} a second){_support_clause(model)}"
    )
    console.print(f"model: [bold]{plain(save)}[/]", soft_wrap=True)


def predict_file(
    console: Console,
    model_path: Path,
    data: Path,
    *,
    out: Path | None,
    scores: bool,
    target: str | None,
    header: bool | None,
) -> None:
    """Write one prediction a line; where the file has labels, tell the score."""
    model = _load(model_path)
    if not hasattr(model, "predict"):
        raise ValueError(
            f"{model_path}: a {type(model).__name__} makes features and predicts nothing; "
            "name the model that learned behind it"
        )
    if scores and not hasattr(model, "decision_function"):
        raise ValueError(f"--scores: a {type(model).__name__} predicts numbers and has no scores")
    if out is not None:
        check_target("--out", out)
    examples = read_examples(data, target=target, header=header, wanted=_wanted(model))
    with warnings.catch_warnings():  # the columns are in the model's order by now
        warnings.filterwarnings("ignore", message="X does not have valid feature names")
        predictions = model.predict(examples.X)
        decisions = np.asarray(model.decision_function(examples.X)) if scores else None
    _write(out, _lines(predictions, decisions))
    _say_what_was_assumed(console, examples)
    if examples.y is not None:
        console.print(_verdict(model, predictions, examples.y))


def describe_file(path: Path) -> Table:
    """What a saved model is and what it has seen."""
    model = _load(path)
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(style="bold", no_wrap=True)
    table.add_column()
    defaults = type(model)().get_params()
    changed = {
        name: value
        for name, value in model.get_params().items()
        if repr(value) != repr(defaults[name])
    }
    settings = ", ".join(f"{name}={value!r}" for name, value in changed.items())
    table.add_row("method", type(model).__name__)
    table.add_row("parameters", plain(settings) or "all at their defaults")
    table.add_row("file", f"{plain(path)} ({decimal(path.stat().st_size)})")
    for label, attribute in (
        ("classes", "classes_"),
        ("features", "n_features_in_"),
        ("columns", "feature_names_in_"),
        ("examples seen", "n_seen_"),
        ("labels used", "labels_used_"),
    ):
        value = getattr(model, attribute, None)
        if value is not None:
            table.add_row(label, plain(_worded(value)))
    support = getattr(model, "support_", None)
    if support is not None:
        table.add_row("support vectors", f"{len(support):,}")
    if hasattr(model, "nbytes_"):
        table.add_row("memory", decimal(model.nbytes_))
    return table


def _load(path: Path) -> Any:
    if not path.is_file():
        raise ValueError(f"{path}: no such file")
    model = onlinesvm.load(path)
    if not hasattr(model, "n_features_in_"):
        raise ValueError(f"{path}: this model has not learnt anything yet")
    return model


@contextmanager
def _watched(model: Any) -> Iterator[None]:
    """A live bar while learning, and no trace of it in the model."""
    if "verbose" not in model.get_params():
        yield
        return
    before = model.verbose
    model.set_params(verbose=True)
    try:
        yield
    finally:
        model.set_params(verbose=before)


def _wanted(model: Any) -> Wanted:
    names = getattr(model, "feature_names_in_", ())
    by_name = len(names) and all(isinstance(name, str) for name in names)
    return Wanted(model.n_features_in_, tuple(names) if by_name else None)


def _write(out: Path | None, lines: Iterator[str]) -> None:
    if out is None:
        sys.stdout.writelines(lines)
        return
    with replacing(out) as file:
        file.writelines(line.encode() for line in lines)


def _lines(predictions: NDArray[Any], decisions: NDArray[Any] | None) -> Iterator[str]:
    labels = map(visible, predictions.tolist())
    if decisions is None:
        yield from (label + "\n" for label in labels)
        return
    for label, row in zip(labels, decisions.reshape(len(predictions), -1), strict=True):
        line = io.StringIO()
        csv.writer(line, lineterminator="\n").writerow([label, *(f"{f:.6g}" for f in row)])
        yield line.getvalue()


def _verdict(model: Any, predictions: NDArray[Any], y: NDArray[Any]) -> str:
    if not is_classifier(model):
        error = np.abs(predictions - y.astype(np.float64)).mean()
        return f"mean absolute error {error:.4g} over {len(y):,} rows"
    unknown = set(y.tolist()) - set(model.classes_.tolist())
    right = int(np.count_nonzero(predictions == y))
    words = f"{right / len(y):.2%} right, {right:,} of {len(y):,} rows"
    return (
        f"{words} ({len(unknown)} labels of the file are unknown to the model)"
        if unknown
        else words
    )


def _support_clause(model: Any) -> str:
    support = getattr(model, "support_", None)
    return "" if support is None else f", {len(support):,} support vectors"


def _say_what_was_assumed(console: Console, examples: Examples) -> None:
    for note in examples.notes:
        console.print(f"[yellow]note:[/] {plain(note)}", soft_wrap=True)


def _hint_at_scales(console: Console, examples: Examples) -> None:
    """Raw columns are the commonest reason for a bad SVM: say so, go on."""
    if not isinstance(examples.X, np.ndarray) or examples.X.dtype.kind not in "fiu":
        return
    widest = float(examples.X.std(axis=0).max())
    if widest > 20:
        console.print(
            f"[yellow]hint:[/] a feature has standard deviation {widest:.3g}; "
            "standardised features usually learn better"
        )


def _worded(value: Any) -> str:
    if isinstance(value, np.ndarray):
        shown = ", ".join(map(str, value[:10].tolist()))
        return f"{len(value)} ({shown}{', ...' if len(value) > 10 else ''})"
    return f"{value:,}"
