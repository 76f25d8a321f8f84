"""LIBSVM text, against scikit-learn's reader of whole files."""

from __future__ import annotations

import gzip
import io

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import dump_svmlight_file, load_svmlight_file
from stream.sources.reading import everything, written

from onlinesvm.stream.sources import Schema, open_source, raw


def text_of(X, y) -> bytes:
    out = io.BytesIO()
    dump_svmlight_file(X, y, out, zero_based=False)
    return out.getvalue()


@pytest.mark.parametrize("name", ["a.libsvm", "a.svm.gz", "nameless"])
def test_rows_are_those_of_scikit_learn(tmp_path, monkeypatch, name):
    monkeypatch.setattr(raw, "BLOCK", 512)
    X = sp.random(300, 40, 0.2, format="csr", random_state=0)
    text = text_of(X, np.arange(300) % 3)
    packed = gzip.compress(text) if name.endswith("gz") else text
    source = open_source(written(tmp_path, packed, name))
    assert source.schema.sparse
    blocks = list(source.blocks())
    assert len(blocks) > 5
    expected, labels = load_svmlight_file(io.BytesIO(text))
    got = sp.vstack([block.examples.X for block in blocks])
    assert (got != expected).nnz == 0
    assert got.shape == expected.shape
    assert np.concatenate([b.examples.y for b in blocks]).tolist() == labels.tolist()
    assert assert_restarts_sparse(source)


def assert_restarts_sparse(source) -> bool:
    blocks = list(source.blocks())
    for i, block in enumerate(blocks):
        rest = list(source.blocks(block.end))
        assert [b.end for b in rest] == [b.end for b in blocks[i + 1 :]]
        for one, other in zip(rest, blocks[i + 1 :], strict=True):
            assert (one.examples.X != other.examples.X).nnz == 0
    return True


def test_a_wide_row_at_the_end_counts(tmp_path):
    text = "1 1:2\n" * 300_000 + "-1 77:1\n"
    source = open_source(written(tmp_path, text, "a.svm"))
    assert source.schema.width == 77
    assert {block.examples.X.shape[1] for block in source.blocks()} == {77}
    assert Schema.from_json(source.schema.to_json()) == source.schema


BAD = [
    ("x 1:2", "has 'x' for a label"),
    ("1 2:3 2:4", "has feature 2 behind feature 2; they must ascend"),
    ("1 0:3", "counts features from 0, not from 1"),
    ("1 1:abc", "has '1:abc', whose value is no number"),
    ("1 1:2 17", "has '17', which is no feature:value"),
    ("1 -4:2", "has '-4:2', which is no feature:value"),
    ("1 99999999999:1", "has feature 99999999999, beyond the 3 that are known"),
    ("1 1:inf", "feature 1 is infinite"),
    ("1 1:nan", "feature 1 is no number"),
    ("nan 1:1", "no target"),
    ("1 \xff:1", "has '\\\\xff:1', which is no feature:value"),
]


@pytest.mark.parametrize(("line", "reason"), BAD)
def test_bad_rows_are_told_and_the_others_kept(tmp_path, line, reason):
    good = [f"{i % 2} 1:{i} 3:{i + 1} # row {i}" for i in range(1, 40)]
    text = "\n".join(["# comment", *good[:20], "", line, *good[20:]]).encode("latin-1")
    source = open_source(written(tmp_path, text, "a.svm"))
    (block,) = source.blocks()
    assert block.examples.X[:, [0]].toarray().ravel().tolist() == list(range(1, 40))
    (bad,) = block.bad
    assert (bad.reason, bad.line) == (reason, 23)
    assert bad.byte == text.index(b"# row 20") + len("# row 20\n\n")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        ("# only this\n", "is empty"),
        ("a b c\nd e f\n", "is no LIBSVM text: its first line has 'a' for a label"),
        ("1 0:1\n1 0:2\n", "counts features from 0"),
    ],
)
def test_hopeless_files_are_refused(tmp_path, text, message):
    with pytest.raises(ValueError, match=message):
        open_source(written(tmp_path, text, "a.svm"))


def test_what_is_for_columns_is_refused(tmp_path):
    path = written(tmp_path, "1 1:2\n-1 2:3\n", "a.svm")
    with pytest.raises(ValueError, match="types, key and ignore are for columns"):
        open_source(path, ignore=["x"])
    with pytest.raises(ValueError, match="target must be 'label' or 'none'"):
        open_source(path, target="y")
    assert everything(open_source(path, target="none")).y == []
    narrow = Schema(open_source(path).schema.columns, True, 1)
    (block,) = open_source(path, schema=narrow).blocks()
    assert block.bad[0].reason == "has feature 2, beyond the 1 that are known"


def test_a_model_learns_all_blocks(tmp_path, monkeypatch):
    from onlinesvm import PassiveAggressiveClassifier

    monkeypatch.setattr(raw, "BLOCK", 64)
    text = "".join(f"{i % 2} {1 + i % 2}:1 {3 + i % 9}:{i}\n" for i in range(200))
    model = PassiveAggressiveClassifier()
    for block in open_source(written(tmp_path, text, "a.svm")).blocks():
        model.partial_fit(block.examples.X, block.examples.y, classes=[0, 1])
    assert model.n_features_in_ == 11


@given(st.binary(max_size=80))
def test_junk_is_refused_or_told(tmp_path_factory, junk):
    path = written(tmp_path_factory.mktemp("junk"), b"1 1:2\n" * 50 + junk, "a.svm")
    try:
        source = open_source(path)
    except ValueError:
        return
    found = list(source.blocks())
    rows = sum(len(block.examples) + len(block.bad) for block in found)
    assert rows >= 50
