"""Hostile tables take no more memory than a few blocks: in a child that may not have more."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="reads /proc"),
]

BLOCK = 16 << 20  # bytes of text
CHILD = """
import resource, sys
import pyarrow.compute, pyarrow.csv, pyarrow.feather, pyarrow.json, pyarrow.parquet
from onlinesvm.stream.sources import open_source

pages = int(open("/proc/self/statm").read().split()[5])
most = pages * resource.getpagesize() + int(sys.argv[2])
resource.setrlimit(resource.RLIMIT_DATA, (most, most))
rows = bad = 0
for block in open_source(sys.argv[1], target="y").blocks():
    rows += len(block.examples)
    bad += len(block.bad)
print(rows, bad)
"""


def read_within(path, most):
    """Good and bad rows of a file, read with so many bytes beyond those of the modules."""
    command = [sys.executable, "-c", CHILD, str(path), str(most)]
    pool = os.environ | {"ARROW_DEFAULT_MEMORY_POOL": "system"}  # others take more in advance
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=pool)
    assert done.returncode == 0, done.stderr[-400:]
    return tuple(map(int, done.stdout.split()))


def typed(texts):
    n = len(texts)
    return pa.table({"a": [float(i) for i in range(n)], "t": texts, "y": ["p", "q"] * (n // 2)})


def same(path):
    pq.write_table(typed(["x" * 20_000_000] * 20), path / "t.parquet")
    return path / "t.parquet", (0, 20)


def unlike(path):
    """No page of such a column can be read in parts, so that the column is not read at all."""
    pq.write_table(typed([chr(97 + i) * 20_000_000 for i in range(20)]), path / "t.parquet")
    return path / "t.parquet", (20, 0)


def many(path):
    pq.write_table(typed(["word " * 100_000] * 1000), path / "t.parquet")
    return path / "t.parquet", (0, 1000)


def rare(path):
    texts = ["v", "w"] * 2000
    texts[77] = "x" * 8_000_000
    feather.write_feather(typed(texts), path / "t.feather", chunksize=500)
    return path / "t.feather", (3999, 1)


def label(path):
    rows = [f"{i},{i * 7 % 5},{'L' * 3_000_000 if i == 500 else 'pq'[i % 2]}\n" for i in range(999)]
    (path / "t.csv").write_text("a,b,y\n" + "".join(rows))
    return path / "t.csv", (998, 1)


def names(path):
    rows = [json.dumps({"a": i, f"own{i}": 1, "y": "pq"[i % 2]}) for i in range(20_000)]
    (path / "t.jsonl").write_text("\n".join(rows) + "\n")
    return path / "t.jsonl", (20_000, 0)


@pytest.mark.parametrize("made", [same, unlike, many, rare, label, names])
def test_the_reader_takes_at_most_eight_blocks(tmp_path, made):
    path, expected = made(tmp_path)
    assert read_within(path, 8 * BLOCK) == expected
