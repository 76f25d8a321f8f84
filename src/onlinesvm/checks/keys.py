"""Keys: whoever owns examples can have all of them forgotten at once, and no trace is left."""

from __future__ import annotations

import copy
import pickle
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone

from ..files.persistence import load
from .memory import bounded
from .streams import (
    Stream,
    all_classes,
    assert_same_bits,
    assert_same_model,
    comparable,
    fingerprint,
    last_of,
    learned,
    promise,
    refuses,
    savable,
    streaming,
)

#: A key is a string, a number or a tuple of these; None is nobody's.
OWNERS = ["anna", 17, ("anna", 17), None, "bert"]


def unlearning(estimator: Any) -> bool:
    return bool(estimator.can("unlearn"))


def _owners(n: int) -> list[Any]:
    """Whose each of n examples is."""
    return [OWNERS[i * i % 7 % len(OWNERS)] for i in range(n)]


def _kept(estimator: Any, stream: Stream, owners: list[Any], *sizes: int) -> Any:
    """A copy of the estimator that learned the stream, cut after these sizes, with its owners."""
    model = clone(estimator)
    if not streaming(model):
        return model.fit(stream.X, stream.y, keys=owners)
    start = 0
    for piece in stream.pieces(*sizes):
        stop = start + len(piece.y)
        known = {} if start else all_classes(model)
        model.partial_fit(piece.X, piece.y, keys=owners[start:stop], **known)
        start = stop
    return model


def _learned(model: Any) -> list[tuple[str, bytes]]:
    """What a model learned from the examples themselves."""
    last = last_of(model)
    return [("n_seen_", b"%d" % model.n_seen_)] + [
        (name, array.tobytes()) for name, array in sorted(last._core.state().items())
    ]


@promise(streaming)
def check_keys_change_nothing_else(estimator: Any, stream: Stream) -> None:
    """Nor does it matter for them how the stream is cut."""
    estimator, owners = comparable(estimator), _owners(len(stream.y))
    whole, plain = _kept(estimator, stream, owners, 90), learned(estimator, stream)
    by_pieces = _kept(estimator, stream, owners, 7, 1, 30)
    assert_same_model(whole, by_pieces, stream.X, "keys in pieces")
    by_one = _kept(estimator, stream.head(1), owners[:1], 1)
    for i in range(1, len(stream.y)):
        by_one.learn_one(stream.X[i], stream.y[i], key=owners[i])
    assert_same_model(whole, by_one, stream.X, "keys one by one")
    for (name, bits), other in zip(_learned(whole), _learned(plain), strict=True):
        assert (name, bits) == other, f"keys change {name}"


@promise(unlearning, n=60)
def check_keys_name_the_examples_they_came_with(estimator: Any, stream: Stream) -> None:
    owners = _owners(60)
    model = _kept(estimator, stream, owners, 17)
    last = last_of(model)
    held = last.support_.tolist() if hasattr(last, "support_") else []
    for owner in filter(None, OWNERS):
        theirs = {i for i in range(60) if owners[i] == owner}
        found = model.ids_of([owner]).tolist()
        assert set(found) <= theirs, f"{owner!r} has examples of somebody else"
        assert theirs & set(held) <= set(found), f"{owner!r} lacks examples that the model holds"
        assert found == sorted(found), "ids are not in order of arrival"
    every = model.ids_of([owner for owner in OWNERS if owner is not None])
    assert len(every) == sum(len(model.ids_of([o])) for o in OWNERS if o is not None)
    assert model.ids_of("nobody").tolist() == []


@promise(unlearning, n=60)
def check_unlearning_by_key_is_unlearning_by_id(estimator: Any, stream: Stream) -> None:
    owners = _owners(60)
    by_key, by_id = (_kept(estimator, stream, owners, 60) for _ in range(2))
    try:
        copy.deepcopy(by_key).unlearn([0])
    except NotImplementedError:  # not with these parameters
        return
    for owner in ("anna", ("anna", 17)):
        if owner not in by_key.keys_held():  # dropped by the model itself
            continue
        by_key.unlearn(keys=owner)
        by_id.unlearn(by_id.ids_of([owner]))
        assert_same_bits(by_key, by_id, f"unlearning by the key {owner!r} and by ids")
        assert not len(by_key.ids_of([owner])), f"{owner!r} still has examples"
        assert owner not in by_key.keys_held(), f"{owner!r} is still listed"
        before = fingerprint(by_key)
        both = [*by_key.keys_held()[:1], owner]  # one that is held, one that is not
        told = refuses(partial(by_key.unlearn, keys=both), ValueError, "a key unknown")
        assert repr(owner) in told, f"the complaint does not name {owner!r}: {told!r}"
        assert fingerprint(by_key) == before, "a key unknown: the model has changed"
    refuses(lambda: by_key.unlearn([0], keys="anna"), ValueError, "ids and keys")
    refuses(lambda: by_key.unlearn(), ValueError, "neither ids nor keys")


@promise(unlearning, savable, n=60)
def check_keys_go_with_the_model(estimator: Any, stream: Stream) -> None:
    owners = _owners(60)
    model = _kept(estimator, stream, owners, 60)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model"
        model.save(path)
        others = [load(path), copy.copy(model), copy.deepcopy(model)]
        others += [pickle.loads(pickle.dumps(model))]
        for other in others:
            assert_same_bits(model, other, "a copy of a model with keys")
            assert np.array_equal(model.ids_of(17), other.ids_of(17))
        try:
            others[0].unlearn(keys=others[0].keys_held())
        except NotImplementedError:  # not with these parameters
            return
        others[0].save(path)
        data = path.read_bytes()
        assert b"anna" not in data, "a key that was forgotten is in the file"
        assert b"bert" not in data, "a key that was forgotten is in the file"


def _bad_keys(n: int) -> Iterator[tuple[str, Any]]:
    odds: list[Any] = [np.nan, 1.5, True, b"anna", ["anna"], {}, 1 << 200]
    for odd in [*odds, (), ("anna", None), (("anna",),)]:
        yield f"the key {odd!r}", [*["anna"] * (n - 1), odd]
    yield "keys too short", ["anna"] * (n - 1)
    yield "keys of two dimensions", np.ones((n, 2), dtype=int)
    yield "one key for all", "a" * n
    yield "keys without an order", set(range(n))
    yield "a number for keys", 5


@promise(streaming, n=20)
def check_bad_keys_change_nothing(estimator: Any, stream: Stream) -> None:
    model = _kept(estimator, stream, _owners(20), 20)
    before, names, twin = fingerprint(model), set(vars(model)), copy.deepcopy(model)
    many = partial(model.partial_fit, stream.X, stream.y)
    calls = [(name, partial(many, keys=keys)) for name, keys in _bad_keys(20)]
    one, odd_one = (partial(model.learn_one, x, stream.y[0]) for x in (stream.X[0], [np.inf] * 4))
    for odd in (np.nan, ["anna"], True):
        calls.append((f"the one key {odd!r}", partial(one, key=odd)))
    for key in ("anna", "new"):
        calls.append((f"a bad example of {key}", partial(odd_one, key=key)))
    for name, call in calls:
        complaint = refuses(call, ValueError, name)
        assert "\n" not in complaint, f"{name}: the complaint is not one line: {complaint!r}"
        assert fingerprint(model) == before, f"{name}: the model has changed"
        assert set(vars(model)) == names, f"{name}: attributes were left behind"
    for each in (model, twin):
        each.learn_one(stream.X[0], stream.y[0])  # nobody's, under the number that was refused
    assert_same_bits(model, twin, "an example after bad ones")


@promise(streaming, unlearning, lambda e: bounded(e) is not None, n=4000, classes=2)
def check_keys_do_not_pile_up(estimator: Any, stream: Stream) -> None:
    """A model that drops examples drops their keys."""
    model = bounded(estimator)
    owners = [f"customer {i}" for i in range(4000)]
    model = _kept(model, stream, owners, 500)
    names = len(model.ids_of(owners))
    # A query may keep one more.
    core = last_of(model)._core
    held = core.held if hasattr(core, "held") else len(last_of(model).support_)
    assert names <= held + 1, f"{names} keys of {held} examples"
    paid = model.nbytes_ - int(core.nbytes)
    assert paid <= 250 * max(1024, held), f"{paid} bytes besides the core, for {held} examples"
