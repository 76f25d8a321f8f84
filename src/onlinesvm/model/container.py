"""The container of a saved model: named arrays behind a header with a checksum, in safetensors."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

FORMAT = 5  # goes up with what a file says, the names of saved parameters included
_HEAD = "onlinesvm"  # the one metadata entry


def pack(kind: str, arrays: dict[str, NDArray[Any]]) -> bytes:
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


def unpack(data: bytes) -> tuple[str, dict[str, NDArray[Any]]]:
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
