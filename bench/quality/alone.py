"""Measurements that cannot disturb each other: each in a process of its own, with a limit.

    facts = alone(lambda tell: tell(accuracy=...), limit=60)

A process is a fork: what its parent has loaded is there, and its peak of memory begins with it. The
limit is on processor time, so that the load of the machine has no say. What was told before the
limit, or before a failure, is kept, with a word on why it ended.
"""

from __future__ import annotations

import ctypes
import gc
import resource
import sys
import warnings
from collections.abc import Callable
from contextlib import suppress
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Protocol

from bench.machine import processor_seconds, resident_mib

Facts = dict[str, Any]
LEAST = 0.1  # MiB; less is noise
LOOK = 0.2  # seconds between two looks at the clock of a process


class Tell(Protocol):
    """Keeps facts under their names; what was told is not lost if the process is stopped."""

    def __call__(self, **facts: Any) -> None: ...


Work = Callable[[Tell], None]


class Peak:
    """The most memory that this process has held above what it held when this began."""

    def __init__(self) -> None:
        _give_back()
        with suppress(OSError):  # else the system counts from the fork on
            Path("/proc/self/clear_refs").write_text("5")
        self._before = resident_mib()

    def mib(self) -> float:
        unit = 2**20 if sys.platform == "darwin" else 2**10
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit
        return max(LEAST, peak - self._before)


def _give_back() -> None:
    """Memory that is free already would hide what is taken."""
    gc.collect()
    with suppress(AttributeError, OSError):
        ctypes.CDLL(None).malloc_trim(0)


def alone(work: Work, limit: float) -> Facts:
    """What the work tells in a process of its own, until it ends or has used up its seconds."""
    _give_back()
    ours, theirs = get_context("fork").Pipe(duplex=False)
    process = get_context("fork").Process(target=_tell_all, args=(work, theirs))
    process.start()
    theirs.close()
    assert process.pid is not None
    facts: Facts = {}
    try:
        # Watched from outside: a limit of the system's would make the clocks inside coarse.
        while processor_seconds(process.pid) < limit:
            if ours.poll(LOOK):
                facts |= ours.recv()
        facts["ended"] = f"stopped after {limit:.0f} s"
    except EOFError:
        process.join()
        if process.exitcode:
            facts["ended"] = f"died with {process.exitcode}"
    finally:
        process.kill()
        process.join()
        ours.close()
    return facts


def _tell_all(work: Work, pipe: Connection) -> None:
    def tell(**facts: Any) -> None:
        pipe.send(facts)

    warnings.simplefilter("ignore")
    try:
        work(tell)
    except Exception as error:
        tell(ended=f"{type(error).__name__}: {error}".splitlines()[0])
    finally:
        pipe.close()
