"""One verb at a time: the lock around whatever changes a model, and the ids of its examples."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import wraps
from typing import Any

from .core import Numbering, new_numbering
from .sklearn_types import BaseEstimator

# The verbs that change a model: those that learn know how to fail, the others are undone as one
# step. learn_one takes the lock in the core.
LEARNING = ("fit", "partial_fit")
VERBS = (*LEARNING, "unlearn", "finish", "flush", "leave_one_out", "reweight", "set_C")


class _OnDemand:
    """The lock and the numbering of a model, made when it is first needed."""

    def __get__(self, model: Any, owner: type | None = None) -> Any:
        return self if model is None else model.__dict__.setdefault("_register", new_numbering())


class OneVerbAtATime(BaseEstimator):
    """A model whose verbs queue, from whichever threads they come; see docs/threads.md."""

    _register: Numbering = _OnDemand()  # type: ignore[assignment]

    def __init_subclass__(cls, **kwargs: Any) -> None:
        for name in VERBS:
            verb = getattr(cls, name, None)
            if verb is not None and not hasattr(verb, "is_locked"):
                setattr(cls, name, _locking(verb))
        super().__init_subclass__(**kwargs)

    @property
    def _next_id(self) -> int:
        return int(self._register.next)

    @_next_id.setter
    def _next_id(self, number: int) -> None:
        self._register.next = int(number)

    @property
    def _id_gap(self) -> int:
        """Numbers passed over because callers brought ids of their own."""
        return int(self._register.gap)

    @_id_gap.setter
    def _id_gap(self, numbers: int) -> None:
        self._register.gap = int(numbers)


def _locking(verb: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(verb)
    def locked_verb(self: Any, *args: Any, **kwargs: Any) -> Any:
        with self._register:
            if "_core" not in self.__dict__:
                return verb(self, *args, **kwargs)
            _ = self._core.outputs  # complains where this thread is inside the core already
            if verb.__name__ in LEARNING:
                return verb(self, *args, **kwargs)
            with self._all_or_nothing("one step"):
                return verb(self, *args, **kwargs)

    locked_verb.is_locked = True  # type: ignore[attr-defined]
    return locked_verb


@contextmanager
def locked(*models: OneVerbAtATime) -> Iterator[None]:
    """No other thread changes any of these. One order for all, so that there is no deadlock."""
    with ExitStack() as stack:
        for model in sorted(models, key=id):
            stack.enter_context(model._register)
        yield
