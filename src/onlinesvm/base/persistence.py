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
import hashlib
import json
import os
import re
import stat
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onlinesvm.atomic import replacing

from ..params import check_count, check_number
from .core import REDUCED, REDUCED_PAIRS, Core, create, revive
from .gamma import ASK_ALL
from .json_values import from_json, to_json
from .state import ModelState

FORMAT = 5  # goes up with what a file says, the names of saved parameters included
_HEAD = "onlinesvm"  # the one metadata entry
_FACTS = "facts"  # the JSON array
_ABOUT = "about"  # JSON beside the model, such as the names of its key columns
_STATE = "state."  # prefix of the core's arrays
_SAVED = "saved"  # the bytes of a file, in the state that others ask for


class Portable:
    """Pickled and copied as it lives; whoever asks for its state gets what a file would hold.

    pickle and copy take everything, a function as kernel too, and ask by ``__reduce_ex__``. skops
    asks by ``__getstate__``: bytes without code, which are read with all the care that a file is.
    """

    def _live_state(self) -> dict[str, Any]:
        """All that it has in memory, for a twin in this or another process."""
        raise NotImplementedError

    def _live_on(self, state: dict[str, Any]) -> None:
        """Take over what ``_live_state`` gave."""
        raise NotImplementedError

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        return copyreg.__newobj__, (type(self),), self._live_state()  # type: ignore[attr-defined]

    def __getstate__(self) -> dict[str, Any]:
        return {_SAVED: _pack(_name_of(self), self._arrays())}  # type: ignore[attr-defined]

    def __setstate__(self, state: dict[str, Any]) -> None:
        if _SAVED in state:
            with _refusing("the bytes are no model that this version can load: "):
                kind, arrays = _unpack(bytes(state[_SAVED]))
                if kind != type(self).__name__:
                    raise ValueError(f"they hold a {kind[:80]!r}, not a {type(self).__name__!r}")
                state = rebuilt(kind, arrays)._live_state()
        self._live_on(state)


class Persistent(Portable, ModelState):
    """Saving, pickling and copying of an estimator whose memory is its core and a few facts."""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to ``path``, whole or not at all; the model is not touched.

        :func:`onlinesvm.load` brings it back, and learning goes on as if it had never stopped,
        bit for bit. What it could not bring back is refused here, before anything is written: a
        function as kernel, a class of your own, labels that no file can hold.

        Parameters
        ----------
        path : str or path
            An existing file is replaced only once the new one is safely on disk. It keeps its
            mode; a link keeps pointing to it.

        Raises
        ------
        ValueError
            When the model has something that a file without code cannot hold; pickle can.
        """
        write(path, _name_of(self), self._arrays())

    def _arrays(self) -> dict[str, NDArray[Any]]:
        """All that a file has to say of the model, by name."""
        with self._register:
            facts = {"params": self.get_params(deep=False)}
            arrays: dict[str, NDArray[Any]] = {}
            if "_core" in self.__dict__:
                facts |= {"core": self._core_name, "settings": self._core_settings} | self._facts()
                arrays = {_STATE + name: array for name, array in self._core.state().items()}
        text = json.dumps({k: _json_fact(k, v) for k, v in facts.items()}, allow_nan=False)
        arrays[_FACTS] = np.frombuffer(text.encode(), dtype=np.uint8)
        return arrays

    def _facts(self) -> dict[str, Any]:
        """What is known besides the parameters and the core's arrays."""
        raise NotImplementedError

    def _recall(self, facts: dict[str, Any]) -> None:
        """Take facts from ``_facts`` back."""
        raise NotImplementedError

    def _demand_fits(self, state: Mapping[str, NDArray[Any]]) -> None:
        """A ValueError if the core's arrays speak of another model than the facts recalled."""
        raise NotImplementedError

    def _install(self, core: Core) -> None:
        raise NotImplementedError

    def _live_state(self) -> dict[str, Any]:
        with self._register:
            state: dict[str, Any] = dict(ModelState.__getstate__(self))  # type: ignore[call-overload]
            state["_numbers"] = self._register.next, self._register.gap
            for name in ("_register", "_core", "_direct_target", "_straight"):
                state.pop(name, None)
            if "_core" in self.__dict__:
                state["_core_state"] = self._core.state()
            if state.get("_vocabulary") is not None:  # it goes on growing
                state["_vocabulary"] = copy.copy(state["_vocabulary"])
            if self._keys is not None:
                state["_keys"] = self._keys.held_by(self._holds)
        return state

    def _live_on(self, state: dict[str, Any]) -> None:
        state = dict(state)
        core_state = state.pop("_core_state", None)
        self._register.next, self._register.gap = state.pop("_numbers", (0, 0))
        ModelState.__setstate__(self, state)
        if core_state is not None:
            self._install(revive(self._core_name, self._core_settings, core_state))


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
    _settle(model, beginner, facts)
    core = create(model._core_name, model._core_settings)
    model._install(core)
    model._recall(facts)
    model._demand_fits(state)
    if state["outputs"].tolist() != model._outputs():  # before the core makes room for so many
        raise ValueError("its outputs do not fit its classes")
    core.load(state)
    model._demand_keys_held()
    return model


def _settle(model: Any, beginner: Any, facts: dict[str, Any]) -> None:
    """Take the settings that the constructor's own checks give, which the file must agree with."""
    settings, name = facts.pop("settings"), facts.pop("core")
    known = beginner._core_params(check_count("n_features_in", facts["n_features_in"]))
    if isinstance(getattr(beginner, "gamma", None), str):  # a word: the rows have settled it
        known["kernel"]["gamma"] = check_number("gamma", settings["kernel"]["gamma"], above=0)
    if facts["held"] is not None:  # until then every label is used
        known |= {name: every for name, every in ASK_ALL.items() if name in known}
    model._core_settings = known
    compressed = (REDUCED, REDUCED_PAIRS)
    stems = compressed if "compression" in facts else beginner._core_stems()
    if name not in [stem + beginner.dtype.removeprefix("float") for stem in stems]:
        raise ValueError(f"its core {str(name)[:80]!r} does not belong to {type(model).__name__}")
    if settings != known:
        raise ValueError("its settings are not those of its parameters")
    model._core_name = name


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


# --- the container ----------------------------------------------------------------------------


def _pack(kind: str, arrays: dict[str, NDArray[Any]]) -> bytes:
    from onlinesvm import __version__

    head = {"format": FORMAT, "library": __version__, "class": kind}
    arrays = {name: np.asarray(array, order="C") for name, array in sorted(arrays.items())}
    head["checksum"] = _checksum(head, arrays)
    return _serialised(arrays, json.dumps(head))


def _serialised(arrays: Mapping[str, NDArray[Any]], head: str) -> bytes:
    """What `safetensors.numpy.save` gives, byte for byte, with one copy of the arrays, not three.

    The container wants larger types first, and in one type the names in order.
    """
    kinds = {name: _KINDS[array.dtype.str] for name, array in arrays.items()}
    order = sorted(arrays, key=lambda name: (_PLACES.index(kinds[name]), name))
    entries, done = [f'{{"__metadata__":{{"{_HEAD}":{json.dumps(head)}}}'], 0
    for name in order:
        shape, last = ",".join(map(str, arrays[name].shape)), done + arrays[name].nbytes
        said = f'"dtype":"{kinds[name]}","shape":[{shape}],"data_offsets":[{done},{last}]'
        entries.append(f'"{name}":{{{said}}}')
        done = last
    header = (",".join(entries) + "}").encode()
    header += b" " * (-len(header) % 8)
    data = (arrays[name].reshape(-1).view(np.uint8).data for name in order)
    return b"".join([len(header).to_bytes(8, "little"), header, *data])


def _unpack(data: bytes) -> tuple[str, dict[str, NDArray[Any]]]:
    """The class name and the arrays of a container, once everything about it has been verified.

    The arrays are views of ``data``.
    """
    size = int.from_bytes(data[:8], "little")
    if len(data) < 8 or size > len(data) - 8 or size % 8:
        raise ValueError("its header is damaged or too long")
    first = _OPENING.match(data, 8, 8 + size)
    if first is None:
        raise ValueError("its header was not written by onlinesvm")
    head = dict(json.loads(json.loads(first[1])))
    _demand_format(head)
    arrays = dict(_entries(data, first.end(), 8 + size))
    if head.pop("checksum", None) != _checksum(head, arrays):
        raise ValueError("its checksum does not match; the file is damaged")
    return str(head.get("class")), arrays


# The header as the container writes it: {"__metadata__":{"onlinesvm":"..."},"name":{...},...}
_OPENING = re.compile(rb'\{"__metadata__":\{"onlinesvm":("(?:[^"\\]|\\.){0,4000}")\}')
_ENTRY = re.compile(
    rb',"([\w.]{1,200})":\{"dtype":"([A-Z]\w{1,4})","shape":\[((?:\d{1,18}(?:,\d{1,18}){0,7})?)\],'
    rb'"data_offsets":\[(\d{1,18}),(\d{1,18})\]\}'
)
_END = re.compile(rb"\} *")
_DTYPES = {"F64": "<f8", "F32": "<f4", "I64": "<i8", "I32": "<i4", "U8": "|u1"}
# No model has flags, and none is read that has; tests forge some.
_KINDS = {code: kind for kind, code in _DTYPES.items()} | {"|b1": "BOOL"}
_PLACES = ("I64", "F64", "F32", "I32", "U8", "BOOL")


def _demand_format(head: Mapping[str, Any]) -> None:
    known, library = head.get("format"), str(head.get("library"))[:20]
    if known == FORMAT:
        return
    if isinstance(known, int) and known < FORMAT:
        raise ValueError(
            f"it has format {known} of onlinesvm {library}, this library reads {FORMAT}; "
            "fit the model anew, or go on with that version"
        )
    raise ValueError(f"it has format {known!r:.20}, this library reads {FORMAT}; update onlinesvm")


def _entries(data: bytes, at: int, end: int) -> Iterator[tuple[str, NDArray[Any]]]:
    """The arrays by name, one after the other: they fill the file without gaps or overlaps."""
    start, done, seen = end, 0, set()
    while entry := _ENTRY.match(data, at, end):
        name, kind, shape_text, first, last = (part.decode() for part in entry.groups())
        if kind not in _DTYPES:
            raise ValueError(f"it has an array of type {kind}, which no model has")
        dtype = np.dtype(_DTYPES[kind])
        shape = tuple(int(n) for n in shape_text.split(",") if n)
        count = 1
        for n in shape:
            count *= n
        if int(first) != done or int(last) != done + count * dtype.itemsize or name in seen:
            raise ValueError("its arrays overlap, leave gaps or have other sizes than they say")
        if int(last) > len(data) - start or done % dtype.itemsize:
            raise ValueError("its arrays reach beyond the file")
        yield name, np.frombuffer(data, dtype, count, start + done).reshape(shape)
        seen.add(name)
        done, at = int(last), entry.end()
    if not _END.fullmatch(data, at, end) or start + done != len(data):
        raise ValueError("its header is damaged")


def _checksum(head: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> str:
    digest = hashlib.sha256(json.dumps(dict(head), sort_keys=True).encode())
    for name, array in sorted(arrays.items()):
        digest.update(json.dumps([name, array.dtype.str, list(array.shape)]).encode())
        digest.update(array.reshape(-1).view(np.uint8).data)
    return digest.hexdigest()
