"""The compiled core of a bank as its face sees it, and the keys as the core takes them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from onlinesvm import _core  # type: ignore[attr-defined]

from ...core import Floats, split
from ...data.keys import Key, one_each, read_key

#: Keys for the core: an array of int64, or a list of int, str and bytes.
CoreKeys = NDArray[np.int64] | list[Any]


class BankCore(Protocol):
    """Many models of one method, each the record of its state."""

    threads: int

    def learn_dense(self, X: NDArray[Any], y: Floats, w: Floats, keys: CoreKeys) -> None: ...
    def learn_sparse(
        self,
        data: NDArray[Any],
        indices: NDArray[np.int32],
        indptr: NDArray[np.int64],
        width: int,
        y: Floats,
        w: Floats,
        keys: CoreKeys,
    ) -> None: ...
    def learn_next(self, x: object, y: float, keys: CoreKeys) -> bool: ...
    def score_dense(self, X: NDArray[Any], keys: CoreKeys) -> Floats: ...
    def score_sparse(
        self,
        data: NDArray[Any],
        indices: NDArray[np.int32],
        indptr: NDArray[np.int64],
        width: int,
        keys: CoreKeys,
    ) -> Floats: ...
    def forget(self, keys: CoreKeys) -> None: ...
    def merge(self, other: BankCore) -> None: ...
    def keys(self) -> list[int | str | bytes]: ...
    def has(self, keys: CoreKeys) -> list[bool]: ...
    def model(self, keys: CoreKeys) -> tuple[int, dict[str, NDArray[Any]]] | None: ...
    def state(self) -> dict[str, NDArray[Any]]: ...
    def load(
        self,
        kinds: NDArray[Any],
        ends: NDArray[Any],
        bytes: NDArray[Any],
        records: NDArray[Any],
    ) -> None: ...

    @property
    def size(self) -> int: ...
    @property
    def seen(self) -> int: ...
    @property
    def words(self) -> int:
        """Of eight bytes, in a record."""

    @property
    def nbytes(self) -> int: ...


class Asked:
    """A bank that was told the keys of the rows which it is about to score."""

    def __init__(self, core: BankCore, keys: CoreKeys) -> None:
        self._core, self._keys = core, keys

    def score_dense(self, X: NDArray[Any]) -> Floats:
        return self._core.score_dense(X, self._keys)

    def score_sparse(self, data: Any, indices: Any, indptr: Any, width: int) -> Floats:
        return self._core.score_sparse(data, indices, indptr, width, self._keys)


def can_hold(name: str, settings: Mapping[str, Any]) -> bool:
    """Whether models of this core, with these settings, all have one size."""
    return bool(_core.Bank.can_hold(*split(name), dict(settings)))


def create(name: str, settings: Mapping[str, Any], width: int, classes: int) -> BankCore:
    """A bank without models."""
    core: BankCore = _core.Bank(*split(name), dict(settings), width, max(2, classes))
    return core


# --- keys -------------------------------------------------------------------------------------


def core_keys(keys: Any, n: int) -> CoreKeys:
    """One key for each of n rows, as the core takes them."""
    entries = keys if isinstance(keys, np.ndarray) and keys.shape == (n,) else one_each(keys, n)
    if not isinstance(entries, np.ndarray):
        return written(entries)
    if entries.dtype.kind in "iu" and entries.dtype != np.uint64:
        return np.ascontiguousarray(entries, dtype=np.int64)
    return written(entries.tolist())


def written(keys: list[Any]) -> list[Any]:
    """Keys as the core takes them: what is neither a short integer nor a plain string, in JSON."""
    if _core.are_plain_keys(keys):
        return keys
    return [_written(read_key(key)) for key in keys]


def unwritten(key: int | str | bytes) -> Key:
    """The key that was written like this; a ValueError if it would be written otherwise."""
    if not isinstance(key, bytes):
        return key
    found = json.loads(key)
    plain = read_key(tuple(found) if isinstance(found, list) else found)
    if _written(plain) != key:
        raise ValueError("a key is not written as it should be")
    return plain


def _written(key: Key) -> int | str | bytes:
    if not isinstance(key, tuple) and _core.are_plain_keys([key]):
        return key
    return json.dumps(key, separators=(",", ":")).encode()
