"""A whole test-then-train run as one object: to look at, to compare, to store."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from onlinesvm.files.atomic import replacing
from onlinesvm.stream.baselines import BASELINES
from onlinesvm.stream.prequential import prequential
from onlinesvm.stream.snapshot import Snapshot
from onlinesvm.stream.students import kind_of

__all__ = ["Evaluation", "evaluate"]

_WHOLE_NUMBERS = ("seen", "support_vectors", "labels_used", "nbytes")
_WORDS = ("model", "role")


class Evaluation:
    """What a run over a stream showed: one row for each snapshot of each model and baseline.

    Iterating gives the snapshots, as `prequential` does, so that `report.plot_history` takes it.
    Holds numbers only, no example and no model.

    Parameters
    ----------
    history : iterable of dict of str to Snapshot
    """

    def __init__(self, history: Iterable[dict[str, Snapshot]]) -> None:
        self.history = list(history)

    @property
    def last(self) -> dict[str, Snapshot]:
        """How each model stood at the end."""
        if not self.history:
            raise ValueError("the stream was empty: there is no last snapshot")
        return self.history[-1]

    def __iter__(self) -> Iterator[dict[str, Snapshot]]:
        return iter(self.history)

    def __len__(self) -> int:
        return len(self.history)

    def rows(self) -> list[dict[str, Any]]:
        """Every snapshot as a flat dict that begins with the model's name; nan stays nan."""
        flat = [
            {"model": name} | snapshot.row()
            for snapshots in self.history
            for name, snapshot in snapshots.items()
        ]
        names = list(dict.fromkeys(name for row in flat for name in row))
        return [{name: row.get(name) for name in names} for row in flat]

    def to_frame(self) -> Any:
        """The rows as a pandas data frame."""
        try:
            import pandas as pd
        except ImportError as missing:
            raise ImportError("to_frame needs pandas: `pip install pandas`") from missing
        return pd.DataFrame({name: _column(name, values) for name, values in self._columns()})

    def to_jsonl(self, path: str | os.PathLike[str]) -> None:
        """Write the rows as JSON Lines; what is no finite number is null."""
        with replacing(path) as file:
            for row in self.rows():
                finite = {name: _json_value(value) for name, value in row.items()}
                file.write(json.dumps(finite, allow_nan=False).encode() + b"\n")

    def to_parquet(self, path: str | os.PathLike[str]) -> None:
        """Write the rows as a Parquet file; nan and None are null."""
        try:
            import pyarrow as pa
            import pyarrow.parquet as pq
        except ImportError as missing:
            raise ImportError("to_parquet needs pyarrow: `pip install pyarrow`") from missing
        columns = {
            name: pa.array(
                [None if _is_nan(value) else value for value in values],
                type=pa.string()
                if name in _WORDS
                else pa.int64()
                if name in _WHOLE_NUMBERS
                else pa.float64(),
            )
            for name, values in self._columns()
        }
        with replacing(path) as file:
            pq.write_table(pa.table(columns), file)

    def _columns(self) -> list[tuple[str, list[Any]]]:
        rows = self.rows()
        return [(name, [row[name] for row in rows]) for name in rows[0]] if rows else []

    def __repr__(self) -> str:
        """The last window of each metric, as a table."""
        if not self.history:
            return "Evaluation of an empty stream"
        names = list(dict.fromkeys(m for shot in self.last.values() for m in shot.window))
        lines = [["", *names]]
        for who, shot in self.last.items():
            lines.append([who, *(_shown(shot.window.get(name, math.nan)) for name in names)])
        widths = [max(map(len, cells)) for cells in zip(*lines, strict=True)]
        table = (
            "  ".join([line[0].ljust(widths[0]), *map(str.rjust, line[1:], widths[1:])]).rstrip()
            for line in lines
        )
        seen = next(iter(self.last.values())).seen
        return "\n".join([f"the last window, after {seen:,} examples", *table])


def evaluate(
    models: Any,
    stream: Iterable[Any],
    *,
    baselines: Iterable[str] | None = None,
    **options: Any,
) -> Evaluation:
    """Run models over a stream to its end, beside what looks at no feature at all.

    Parameters
    ----------
    models, stream
        As for `prequential`.
    baselines : list of names, optional
        By default all there are: no-change and majority, or last value and running mean.
    **options
        `classes`, `every`, `metrics`, `window`, `delay`: as for `prequential`.

    Returns
    -------
    Evaluation

    Examples
    --------
    >>> from onlinesvm import PassiveAggressiveRegressor
    >>> from onlinesvm.stream import evaluate, lessons
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(2000, 3))
    >>> stream = lessons(X, X @ [1.0, 2.0, 3.0], size=50)
    >>> result = evaluate(PassiveAggressiveRegressor(), stream, metrics=["mae"])
    >>> list(result.last)
    ['PassiveAggressiveRegressor', 'last value', 'running mean']
    >>> result.last["PassiveAggressiveRegressor"].window["mae"] < 0.2
    True
    """
    if baselines is None:
        some = next(iter(models.values()), None) if isinstance(models, Mapping) else models
        baselines = BASELINES[kind_of(some)]
    return Evaluation(prequential(models, stream, baselines=baselines, **options))


def _is_nan(value: Any) -> bool:
    return isinstance(value, float) and math.isnan(value)


def _json_value(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _column(name: str, values: list[Any]) -> Any:
    """A column of the frame: whole numbers stay so where none is missing."""
    if name in _WORDS:
        return values
    if name in _WHOLE_NUMBERS and None not in values:
        return np.asarray(values, dtype=np.int64)
    return np.asarray([math.nan if v is None else v for v in values], dtype=np.float64)


def _shown(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.4g}"
