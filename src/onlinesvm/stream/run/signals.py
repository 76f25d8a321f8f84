"""Ctrl-C and SIGTERM as a wish to stop, heard between two lessons or while waiting for rows."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

__all__ = ["Interrupted", "Signals"]


class Interrupted(BaseException):
    """The wish to stop came while the source was being waited for."""


class Signals:
    """Hears the signals while it is installed; a second one is not asked to wait.

    Attributes
    ----------
    heard : signal number or None
    """

    _MEANT = (signal.SIGINT, signal.SIGTERM)

    def __init__(self) -> None:
        self.heard: int | None = None
        self._waiting = False
        self._before: dict[int, Any] = {}

    def install(self) -> None:
        """From now on; only the main thread hears signals, elsewhere nothing changes."""
        if threading.current_thread() is threading.main_thread():
            self._before = {number: signal.signal(number, self._hear) for number in self._MEANT}

    def remove(self) -> None:
        """Let others hear again."""
        for number, handler in self._before.items():
            signal.signal(number, handler)
        self._before = {}

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """While rows are waited for, a signal raises `Interrupted`."""
        if self.heard is not None:
            raise Interrupted
        self._waiting = True
        try:
            yield
        finally:
            self._waiting = False

    def _hear(self, number: int, frame: FrameType | None) -> None:
        if self.heard is not None:
            raise KeyboardInterrupt
        self.heard = number
        if self._waiting:
            raise Interrupted
