"""Damaged files: read, told or refused in one line, never anything else."""

from __future__ import annotations

import bz2
import gzip
import io
import json

import numpy as np
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from stream.sources.reading import read, written
from tiers import examples

from onlinesvm.stream.sources import open_source


def _csv() -> bytes:
    rows = (f'{i},{i / 3:.3f},2026-01-{1 + i % 28:02},"w,{i % 4}",{i % 2}\n' for i in range(60))
    return ("a,b,when,c,y\n" + "".join(rows)).encode()


def _saved(save, *args, **options) -> bytes:
    out = io.BytesIO()
    save(*args, out, **options)
    return out.getvalue()


def _archive() -> bytes:
    out = io.BytesIO()
    np.savez_compressed(out, X=np.ones((20, 3)), y=np.arange(20))
    return out.getvalue()


TABLE = pa.table({"a": np.arange(50.0), "c": ["x", "y"] * 25, "y": [0, 1] * 25})
WHOLE = {
    "a.csv": _csv(),
    "nameless": _csv(),
    "a.csv.gz": gzip.compress(_csv()),
    "a.csv.bz2": bz2.compress(_csv()),
    "a.csv.zst": pa.compress(_csv(), codec="zstd", asbytes=True),
    "a.jsonl": "".join(
        json.dumps({"a": i, "c": "x", "y": i % 2}) + "\n" for i in range(60)
    ).encode(),
    "a.svm": "".join(f"{i % 2} 1:{i} {2 + i % 5}:1\n" for i in range(60)).encode(),
    "a.parquet": _saved(pq.write_table, TABLE),
    "a.arrow": _saved(feather.write_feather, TABLE),
    "a.npz": _archive(),
}
ODD = [b'"', b"\n", b"\r", b",", b'""', b"1e999", b"\0", b"\xff", b";", b"{", b":", b"9" * 20]
edit = st.tuples(
    st.floats(0, 1, exclude_max=True),
    st.integers(0, 20),
    st.sampled_from(ODD) | st.binary(max_size=4),
)


def damaged(whole: bytes, edits: list[tuple[float, int, bytes]]) -> bytes:
    data = bytearray(whole)
    for where, gone, put in edits:
        at = int(where * len(data))
        data[at : at + gone] = put
    return bytes(data)


def attempted(path):
    """The blocks of a file, each of them a place to start from, or why there are none."""
    try:
        source = open_source(path)
        blocks = list(source.blocks())
        for block in blocks:
            list(source.blocks(block.end))
    except ValueError as error:
        return [], error
    return blocks, None


@pytest.mark.parametrize("name", WHOLE)
@settings(max_examples=examples(25), deadline=None)
@given(edits=st.lists(edit, min_size=1, max_size=6), share=st.floats(0, 1) | st.none())
def test_damage_is_told(tmp_path_factory, name, edits, share):
    data = damaged(WHOLE[name], edits)
    data = data if share is None else data[: int(share * len(data))]
    path = written(tmp_path_factory.mktemp("damaged"), data, name)
    blocks, refusal = attempted(path)
    assert refusal is None or type(refusal) is ValueError
    assert "\n" not in str(refusal)
    for block in blocks:
        json.dumps(block.end)
        assert all(row.reason and row.text.encode() is not None for row in block.bad)


def test_a_row_may_be_uneven_and_undecodable(tmp_path):
    lines = [b"%d,red,%d" % (i, i % 2) for i in range(80)]
    lines[20:20] = [b"1,\xff", b"2,bl\xffue,1", b"\xff"]
    found = read(tmp_path, b"a,c,y\n" + b"\n".join(lines))
    assert [(bad.line, bad.column, bad.reason) for bad in found.bad] == [
        (22, None, "has 2 fields, not 3"),
        (23, "c", "is not UTF-8"),
        (24, None, "has 1 fields, not 3"),
    ]
    assert [row["a"] for row in found.X] == list(range(80))
