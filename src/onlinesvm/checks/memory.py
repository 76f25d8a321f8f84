"""Memory and threads: a budget is a promise, and readers never see half an update."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
from sklearn.base import clone

from .streams import (
    Stream,
    adjusted,
    fingerprint,
    go_on,
    last_of,
    learned,
    one_by_one,
    parameters,
    predicted_one,
    promise,
    scores,
    streaming,
    transforming,
)


def bounded(estimator: Any) -> Any:
    """A copy with a memory budget, where the estimator can have one; else None."""
    model, params = clone(estimator), parameters(estimator)
    if transforming(model):
        return model
    if params.get("multiclass") == "one-vs-one":  # whose machines have no bound in common
        return None
    if "max_support" in params:
        return adjusted(model, keep_non_support=10, max_support=20, cache_bytes=1 << 16)
    if "truncation" in params:
        return adjusted(model, truncation=20)
    if "budget" in params:
        return adjusted(model, budget=20)
    keeps_examples = model.can("unlearn") or params.get("kernel", "linear") != "linear"
    return None if keeps_examples else model


@promise(streaming, lambda estimator: bounded(estimator) is not None, n=3000, classes=2)
def check_memory_levels_off(estimator: Any, stream: Stream) -> None:
    model = bounded(estimator)
    go_on(model, stream.head(1500))
    half = model.nbytes_
    go_on(model, stream.tail(1500))
    assert model.nbytes_ <= 2 * half + 16384, f"{half} bytes grew to {model.nbytes_}"


def takes_a_budget(estimator: Any) -> bool:
    """Whether it can be told how much memory it may have."""
    params = parameters(estimator)
    return "budget" in params and params.get("multiclass") != "one-vs-one"


@promise(streaming, takes_a_budget, n=600)
def check_a_budget_in_bytes_holds(estimator: Any, stream: Stream) -> None:
    given = {"gamma": 1.0} if "gamma" in parameters(estimator) else {}
    model = adjusted(estimator, budget="220kB", **given)
    for piece in stream.pieces(1, 49, 50):
        go_on(model, piece)
        assert model.nbytes_ <= 220_000, f"{model.nbytes_} bytes after {model.n_seen_} examples"


@promise(streaming)
def check_size_is_reported(estimator: Any, stream: Stream) -> None:
    model = learned(estimator, stream)
    saved = sum(array.nbytes for array in last_of(model)._core.state().values())
    assert model.nbytes_ >= saved // 2, f"nbytes_ is {model.nbytes_} for a state of {saved} bytes"


@promise(streaming, n=300)
def check_threads_read_while_one_writes(estimator: Any, stream: Stream) -> None:
    model = learned(estimator, stream.head(30))
    failures: list[BaseException] = []
    done = threading.Event()

    def read() -> None:
        try:
            while not done.is_set():
                assert np.isfinite(scores(model, stream.X)).all()
                predicted_one(model, stream.X[0])
                fingerprint(model)
        except BaseException as error:
            failures.append(error)

    readers = [threading.Thread(target=read) for _ in range(3)]
    for reader in readers:
        reader.start()
    try:
        go_on(model, *stream.tail(30).pieces(9))
        one_by_one(model, stream.head(50))
    finally:
        done.set()
        for reader in readers:
            reader.join()
    assert not failures, f"a reader failed: {failures[0]!r}"
    pieces = [stream.head(30), *stream.tail(30).pieces(9), *stream.head(50).pieces(1)]
    alone = learned(estimator, *pieces)
    assert fingerprint(alone) == fingerprint(model), "readers changed what the writer learned"
