"""How examples are taken away again, by ids or by keys, and what is said of it."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from ..data.arguments import check_flag
from ..data.keys import KeyBook, Keys, demand_borne
from .anew import adopt, retrained_without
from .certificate import Certificate, Claim, Evidence, issue
from .settled import IdRuns, SettledWarning, warn_of


def unlearn(model: Any, ids: Any, keys: Any, certificate: bool, scope: str) -> Any:
    """The verb of that name: the model, or a certificate."""
    model._verb("unlearn")
    model._ready()
    wanted = model._read_gone(ids, keys)
    if scope == "all":
        proof = _unlearn_wholly(model, wanted)
        return proof if certificate else model
    if not certificate:
        forget(model, wanted)
        return model
    if model._claim is None:
        able = [c.__name__ for c in finished_classes() if c._claim is not None]
        raise NotImplementedError(
            f"{type(model).__name__} has no certificate: it does not keep all examples that "
            f"its solution depends on; {', '.join(able)} can."
        )
    gone, before = held_of(model, wanted)
    forget(model, wanted)
    model._polish()
    return issue(model, model._stated, gone, before, model._settled_on(wanted))


def held_of(model: Any, ids: NDArray[np.int64]) -> tuple[list[int], str]:
    """Which of these are held, and the hash of the solution."""
    model._verb("evidence")
    held = [i for i in ids.tolist() if model._core.holds(np.array([i]))]
    return held, Evidence.of(model).solution_hash()


def _unlearn_wholly(model: Any, ids: NDArray[np.int64]) -> Certificate:
    """Forget examples and settle anew what they had a part in."""
    claim = demand_wholly(model)
    gone, before = held_of(model, ids)
    named = model._settled_on(ids)
    if not named:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SettledWarning)
            forget(model, ids)
        named = model._settled_without(Evidence.of(model))
    if named:
        adopt(model, retrained_without(model, ids))
    model._polish()
    return issue(model, claim, gone, before, model._settled_on(ids), settled_now(model, named))


def demand_wholly(model: Any) -> Claim:
    """The claim of a model of which nothing may be left; an error where something would be."""
    claim: Claim | None = model._claim
    if claim is None or not claim.complete or model._settled_elsewhere:
        raise NotImplementedError(
            f"{type(model).__name__} cannot unlearn with scope='all': "
            + (
                f"{' and '.join(model._settled_elsewhere)} was settled on rows elsewhere"
                if model._settled_elsewhere
                else "its solution depends on examples that it does not keep"
            )
            + "; fit a new model without these rows"
        )
    return claim


def forget(model: Any, ids: NDArray[np.int64]) -> None:
    """Unlearn these examples, and name what was settled on them."""
    model._wholly_gone = model._wholly_gone.without(not_wholly_gone(model, ids))
    named = model._settled_on(ids)
    before = model._removed_from
    model._core.unlearn(ids)
    state = model._state
    model._state = state.but(
        removed_from=tuple(sorted(named)),
        settled_by=None if state.settled_by is None else state.settled_by.without(ids),
        held=None if state.held is None else state.held.without(ids),
        keys=None if state.keys is None else state.keys.without(ids.tolist()),
    )
    model._end_call("unlearn", len(ids))
    if state.held is None:  # else it will be settled anew, on the first rows that are left
        warn_of({name: value for name, value in named.items() if name not in before})


def read_gone(model: Any, ids: ArrayLike | None, keys: Any) -> NDArray[np.int64]:
    """The ids to unlearn, each once."""
    if (ids is None) == (keys is None):
        raise ValueError("unlearn takes ids or keys; pass one of them")
    if ids is None:
        demand_borne(keys, model.keys_held())
        return np.sort(model.ids_of(keys))
    wanted = np.atleast_1d(np.asarray(ids))
    if wanted.ndim != 1 or (wanted.size and wanted.dtype.kind not in "iu"):
        raise ValueError("ids must be an integer or a one-dimensional array of integers")
    for odd in wanted[(wanted < 0) | (wanted >= model._next_id)]:
        raise ValueError(
            f"ids has {odd}, which no example bears; those learned so far have ids "
            f"from 0 to {model._next_id - 1}"
        )
    return np.unique(wanted.astype(np.int64))


def verb(model: Any, name: str) -> Any:
    """The core's method of that name; where there is none, say which class has it."""
    if not model.can(name):
        able = ", ".join(c.__name__ for c in finished_classes() if c.can(name))
        raise NotImplementedError(
            f"{type(model).__name__} has no {name}(): it keeps a summary of the stream, not "
            f"the problem it solved; {able or 'no class of this version'} can."
        )
    check_is_fitted(model)
    model._demand_whole(name)
    return getattr(model._core, name)


def finished_classes() -> list[Any]:
    """Every class that names a core, by name."""
    from ..model.estimator import OnlineEstimator

    found: dict[str, Any] = {}
    roots: list[Any] = [OnlineEstimator]
    while roots:
        below = roots.pop().__subclasses__()
        roots += below
        found |= {cls.__name__: cls for cls in below if "_stem" in cls.__dict__}
    return [found[name] for name in sorted(found)]


# --- what was settled -----------------------------------------------------------------------------


def settled_on(model: Any, ids: NDArray[np.int64]) -> dict[str, Any]:
    """What was settled on rows that include these, or some removed before, and still stands."""
    state, ids = model._state, not_wholly_gone(model, ids)
    if len(ids) or state.removed_from:
        elsewhere = {name: getattr(model, name) for name in model._settled_elsewhere}
        if elsewhere:
            return {n: v if isinstance(v, float) else "balanced" for n, v in elsewhere.items()}
    if state.spread is None:  # gamma is a number
        return {}
    by_count = state.begun["gamma"] == "auto" and state.vocabulary is None
    met = not by_count and (state.settled_by is None or state.settled_by.meet(ids))
    return {"gamma": model.gamma_} if met or "gamma" in state.removed_from else {}


def settled_now(model: Any, names: Collection[str]) -> dict[str, Any]:
    """What was settled anew, by name, with its value."""
    values: dict[str, Any] = {"class_weight": "balanced"}
    values |= {"gamma": model.gamma_} if "gamma" in names else {}
    return {name: values.get(name, "those of the rows left") for name in names}


def not_wholly_gone(model: Any, ids: NDArray[np.int64]) -> NDArray[np.int64]:
    """These ids without those whose rows have left nothing."""
    gone = model._wholly_gone.include(ids)
    gone[gone] = [not model._core.holds(np.array([i])) for i in ids[gone]]  # given again
    left: NDArray[np.int64] = ids[~gone]
    return left


def settled_without(model: Any, evidence: Evidence) -> dict[str, Any]:
    """What is known of rows and no example held would tell: names that only others bore."""
    if model._vocabulary is None:
        return {}
    met = set(np.unique(evidence.examples[1]).tolist())
    lost = [str(name) for j, name in enumerate(model._vocabulary.names()) if j not in met]
    return {"features": ", ".join(lost)} if lost else {}


def settled_facts(model: Any) -> dict[str, Any]:
    """What a file says of it: nothing of a model that cannot unlearn."""
    state = model._state
    by = state.settled_by
    if not model.can("unlearn"):
        return {}
    kept = by is not None and (state.spread is not None or state.by_fit)
    said: dict[str, Any] = {"settled_by": by.runs} if by is not None and kept else {}
    said |= {"by_fit": True} if kept and state.by_fit else {}
    said |= {"wholly_gone": state.wholly_gone.runs} if len(state.wholly_gone.runs) else {}
    said |= {"elsewhere": list(model._settled_elsewhere)} if model._settled_elsewhere else {}
    return said | ({"removed_from": list(state.removed_from)} if state.removed_from else {})


def recall_settled(model: Any, facts: Mapping[str, Any]) -> None:
    """Take it from a file, which is not to be trusted; one that does not say knows nothing."""
    named = [facts.get(name, []) for name in ("removed_from", "elsewhere")]
    if any(not isinstance(n, list) or not set(n) <= {"class_weight", "gamma"} for n in named):
        raise ValueError("what its removed rows had settled is unknown")
    removed, elsewhere = map(tuple, named)
    by = IdRuns.from_fact(facts.get("settled_by"))
    model._state = model._state.but(
        settled_by=by,
        by_fit=check_flag("by_fit", facts.get("by_fit", False)),
        wholly_gone=IdRuns.from_fact(facts.get("wholly_gone")) or IdRuns.first(0),
        removed_from=removed,
    )
    if elsewhere:
        model._settled_elsewhere = elsewhere


# --- keys -----------------------------------------------------------------------------------------


def holds(model: Any, ids: NDArray[np.int64]) -> bool:
    """Whether any of these examples is in the model, or waits for gamma to be learned again."""
    held = model._held
    waiting = held is not None and bool(np.isin(ids, held.ids).any())
    return waiting or bool(model._core.holds(ids))


def note_keys(model: Any, ids: NDArray[np.int64], keys: Keys | None) -> None:
    """Note the keys of examples about to be learned."""
    if keys is None:
        return
    if model._keys is None:
        model._keys = KeyBook()
    model._keys.note(ids.tolist(), keys)


def strike_out(model: Any) -> None:
    """Strike out the keys of examples that are gone: their ids may be given again."""
    if model._keys is not None:
        model._keys = model._keys.held_by(model._holds)


def learn_bearing(model: Any, key: Any, x: Any, y: Any, w: float) -> None:
    """``learn_one`` of an example that bears this key."""
    with model._register:
        if model._keys is None:
            model._keys = KeyBook()
        book, number = model._keys, model._register.next
        noted = book.mark()
        book.note((number,), (key,))  # before it is learned: Ctrl-C must not leave it nameless
        try:
            model.learn_one(x, y, w)
        finally:
            if model._register.next == number:  # it was not learned
                book.back_to(noted)
        if book.is_due:
            strike_out(model)


def key_facts(model: Any) -> dict[str, Any]:
    """What a file says of the keys: nothing where there are none."""
    if model._keys is None:
        return {}
    book = model._keys.held_by(model._holds)
    return {"keys": book.to_facts()} if len(book) else {}


def recall_keys(model: Any, facts: Mapping[str, Any]) -> None:
    """Take them from a file."""
    if "keys" not in facts:
        return
    if not model.can("unlearn"):
        raise ValueError("it has keys, which its class does not keep")
    model._keys = KeyBook.from_facts(facts["keys"], model._next_id)


def demand_keys_held(model: Any) -> None:
    """A ValueError if a file has a key of an example that is not there."""
    if model._keys is not None and len(model._keys.held_by(model._holds)) < len(model._keys):
        raise ValueError("its keys are of examples that it does not hold")
