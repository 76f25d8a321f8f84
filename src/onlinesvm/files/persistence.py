"""Saving and loading: arrays and JSON in a safetensors container. No pickle, so no code runs.

A file holds the core's state arrays, one array of JSON with everything else, and in its header
the format, the versions, the class, and a SHA-256 over all of it. Loading a file from a stranger
is safe: the header is read by its grammar and nothing else, the arrays are views of the bytes at
hand, the core's settings must be those that the constructor's own checks give, and the core takes
its arrays only if all that they say fits together.
"""

from __future__ import annotations

import copy
import copyreg
import json
import os
import stat
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onlinesvm.files.atomic import replacing

from .. import kernels
from ..core import REDUCED, REDUCED_PAIRS, create, revive
from ..data.arguments import check_count, check_flag, check_number
from ..data.rows import Columns
from ..data.sklearn_types import BaseEstimator
from ..data.validation import MAX_ID
from ..data.vocabulary import Vocabulary
from ..model.compression import Compression
from ..model.container import pack as _pack
from ..model.container import unpack as _unpack
from ..model.gamma import ASK_ALL, FirstExamples, Spread, settles_gamma
from ..model.groups import PassByPass
from ..model.parameters import lists
from ..model.state import State
from ..unlearn.unlearning import demand_keys_held, recall_keys, recall_settled, settled_facts
from .json_values import from_json, to_json

_FACTS = "facts"  # the JSON array
_ABOUT = "about"  # JSON beside the model, such as the names of its key columns
_STATE = "state."  # prefix of the core's arrays
_SAVED = "saved"  # the bytes of a file, in the state that others ask for


# pickle and copy take everything as it lives, a function as kernel too, and ask by
# ``__reduce_ex__``. skops asks by ``__getstate__``: bytes without code, which are read with all the
# care that a file is. A class takes these three, and has ``_live_state``, ``_live_on`` and
# ``_arrays``.


def reduced(model: Any, protocol: Any) -> tuple[Any, ...]:
    """``__reduce_ex__``: what pickle and copy take."""
    return copyreg.__newobj__, (type(model),), model._live_state()  # type: ignore[attr-defined]


def saved_state(model: Any) -> dict[str, Any]:
    """``__getstate__``: what a file would hold."""
    return {_SAVED: _pack(_name_of(model), model._arrays())}


def restored_state(model: Any, state: dict[str, Any]) -> None:
    """``__setstate__``: either of the two."""
    if _SAVED in state:
        with _refusing("the bytes are no model that this version can load: "):
            kind, arrays = _unpack(bytes(state[_SAVED]))
            if kind != type(model).__name__:
                raise ValueError(f"they hold a {kind[:80]!r}, not a {type(model).__name__!r}")
            state = rebuilt(kind, arrays)._live_state()
    model._live_on(state)


# --- an estimator -----------------------------------------------------------------------------


def save(model: Any, path: str | os.PathLike[str]) -> None:
    """Write a model to ``path``, whole or not at all."""
    write(path, _name_of(model), model._arrays())


def arrays_of(model: Any) -> dict[str, NDArray[Any]]:
    """All that a file has to say of an estimator, by name."""
    with model._register:
        facts = {"params": model.get_params(deep=False)}
        arrays: dict[str, NDArray[Any]] = {}
        if model.__sklearn_is_fitted__():
            state = model._state
            facts |= {"core": state.core_name, "settings": state.core_settings} | model._facts()
            arrays = {_STATE + name: array for name, array in state.core.state().items()}
    text = json.dumps({k: _json_fact(k, v) for k, v in facts.items()}, allow_nan=False)
    arrays[_FACTS] = np.frombuffer(text.encode(), dtype=np.uint8)
    return arrays


def live_state(model: Any) -> dict[str, Any]:
    """All that an estimator has in memory, for a twin in this or another process."""
    with model._register:
        live: dict[str, Any] = dict(BaseEstimator.__getstate__(model))  # type: ignore[call-overload]
        live["_numbers"] = model._register.next, model._register.gap
        for name in ("_register", "_door"):
            live.pop(name, None)
        state = live.get("_state")
        if state is not None:
            live["_core_state"] = state.core.state()
            live["_state"] = state.but(
                core=None,
                vocabulary=copy.copy(state.vocabulary),  # it goes on growing
                keys=None if state.keys is None else state.keys.held_by(model._holds),
            )
    return live


def live_on(model: Any, live: dict[str, Any]) -> None:
    """Take over what :func:`live_state` gave."""
    live = dict(live)
    core_state, state = live.pop("_core_state", None), live.pop("_state", None)
    model._register.next, model._register.gap = live.pop("_numbers", (0, 0))
    BaseEstimator.__setstate__(model, live)
    if state is not None:
        model._state = state.but(core=revive(state.core_name, state.core_settings, core_state))
        model._set_fast_path()


def facts_of(model: Any) -> dict[str, Any]:
    """What a file says of an estimator besides its parameters and the core's arrays."""
    state = model._state
    made = state.compression
    passes = {"n_iter": state.n_iter} if lists(type(model), PassByPass) else {}
    return ({} if made is None else {"compression": made.to_facts()}) | {
        "n_features_in": state.n_features,
        "feature_names": state.columns.names,
        "vocabulary": None if state.vocabulary is None else state.vocabulary.names(),
        "sparsely": state.sparsely,
        "next_id": model._next_id,
        "id_gap": model._id_gap,
        "begun": dict(state.begun) if model._changed() else None,
        "held": None if state.held is None else state.held.to_facts(),
        **passes,
        **settled_facts(model),
        **model._key_facts(),
    }


def recall(model: Any, facts: dict[str, Any]) -> None:
    """Take the facts of a file, which is not to be trusted."""
    n = check_count("n_features_in", facts["n_features_in"])
    names, vocabulary = facts["feature_names"], facts["vocabulary"]
    if names is not None and (np.shape(names) != (n,) or vocabulary is not None):
        raise ValueError("its feature names do not fit its features")
    sparsely = check_flag("sparsely", facts["sparsely"])
    known = None if vocabulary is None else Vocabulary(vocabulary)
    if known is not None:
        if len(vocabulary) != len(known) or not sparsely:
            raise ValueError("its vocabulary has a name twice, or no sparse rows")
        if len(known) != n:
            raise ValueError("its vocabulary does not fit its features")
    model._next_id = check_count("next_id", facts["next_id"])
    model._id_gap = check_count("id_gap", facts["id_gap"], at_least=-MAX_ID)
    if model._id_gap > model._next_id or model._next_id > MAX_ID + 1:
        raise ValueError("its ids are out of range")
    made, state = facts.get("compression"), model._state
    model._state = state = state.but(
        columns=Columns(n, n, None if names is None else np.asarray(names)),
        vocabulary=known,
        sparsely=sparsely,
        compression=None if made is None else Compression.from_facts(made),
        spread=Spread() if settles_gamma(model, state.core_settings) else None,
    )
    if lists(type(model), PassByPass):
        model._n_iter = check_count("n_iter", facts["n_iter"], at_least=1)
    if facts["held"] is not None:
        by_word = isinstance(state.begun.get("gamma"), str)
        if not by_word or state.core_settings["kernel"]["name"] not in kernels.WITH_GAMMA:
            raise ValueError("it holds examples that settle a gamma which is a number")
        model._held = FirstExamples.from_facts(facts["held"], n, sparsely=sparsely)
    recall_settled(model, facts)
    recall_keys(model, facts)


def demand_fits(model: Any, state: Mapping[str, NDArray[Any]]) -> None:
    """A ValueError if the core's arrays speak of another model than the facts recalled."""
    width = state["width"].tolist()
    # Examples of weight 0 are counted but never reach the core.
    own = int(model._is_pairwise())  # kernel values stand behind the number of their example
    n, held = model._state.n_features, model._held
    least = 0 if model._sparsely or not width else n + own
    if not least <= width <= n + own:
        raise ValueError("its examples are not as wide as its features are many")
    if held is not None:
        model._demand_known(held)
    waiting = {} if held is None else {"ids": held.ids}
    for name, ids in (*state.items(), *waiting.items()):
        if ".lengths." in name or name.rpartition(".")[2] not in ("id", "ids"):
            continue
        if ids.max(initial=-1) >= model._next_id:
            raise ValueError("an example has an id that was never given")


# What forged or damaged bytes make the steps of loading raise.
_NO_MODEL = (ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RecursionError)


def load(path: str | os.PathLike[str]) -> Any:
    """The model that :meth:`save` wrote, ready to go on.

    Parameters
    ----------
    path : str or path

    Returns
    -------
    estimator
        Of the class that was saved.

    Notes
    -----
    Raises the audit event ``onlinesvm.load`` with the path (see :func:`sys.audit`).

    Raises
    ------
    ValueError
        When the file is not a saved model, is damaged, contradicts itself, or comes from a
        version with another format.

    Examples
    --------
    >>> import numpy as np, onlinesvm, tempfile
    >>> model = onlinesvm.PassiveAggressiveClassifier().fit(np.eye(2), [0, 1])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model.save(f"{folder}/model.onlinesvm")
    ...     again = onlinesvm.load(f"{folder}/model.onlinesvm")
    >>> again.predict(np.eye(2)).tolist()
    [0, 1]
    """
    return load_with_about(path)[0]


def load_with_about(path: str | os.PathLike[str]) -> tuple[Any, dict[str, Any]]:
    """The model of a file, and what the file says besides, by :func:`save_with_about`."""
    sys.audit("onlinesvm.load", str(path))
    with _refusing(f"{path} is not a model this version can load: "):
        kind, arrays = _unpack(read_plain(path))
        about = arrays.pop(_ABOUT, None)
        facts = {} if about is None else dict(json.loads(about.tobytes()))
        return rebuilt(kind, arrays), facts


def save_with_about(
    path: str | os.PathLike[str], model: Any, about: Mapping[str, Any], *, follow: bool = True
) -> None:
    """The same as its ``save``, with JSON that only :func:`load_with_about` reads."""
    arrays = model._arrays()
    if about:
        text = json.dumps(dict(about), allow_nan=False)
        arrays[_ABOUT] = np.frombuffer(text.encode(), dtype=np.uint8)
    write(path, _name_of(model), arrays, follow=follow)


@contextmanager
def _refusing(what: str) -> Iterator[None]:
    """Whatever damaged bytes raise, as one line."""
    try:
        yield
    except _NO_MODEL as e:
        why = "".join(c if c.isprintable() else "?" for c in " ".join(str(e).split()))
        raise ValueError(f"{what}{why[:400]}") from None


def read_plain(path: str | os.PathLike[str]) -> bytes:
    """The bytes of a regular file; a ValueError if it is none."""
    if not stat.S_ISREG(os.stat(path).st_mode):  # a device may have no end
        raise ValueError("it is no regular file")
    return Path(path).read_bytes()


def _classes() -> dict[str, type[Any]]:
    import onlinesvm  # the public names exist only once the package is complete

    made_of_others = (
        onlinesvm.CalibratedOnline,
        onlinesvm.DriftAware,
        onlinesvm.FullConformalOneClassSVM,
        onlinesvm.FullConformalSVC,
        onlinesvm.FullConformalSVR,
        onlinesvm.ModelBank,
        onlinesvm.OnlineColumns,
        onlinesvm.OnlinePipeline,
    )
    every = (*onlinesvm.all_estimators(), *onlinesvm.all_transformers(), *made_of_others)
    return {cls.__name__: cls for cls in every}


def _name_of(model: Any) -> str:
    kind = type(model)
    if _classes().get(kind.__name__) is not kind:
        raise ValueError(
            f"{kind.__name__} is a class of your own, which load could not find; "
            "pickle the model instead"
        )
    return kind.__name__


def write(
    path: str | os.PathLike[str],
    kind: str,
    arrays: dict[str, NDArray[Any]],
    *,
    follow: bool = True,
) -> None:
    """Write what a model of a class has to say, whole or not at all."""
    with replacing(path, follow=follow) as file:
        file.write(_pack(kind, arrays))


def rebuilt(kind: str, arrays: dict[str, NDArray[Any]]) -> Any:
    """The model of a class that said so; something in the arrays raises if they lie."""
    cls = _classes().get(kind)
    if cls is None:
        raise ValueError(f"it holds a {kind[:80]!r}, which is no class of this library")
    if hasattr(cls, "_from_arrays"):  # it is made of others
        return cls._from_arrays(arrays)
    text = arrays.pop(_FACTS).tobytes()
    facts = {name: from_json(value) for name, value in dict(json.loads(text)).items()}
    params = facts.pop("params")
    model = cls(**params)
    if not facts:
        if arrays:
            raise ValueError("it has arrays, but says nothing of what was learned")
        return model
    state = {name.removeprefix(_STATE): array for name, array in arrays.items()}
    beginner = model if facts["begun"] is None else cls(**facts["begun"])
    model._state = _begun(model, beginner, facts)
    model._recall(facts)
    model._set_fast_path()
    model._demand_fits(state)
    if state["outputs"].tolist() != model._outputs():  # before the core makes room for so many
        raise ValueError("its outputs do not fit its classes")
    model._core.load(state)
    demand_keys_held(model)
    return model


def _begun(model: Any, beginner: Any, facts: dict[str, Any]) -> State:
    """A state with the settings that the constructor's checks give; the file must agree."""
    settings, name = facts.pop("settings"), facts.pop("core")
    known = beginner._core_params(check_count("n_features_in", facts["n_features_in"]))
    if isinstance(getattr(beginner, "gamma", None), str):  # a word: the rows have settled it
        known["kernel"]["gamma"] = check_number("gamma", settings["kernel"]["gamma"], above=0)
    if facts["held"] is not None:  # until then every label is used
        known |= {name: every for name, every in ASK_ALL.items() if name in known}
    compressed = (REDUCED, REDUCED_PAIRS)
    stems = compressed if "compression" in facts else beginner._core_stems()
    if name not in [stem + beginner.dtype.removeprefix("float") for stem in stems]:
        raise ValueError(f"its core {str(name)[:80]!r} does not belong to {type(model).__name__}")
    if settings != known:
        raise ValueError("its settings are not those of its parameters")
    begun = facts["begun"] or model.get_params(deep=False)
    return State(create(name, known), name, known, begun, altered=facts["begun"] is not None)


def _json_fact(name: str, value: Any) -> Any:
    if isinstance(value, Mapping):  # name the member that cannot be saved, not the mapping
        pairs = [[to_json(name, k), to_json(str(k), v)] for k, v in value.items()]
        return {"dict": pairs}
    return to_json(name, value)


# --- a model among other things ---------------------------------------------------------------

_AMONG = "model."  # prefix of its arrays


def among(model: Any, others: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """The arrays of a model and others beside them."""
    arrays = {_AMONG + name: array for name, array in model._arrays().items()}
    arrays["class"] = np.frombuffer(_name_of(model).encode(), dtype=np.uint8)
    return arrays | dict(others)


def apart(arrays: dict[str, NDArray[Any]]) -> tuple[Any, dict[str, NDArray[Any]]]:
    """The model and the other arrays, of those that :func:`among` put together."""
    name = arrays.pop("class").tobytes().decode()
    own = {k: arrays.pop(k) for k in [k for k in arrays if k.startswith(_AMONG)]}
    return rebuilt(name, {k.removeprefix(_AMONG): v for k, v in own.items()}), arrays


def pack_among(kind: str, model: Any, others: Mapping[str, NDArray[Any]]) -> bytes:
    """A container of this kind that holds a model and other arrays."""
    return _pack(kind, among(model, others))


def unpack_among(data: bytes, kind: str) -> tuple[Any, dict[str, NDArray[Any]]]:
    """The model and the other arrays of a container of this kind; one line says what is wrong."""
    with _refusing(""):
        return apart(_unpack_kind(data, kind))


def pack_arrays(kind: str, arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """A container of this kind that holds arrays."""
    return _pack(kind, dict(arrays))


def unpack_arrays(data: bytes, kind: str) -> dict[str, NDArray[Any]]:
    """The arrays of a container of this kind; one line says what is wrong."""
    with _refusing(""):
        return _unpack_kind(data, kind)


def unpack_model(data: bytes, kind: str) -> Any:
    """The model of a class from the bytes of its file; one line says what is wrong."""
    with _refusing(""):
        return rebuilt(kind, _unpack_kind(data, kind))


def _unpack_kind(data: bytes, kind: str) -> dict[str, NDArray[Any]]:
    found, arrays = _unpack(data)
    if found != kind:
        raise ValueError(f"it holds a {found[:80]!r}, not a {kind!r}")
    return arrays
