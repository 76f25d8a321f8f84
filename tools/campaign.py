"""Cases by number, each judged in a forked child with limits: what the fuzzers share."""

from __future__ import annotations

import argparse
import ctypes
import json
import mmap
import os
import resource
import signal
import sys
import tempfile
import traceback
import warnings
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np

SECONDS = 8  # of processor time: a busy machine is no reason to fail
WAITING = 20  # times as long by the clock: nobody waits for a lock for ever
LOADING_BYTES = 2 << 20  # beyond twice the file: Python takes 1 MiB at a time, malloc 128 KiB
USING_BYTES = 64 << 20
_MMAP_THRESHOLD = -3  # as <malloc.h> has it
UNLIMITED = "ONLINESVM_FUZZ_UNLIMITED"  # in the environment: sanitizers need all addresses


@dataclass(frozen=True)
class Case:
    """What is judged, what was done to it, and how it is judged in a folder of its own."""

    name: str
    did: list[str]
    judge: Callable[[Path], str]


@dataclass(frozen=True)
class Campaign:
    """Cases by number: the same ones for a seed on every machine."""

    what: str  # as the last line tells it
    case: Callable[[int], Case]
    seconds: int = SECONDS
    a_child: int = 100  # cases


def last_lines() -> str:
    return " | ".join(traceback.format_exc().strip().splitlines()[-3:])


def good(verdict: str) -> bool:
    return verdict == "refused" or verdict.startswith("accepted")


def limit_memory(most: int) -> None:
    """From now on this process may take so many bytes more, of memory that it writes to."""
    if UNLIMITED in os.environ:
        return
    pages = int(Path("/proc/self/statm").read_text().split()[5])
    hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
    resource.setrlimit(resource.RLIMIT_DATA, (pages * resource.getpagesize() + most, hard))


def forging() -> None:
    """Lift the limit of the case before: writing a forged file needs more than reading one may."""
    hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
    resource.setrlimit(resource.RLIMIT_DATA, (hard, hard))


def loading(files: int) -> None:
    """What comes now is reading files of so many bytes."""
    limit_memory(2 * files + LOADING_BYTES)


def using() -> None:
    """What comes now is the use of what was read."""
    limit_memory(USING_BYTES)


def tell_large_from_small() -> None:
    """Let malloc ask the system for each large piece, so that none hides in what was freed."""
    with suppress(OSError, AttributeError):  # other systems have no limit either
        ctypes.CDLL(None).mallopt(_MMAP_THRESHOLD, 1 << 16)


def _child(campaign: Campaign, numbers: range, folder: Path, shared: mmap.mmap) -> None:
    """Judges cases and tells each verdict; a signal ends it in the middle of the bad one."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    tell_large_from_small()
    with open(folder / "verdicts", "w", buffering=1) as verdicts:
        for number in numbers:
            shared[:8] = number.to_bytes(8, "little")
            forging()
            case = campaign.case(number)
            signal.setitimer(signal.ITIMER_PROF, campaign.seconds)
            signal.setitimer(signal.ITIMER_REAL, WAITING * campaign.seconds)
            verdict = case.judge(folder)
            signal.setitimer(signal.ITIMER_PROF, 0)
            signal.setitimer(signal.ITIMER_REAL, 0)
            verdicts.write(json.dumps([number, verdict]) + "\n")


def _run(campaign: Campaign, first: int, count: int) -> tuple[Counter[str], list[str]]:
    """Verdicts by kind, and the findings."""
    tally: Counter[str] = Counter()
    findings: list[str] = []

    def note(number: int, verdict: str) -> None:
        tally[verdict if good(verdict) else "finding"] += 1
        if not good(verdict):
            case = campaign.case(number)
            findings.append(f"case {number}: {verdict}\n    {case.name}: {'; '.join(case.did)}")

    shared = mmap.mmap(-1, 4096)
    at, end = first, first + count
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as name:
        folder = Path(name)
        while at < end:
            numbers = range(at, min(at + campaign.a_child, end))
            status = in_child(lambda: _child(campaign, numbers, folder, shared))  # noqa: B023
            lines = (folder / "verdicts").read_text().splitlines()
            for number, verdict in map(json.loads, lines):
                note(number, verdict)
            at += len(lines)
            if status:
                number = int.from_bytes(shared[:8], "little")
                ends: dict[int, str] = {signal.SIGPROF: "no end", signal.SIGALRM: "it waits"}
                note(number, ends.get(status, f"signal or status {status}"))
                at = number + 1
    return tally, findings


def _run_together(
    campaign: Campaign, first: int, count: int, jobs: int
) -> tuple[Counter[str], list[str]]:
    """The same by several processes, each with a run of cases of its own."""
    tally: Counter[str] = Counter()
    findings: list[str] = []
    cuts = [first + count * i // jobs for i in range(jobs + 1)]
    with tempfile.TemporaryDirectory() as folder:
        parts = [Path(folder, str(i)) for i in range(jobs)]

        def part(i: int) -> None:
            parts[i].write_text(json.dumps(_run(campaign, cuts[i], cuts[i + 1] - cuts[i])))

        for status in ended([begin(lambda i=i: part(i)) for i in range(jobs)]):  # type: ignore[misc]
            if status:
                findings.append(f"a process ended with {status}")
        for path in parts:
            if path.exists():
                told, found = json.loads(path.read_text())
                tally.update(told)
                findings += found
    return tally, findings


def in_child(work: Callable[[], None]) -> int:
    """The signal that ended a forked child, or 0."""
    return ended([begin(work)])[0]


def begin(work: Callable[[], None]) -> int:
    sys.stdout.flush()
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            work()
            status = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(status)
    return pid


def ended(pids: list[int]) -> list[int]:
    statuses = [os.waitpid(pid, 0)[1] for pid in pids]
    return [os.WTERMSIG(s) if os.WIFSIGNALED(s) else os.WEXITSTATUS(s) for s in statuses]


def options(doc: str) -> argparse.ArgumentParser:
    """What every fuzzer can be told."""
    parser = argparse.ArgumentParser(description=doc.splitlines()[0])
    parser.add_argument("--count", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    parser.add_argument("--jobs", type=int, default=1, help="processes at a time")
    parser.add_argument("--only", type=int, help="one case, in this process")
    return parser


def carry_out(campaign: Campaign, args: argparse.Namespace) -> int:
    """Judge the cases, print the findings and how many there were; the status of the program."""
    if args.only is not None:
        case = campaign.case(args.only)
        print(case.name, *case.did, sep="\n    ", flush=True)
        with tempfile.TemporaryDirectory() as folder:
            try:
                verdict = case.judge(Path(folder))
            except Exception:
                verdict = traceback.format_exc()
        print(verdict)
        return 0 if good(verdict) else 1
    tally, findings = _run_together(campaign, args.first, args.count, args.jobs)
    for finding in findings:
        print(finding)
    told = ", ".join(f"{n:,} {verdict}" for verdict, n in sorted(tally.items()))
    print(f"{sum(tally.values()):,} {campaign.what}, seed {args.seed}: {told}")
    return 1 if findings else 0
