"""A source for tests: arrays in blocks, with bad rows, able to go back or not; and runs on it."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from onlinesvm import OnlineScaler, PassiveAggressiveClassifier, make_online_pipeline
from onlinesvm.stream.run import Run, RunOptions
from onlinesvm.stream.run.reader import Reader
from onlinesvm.stream.sources import BadRow, Block, Column, Examples, Schema


class ArraySource:
    """Rows of arrays; every `spoilt`-th is a bad one. Places are row numbers.

    One that does not replay goes on behind `since` rows, and gives none twice, as a pipe would.
    """

    name = "arrays"
    notes = ()

    def __init__(
        self, X, y=None, *, block=50, spoilt=0, replays=True, live=False, since=0, keys=None
    ):
        self.X, self.y, self.keys = X, y, keys
        self.block, self.spoilt = block, spoilt
        self.replays, self.live = replays, live
        self.since = since
        columns = [Column(f"x{j}", "number") for j in range(X.shape[1])]
        if y is not None:
            columns.append(Column("y", "category", "target"))
        if keys is not None:
            columns.append(Column("who", "category", "key"))
        self.schema = Schema(tuple(columns))

    def identity(self):
        return {"rows": int(self.X.shape[0])}

    def blocks(self, since=None):
        n = self.X.shape[0]
        start = 0 if since is None else since.get("row")
        if not isinstance(start, int) or not 0 <= start <= n:
            raise ValueError("the place is of another source")
        if not self.replays:
            start = self.since
        while start < n:
            stop = min(n, start - start % self.block + self.block)
            self.since = stop
            yield self._block(start, stop, n)
            start = stop

    def _block(self, start, stop, n):
        at = np.arange(start, stop)
        bad = at[(at + 1) % self.spoilt == 0] if self.spoilt else at[:0]
        good = np.setdiff1d(at, bad)
        examples = Examples(
            self.X[good],
            None if self.y is None else self.y[good],
            None if self.keys is None else [self.keys[i] for i in good],
        )
        told = [BadRow(f"row {i}", "spoilt", "x0", int(i) + 1, int(i) * 10, "arrays") for i in bad]
        return Block(examples, {"row": int(stop)}, told, stop / n)

    def close(self):
        pass


def stream(rows=600, seed=0):
    """Numbers of unlike sizes and two labels that are words."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, 3)) * [1.0, 10.0, 0.1]
    y = np.where(X[:, 0] + X[:, 2] > 0, "ja", "nein")
    return X, y


LABELS = ("ja", "nein")


def a_model():
    return make_online_pipeline(OnlineScaler(warm_up=64), PassiveAggressiveClassifier())


def outcome(folder):
    """What no clock has touched of a run, in bytes."""
    found = [Path(folder, name).read_bytes() for name in ("model.onlinesvm", "dead_letters.jsonl")]
    with Reader(Path(folder, "run.sqlite")) as reader:
        kept = [repr(list(reader.facts(kind))).encode() for kind in ("metrics", "drifts")]
    return [*found, *kept]


def through(folder, source, model=None, **options):
    options = {"classes": LABELS, "every": 90, "window": 60} | options
    with Run.begin(folder, source, model or a_model(), RunOptions(**options)) as run:
        moments = list(run.steps())
    return outcome(folder), moments
