"""Readers of public file formats, right and damaged."""

import bz2
import gzip
import struct
import tracemalloc
import zipfile

import numpy as np
import pytest

from onlinesvm.datasets import formats
from onlinesvm.datasets.formats import (
    FormatError,
    decompress,
    read_idx,
    read_libsvm,
    read_table,
)

TEXT = b"some text, long enough to be worth squeezing " * 20


@pytest.mark.parametrize(
    ("suffix", "squeeze"),
    [(".gz", gzip.compress), (".bz2", bz2.compress), ("", bytes)],
)
def test_decompress_by_suffix(tmp_path, suffix, squeeze):
    path = tmp_path / f"data{suffix}"
    path.write_bytes(squeeze(TEXT))
    assert decompress(path) == TEXT


@pytest.mark.parametrize(
    ("suffix", "squeeze"),
    [(".gz", gzip.compress), (".bz2", bz2.compress)],
)
def test_cut_or_foreign_archive_says_so(tmp_path, suffix, squeeze):
    path = tmp_path / f"data{suffix}"
    for content in (squeeze(TEXT)[:-9], b"<html>not found</html>"):
        path.write_bytes(content)
        with pytest.raises(FormatError, match=f"data{suffix} is damaged or cut short"):
            decompress(path)


def test_zip_holds_one_file_beside_macos_shadows(tmp_path):
    path = tmp_path / "data.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("data.txt", TEXT)
        archive.writestr("__MACOSX/._data.txt", b"shadow")
    assert decompress(path) == TEXT
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("more.txt", TEXT)
    with pytest.raises(FormatError, match="2 files"):
        decompress(path)
    path.write_bytes(b"PK")
    with pytest.raises(FormatError):
        decompress(path)


@pytest.mark.parametrize("suffix", [".gz", ".bz2", ".zip", ""])
def test_a_bomb_is_not_unpacked(tmp_path, monkeypatch, suffix):
    monkeypatch.setattr(formats, "LARGEST", 1 << 20)
    path, content = tmp_path / f"bomb{suffix}", bytes(1 << 24)
    if suffix == ".zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("zeros", content)
    else:
        squeeze = {".gz": gzip.compress, ".bz2": bz2.compress}.get(suffix, bytes)
        path.write_bytes(squeeze(content))
    tracemalloc.start()
    try:
        with pytest.raises(FormatError, match="more than 1 MiB"):
            decompress(path)
        assert tracemalloc.get_traced_memory()[1] < 1 << 23
    finally:
        tracemalloc.stop()


def test_libsvm_indices_start_at_one():
    X, y = read_libsvm(b"+1 1:0.5 3:2\n-1 2:1\n", columns=4)
    np.testing.assert_array_equal(X.toarray(), [[0.5, 0, 2, 0], [0, 1, 0, 0]])
    np.testing.assert_array_equal(y, [1, -1])


@pytest.mark.parametrize("text", [b"<html>", b"1 5:1\n", b"1 a:b\n", b"1 99999999999999999999:1\n"])
def test_libsvm_refuses_other_text(text):
    with pytest.raises(FormatError, match="LIBSVM"):
        read_libsvm(text, columns=4)


def test_table_takes_the_label_from_either_end():
    X, y = read_table(b"1,2,7\n3,4,8\n", label=-1, delimiter=",")
    np.testing.assert_array_equal(X, [[1, 2], [3, 4]])
    np.testing.assert_array_equal(y, [7, 8])
    X, y = read_table(b"7 1 2 \n", label=0, delimiter=None)
    np.testing.assert_array_equal(X, [[1, 2]])
    np.testing.assert_array_equal(y, [7])
    with pytest.raises(FormatError, match="table"):
        read_table(b"1,2\n3\n", label=0, delimiter=",")


def idx(array):
    header = struct.pack(f">BBBB{array.ndim}I", 0, 0, 8, array.ndim, *array.shape)
    return header + array.astype("u1").tobytes()


def test_idx_round_trip_and_damage():
    array = np.arange(24).reshape(2, 3, 4)
    np.testing.assert_array_equal(read_idx(idx(array)), array)
    huge = struct.pack(">BBBB4I", 0, 0, 8, 4, *[1 << 16] * 4)  # 2^64 values: none, if it wraps
    for damaged in (b"", b"<html>", idx(array)[:6], idx(array)[:-1], idx(array) + b"x", huge):
        with pytest.raises(FormatError, match="idx"):
            read_idx(damaged)
