"""A folder belongs to one process at a time, and who is refused hears who has it."""

import os
import sys

import pytest

from onlinesvm.stream.run.lock import Lock


class Bytes:
    """Windows' way: bytes of a file are locked, and who locks them twice is refused."""

    LK_NBLCK = 2

    def __init__(self):
        self.locked = {}

    def locking(self, file, mode, n):
        at = (os.fstat(file).st_ino, os.lseek(file, 0, os.SEEK_CUR))
        if at in self.locked:
            raise PermissionError
        self.locked[at] = n


@pytest.fixture
def windows(monkeypatch):
    monkeypatch.setitem(sys.modules, "fcntl", None)
    monkeypatch.setitem(sys.modules, "msvcrt", Bytes())
    return sys.modules["msvcrt"]


@pytest.fixture(params=["here", "windows"])
def system(request):
    return request.param == "here" or request.getfixturevalue(request.param)


def test_the_second_is_told_who_is_first(system, tmp_path):
    first = Lock(tmp_path / "lock")
    with pytest.raises(ValueError, match=rf"in use by process {os.getpid()}; wait until"):
        Lock(tmp_path / "lock")
    first.release()


def test_what_windows_locks_is_not_what_others_read(windows, tmp_path):
    lock = Lock(tmp_path / "lock")
    length = (tmp_path / "lock").stat().st_size
    ((_, place),) = windows.locked
    assert place >= length
    lock.release()


def test_a_released_one_is_free(tmp_path):
    Lock(tmp_path / "lock").release()
    Lock(tmp_path / "lock").release()
    assert (tmp_path / "lock").read_text() == str(os.getpid())
