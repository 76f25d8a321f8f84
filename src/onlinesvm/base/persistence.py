"""Saving and loading: arrays and JSON in a safetensors container. No pickle, so no code runs.

A file holds the core's state arrays, one array of JSON with everything else, and in its header
the format, the versions, the class, and a SHA-256 over all of it. Loading a file from a stranger
is safe: sizes are capped before anything is allocated, the checksum and the class are verified,
and the core takes its arrays only if their names, types and lengths belong together.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load as parse
from safetensors.numpy import save as serialise

from onlinesvm import _core
from onlinesvm.atomic import replacing

from .plain import from_plain, to_plain

FORMAT = 1
_HEAD = "onlinesvm"  # the one metadata entry
_FACTS = "facts"  # the JSON array
_STATE = "state."  # prefix of the core's arrays
_MAX_HEADER = 1 << 20
_MAX_ARRAYS = 1024


class Persistent:
    """Saving, pickling and copying of an estimator whose memory is its core and a few facts."""

    _core: Any
    _core_name: str
    _core_settings: dict[str, Any]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to ``path``, whole or not at all; the model is not touched.

        :func:`onlinesvm.load` brings it back, and learning goes on as if it had never stopped,
        bit for bit.

        Parameters
        ----------
        path : str or path
            An existing file is replaced only once the new one is safely on disk; it keeps its mode,
            and a link is followed.
        """
        facts = {"params": self.get_params(deep=False)}  # type: ignore[attr-defined]
        arrays: dict[str, NDArray[Any]] = {}
        if "_core" in self.__dict__:
            facts |= {"core": self._core_name, "settings": self._core_settings} | self._facts()
            arrays = {_STATE + name: array for name, array in self._core.state().items()}
        text = json.dumps({k: _plain_fact(k, v) for k, v in facts.items()}, allow_nan=False)
        arrays[_FACTS] = np.frombuffer(text.encode(), dtype=np.uint8)
        with replacing(path) as file:
            file.write(_pack(type(self).__name__, arrays))

    def _facts(self) -> dict[str, Any]:
        """What is known besides the parameters and the core's arrays."""
        raise NotImplementedError

    def _recall(self, facts: dict[str, Any]) -> None:
        """Take facts from ``_facts`` back."""
        raise NotImplementedError

    def _install(self, core: Any) -> None:
        raise NotImplementedError

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = dict(super().__getstate__())  # type: ignore[call-overload]
        core = state.pop("_core", None)
        state.pop("_core_learn_one", None)
        if core is not None:
            state["_core_state"] = core.state()
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        state = dict(state)
        core_state = state.pop("_core_state", None)
        super().__setstate__(state)  # type: ignore[misc]
        if core_state is not None:
            self._install(revive(self._core_name, self._core_settings, core_state))


def load(path: str | os.PathLike[str]) -> Any:
    """The model that :meth:`save` wrote, ready to go on.

    Parameters
    ----------
    path : str or path

    Returns
    -------
    estimator
        Of the class that was saved.

    Raises
    ------
    ValueError
        When the file is not a saved model, is damaged, or comes from a newer format.

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
    data = Path(path).read_bytes()
    try:
        kind, arrays = _unpack(data)
        return _rebuild(kind, arrays)
    except (ValueError, TypeError, KeyError, OverflowError, RecursionError) as error:
        raise ValueError(f"{path} is not a model this version can load: {error}") from None


def revive(name: str, settings: dict[str, Any], state: Mapping[str, NDArray[Any]]) -> Any:
    """A core of the given name, settings and state; state that does not fit is a ValueError."""
    core = getattr(_core, name)(settings)
    core.load(dict(state))
    return core


def _rebuild(kind: str, arrays: dict[str, NDArray[Any]]) -> Any:
    import onlinesvm  # the public names exist only once the package is complete

    classes = {cls.__name__: cls for cls in onlinesvm.all_estimators()}
    if kind not in classes:
        raise ValueError(f"it holds a {kind[:80]!r}, which is no class of this library")
    text = arrays.pop(_FACTS).tobytes()
    facts = {name: from_plain(value) for name, value in dict(json.loads(text)).items()}
    model = classes[kind](**facts.pop("params"))
    if not facts:
        return model
    core_name, settings = facts.pop("core"), facts.pop("settings")
    if core_name not in (f"{model._stem}32", f"{model._stem}64"):
        raise ValueError(f"its core {core_name!r} does not belong to {kind}")
    state = {name.removeprefix(_STATE): array for name, array in arrays.items()}
    core = revive(core_name, settings, state)
    model._core_name, model._core_settings = core_name, settings
    model._install(core)
    model._recall(facts)
    return model


def _plain_fact(name: str, value: Any) -> Any:
    if isinstance(value, Mapping):  # name the member that cannot be saved, not the mapping
        pairs = [[to_plain(name, k), to_plain(str(k), v)] for k, v in value.items()]
        return {"dict": pairs}
    return to_plain(name, value)


# --- the container ----------------------------------------------------------------------------


def _pack(kind: str, arrays: dict[str, NDArray[Any]]) -> bytes:
    from onlinesvm import __version__

    head = {"format": FORMAT, "library": __version__, "class": kind}
    arrays = {name: np.array(array, order="C") for name, array in sorted(arrays.items())}
    head["checksum"] = _checksum(head, arrays)
    # One entry, because the container writes several in no fixed order.
    data: bytes = serialise(arrays, {_HEAD: json.dumps(head)})
    return data


def _unpack(data: bytes) -> tuple[str, dict[str, NDArray[Any]]]:
    """The class name and the arrays of a container, once everything about it has been verified."""
    size = int.from_bytes(data[:8], "little")
    if len(data) < 8 or size > min(_MAX_HEADER, len(data) - 8):
        raise ValueError("its header is damaged or too long")
    header = json.loads(data[8 : 8 + size])
    match header:
        case {"__metadata__": {"onlinesvm": str() as text}}:
            head = dict(json.loads(text))
        case _:
            raise ValueError("it was not written by onlinesvm")
    if head.get("format") != FORMAT:
        raise ValueError(
            f"it has format {head.get('format')!r}, this library reads {FORMAT}; update onlinesvm"
        )
    if len(header) > _MAX_ARRAYS:
        raise ValueError(f"it claims {len(header)} arrays; {_MAX_ARRAYS} are allowed")
    try:
        arrays: dict[str, NDArray[Any]] = parse(data)
    except SafetensorError as error:
        raise ValueError(f"its arrays are damaged ({error})") from None
    if head.pop("checksum", None) != _checksum(head, arrays):
        raise ValueError("its checksum does not match; the file is damaged")
    return str(head.get("class")), arrays


def _checksum(head: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> str:
    digest = hashlib.sha256(json.dumps(dict(head), sort_keys=True).encode())
    for name, array in sorted(arrays.items()):
        digest.update(json.dumps([name, array.dtype.str, list(array.shape)]).encode())
        digest.update(array.tobytes())
    return digest.hexdigest()
