"""A model on its way to the executors: once to each machine, and loaded once by each process."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from typing import Any

from pyspark import SparkContext

from ...files.persistence import pack_among, unpack_among

__all__ = ["Shipped", "model_from_bytes", "model_to_bytes"]

_KIND = "ShippedModel"
_MOST = 8  # models that a process keeps at hand
_AT_HAND: OrderedDict[str, Any] = OrderedDict()


def model_to_bytes(model: Any) -> bytes:
    """A model as a file would hold it: no code, so a function as kernel is refused."""
    return pack_among(_KIND, model, {})


def model_from_bytes(data: bytes) -> Any:
    """The model of `model_to_bytes`."""
    return unpack_among(data, _KIND)[0]


class Shipped:
    """A fitted model as a broadcast variable; `model` gives it wherever this object is unpickled.

    What travels are the bytes of a saved model. A Python worker that meets them loads them once,
    however many tasks and batches it works through.
    """

    def __init__(self, context: SparkContext, model: Any) -> None:
        data = model_to_bytes(model)
        self._name = hashlib.sha256(data).hexdigest()
        self._data = context.broadcast(data)

    @property
    def model(self) -> Any:
        """The model, to be looked at only: it is shared by all tasks of a process."""
        if self._name not in _AT_HAND:
            _AT_HAND[self._name] = model_from_bytes(self._data.value)
        _AT_HAND.move_to_end(self._name)
        while len(_AT_HAND) > _MOST:
            _AT_HAND.popitem(last=False)
        return _AT_HAND[self._name]
