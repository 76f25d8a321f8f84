"""Persistence: saved, pickled or copied mid-stream, a model goes on as if nothing had happened."""

from __future__ import annotations

import copy
import pickle
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone

from ..files.persistence import load
from .streams import (
    Stream,
    assert_same_bits,
    fingerprint,
    go_on,
    last_of,
    learned,
    promise,
    refuses,
    savable,
    scores,
    streaming,
)


def _through_a_file(model: Any) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        model.save(Path(folder) / "model")
        return load(Path(folder) / "model")


@promise(streaming, savable)
def check_save_load_go_on(estimator: Any, stream: Stream) -> None:
    for n in (1, 45, 89):
        never_stopped = learned(estimator, stream.head(n), stream.tail(n))
        model = _through_a_file(learned(estimator, stream.head(n)))
        assert_same_bits(go_on(model, stream.tail(n)), never_stopped, f"saved after {n}")


@promise(savable)
def check_loaded_models_are_the_same(estimator: Any, stream: Stream) -> None:
    model = learned(estimator, stream)
    again = _through_a_file(model)
    assert type(again) is type(model)
    assert repr(again) == repr(model), "the parameters came back differently"
    assert_same_bits(model, again, "save and load")
    assert np.array_equal(scores(model, stream.X), scores(again, stream.X))


@promise(savable)
def check_an_unlearned_model_can_be_saved(estimator: Any, _: Stream) -> None:
    again = _through_a_file(clone(estimator))
    assert not again.__sklearn_is_fitted__()
    assert repr(again) == repr(estimator)


@promise(streaming, savable, lambda estimator: estimator.can("unlearn"), n=60)
def check_an_unlearned_example_may_come_back(estimator: Any, stream: Stream) -> None:
    model = learned(estimator, stream)
    try:
        model.unlearn([3, 5])
    except NotImplementedError:  # not with these parameters
        return
    model.partial_fit(stream.X[3:4], stream.y[3:4], ids=[3])
    model.partial_fit(stream.X[5:6], stream.y[5:6])
    again = _through_a_file(model)
    assert again.n_seen_ == model.n_seen_ == 62, "an example that comes back is one more"
    assert last_of(go_on(again, stream.head(1)))._next_id == 62, "numbers handed out do not go on"


@promise(savable)
def check_saving_changes_nothing(estimator: Any, stream: Stream) -> None:
    model = learned(estimator, stream)
    before = fingerprint(model)
    with tempfile.TemporaryDirectory() as folder:
        first, second = Path(folder) / "a", Path(folder) / "b"
        model.save(first)
        model.save(second)
        assert fingerprint(model) == before, "saving changed the model"
        assert first.read_bytes() == second.read_bytes(), "saving twice wrote two different files"
        assert {p.name for p in Path(folder).iterdir()} == {"a", "b"}, "scratch files remain"


@promise(savable)
def check_damaged_files_are_refused(estimator: Any, stream: Stream) -> None:
    model = learned(estimator, stream)
    rng = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model"
        model.save(path)
        whole = path.read_bytes()
        damaged = [whole[:n] for n in (0, 7, 8, 100, len(whole) // 2, len(whole) - 1)]
        for at in rng.choice(len(whole), 40, replace=False):
            flipped = bytearray(whole)
            flipped[at] ^= 1 << int(rng.integers(8))
            damaged.append(bytes(flipped))
        for data in damaged:
            path.write_bytes(data)
            complaint = refuses(lambda: load(path), ValueError, "a damaged file")
            assert "\n" not in complaint


@promise(lambda estimator: not savable(estimator))
def check_functions_are_not_saved(estimator: Any, stream: Stream) -> None:
    model = learned(estimator, stream)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model"
        assert "kernel" in refuses(lambda: model.save(path), ValueError, "saving a function")
        assert not path.exists()


@promise(streaming)
def check_copies_go_their_own_way(estimator: Any, stream: Stream) -> None:
    never_stopped = learned(estimator, stream.head(40), stream.tail(40))
    half = learned(estimator, stream.head(40))
    before = fingerprint(half)
    copies = [copy.deepcopy(half), copy.copy(half)]
    if savable(estimator):
        copies += [pickle.loads(pickle.dumps(half, protocol)) for protocol in (2, 5)]
    for model in copies:
        go_on(model, stream.tail(40))
        assert_same_bits(model, never_stopped, "a copy that went on")
        assert fingerprint(half) == before, "a copy that goes on drags the original along"


@promise()
def check_clone_is_unlearned(estimator: Any, stream: Stream) -> None:
    model = learned(estimator, stream)
    fresh = clone(model)
    assert not fresh.__sklearn_is_fitted__()
    assert_same_bits(go_on(fresh, stream), model, "a clone that learned the same")
