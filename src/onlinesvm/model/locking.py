"""One verb at a time, and all of it or nothing: the lock of a model, and the way back."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import wraps
from typing import Any, Literal

from ..core import Numbering, revive
from ..data.sklearn_types import BaseEstimator
from ..files.persistence import reduced, restored_state, saved_state
from .state import OnDemand

# The verbs that change a model: those that learn know how to fail, the others are undone as one
# step. learn_one takes the lock in the core.
LEARNING = ("fit", "partial_fit")
VERBS = (*LEARNING, "unlearn", "finish", "polish", "flush", "leave_one_out", "reweight", "set_C")


def take_turns(cls: Any) -> None:
    """Let the verbs of a class queue, from whichever threads they come; see docs/threads.md."""
    for name in VERBS:
        verb = getattr(cls, name, None)
        if verb is not None and not hasattr(verb, "is_locked"):
            setattr(cls, name, _locking(verb))


def _locking(verb: Callable[..., Any]) -> Callable[..., Any]:
    name, learns = verb.__name__, verb.__name__ in LEARNING

    @wraps(verb)
    def locked_verb(self: Any, *args: Any, **kwargs: Any) -> Any:
        with self._register:
            state = self.__dict__.get("_state")
            if state is None:
                return verb(self, *args, **kwargs)
            if name != "fit" and state.compression is not None:
                self._demand_whole(name)
            _ = state.core.outputs  # complains where this thread is inside the core already
            if learns:
                return verb(self, *args, **kwargs)
            with AllOrNothing(self, "one step"):
                return verb(self, *args, **kwargs)

    locked_verb.is_locked = True  # type: ignore[attr-defined]
    return locked_verb


class AllOrNothing:
    """Whatever fails inside, the model is as it was: its attributes, its state, and its core.

    One step is undone by Ctrl-C, too; a new core or one that took several steps keeps those
    that were finished, and can go on.
    """

    __slots__ = ("_ahead", "_before", "_changes", "_core_state", "_marks", "_model", "_risky")

    def __init__(
        self, model: Any, ahead: Literal["a new core", "one step", "several steps"]
    ) -> None:
        self._model, self._ahead = model, ahead

    def __enter__(self) -> None:
        model = self._model
        self._before: dict[str, Any] = dict(model.__dict__)
        state, register = self._before.get("_state"), model._register
        self._core_state: dict[str, Any] = {}
        self._risky = False
        if state is None:
            self._marks, self._changes = (register.next, register.gap, 0, 0), 0
            return
        names = 0 if state.vocabulary is None else len(state.vocabulary)
        noted = 0 if state.keys is None else state.keys.mark()
        self._marks = register.next, register.gap, names, noted
        self._changes = state.core.changes
        if self._ahead == "one step":
            state.core.begin()
        elif self._ahead == "several steps":
            self._core_state = state.core.state()
            if state.core_settings.get("kernel", {}).get("name") == "function":
                # What failed once may fail again: the way back must not call it.
                self._risky = True
                core = revive(state.core_name, state.core_settings, self._core_state)
                model._state = state.but(core=core)

    def __exit__(self, kind: Any, failure: BaseException | None, trace: Any) -> None:
        state = self._before.get("_state")
        if failure is None:
            if self._ahead == "one step":
                state.core.commit()  # type: ignore[union-attr]
        elif self._ahead == "one step":
            assert state is not None
            state.core.rollback()
            if state.core.changes == self._changes:  # else it is too late: it stands
                self._go_back()
        elif isinstance(failure, Exception):
            self._go_back()
        else:
            self._model._strike_out()

    def _go_back(self) -> None:
        model, before = self._model, self._before
        state = before.get("_state")
        model.__dict__.update(before)  # first: threads that look on never see half a model
        for name in model.__dict__.keys() - before.keys() - {"_register"}:
            del model.__dict__[name]
        number, gap, names, noted = self._marks
        model._register.next, model._register.gap = number, gap
        if state is None:
            return
        if state.vocabulary is not None:
            state.vocabulary.shorten(names)
        if state.keys is not None:
            state.keys.back_to(noted)
        if self._core_state and not self._risky:
            state.core.load(self._core_state)


class MadeOfOthers(BaseEstimator):
    """Made of models that change in turn: its own turn comes first, and then theirs."""

    _register: Numbering = OnDemand()  # type: ignore[assignment]

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        take_turns(cls)

    def _live_state(self) -> dict[str, Any]:
        """All that it has in memory, for a twin in this or another process."""
        with self._register:
            state: dict[str, Any] = dict(BaseEstimator.__getstate__(self))  # type: ignore[call-overload]
            state.pop("_register", None)
            return self._detached(state)

    def _detached(self, state: dict[str, Any]) -> dict[str, Any]:
        """A state with copies of what goes on learning in place: it is read without the lock."""
        return state

    def _live_on(self, state: dict[str, Any]) -> None:
        """Take over what ``_live_state`` gave."""
        BaseEstimator.__setstate__(self, state)

    __reduce_ex__ = reduced
    __getstate__ = saved_state
    __setstate__ = restored_state


@contextmanager
def locked(*models: Any) -> Iterator[None]:
    """No other thread changes any of these. One order for all, so that there is no deadlock."""
    with ExitStack() as stack:
        for model in sorted(models, key=id):
            stack.enter_context(model._register)
        yield
