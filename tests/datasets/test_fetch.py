"""fetch: local folder, cache, download; and everything that can go wrong on the way.

No test leaves the machine: sources are replaced by file: addresses or a loopback server.
"""

import gzip
import hashlib
import json
import threading
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest
from scipy import sparse

from onlinesvm.datasets import ChecksumError, DownloadError, fetch
from onlinesvm.datasets import download as wire
from onlinesvm.datasets import sources as table
from onlinesvm.datasets.download import cache_folder
from onlinesvm.datasets.sources import SOURCES, File, Source

TRAIN = b"+1 1:1 3:2\n-1 2:3\n+1 1:4\n"
TEST = b"-1 3:5\n+1 2:6\n"


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.delenv("ONLINESVM_DATA", raising=False)
    monkeypatch.setenv("ONLINESVM_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def origin(tmp_path):
    folder = tmp_path / "origin"
    folder.mkdir()
    (folder / "tiny.gz").write_bytes(gzip.compress(TRAIN))
    (folder / "tiny.t").write_bytes(TEST)
    return folder


def publish(monkeypatch, base, *, sha256=None, **changes):
    tiny = {
        "read": table._libsvm,
        "train": (File(f"{base}/tiny.gz", sha256),),
        "test": (File(f"{base}/tiny.t"),),
        "rows": (3, 2),
        "columns": 3,
        "classes": 2,
        "dtype": "uint8",
    } | changes
    monkeypatch.setitem(SOURCES, "tiny", Source(**tiny))


def leftovers(cache):
    return sorted(path.name for path in cache.rglob("*")) if cache.exists() else []


def test_download_then_cache(monkeypatch, origin, own_cache):
    publish(monkeypatch, origin.as_uri())
    first = fetch("tiny")
    np.testing.assert_array_equal(first.X_train, [[1, 0, 2], [0, 3, 0], [4, 0, 0]])
    np.testing.assert_array_equal(first.y_train, [1, -1, 1])
    np.testing.assert_array_equal(first.X_test, [[0, 0, 5], [0, 6, 0]])
    assert first.X_train.dtype == np.uint8
    assert leftovers(own_cache) == ["pins.json", "tiny.npz"]

    (origin / "tiny.gz").unlink()
    again = fetch("tiny")
    for old, new in zip(first, again, strict=True):
        np.testing.assert_array_equal(old, new)


def test_sparse_sets_stay_sparse_through_the_cache(monkeypatch, origin):
    publish(monkeypatch, origin.as_uri(), dense=False, dtype="float32")
    for _ in range(2):
        data = fetch("tiny")
        assert sparse.issparse(data.X_train)
        assert data.X_train.dtype == np.float32
        np.testing.assert_array_equal(data.X_train.toarray()[0], [1, 0, 2])


def test_source_without_test_split(monkeypatch, origin):
    publish(monkeypatch, origin.as_uri(), test=(), rows=(3, 0))
    assert fetch("tiny").X_test.shape == (0, 3)


def test_published_sum_must_match(monkeypatch, origin, own_cache):
    good = hashlib.sha256((origin / "tiny.gz").read_bytes()).hexdigest()
    publish(monkeypatch, origin.as_uri(), sha256="0" * 64)
    with pytest.raises(ChecksumError, match=f"has SHA-256 {good}, expected 0000"):
        fetch("tiny")
    assert leftovers(own_cache) == []
    publish(monkeypatch, origin.as_uri(), sha256=good)
    assert len(fetch("tiny").y_train) == 3


def test_first_use_is_remembered(monkeypatch, origin, own_cache):
    publish(monkeypatch, origin.as_uri())
    fetch("tiny")
    pins = json.loads((own_cache / "pins.json").read_text())
    assert pins[f"{origin.as_uri()}/tiny.t"] == hashlib.sha256(TEST).hexdigest()

    (own_cache / "tiny.npz").unlink()
    (origin / "tiny.t").write_bytes(TEST.replace(b"6", b"7"))
    with pytest.raises(ChecksumError):
        fetch("tiny")
    assert leftovers(own_cache) == ["pins.json"]


def test_a_bad_first_download_is_not_trusted(monkeypatch, origin, own_cache):
    publish(monkeypatch, origin.as_uri())
    whole = (origin / "tiny.gz").read_bytes()
    for damaged in (whole[:-5], b"<html>gone</html>", gzip.compress(TRAIN[:11])):
        (origin / "tiny.gz").write_bytes(damaged)
        with pytest.raises(DownloadError, match="damaged or changed"):
            fetch("tiny")
        assert leftovers(own_cache) == []
    (origin / "tiny.gz").write_bytes(whole)
    assert len(fetch("tiny").y_train) == 3


@pytest.mark.parametrize("pins", ["{", "[1]", '{"a": 1}', "[" * 100_000])
def test_broken_pins_file_says_what_to_do(monkeypatch, origin, own_cache, pins):
    publish(monkeypatch, origin.as_uri())
    own_cache.mkdir()
    (own_cache / "pins.json").write_text(pins)
    with pytest.raises(DownloadError, match="delete it"):
        fetch("tiny")


@contextmanager
def server(answer):
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            answer(self)

        def log_message(self, *arguments):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as http:
        thread = threading.Thread(target=http.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{http.server_port}"
        http.shutdown()
        thread.join()


def reply(handler, content, *, promise=None):
    handler.send_response(200)
    handler.send_header("Content-Length", str(promise or len(content)))
    handler.end_headers()
    handler.wfile.write(content)


def test_http_with_progress_bar(monkeypatch, origin, capsys):
    def answer(handler):
        reply(handler, (origin / handler.path[1:]).read_bytes())

    with server(answer) as base:
        publish(monkeypatch, base)
        assert len(fetch("tiny", verbose=True).y_train) == 3
    assert "tiny.gz" in capsys.readouterr().out


def test_http_cut_short(monkeypatch, own_cache):
    with server(lambda handler: reply(handler, b"half", promise=100)) as base:
        publish(monkeypatch, base)
        with pytest.raises(DownloadError, match=r"tiny\.gz"):
            fetch("tiny")
    assert leftovers(own_cache) == []


def test_http_missing_and_unreachable(monkeypatch, own_cache):
    with server(lambda handler: handler.send_error(404)) as base:
        publish(monkeypatch, base)
        with pytest.raises(DownloadError, match=r"cannot download .*404"):
            fetch("tiny")
    with pytest.raises(DownloadError, match="cannot download"):
        fetch("tiny")
    assert leftovers(own_cache) == []


@pytest.mark.parametrize("length", ["banana", "-5", "1e3", "\u0663"])
def test_http_odd_length(monkeypatch, own_cache, length):
    def answer(handler):
        handler.send_response(200)
        handler.wfile.write(f"Content-Length: {length}\r\n".encode())
        handler.end_headers()
        handler.wfile.write(TEST)

    with server(answer) as base:
        publish(monkeypatch, base)
        with pytest.raises(DownloadError, match=r"tiny\.gz"):
            fetch("tiny")
    assert leftovers(own_cache) == []


@pytest.mark.parametrize("announced", [True, False])
def test_http_without_end(monkeypatch, own_cache, announced):
    monkeypatch.setattr(wire, "LARGEST", 1 << 20)

    def answer(handler):
        handler.send_response(200)
        if announced:
            handler.send_header("Content-Length", str(1 << 40))
        handler.end_headers()
        with suppress(ConnectionError):
            while True:  # until the other side has had enough
                handler.wfile.write(TEST * 10_000)

    with server(answer) as base:
        publish(monkeypatch, base)
        with pytest.raises(DownloadError, match="more than 1 MiB"):
            fetch("tiny")
    assert leftovers(own_cache) == []


def test_numbers_that_are_none(monkeypatch, origin, own_cache):
    publish(monkeypatch, origin.as_uri(), dtype="float32")
    (origin / "tiny.t").write_bytes(TEST.replace(b"6", b"nan"))
    with pytest.raises(DownloadError, match="NaN"):
        fetch("tiny")
    assert leftovers(own_cache) == []


@pytest.mark.parametrize(
    "name", ["../outside", "/etc/passwd", "a/b", "a\\b", "", "..", ".hidden", "a\n"]
)
def test_a_name_is_no_path(monkeypatch, tmp_path, name):
    arrays = {"X_train": np.eye(2), "y_train": np.arange(2)}
    np.savez(tmp_path / "outside.npz", X_test=np.eye(2), y_test=np.arange(2), **arrays)
    (tmp_path / "inside").mkdir()
    monkeypatch.setenv("ONLINESVM_DATA", str(tmp_path / "inside"))
    monkeypatch.setenv("ONLINESVM_CACHE", str(tmp_path / "inside"))
    with pytest.raises(ValueError, match="not the name of a data set"):
        fetch(name)


def test_http_silence_times_out(monkeypatch):
    over = threading.Event()
    with server(lambda handler: over.wait()) as base:  # says nothing, however long it takes
        publish(monkeypatch, base)
        try:
            with pytest.raises(DownloadError, match="timed out"):
                fetch("tiny", timeout=0.2)
        finally:
            over.set()


def test_local_folder_comes_first(monkeypatch, tmp_path):
    arrays = {"X_train": np.eye(2), "y_train": np.arange(2)}
    arrays |= {"X_test": np.empty((0, 2)), "y_test": np.empty(0)}
    np.savez_compressed(tmp_path / "mine.npz", **arrays)
    monkeypatch.setenv("ONLINESVM_DATA", str(tmp_path))
    X, y, X_test, _ = fetch("mine")
    np.testing.assert_array_equal(X, np.eye(2))
    np.testing.assert_array_equal(y, [0, 1])
    assert X_test.shape == (0, 2)


def test_local_file_that_is_no_data_set(monkeypatch, tmp_path):
    monkeypatch.setenv("ONLINESVM_DATA", str(tmp_path))
    np.savez_compressed(tmp_path / "incomplete.npz", X_train=np.eye(2))
    (tmp_path / "garbage.npz").write_bytes(b"PK\x03\x04 nonsense")
    np.savez_compressed(tmp_path / "pickled.npz", X_train=np.array([{}], dtype=object))
    split = {"X_train_data": [1.0], "X_train_indices": [5], "X_train_indptr": [0, 1]}
    rest = {"X_train_shape": [1, 2], "y_train": [1], "X_test": np.eye(1), "y_test": [1]}
    np.savez_compressed(tmp_path / "lying.npz", **split, **rest)
    (tmp_path / "text.npz").write_text("hello")
    for name in ("incomplete", "garbage", "pickled", "lying", "text"):
        with pytest.raises(ValueError, match="is not a data set"):
            fetch(name)


def test_missing_folder_and_unknown_name(monkeypatch, tmp_path):
    with pytest.raises(ValueError, match="unknown data set name='nothing'; known: adult"):
        fetch("nothing")
    monkeypatch.setenv("ONLINESVM_DATA", str(tmp_path / "absent"))
    with pytest.raises(ValueError, match="not a folder"):
        fetch("adult")


@pytest.mark.parametrize("platform", ["linux", "darwin", "win32"])
def test_cache_folder_without_override(monkeypatch, platform):
    monkeypatch.delenv("ONLINESVM_CACHE")
    monkeypatch.setattr("sys.platform", platform)
    assert cache_folder().name == "onlinesvm"
