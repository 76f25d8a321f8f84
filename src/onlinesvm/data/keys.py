"""The user's own keys: a name that any number of examples share, to forget them all by."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from typing import Any

import numpy as np
from numpy.typing import NDArray

Ids = NDArray[np.int64]
Key = int | str | tuple[int | str, ...]
Keys = list[Key | None]  # of the examples of a call; None: this one has none

#: Whole numbers are below it: hashes and the numbers of UUIDs are.
_MOST = 1 << 128
#: A book that is shorter is not worth being looked through for notes on what is gone.
_FEW = 1024
#: So many are asked for together.
_BLOCK = 16


class KeyBook:
    """Which key each example bears, by id, in order of arrival.

    A model may drop examples without saying so. What is noted of one that it no longer holds means
    nothing, is never shown or saved, and is struck out when the book has doubled (``is_due``): so
    the book is at most twice as long as the examples held are many, and costs about half a
    microsecond per example for looking them up.
    """

    __slots__ = ("_due", "_key_bytes", "_key_of", "_noted")

    def __init__(self, key_of: Mapping[int, Key] | None = None) -> None:
        self._key_of: dict[int, Key] = dict(key_of or {})
        self._key_bytes = sum(map(_size, self._key_of.values()))
        self._noted = 0
        self._due = max(_FEW, 2 * len(self._key_of))

    def __copy__(self) -> KeyBook:
        return KeyBook(self._key_of)

    # --- writing ------------------------------------------------------------------------------

    def note(self, ids: Iterable[int], keys: Sequence[Key | None]) -> None:
        """Note the keys of examples about to be learned; what was noted of their ids is gone."""
        for number, key in zip(ids, keys, strict=True):
            stale = self._key_of.pop(number, None)
            if stale is not None:
                self._key_bytes -= _size(stale)
            if key is not None:
                self._key_of[number] = key
                self._key_bytes += _size(key)
                self._noted += 1

    def mark(self) -> int:
        """Where the book stands, for :meth:`back_to`."""
        return self._noted

    def back_to(self, mark: int) -> None:
        """Strike out what was noted since."""
        while self._noted > mark:
            _, key = self._key_of.popitem()
            self._key_bytes -= _size(key)
            self._noted -= 1

    # --- reading ------------------------------------------------------------------------------

    def ids_of(self, keys: Iterable[Key]) -> list[int]:
        """The examples that bear one of these keys, in order of arrival."""
        wanted = frozenset(keys)
        return [number for number, key in self._items() if key in wanted]

    def keys(self) -> list[Key]:
        """Every key once, in order of arrival."""
        return list(dict.fromkeys(key for _, key in self._items()))

    def without(self, ids: Iterable[int]) -> KeyBook:
        """The book without these examples; this one stays, for whoever has to go back."""
        gone = frozenset(ids)
        return KeyBook({number: key for number, key in self._items() if number not in gone})

    def held_by(self, holds: Callable[[Ids], bool]) -> KeyBook:
        """The book of the examples that a model holds."""
        items, held = self._items(), dict[int, Key]()
        ids = np.array([number for number, _ in items], dtype=np.int64)
        for start in range(0, len(ids), _BLOCK):
            block = ids[start : start + _BLOCK]
            if holds(block):  # most are gone of a model that drops examples, whole blocks at a time
                some = items[start : start + _BLOCK]
                held |= {n: key for i, (n, key) in enumerate(some) if holds(block[i : i + 1])}
        return KeyBook(held)

    @property
    def is_due(self) -> bool:
        """Whether it has become so long that looking it through pays."""
        return len(self._key_of) > self._due

    @property
    def nbytes(self) -> int:
        return sys.getsizeof(self._key_of) + 32 * len(self._key_of) + self._key_bytes

    def __len__(self) -> int:
        return len(self._key_of)

    def _items(self) -> list[tuple[int, Key]]:
        return list(self._key_of.items())  # in one step: another thread may write meanwhile

    # --- persistence --------------------------------------------------------------------------

    def to_facts(self) -> dict[str, Any]:
        items = self._items()
        return {"ids": np.array([n for n, _ in items], np.int64), "of": [key for _, key in items]}

    @staticmethod
    def from_facts(facts: Mapping[str, Any], next_id: int) -> KeyBook:
        """From a file, which is not to be trusted."""
        ids, keys = np.asarray(facts["ids"]), facts["of"]
        if ids.dtype != np.int64 or ids.ndim != 1 or not isinstance(keys, list) or not keys:
            raise ValueError("its keys are no list of keys by id")
        known = dict(zip(ids.tolist(), keys, strict=True))
        if len(known) < len(keys) or ids.min() < 0 or ids.max() >= next_id:
            raise ValueError("its keys are of examples that never came, or of one twice")
        if any(type(key) is not type(_read(key, "its keys have")) for key in keys):
            raise ValueError("its keys are not plain")
        return KeyBook(known)


def read_keys(keys: Any, n: int) -> Keys | None:
    """One key for each of n rows; None where no row has any."""
    if keys is None:
        return None
    found = [None if key is None else _read(key, "keys has") for key in one_each(keys, n)]
    return None if all(key is None for key in found) else found


def one_each(keys: Any, n: int) -> list[Any]:
    """What a list, array or series has for each of n rows."""
    entries = _entries(keys)
    if entries is None or len(entries) != n:
        raise ValueError(f"keys must be a list of {n} keys, one for each row of X")
    return entries


def read_key(key: Any) -> Key:
    """The key of one example."""
    return _read(key, "key is")


def read_wanted(keys: Any) -> list[Key]:
    """One key, or several, to look for; a tuple is one."""
    one = isinstance(keys, str | int | tuple | np.generic)
    entries = [keys] if one else list(keys) if isinstance(keys, Set) else _entries(keys)
    if entries is None:
        raise ValueError(f"keys must be one key or a list of them, got {_shown(keys)}")
    return [_read(key, "keys has") for key in entries]


def demand_borne(keys: Any, held: Iterable[Key]) -> None:
    """A ValueError unless each of the wanted keys is one that examples held bear."""
    known = frozenset(held)
    for key in read_wanted(keys):
        if key not in known:
            raise ValueError(
                f"keys has {_shown(key)}, which no example held bears: it never came, is forgotten "
                "already, or its examples were dropped; keys_held() lists those known"
            )


def _entries(keys: Any) -> list[Any] | None:
    """What a list, array or series holds; None of anything else."""
    if isinstance(keys, str | bytes | Mapping | Set) or len(getattr(keys, "shape", (0,))) != 1:
        return None
    for name in ("tolist", "to_list", "to_pylist"):
        if hasattr(keys, name):
            return list(getattr(keys, name)())
    return list(keys) if isinstance(keys, Iterable) else None


def _read(key: Any, says: str) -> Key:
    if type(key) is str:
        return key
    if isinstance(key, np.generic):
        key = key.item()
    if isinstance(key, tuple) and key and not any(isinstance(part, tuple) for part in key):
        return tuple(_read(part, says) for part in key)  # type: ignore[misc]
    if isinstance(key, str):
        return str.__str__(key)
    if isinstance(key, int) and not isinstance(key, bool) and -_MOST < key < _MOST:
        return int(key)
    raise ValueError(
        f"{says} {_shown(key)}, which is no key; use an integer, a string or a tuple of these, "
        "and None for an example that has none"
    )


def _shown(value: Any) -> str:
    text = hex(value) if type(value) is int else repr(value)  # of any length
    return " ".join(text.split())[:60]


def _size(key: Key) -> int:
    size = sys.getsizeof(key)
    return size + sum(map(sys.getsizeof, key)) if isinstance(key, tuple) else size
