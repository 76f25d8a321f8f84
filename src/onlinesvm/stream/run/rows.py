"""Blocks of rows as bytes and back: what a log keeps of a source that cannot be read again."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from onlinesvm.files.json_values import from_json, to_json
from onlinesvm.stream.sources import BadRow, Block, Examples, Frame, Schema

__all__ = ["block_from_bytes", "block_to_bytes", "joined", "part", "row_text"]

_SIZE = struct.Struct("<I")
_DTYPES = ("<f8", "<f4", "<i8", "<i4", "|b1", "|u1")
_NAMES = ("X", "y", "keys", "end", "bad", "done")


def part(examples: Examples, start: int, stop: int) -> Examples:
    """The examples from start to stop."""
    y = None if examples.y is None else examples.y[start:stop]
    keys = None if examples.keys is None else examples.keys[start:stop]
    return Examples(examples.X[start:stop], y, keys)


def joined(parts: list[Examples]) -> Examples:
    """Examples that came one behind the other, as one; a single part stays as it is."""
    if len(parts) == 1:
        return parts[0]
    X = _joined_rows([p.X for p in parts])
    y = None if parts[0].y is None else np.concatenate([p.y for p in parts])
    keys = None if parts[0].keys is None else [key for p in parts for key in p.keys or ()]
    return Examples(X, y, keys)


def _joined_rows(tables: list[Any]) -> Any:
    first = tables[0]
    if isinstance(first, np.ndarray):
        return np.concatenate(tables)
    if isinstance(first, Frame):
        return Frame({n: np.concatenate([t[n] for t in tables]) for n in first.columns})
    width = max(table.shape[1] for table in tables)  # that of sparse rows grows
    return sp.vstack([_widened(table, width) for table in tables], format="csr")


def _widened(rows: Any, width: int) -> Any:
    shape = (rows.shape[0], width)
    return sp.csr_array((rows.data, rows.indices, rows.indptr), shape=shape)


def row_text(one: Examples, schema: Schema) -> str:
    """A single example as people read it: JSON, by the names of its columns."""
    X, names = one.X, [column.name for column in schema.features]
    if sp.issparse(X):
        values = dict(zip(map(str, X.indices.tolist()), X.data.tolist(), strict=True))
    else:
        row = X.to_dicts()[0] if isinstance(X, Frame) else None
        values = dict(zip(names, X[0].tolist(), strict=False)) if row is None else row
    target = {} if one.y is None else {schema.target or "y": one.y[:1].tolist()[0]}
    return json.dumps(values | target, default=str)


# --- to bytes -------------------------------------------------------------------------------------


def block_to_bytes(block: Block) -> bytes:
    """All of a block, exactly."""
    arrays: list[NDArray[Any]] = []
    examples = block.examples
    facts = {
        "X": _table_facts(examples.X, arrays),
        "y": _column_facts("y", examples.y, arrays),
        "keys": to_json("keys", examples.keys),
        "end": to_json("end", dict(block.end)),
        "bad": [[b.text, b.reason, b.column, b.line, b.byte, b.file] for b in block.bad],
        "done": block.done,
    }
    shapes = [[array.dtype.str, list(array.shape)] for array in arrays]
    text = json.dumps([facts, shapes], allow_nan=False).encode()
    return b"".join([_SIZE.pack(len(text)), text, *(array.tobytes() for array in arrays)])


def _table_facts(X: Any, arrays: list[NDArray[Any]]) -> Any:
    if isinstance(X, Frame):
        return {"columns": [[name, _column_facts(name, X[name], arrays)] for name in X.columns]}
    if sp.issparse(X):
        arrays += [X.data, X.indices.astype(np.int64), X.indptr.astype(np.int64)]
        return {"sparse": list(X.shape)}
    arrays.append(np.asarray(X, dtype=np.float64))
    return "dense"


def _column_facts(name: str, values: Any, arrays: list[NDArray[Any]]) -> Any:
    if values is None:
        return None
    if values.dtype.str in _DTYPES:
        arrays.append(values)
        return "array"
    return to_json(name, values)


# --- and back -------------------------------------------------------------------------------------


def block_from_bytes(data: bytes) -> Block:
    """The block; a ValueError for bytes that were never one."""
    try:
        return _block(data)
    except (
        TypeError,
        LookupError,
        AttributeError,
        ArithmeticError,
        RecursionError,
        struct.error,
    ) as error:
        raise ValueError(f"a block of rows is damaged: {error!s:.100}") from None


def _block(data: bytes) -> Block:
    (size,) = _SIZE.unpack_from(data)
    if size > len(data) - _SIZE.size:
        raise ValueError("a block of rows is shorter than it says")
    facts, shapes = json.loads(data[_SIZE.size : _SIZE.size + size])
    if facts.keys() != set(_NAMES):
        raise ValueError("a block of rows has other parts than it should")
    arrays = _arrays(data, _SIZE.size + size, shapes)
    X = _table(facts["X"], arrays)
    y = _column(facts["y"], arrays)
    if next(arrays, None) is not None:
        raise ValueError("a block of rows has arrays that are of no use")
    keys, end, done = from_json(facts["keys"]), from_json(facts["end"]), facts["done"]
    rows = X.shape[0]
    if (y is not None and y.shape != (rows,)) or (
        keys is not None and (not isinstance(keys, list) or len(keys) != rows)
    ):
        raise ValueError("a block of rows has labels or keys for other rows than it has")
    if not isinstance(end, dict) or not (done is None or isinstance(done, float | int)):
        raise ValueError("a block of rows does not say where it ends")
    return Block(Examples(X, y, keys), end, [_bad_row(entry) for entry in facts["bad"]], done)


def _arrays(data: bytes, at: int, shapes: Any) -> Iterator[NDArray[Any]]:
    for dtype, shape in shapes:
        if dtype not in _DTYPES or not 1 <= len(shape) <= 2:
            raise ValueError("a block of rows has an array of a type that it cannot have")
        count = 1
        for n in shape:
            if not isinstance(n, int) or not 0 <= n <= len(data):
                raise ValueError("a block of rows has an array larger than itself")
            count *= n
        size = count * np.dtype(dtype).itemsize
        if size > len(data) - at:
            raise ValueError("a block of rows has an array larger than itself")
        yield np.frombuffer(data, dtype, count, at).reshape(shape)
        at += size
    if at != len(data):
        raise ValueError("a block of rows is longer than it says")


def _table(facts: Any, arrays: Iterator[NDArray[Any]]) -> Any:
    match facts:
        case "dense":
            X = next(arrays)
            if X.ndim != 2 or X.dtype != np.float64:
                raise ValueError("a block of rows must be a table of numbers")
            return X
        case {"sparse": [int() as height, int() as width]}:
            return _sparse(next(arrays), next(arrays), next(arrays), height, width)
        case {"columns": [*pairs]}:
            columns = {str(name): _column(values, arrays) for name, values in pairs}
            if len({getattr(values, "shape", None) for values in columns.values()}) != 1:
                raise ValueError("a block of rows has columns of unlike lengths")
            return Frame(columns)
    raise ValueError("a block of rows has no table")


def _sparse(data: Any, indices: Any, indptr: Any, height: int, width: int) -> Any:
    if data.ndim != 1 or indices.shape != data.shape or indptr.shape != (height + 1,):
        raise ValueError("a block of sparse rows contradicts itself")
    rows = sp.csr_array((data, indices, indptr), shape=(height, width))
    rows.check_format(full_check=True)
    return rows


def _column(facts: Any, arrays: Iterator[NDArray[Any]]) -> Any:
    if facts is None:
        return None
    values = next(arrays) if facts == "array" else from_json(facts)
    if not isinstance(values, np.ndarray):
        raise ValueError("a block of rows has a column that is none")
    return values


def _bad_row(entry: Any) -> BadRow:
    text, reason, column, line, byte, file = entry
    words_fit = all(isinstance(w, str) for w in (text, reason)) and all(
        w is None or isinstance(w, str) for w in (column, file)
    )
    if not words_fit or not all(n is None or isinstance(n, int) for n in (line, byte)):
        raise ValueError("a block of rows has a bad row that says nothing")
    return BadRow(text, reason, column, line, byte, file)
