"""A model for each key over many machines: each part teaches a bank, and the banks are joined.

Nothing is averaged and nothing merged but the lists of models: every key lies in one part, so its
model is the one of a plain loop over its rows, bit for bit, in any dealing of keys to parts.
"""

from __future__ import annotations

import json
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..compose.bank.bank import ModelBank
from ..data.arguments import check_count
from ..data.keys import Key, one_each, read_key
from .learned import Learned
from .parts import Metered, Part, Parts


def deal_by_key(keys: Any, parts: int) -> list[NDArray[np.int64]]:
    """The row numbers of each part, so that all rows of a key are in one, in the order they came.

    By a hash of the key that is the same in every process and for ever: each machine can deal the
    rows that it has, and a key goes where it went before.

    Parameters
    ----------
    keys : list or array of keys
        Integers, strings or tuples of these.
    parts : int
        More than there are keys leave some empty.

    Returns
    -------
    list of arrays, as ``LocalParts.cut`` takes them

    Examples
    --------
    >>> from onlinesvm.cluster import deal_by_key
    >>> [rows.tolist() for rows in deal_by_key(["ann", "bob", "ann", "cat"], 2)]
    [[0, 2, 3], [1]]
    """
    check_count("parts", parts, at_least=1)
    read = [read_key(key) for key in one_each(keys, len(keys))]
    place = {key: _hash(key) % parts for key in set(read)}
    places = np.array([place[key] for key in read], dtype=np.int64)
    order = np.argsort(places, kind="stable").astype(np.int64)
    return np.split(order, np.searchsorted(places[order], np.arange(1, parts)))


def fit_by_key(parts: Parts, model: Any) -> Learned:
    """A model for each key, learned where its rows lie, and all of them in one bank.

    Parameters
    ----------
    parts : Parts
        Each with ``keys``, all rows of a key in one part: :func:`deal_by_key` deals them so. The
        rows of a key are learned in the order of its part.
    model : classifier, regressor or outlier detector
        As :class:`~onlinesvm.ModelBank` takes it; it is not changed.

    Returns
    -------
    Learned
        Its model is a ``ModelBank``.

    Examples
    --------
    >>> import numpy as np
    >>> from onlinesvm import PassiveAggressiveClassifier
    >>> from onlinesvm.cluster import LocalParts, deal_by_key, fit_by_key
    >>> rng = np.random.default_rng(0)
    >>> users, X = rng.integers(100, size=2000), rng.normal(size=(2000, 3))
    >>> parts = LocalParts.cut(X, X[:, 0] > 0, deal_by_key(users, 4), keys=users)
    >>> fit_by_key(parts, PassiveAggressiveClassifier(classes=[False, True])).model
    ModelBank(PassiveAggressiveClassifier(classes=[False, True])) of 100 models
    """
    metered, empty = Metered(parts), ModelBank(model)
    banks = metered.map(_taught, empty)
    # In a tree: a bank looks through all its keys whenever it takes others.
    while len(banks) > 1:
        banks = [_joined(banks[i : i + 2]) for i in range(0, len(banks), 2)]
    return Learned(banks[0] if banks else empty, None, 1, metered.down, metered.up)


def _taught(part: Part, empty: ModelBank) -> ModelBank:
    """The bank of a part; of an empty one, a bank without models."""
    bank = ModelBank.from_bytes(empty.to_bytes())  # where parts share a process, each needs its own
    if not len(part):
        return bank
    if part.keys is None:
        raise ValueError("a part has no keys; give each Part the keys of its rows")
    return bank.learn_many(part.keys, part.X, part.y, part.sample_weight)


def _joined(banks: list[ModelBank]) -> ModelBank:
    first, *others = banks
    for other in others:
        twice = set(first.keys()).intersection(other.keys())
        if twice:
            raise ValueError(
                f"keys has {min(map(str, twice)):.60} in two parts, whose models cannot be made "
                "one; deal the rows by key (deal_by_key)"
            )
        first.merge(other)
    return first


def _hash(key: Key) -> int:
    return int.from_bytes(blake2b(json.dumps(key).encode(), digest_size=8).digest(), "little")
