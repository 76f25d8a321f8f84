"""One verb at a time: the lock around whatever changes a model, and the ids of its examples."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import wraps
from typing import Any

from .core import Numbering
from .persistence import Portable
from .sklearn_types import BaseEstimator
from .state import ModelState, OnDemand

# The verbs that change a model: those that learn know how to fail, the others are undone as one
# step. learn_one takes the lock in the core.
LEARNING = ("fit", "partial_fit")
VERBS = (*LEARNING, "unlearn", "finish", "polish", "flush", "leave_one_out", "reweight", "set_C")


class TakesTurns:
    """Whose verbs queue, from whichever threads they come; see docs/threads.md."""

    _register: Numbering = OnDemand()  # type: ignore[assignment]

    def __init_subclass__(cls, **kwargs: Any) -> None:
        for name in VERBS:
            verb = getattr(cls, name, None)
            if verb is not None and not hasattr(verb, "is_locked"):
                setattr(cls, name, _locking(verb))
        super().__init_subclass__(**kwargs)


class OneVerbAtATime(TakesTurns, ModelState):
    """A model whose verbs queue."""


class MadeOfOthers(TakesTurns, Portable, BaseEstimator):
    """Made of models that change in turn: its own turn comes first, and then theirs."""

    def _live_state(self) -> dict[str, Any]:
        with self._register:
            state: dict[str, Any] = dict(BaseEstimator.__getstate__(self))  # type: ignore[call-overload]
            state.pop("_register", None)
            return self._detached(state)

    def _detached(self, state: dict[str, Any]) -> dict[str, Any]:
        """A state with copies of what goes on learning in place: it is read without the lock."""
        return state

    def _live_on(self, state: dict[str, Any]) -> None:
        BaseEstimator.__setstate__(self, state)


def _locking(verb: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(verb)
    def locked_verb(self: Any, *args: Any, **kwargs: Any) -> Any:
        with self._register:
            if "_core" not in self.__dict__:
                return verb(self, *args, **kwargs)
            if verb.__name__ != "fit":
                self._demand_whole(verb.__name__)
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
