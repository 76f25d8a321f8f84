"""When the log reaches the disk: before every moment, every second, or when the system likes."""

from __future__ import annotations

import threading
from collections.abc import Callable

__all__ = ["Syncing", "syncing"]

_INTERVAL = 1.0  # seconds: the most that a power failure takes


class Syncing:
    """``"never"``: leaves it to the system."""

    def follow(self, sync: Callable[[], None]) -> None:
        """From now on this is how the log is brought to disk."""

    def settle(self) -> None:
        """Called before an acknowledgement, however many records it is for."""

    def close(self) -> None:
        """Stop; the log may be closed then."""


class _Always(Syncing):
    def follow(self, sync: Callable[[], None]) -> None:
        self._sync = sync

    def settle(self) -> None:
        self._sync()


class _Interval(Syncing):
    """A thread waits for the disk once a second, so that the learner need not."""

    def __init__(self) -> None:
        self._sync: Callable[[], None] | None = None
        self._turn = threading.Lock()
        self._stop = threading.Event()
        self._error: OSError | None = None
        self._thread: threading.Thread | None = None

    def follow(self, sync: Callable[[], None]) -> None:
        with self._turn:  # what is being synced may be closed afterwards
            self._sync = sync
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name="onlinesvm-log", daemon=True)
            self._thread.start()

    def _work(self) -> None:
        while not self._stop.wait(_INTERVAL):
            with self._turn:
                try:
                    if self._sync is not None:
                        self._sync()
                except OSError as error:
                    self._error = error
                    return

    def settle(self) -> None:
        if self._error is not None:
            raise self._error

    def close(self) -> None:
        self._stop.set()
        with self._turn:
            self._sync = None
        if self._thread is not None:
            self._thread.join()


def syncing(word: str) -> Syncing:
    """By the word of `RunOptions.fsync`."""
    return {"always": _Always, "interval": _Interval, "never": Syncing}[word]()
