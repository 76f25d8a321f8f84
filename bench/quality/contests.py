"""What is learned: rows with others to be tested on, or a stream that is its own test.

Everything is cut by one rule, so that nobody waits for hours and nobody can choose what suits him:
at most 10,000 rows and eight million numbers to learn, at most 5,000 rows to be tested on, at most
20,000 rows of a stream. Rows are drawn with a seed, streams keep their order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.metrics import pairwise_distances

from bench.common import console
from onlinesvm.datasets import DownloadError, fetch, make_checkerboard, make_rotating_boundary

ROWS, NUMBERS, TEST_ROWS, STREAM_ROWS = 10_000, 8_000_000, 5_000, 20_000
TEST_SHARE = 0.2  # where the source has no test rows


@dataclass(frozen=True)
class Contest:
    """Rows to learn, and to be tested on: others, or the same ones just before."""

    name: str
    X: Any
    y: Any
    X_test: Any = None
    y_test: Any = None
    unit: float = 1.0  # of gamma
    trial_rows: int = 10_000  # at most, to choose settings on

    @property
    def drifts(self) -> bool:
        return self.X_test is None

    @property
    def chunk(self) -> int:
        return 10 if self.drifts else 1000

    @property
    def wide(self) -> bool:
        """Sparse rows of very many features."""
        return bool(sparse.issparse(self.X))

    @property
    def classes(self) -> NDArray[Any]:
        return np.unique(self.y)

    @property
    def trial(self) -> Contest:
        """What settings are chosen on."""
        n = len(self.y) // 10 if self.drifts else min(self.trial_rows, len(self.y))
        if self.drifts:
            return replace(self, X=self.X[:n], y=self.y[:n])
        m = 4 * n // 5
        return replace(self, X=self.X[:m], y=self.y[:m], X_test=self.X[m:n], y_test=self.y[m:n])

    def measured(self) -> Contest:
        """By the distance between rows, which the unit of gamma follows."""
        some = self.X[: len(self.y) // 10][:1000]
        return replace(self, unit=1.0 / float((pairwise_distances(some) ** 2).mean()))

    def cut(self, rows: int) -> Contest:
        """So many rows to learn, and half as many to be tested on."""
        one = replace(self, X=self.X[:rows], y=self.y[:rows])
        if self.drifts:
            return one
        return replace(one, X_test=self.X_test[: rows // 2], y_test=self.y_test[: rows // 2])


def standardised_so_far(X: Any) -> NDArray[np.float32]:
    """Every row by the mean and the spread of the rows up to it."""
    X = np.asarray(X, dtype=np.float64)
    count = np.arange(1, len(X) + 1)[:, None]
    mean = np.cumsum(X, axis=0) / count
    spread = np.sqrt(np.maximum(np.cumsum(X**2, axis=0) / count - mean**2, 1e-6))
    return ((X - mean) / spread).astype(np.float32)


def ignorant(contest: Contest) -> dict[str, float]:
    """The two who know nothing, row by row, on the rows of a stream that count."""
    first, y = len(contest.y) // 10, contest.y
    counts = np.cumsum(y[:, None] == np.unique(y), axis=0)
    frequent = np.unique(y)[counts[:-1].argmax(axis=1)]
    return {
        "the last label": float(np.mean(y[first:] == y[first - 1 : -1])),
        "the majority": float(np.mean(y[first:] == frequent[first - 1 :])),
    }


# --- sets ----------------------------------------------------------------------------------------

Prepare = Callable[[Any, Any], tuple[Any, Any]]  # rows to learn, rows to be tested on


def _standardised(X: Any, X_test: Any) -> tuple[Any, Any]:
    """By the rows to learn; a feature that is constant there says nothing and goes."""
    X, X_test = np.asarray(X, dtype=np.float64), np.asarray(X_test, dtype=np.float64)
    spread = X.std(axis=0)
    tells = spread > 0
    return tuple(
        np.ascontiguousarray((rows[:, tells] - X[:, tells].mean(axis=0)) / spread[tells])
        for rows in (X, X_test)
    )


def _divided(by: float) -> Prepare:
    return lambda X, X_test: tuple(np.asarray(rows, np.float64) / by for rows in (X, X_test))


def _as_they_are(X: Any, X_test: Any) -> tuple[Any, Any]:
    return tuple(sparse.csr_matrix(rows, dtype=np.float64) for rows in (X, X_test))


def _labels(y: Any) -> NDArray[np.int64]:
    """Classes as 0, 1, ...: some rivals know no others."""
    return np.unique(np.asarray(y), return_inverse=True)[1].astype(np.int64)


def _old_shells(y: Any) -> NDArray[np.int64]:
    return (np.asarray(y) > 9).astype(np.int64)


def _drawn(
    name: str,
    prepare: Prepare = _standardised,
    labels: Callable[[Any], NDArray[np.int64]] = _labels,
) -> Contest:
    X, y, X_test, y_test = fetch(name)
    order = np.random.default_rng(0).permutation(X.shape[0])
    codes = labels(np.concatenate([y, y_test]))
    y, y_test = codes[: X.shape[0]], codes[X.shape[0] :]
    if not X_test.shape[0]:
        n = round(TEST_SHARE * len(order))
        X_test, y_test, order = X[order[:n]], y[order[:n]], order[n:]
    else:
        tested = np.random.default_rng(1).permutation(X_test.shape[0])[:TEST_ROWS]
        X_test, y_test = X_test[tested], y_test[tested]
    wide = sparse.issparse(X)
    order = order[: ROWS if wide else min(ROWS, NUMBERS // X.shape[1])]
    rows, others = prepare(X[order], X_test[:TEST_ROWS])
    contest = Contest(name, rows, y[order], others, y_test[:TEST_ROWS], trial_rows=4_000)
    return contest.measured()


# --- streams -------------------------------------------------------------------------------------


def _stream(name: str, X: Any, y: Any) -> Contest:
    rows = (
        sparse.csr_matrix(X[:STREAM_ROWS], dtype=np.float64)
        if sparse.issparse(X)
        else np.ascontiguousarray(X[:STREAM_ROWS], dtype=np.float64)
    )
    return Contest(name, rows, _labels(y)[:STREAM_ROWS]).measured()


def _electricity() -> Contest:
    X, y, *_ = fetch("stream_electricity")
    return _stream("electricity", standardised_so_far(np.delete(X, [0, 3], axis=1)), y)


def _weather() -> Contest:
    X, y, *_ = fetch("stream_weather")
    return _stream("weather", standardised_so_far(X), y)


def _mail() -> Contest:
    X, y, *_ = fetch("stream_spam")
    return _stream("mail", X, y)


def _phishing() -> Contest:
    X, y, *_ = fetch("stream_phishing")
    return _stream("phishing", X, y)


def _board() -> Contest:
    X, y = make_checkerboard(10_000, noise=0.15, random_state=0)
    return _stream("noisy board", standardised_so_far(X), y)


def _turning() -> Contest:
    X, y = make_rotating_boundary(10_000, turns=1.0, noise=0.05, random_state=0)
    return _stream("turning line", X, y)


STREAMS: dict[str, Callable[[], Contest]] = {
    "electricity": _electricity,
    "weather": _weather,
    "mail": _mail,
    "phishing": _phishing,
}
GENERATED: dict[str, Callable[[], Contest]] = {"noisy board": _board, "turning line": _turning}
SETS: dict[str, Callable[[], Contest]] = {
    "adult": partial(_drawn, "adult"),
    "covtype": partial(_drawn, "covtype"),
    "mnist": partial(_drawn, "mnist", _divided(255.0)),
    "ijcnn1": partial(_drawn, "ijcnn1"),
    "usps": partial(_drawn, "usps", _divided(1.0)),
    "w3a": partial(_drawn, "w3a"),
    "waveform": partial(_drawn, "waveform"),
    "dna": partial(_drawn, "dna"),
    "banana": partial(_drawn, "banana"),
    "abalone": partial(_drawn, "abalone", labels=_old_shells),
    "pima": partial(_drawn, "pima"),
    "ionosphere": partial(_drawn, "ionosphere"),
}
TEXTS: dict[str, Callable[[], Contest]] = {
    "reuters_moneyfx": partial(_drawn, "reuters_moneyfx", _as_they_are),
    "sms_spam": partial(_drawn, "sms_spam", _as_they_are),
    "sector": partial(_drawn, "sector", _as_they_are),
}
CONTESTS = {**SETS, **TEXTS, **STREAMS, **GENERATED}


@lru_cache(maxsize=2)
def contest(name: str, rows: int | None = None) -> Contest:
    """By name, cut to so many rows."""
    one = CONTESTS[name]()
    return one if rows is None else one.cut(rows)


def blind(contest_name: str, rows: int | None = None) -> dict[str, Any]:
    """The size of a contest, and the accuracy in percent of those who look at no row of it."""
    one = contest(contest_name, rows)
    size = {"rows": len(one.y), "features": one.X.shape[1], "classes": len(one.classes)}
    if one.drifts:
        return size | {name: 100 * share for name, share in ignorant(one).items()}
    usual = np.bincount(one.y).argmax()
    return size | {"the majority": 100 * float(np.mean(one.y_test == usual))}


def available(names: Iterable[str]) -> Iterator[str]:
    """Those whose rows can be had; a line names each other one."""
    for name in names:
        try:
            CONTESTS[name]()
        except (DownloadError, ValueError) as error:
            console.print(f"{name} left out: {error}")
        else:
            yield name
