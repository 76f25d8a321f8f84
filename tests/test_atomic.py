"""replacing: the old file or the new one, never a mixture, never a scrap."""

import os
import signal
import stat
import subprocess
import sys
import threading

import pytest

from onlinesvm.files import atomic
from onlinesvm.files.atomic import replacing

pytestmark = pytest.mark.skipif(os.name != "posix", reason="modes, links and pipes are POSIX's")


@pytest.fixture(params=["nameless", "named"], autouse=True)
def scratch(request, monkeypatch):
    """Both ways: with files that have no name yet, and where the system has none."""
    if request.param == "named":
        monkeypatch.setattr(atomic, "_open_nameless", lambda folder: None)


def write(path, content):
    with replacing(path) as file:
        file.write(content)


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


def test_a_new_file_has_the_usual_mode(tmp_path):
    plain, ours = tmp_path / "plain", tmp_path / "ours"
    plain.touch()
    write(ours, b"new")
    assert ours.read_bytes() == b"new"
    assert mode(ours) == mode(plain)
    assert sorted(tmp_path.iterdir()) == [ours, plain]


@pytest.mark.parametrize("private", [0o600, 0o640, 0o444])
def test_an_old_file_keeps_its_mode(tmp_path, private):
    path = tmp_path / "file"
    path.write_bytes(b"old")
    path.chmod(private)
    write(path, b"new")
    assert path.read_bytes() == b"new"
    assert mode(path) == private


def test_a_link_stays_a_link(tmp_path):
    real, link = tmp_path / "deep" / "real", tmp_path / "link"
    real.parent.mkdir()
    real.write_bytes(b"old")
    link.symlink_to(real)
    write(link, b"new")
    assert link.is_symlink()
    assert real.read_bytes() == b"new"
    dangling = tmp_path / "dangling"
    dangling.symlink_to(tmp_path / "deep" / "other")
    write(dangling, b"new")
    assert (tmp_path / "deep" / "other").read_bytes() == b"new"


def test_failure_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"old")

    def half(trouble):
        with replacing(path) as file:
            file.write(b"half")
            file.flush()
            raise trouble

    for trouble in (RuntimeError, KeyboardInterrupt):
        with pytest.raises(trouble):
            half(trouble)
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_folder_that_is_not_there_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match="absent"):
        write(tmp_path / "absent" / "file", b"new")
    with pytest.raises(IsADirectoryError):
        write(tmp_path, b"new")


def test_a_pipe_is_written_to(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    got = []
    reader = threading.Thread(target=lambda: got.append(pipe.read_bytes()))
    reader.start()
    write(pipe, b"news")
    reader.join()
    assert got == [b"news"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)


KILLED = """
import os, signal, sys
from onlinesvm.files.atomic import replacing
with replacing(sys.argv[1]) as file:
    file.write(b"half")
    file.flush()
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.skipif(not hasattr(os, "O_TMPFILE"), reason="this system knows no nameless files")
def test_a_killed_process_leaves_no_scrap(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"old")
    command = [sys.executable, "-c", KILLED, str(path)]
    assert subprocess.run(command, check=False).returncode == -signal.SIGKILL
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]
