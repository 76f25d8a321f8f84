"""A model whose examples bear keys, as far as it could ever unlearn by them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from .gamma import SettlesGamma
from .keys import Key, KeyBook, Keys, read_key, read_keys, read_wanted


class Keyed(SettlesGamma):
    """Keeps the :class:`KeyBook` of a model: nothing is paid for where nobody gives a key."""

    def ids_of(self, keys: Any) -> NDArray[np.int64]:
        """The examples held that bear a key, or one of several.

        Parameters
        ----------
        keys : key or list of keys
            A tuple is one key.

        Returns
        -------
        array of ids, in order of arrival
        """
        wanted = read_wanted(keys)
        self._verb("unlearn")
        found = [] if self._keys is None else self._keys.ids_of(wanted)
        return np.array([n for n in found if self._holds(np.array([n]))], dtype=np.int64)

    def keys_held(self) -> list[Key]:
        """Every key that an example held bears, once, in order of arrival.

        Looks all keys up.
        """
        self._verb("unlearn")
        return [] if self._keys is None else self._keys.held_by(self._holds).keys()

    def _read_keys(self, keys: Any, n: int, ids: NDArray[np.int64] | None = None) -> Keys | None:
        """One key for each of n rows, where the model can make use of them."""
        found = read_keys(keys, n)
        if not self.can("unlearn"):
            return None
        if found is None and ids is not None and self._keys is not None:
            return [None] * n  # ids of the caller's may have been others' before
        return found

    def _holds(self, ids: NDArray[np.int64]) -> bool:
        """Whether any of these examples is in the model, or waits for gamma to be learned again."""
        waiting = self._held is not None and bool(np.isin(ids, self._held.ids).any())
        return waiting or bool(self._core.holds(ids))

    def _note_keys(self, ids: NDArray[np.int64], keys: Keys | None) -> None:
        """Note the keys of examples about to be learned."""
        if keys is None:
            return
        if self._keys is None:
            self._keys = KeyBook()
        self._keys.note(ids.tolist(), keys)

    def _tidy_keys(self) -> None:
        """Strike out the keys of examples that are gone, now and then."""
        if self._keys is not None and self._keys.is_due:
            self._strike_out()

    def _strike_out(self) -> None:
        """Strike out the keys of examples that are gone: their ids may be given again."""
        if self._keys is not None:
            self._keys = self._keys.held_by(self._holds)

    def _learn_bearing(self, key: Any, x: Any, y: Any, w: float) -> Self:
        """``learn_one`` of an example that bears this key."""
        key = read_key(key)
        if not self.can("unlearn"):
            return self.learn_one(x, y, w)  # type: ignore[no-any-return]
        with self._register:
            if self._keys is None:
                self._keys = KeyBook()
            book, number = self._keys, self._register.next
            noted = book.mark()
            book.note((number,), (key,))  # before it is learned: Ctrl-C must not leave it nameless
            try:
                self.learn_one(x, y, w)
            finally:
                if self._register.next == number:  # it was not learned
                    book.back_to(noted)
            if book.is_due:
                self._strike_out()
        return self

    # --- persistence --------------------------------------------------------------------------

    def _key_facts(self) -> dict[str, Any]:
        """What a file says of the keys: nothing where there are none."""
        if self._keys is None:
            return {}
        book = self._keys.held_by(self._holds)
        return {"keys": book.to_facts()} if len(book) else {}

    def _recall_keys(self, facts: Mapping[str, Any]) -> None:
        if "keys" not in facts:
            return
        if not self.can("unlearn"):
            raise ValueError("it has keys, which its class does not keep")
        self._keys = KeyBook.from_facts(facts["keys"], self._next_id)

    def _demand_keys_held(self) -> None:
        """A ValueError if a file has a key of an example that is not there."""
        if self._keys is not None and len(self._keys.held_by(self._holds)) < len(self._keys):
            raise ValueError("its keys are of examples that it does not hold")
