"""Kill runs and see that nothing is lost: the end is that of a run that nobody has killed.

    python tools/kill_runs.py --kills 500 --seed 1     # kill -9 at random moments: make kills
    python tools/kill_runs.py --source redis nats      # of runs over servers that it starts
    python tools/kill_runs.py --points                 # at each write, sync and rename in turn
    python tools/kill_runs.py --points --every 7       # at each seventh
    python tools/kill_runs.py --unlearn                # at each of these calls of `unlearn`

A run over a source that can go back ("file"), over one that cannot ("pipe") or over a broker, with
each word of `fsync`, is killed and resumed until it reaches its end. Model, metrics and dead
letters must then be, byte for byte, those of an undisturbed run, every row must have arrived once,
and no row of a pipe that was acknowledged may have to come again. Kills are drawn over the whole
life of a process, of which checkpoints here take up to a half. Points (tools/points.py) are calls
of Python or of SQLite, and are taken in three ways: the process dies before the call; in the middle
of it, for a write, or right after it; or the power fails, too. A power failure may take
acknowledged rows unless `fsync` is "always". Killed in `unlearn`, no certificate and no word may be
of examples that are still there, in a model or in a free page of the database, and the same command
again must forget, certify and say so. A finding ends with status 1.
"""

from __future__ import annotations

import argparse
import atexit
import os
import random
import select
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import points
from campaign import begin
from doubles import ArraySource, outcome, stream
from points import CUT, Point
from rich.console import Console
from stream.sources.servers import nats_server, redis_server, to_nats, to_redis

import onlinesvm
from onlinesvm import (
    IncrementalSVC,
    OnlineScaler,
    PassiveAggressiveClassifier,
    RampSVC,
    make_online_pipeline,
)
from onlinesvm.cli.forgetting import unlearn
from onlinesvm.stream.run import Run, RunOptions, read_run
from onlinesvm.stream.run import run as runner
from onlinesvm.stream.run.folder import RunFolder
from onlinesvm.stream.run.reader import Reader
from onlinesvm.stream.sources import open_source

SOURCES = ("file", "pipe", "redis", "nats")
FSYNC = ("always", "interval", "never")
SHARED = "/dev/shm"  # where syncing costs nothing; what a kill leaves is the same


class Arrays:
    """Rows of a file, which can be read again, or of a pipe, which cannot."""

    def __init__(self, rows: int, block: int, *, replays: bool) -> None:
        self.rows, self.block, self.replays = rows, block, replays
        self.checkpoint_seconds = 0 if block < rows // 4 else 1e-3  # within large blocks

    def open(self, folder: Path) -> ArraySource:
        X, y = stream(self.rows)
        return ArraySource(X, y, block=self.block, spoilt=13, replays=self.replays)


class Messages:
    """Rows that a broker keeps."""

    replays = True
    checkpoint_seconds = 1e-3

    def __init__(self, rows: int, address: str) -> None:
        self.rows, self.address = rows, address

    def open(self, folder: Path) -> Any:
        known = RunFolder(folder).has_run()
        schema = read_run(folder).schema if known else None
        return open_source(self.address, target="y", schema=schema)


class Case:
    """What is run: rows, a model, and how the log is brought to disk."""

    def __init__(self, name: str, rows: Arrays | Messages, model: Callable[[], Any], fsync: Any):
        self.name, self.rows, self.model = f"{name}, fsync={fsync}", rows, model
        self.options = RunOptions(
            classes=("ja", "nein"),
            lesson=64,
            every=90,
            window=60,
            checkpoint_seconds=rows.checkpoint_seconds,
            fsync=fsync,
            silence="end",
        )

    def go_on(self, folder: Path, told: Callable[[int], None]) -> None:
        """Begin or resume, and learn to the end; tells how many rows are in safe hands."""
        source = self.rows.open(folder)
        if RunFolder(folder).has_run():
            run = Run.resume(folder, source)
            if isinstance(source, ArraySource):
                source.since = run.arrived  # whoever feeds a pipe goes on behind what was taken
            told(-run.arrived - 1)
        else:
            run = Run.begin(folder, source, self.model(), self.options)
        with run:
            for _ in run.steps():
                told(run.arrived)

    def undisturbed(self, folder: Path) -> tuple[list[bytes], float]:
        """What every run of the case must come to, and the seconds that it takes."""
        begun = time.monotonic()
        status, _ = Child(self, folder).wait()
        seconds = time.monotonic() - begun
        outcome = self.outcome(folder)
        if status or outcome[0] != str(self.rows.rows).encode():
            raise RuntimeError(f"{self.name}: undisturbed, it ends with {status}, {outcome[0]!r}")
        return outcome, seconds

    def outcome(self, folder: Path) -> list[bytes]:
        """How many rows have arrived, and all that a run leaves that no clock has touched."""
        arrived = read_run(folder).checkpoint().arrived
        return [str(arrived).encode(), *outcome(folder)]


# --- children -------------------------------------------------------------------------------------


class Child:
    """A forked process that goes on with a run and tells how many rows are safe."""

    def __init__(self, case: Case, folder: Path, point: Point | None = None) -> None:
        self._read, write = os.pipe()

        def told(rows: int) -> None:
            os.write(write, rows.to_bytes(8, "little", signed=True))

        def work() -> None:
            if point is not None:
                point.lie_in_wait()
            case.go_on(folder, told)

        self.pid = begin(work)
        os.close(write)

    def wait(self, seconds: float | None = None) -> tuple[int | None, list[int]]:
        """The status, or None if it had to be killed, and what it told."""
        told, killed = b"", False
        deadline = None if seconds is None else time.monotonic() + seconds
        while True:
            left = None if deadline is None else max(0.0, deadline - time.monotonic())
            if not select.select([self._read], [], [], left)[0]:
                os.kill(self.pid, signal.SIGKILL)
                killed, deadline = True, None
                continue
            part = os.read(self._read, 4096)
            if not part:
                break
            told += part
        os.close(self._read)
        _, status = os.waitpid(self.pid, 0)
        killed = killed and os.WIFSIGNALED(status)
        numbers = [
            int.from_bytes(told[i : i + 8], "little", signed=True)
            for i in range(0, len(told) - 7, 8)
        ]
        return None if killed else os.waitstatus_to_exitcode(status), numbers


def acknowledged(case: Case, told: list[int], before: int) -> tuple[int, str | None]:
    """The most rows that were ever acknowledged, and what was wrong about it."""
    for number in told if not case.rows.replays else ():  # others are read again
        if number < 0 and -number - 1 < before:
            return before, f"{before} rows were acknowledged, {-number - 1} are left"
        before = max(before, number)
    return before, None


# --- kill -9 at random moments --------------------------------------------------------------------


def kill_at_random(case: Case, wanted: int, rng: random.Random, folder: Path) -> tuple[int, str]:
    """Kill runs of a case until so many kills have struck; a word about what went wrong."""
    expected, usual = case.undisturbed(folder / "whole")
    kills = 0
    while kills < wanted:
        killed = folder / "killed"
        shutil.rmtree(killed, ignore_errors=True)
        safe, tries = 0, 0
        while True:
            tries += 1
            seconds = None if kills >= wanted else moment(rng, usual, tries)
            status, told = Child(case, killed).wait(seconds)
            safe, wrong = acknowledged(case, told, safe)
            if wrong:
                return kills, wrong
            if status is None:
                kills += 1
                continue
            if status:
                return kills, f"a resumed run ended with status {status}"
            break
        if case.outcome(killed) != expected:
            return kills, "the end is another one"
    return kills, ""


def moment(rng: random.Random, usual: float, tries: int) -> float:
    """When to strike: now early, so that runs die many times, now anywhere up to the end."""
    most = usual / 4 * (1 + tries / 20) if rng.random() < 0.5 else usual
    return rng.uniform(0, most)


# --- at every call --------------------------------------------------------------------------------


def kill_at_points(
    case: Case, every: int, first: int, folder: Path, ways: tuple[str, ...]
) -> tuple[int, list[str]]:
    """Kill one run of a case at each call, in each way, and resume it."""
    expected, _ = case.undisturbed(folder / "whole")
    kills, findings = 0, []
    for way in ways:
        number = 1 + first % every
        while True:
            killed = folder / "killed"
            shutil.rmtree(killed, ignore_errors=True)
            killed.mkdir()  # so that what a power failure takes is not the folder itself
            point = Point(number, way, killed)
            status, told = Child(case, killed, point).wait()
            if status == 0:
                break
            point.fail_power()
            kills += 1
            if status != CUT:
                findings.append(f"{case.name}, {way} call {number}: status {status}")
            safe, _ = acknowledged(case, told, 0)
            loses = way == "power" and case.options.fsync != "always"
            status, told = Child(case, killed).wait()
            _, wrong = acknowledged(case, told, 0 if loses else safe)
            if wrong or status or case.outcome(killed) != expected:
                why = wrong or (f"status {status}" if status else "the end is another one")
                findings.append(f"{case.name}, {way} call {number}: {why}")
            number += every
    return kills, findings


# --- in the middle of unlearning ------------------------------------------------------------------

WHO = "customer 7"


def kill_unlearn(
    kind: str, every: int, first: int, folder: Path, ways: tuple[str, ...]
) -> tuple[int, list[str]]:
    """Kill `unlearn` of a run of rows with keys, or of a saved model, at each of its calls."""
    whole, home = folder / "whole", folder / "home"
    learn_with_keys(kind, whole, 5 + first % 7)
    kills, findings = 0, []
    for way in ways:
        number = 1 + first % every
        while True:
            shutil.rmtree(home, ignore_errors=True)
            shutil.copytree(whole, home)
            point = Point(number, way, home)
            status, said = forgetting(home, kind, point)
            if status == 0:
                break
            point.fail_power()
            if status != CUT:
                findings.append(f"unlearn of a {kind}, {way} call {number}: status {status}")
                break
            kills += 1
            certified = (home / "proof.json").exists()
            held = holds(home, kind, certified)
            wrong = ""
            if held and (said or certified):
                wrong = f"still held, certified: {certified}, said: {said!r}"
            if said and not certified:
                wrong = f"said without a certificate: {said!r}"
            if not (said and certified) or leftovers(home):  # the same command again ends it
                status, said = forgetting(home, kind, None)
            else:
                status = 0
            certified = (home / "proof.json").exists()
            held = holds(home, kind, certified)
            if status or held or not certified or " forgotten of " not in said:
                wrong += f"; again: status {status}, certified: {certified}, said: {said!r}"
            if leftovers(home):
                wrong += "; a scratch file stays"
            if wrong:
                findings.append(f"unlearn of a {kind}, {way} call {number}: {wrong}")
            number += every
    return kills, findings


def learn_with_keys(kind: str, folder: Path, seed: int) -> None:
    """A run that a pipe or a file has fed, of which a part waits in log and checkpoint."""
    X, y = stream(150, seed)
    keys = [f"customer {i % 10}" for i in range(len(y))]
    source = ArraySource(X, y, block=40, replays=kind == "file", keys=keys)
    model = IncrementalSVC(kernel="linear", classes=("ja", "nein"))
    options = RunOptions(lesson=32, checkpoint_seconds=1e9, fsync="always")
    run = Run.begin(folder / "run", source, model, options)
    for count, _ in enumerate(run.steps(), 1):
        if kind != "model" and count == 1:  # as a kill would leave it
            if kind == "file":
                run.checkpoint()
            break
    else:
        run.model.save(folder / "m.onlinesvm")
    run._store.close()
    run._lock.release()


def forgetting(home: Path, kind: str, point: Point | None) -> tuple[int, str]:
    """The status of a child that unlearns, and what it said."""
    words = home.with_name("words")
    words.write_bytes(b"")

    def work() -> None:
        with open(words, "a") as file:
            console = Console(file=file, width=1000)
            if point is not None:
                point.lie_in_wait()
            path = home / ("m.onlinesvm" if kind == "model" else "run")
            where = [f"{'key' if kind == 'model' else 'who'}={WHO}"]
            unlearn(console, path, where, home / "proof.json", None)

    _, status = os.waitpid(begin(work), 0)
    return os.waitstatus_to_exitcode(status), words.read_text()


def leftovers(home: Path) -> bool:
    """Whether there are scratch files or notes of an unfinished command."""
    return any(path.name.endswith(("-tmp", ".unlearning")) for path in home.rglob(".*"))


def holds(home: Path, kind: str, certified: bool) -> bool:
    """Whether any model on disk has examples of that key."""
    if kind == "model":
        return WHO in onlinesvm.load(home / "m.onlinesvm").keys_held()
    home = home / "run"
    model = RunFolder(home).model
    models = [onlinesvm.load(model)] if model.exists() else []
    with Reader(RunFolder(home).database) as reader:
        run = reader.config().run
        found = [reader.checkpoint(run, number) for number in reader.numbers()]
    models += [checkpoint.model for checkpoint in found]
    waiting = any(checkpoint.held is not None for checkpoint in found)
    learned = [model for model in models if hasattr(model, "classes_")]
    in_pages = certified and any(WHO.encode() in p.read_bytes() for p in home.glob("run.sqlite*"))
    return waiting or in_pages or any(WHO in model.keys_held() for model in learned)


# --- the command ----------------------------------------------------------------------------------


def linear() -> Any:
    return make_online_pipeline(OnlineScaler(warm_up=64), PassiveAggressiveClassifier())


@contextmanager
def opened(source: str, points: bool, large: bool) -> Iterator[Arrays | Messages]:
    """The rows of a kind of source, by its word; a broker is started and filled."""
    if source in ("file", "pipe"):
        rows, block = (260, 50) if points else (4000, 3000 if large else 50)
        yield Arrays(rows, block, replays=source == "file")
        return
    server, fill = {"redis": (redis_server, to_redis), "nats": (nats_server, to_nats)}[source]
    rows = 260 if points else 2200  # blocks of a broker have 1000
    with tempfile.TemporaryDirectory() as folder, server(Path(folder)) as port:
        yield Messages(rows, fill(port, rows))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--source", nargs="+", choices=SOURCES, default=SOURCES[:2])
    parser.add_argument("--kills", type=int, default=500, help="in all")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--points", action="store_true", help="at each call, not at random")
    parser.add_argument("--unlearn", action="store_true", help="at each call of unlearn")
    parser.add_argument("--every", type=int, default=1, help="only at each so many-th call")
    parser.add_argument("--first", type=int, default=0, help="and begin with this one")
    args = parser.parse_args()
    if args.points or args.unlearn:
        points.load()
        atexit.register(points.unload)
    runner._SHARE_OF_CHECKPOINTS = 2  # so that kills strike them, too
    tally: Counter[str] = Counter()
    findings: list[str] = []
    for kind in ("file", "pipe", "model") if args.unlearn else ():
        with tempfile.TemporaryDirectory(dir=SHARED if os.path.isdir(SHARED) else None) as name:
            ways = ("before", "power")
            kills, found = kill_unlearn(kind, args.every, args.first, Path(name), ways)
        tally[kind] += kills
        findings += found
        print(f"unlearn of a {kind}: {kills:,} kills, {len(found)} findings", flush=True)
    cases = [] if args.unlearn else [(source, fsync) for source in args.source for fsync in FSYNC]
    for i, (source, fsync) in enumerate(cases):
        large = (args.seed + i // 2) % 2 == 1
        shared = tempfile.TemporaryDirectory(dir=SHARED if os.path.isdir(SHARED) else None)
        with shared as name, opened(source, args.points, large) as rows:
            if args.points:
                case = Case(source, rows, linear, fsync)
                ways = ("before", "within", "power")
                kills, found = kill_at_points(case, args.every, args.first + i, Path(name), ways)
            else:
                case = Case(source, rows, RampSVC if (args.seed + i) % 2 else linear, fsync)
                share = args.kills * (i + 1) // len(cases) - args.kills * i // len(cases)
                rng = random.Random(args.seed * 100 + i)
                kills, wrong = kill_at_random(case, share, rng, Path(name))
                found = [f"{case.name}: {wrong}"] if wrong else []
        tally[case.name] += kills
        findings += found
        print(f"{case.name}: {kills:,} kills, {len(found)} findings", flush=True)
    for finding in findings:
        print(finding)
    print(f"{sum(tally.values()):,} kills, {len(findings)} findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
