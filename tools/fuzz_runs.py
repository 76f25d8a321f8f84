"""Forge checkpoints and logs of runs and see that nothing worse than a ValueError happens.

    python tools/fuzz_runs.py --count 20000 --seed 1 --jobs 2
    python tools/fuzz_runs.py --seed 1 --only 4711             # one case again, in this process

Runs of several kinds are killed half-way. Facts, arrays, rows and records of what they leave are
changed and every checksum is computed anew, or bytes are cut off, flipped and repeated. Each is
read in a forked child with the limits of tools/fuzz_models.py, and one in sixteen is resumed and
learns on. Case i of a seed is the same on every machine.
"""

from __future__ import annotations

import argparse
import json
import mmap
import resource
import shutil
import signal
import sys
import tempfile
import traceback
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import fuzz_models as models
from doubles import ArraySource, stream

from onlinesvm import (
    NormaOneClassSVM,
    OnlineScaler,
    PassiveAggressiveClassifier,
    PassiveAggressiveRegressor,
    RampSVC,
    make_online_pipeline,
)
from onlinesvm.base import persistence
from onlinesvm.stream.run import Run, RunOptions, read_run
from onlinesvm.stream.run.checkpoint import Checkpoint
from onlinesvm.stream.run.folder import RunFolder
from onlinesvm.stream.run.journal import Journal
from onlinesvm.stream.run.log import _FRAME, _HEAD, _frame
from onlinesvm.stream.run.syncing import Syncing

ROWS = 120
RESUMED = 16  # one in so many is resumed, whatever its reader says
HARMLESS = (ValueError, TypeError, NotImplementedError)  # of what was accepted and contradicts rows


class Killed:
    """A run that was killed half-way: its files, and how to go on."""

    def __init__(self, name: str, model: Any, y: Any, classes: Any, *, replays: bool) -> None:
        self.name, self.replays = f"{name}, {'file' if replays else 'pipe'}", replays
        self.X, _ = stream(ROWS)
        self.y = y
        options = RunOptions(
            classes=classes, lesson=16, every=30, window=20, fsync="never", checkpoint_seconds=1e9
        )
        with tempfile.TemporaryDirectory() as folder:
            run = Run.begin(f"{folder}/run", self.source(), model, options)
            steps = run.steps()
            for _ in range(2):
                next(steps)
            run.checkpoint()
            if not replays:
                next(steps)
            run._journal.cut(run._cutter.taken + 1)
            run._journal.close()
            run._lock.release()
            self.run = run._config.run
            self.files = {p.name: p.read_bytes() for p in Path(folder, "run").iterdir()}
        for name in ("checkpoint-00000000.bin", "log-00000000.bin", "lock", "model.onlinesvm"):
            self.files.pop(name, None)  # nothing to fall back to

    def source(self) -> ArraySource:
        return ArraySource(self.X, self.y, block=25, spoilt=13, replays=self.replays)


def corpus() -> list[Killed]:
    X, words = stream(ROWS)
    two = ("ja", "nein")
    linear = make_online_pipeline(OnlineScaler(warm_up=20), PassiveAggressiveClassifier())
    return [
        Killed("pipeline", linear, words, two, replays=True),
        Killed("ramp", RampSVC(), words, two, replays=False),
        Killed("regressor", PassiveAggressiveRegressor(), X[:, 0], None, replays=False),
        Killed("detector", NormaOneClassSVM(), None, None, replays=True),
    ]


# --- how they are forged --------------------------------------------------------------------------


class Forger:
    """Changes one file of a run, as its random numbers say."""

    def __init__(self, rng: np.random.Generator, killed: Killed) -> None:
        self.rng = rng
        self.files = dict(killed.files)
        self.did: list[str] = []

    def pick(self, items: Any) -> Any:
        return items[int(self.rng.integers(len(items)))]

    def below(self, bound: int) -> int:
        return int(self.rng.integers(max(bound, 1)))

    def forge(self) -> str:
        """Changes a file and gives its name."""
        names = sorted(name for name in self.files if not name.startswith("timings"))
        weights = [4 if "checkpoint" in n or "log" in n else 1 for n in names]
        name = str(self.rng.choice(names, p=np.array(weights) / sum(weights)))
        data = self.files[name]
        if self.rng.uniform() < 0.25:
            self.files[name] = self.accident(data)
        elif name.startswith("checkpoint"):
            self.files[name] = self.checkpoint(data)
        elif name.startswith("log"):
            self.files[name] = self.log(data)
        elif name == "run.json":
            facts = json.loads(data)
            self.change(facts)
            self.files[name] = json.dumps(facts).encode()
        else:
            self.files[name] = self.accident(data)
        self.did.insert(0, name)
        return name

    def accident(self, data: bytes) -> bytes:
        """What disks and copies do: no checksum is mended."""
        way = self.pick(("cut", "flip", "flip", "repeat", "zero", "insert"))
        at = self.below(len(data))
        self.did.append(f"{way} at {at}")
        if way == "cut":
            return data[:at]
        if way == "flip":
            changed = bytearray(data)
            if changed:
                changed[at] ^= 1 << self.below(8)
            return bytes(changed)
        if way == "repeat":
            return data + data[at:]
        if way == "zero":
            return data[:at] + bytes(len(data) - at)
        return data[:at] + self.rng.bytes(1 + self.below(40)) + data[at:]

    def value(self) -> Any:
        kind = self.rng.uniform()
        if kind < 0.4:
            return self.pick([*models.INTEGERS, 2**70])
        if kind < 0.6:
            return self.pick(models.FLOATS)
        return json.loads(json.dumps(self.pick([*models.PLAIN, "ja", "x0", {"row": 7}])))

    def change(self, facts: Any) -> None:
        for _ in range(1 + self.below(2)):
            where = self.place(facts)
            if where is None:
                return
            holder, key = where
            if self.rng.uniform() < 0.2:
                del holder[key]
                self.did.append(f"{key} removed")
            else:
                value = self.value()
                self.did.append(f"{key}: {holder[key]!r:.40} -> {value!r:.40}")
                holder[key] = value

    def place(self, facts: Any) -> tuple[Any, Any] | None:
        """Somewhere in a JSON value, as holder and key: deep as a rule, never by listing all."""
        found = None
        while isinstance(facts, dict | list) and facts and (not found or self.rng.uniform() < 0.9):
            key = self.pick(list(facts)) if isinstance(facts, dict) else self.below(len(facts))
            found, facts = (facts, key), facts[key]
        return found

    def checkpoint(self, data: bytes) -> bytes:
        kind, found = persistence._unpack(data)
        arrays = {name: array.copy() for name, array in found.items()}
        way = self.rng.uniform()
        if way < 0.6:
            facts = json.loads(arrays["facts"].tobytes())
            self.change(facts)
            arrays["facts"] = np.frombuffer(json.dumps(facts).encode(), dtype=np.uint8)
        elif way < 0.8 and "held" in arrays:
            rows = self.rows(arrays["held"].tobytes())
            arrays["held"] = np.frombuffer(rows, dtype=np.uint8)
        else:
            name = self.pick(sorted(arrays))
            self.array(name, arrays)
        return persistence._pack(kind, arrays)

    def array(self, name: str, arrays: dict[str, Any]) -> None:
        array = arrays[name]
        way = self.pick(("value", "length", "remove", "swap"))
        self.did.append(f"{name}: {way}")
        if way == "value" and array.size:
            numbers = models.INTEGERS if array.dtype.kind in "iu" else models.FLOATS
            models.put(array, self.below(array.size), self.pick(numbers))
        elif way == "length":
            arrays[name] = np.resize(array, self.pick((0, 1, array.size + 1, 2 * array.size)))
        elif way == "remove":
            del arrays[name]
        elif way == "swap":
            other = self.pick(sorted(arrays))
            arrays[name], arrays[other] = arrays[other], arrays[name]

    def rows(self, data: bytes) -> bytes:
        """A block as bytes, with other facts, shapes or values."""
        size = int.from_bytes(data[:4], "little")
        try:
            facts = json.loads(data[4 : 4 + size])
        except ValueError:  # it was changed before
            return self.accident(data)
        if self.rng.uniform() < 0.2:
            return self.accident(data)
        self.change(facts)
        text = json.dumps(facts).encode()
        return len(text).to_bytes(4, "little") + text + data[4 + size :]

    def log(self, data: bytes) -> bytes:
        head, records = data[: _HEAD.size], []
        at = _HEAD.size
        while at < len(data):
            length = _FRAME.unpack_from(data, at)[0]
            at += _FRAME.size
            records.append(data[at : at + length])
            at += length
        for _ in range(1 + self.below(2)):
            self.record(records)
        if self.rng.uniform() < 0.1:
            head = self.accident(head)
        return head + b"".join(_frame(r, i) + r for i, r in enumerate(records))

    def record(self, records: list[bytes]) -> None:
        way = self.pick(("rows", "rows", "rows", "cut", "cut", "swap", "twice", "remove", "junk"))
        self.did.append(way)
        at = self.below(len(records))
        if way == "cut":
            number = self.pick([*models.INTEGERS[1:], 5, 40, 60, 90])
            records.insert(at, b"C" + int(number).to_bytes(8, "little"))
        elif way == "junk":
            records.insert(at, self.rng.bytes(self.below(60)))
        elif not records:
            return
        elif way == "swap":
            other = self.below(len(records))
            records[at], records[other] = records[other], records[at]
        elif way == "twice":
            records.append(records[at])
        elif way == "remove":
            del records[at]
        elif records[at][:1] == b"R":
            records[at] = records[at][:9] + self.rows(records[at][9:])


# --- what happens ---------------------------------------------------------------------------------


def judge(killed: Killed, files: dict[str, bytes], name: str, folder: Path, *, resume: bool) -> str:
    """ "refused", "accepted", or what went wrong."""
    path = folder / "run"
    shutil.rmtree(path, ignore_errors=True)
    path.mkdir()
    for other, data in files.items():
        (path / other).write_bytes(data)
    models.loading(len(files[name]))
    try:
        read(killed, path, name)
    except ValueError as error:
        if "\n" in str(error):
            return f"a refusal of several lines: {error}"
        if not resume:
            return "refused"
    except Exception:
        return "reading: " + models.last_lines()
    if not resume:
        return "accepted"
    models.using()
    try:
        run = Run.resume(path, killed.source())
    except ValueError as error:
        return "refused" if "\n" not in str(error) else f"a refusal of several lines: {error}"
    except Exception:
        return "resume: " + models.last_lines()
    try:
        run._source.since = min(run.arrived, ROWS)
        for _ in run.steps():
            pass
        run.close()
    except HARMLESS:
        run._journal.close()
        run._lock.release()
        return "accepted, and failed later"
    except Exception:
        return "afterwards: " + models.last_lines()
    return "accepted"


def read(killed: Killed, path: Path, name: str) -> None:
    if name.startswith("checkpoint"):
        Checkpoint.read(path / name)
    elif name.startswith("log"):
        journal = Journal(RunFolder(path), killed.run, 1, Syncing())
        journal.close()
        for _ in journal.blocks():
            pass
    else:
        record = read_run(path)
        record.evaluation()
        for _ in record.dead_letters():
            pass


def forged(seed: int, number: int, runs: list[Killed]) -> tuple[Killed, Forger, str]:
    killed = runs[number % len(runs)]
    forger = Forger(np.random.default_rng([seed, number]), killed)
    return killed, forger, forger.forge()


def verdict_on(seed: int, number: int, runs: list[Killed], folder: Path) -> tuple[str, list[str]]:
    killed, forger, name = forged(seed, number, runs)
    resume = number // len(runs) % RESUMED == 0
    return judge(killed, forger.files, name, folder, resume=resume), [killed.name, *forger.did]


# --- in children ----------------------------------------------------------------------------------


def child(seed: int, numbers: range, runs: list[Killed], folder: Path, shared: mmap.mmap) -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    models.tell_large_from_small()
    with open(folder / "verdicts", "w", buffering=1) as verdicts:
        for number in numbers:
            shared[:8] = number.to_bytes(8, "little")
            signal.setitimer(signal.ITIMER_PROF, models.SECONDS)
            signal.setitimer(signal.ITIMER_REAL, models.WAITING * models.SECONDS)
            verdict, did = verdict_on(seed, number, runs, folder)
            signal.setitimer(signal.ITIMER_PROF, 0)
            signal.setitimer(signal.ITIMER_REAL, 0)
            verdicts.write(json.dumps([number, verdict, did]) + "\n")


def run_cases(
    seed: int, first: int, count: int, runs: list[Killed]
) -> tuple[Counter[str], list[str]]:
    """Verdicts by kind, and the findings."""
    tally: Counter[str] = Counter()
    findings: list[str] = []
    shared = mmap.mmap(-1, 4096)
    at, end = first, first + count
    base = "/dev/shm" if Path("/dev/shm").is_dir() else None
    with tempfile.TemporaryDirectory(dir=base) as name:
        folder = Path(name)
        while at < end:
            numbers = range(at, min(at + 500, end))
            status = models.in_child(lambda: child(seed, numbers, runs, folder, shared))  # noqa: B023
            lines = (folder / "verdicts").read_text().splitlines()
            for number, verdict, did in map(json.loads, lines):
                tally[verdict if models.good(verdict) else "finding"] += 1
                if not models.good(verdict):
                    findings.append(f"case {number}: {verdict}\n    {'; '.join(did)}")
            at += len(lines)
            if status:
                number = int.from_bytes(shared[:8], "little")
                killed, forger, _ = forged(seed, number, runs)
                what = "; ".join([killed.name, *forger.did])
                findings.append(f"case {number}: signal or status {status}\n    {what}")
                tally["finding"] += 1
                at = number + 1
    return tally, findings


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    parser.add_argument("--jobs", type=int, default=1, help="processes at a time")
    parser.add_argument("--only", type=int, help="one case, in this process")
    args = parser.parse_args()
    runs = corpus()
    if args.only is not None:
        with tempfile.TemporaryDirectory() as folder:
            killed, forger, name = forged(args.seed, args.only, runs)
            print(killed.name, *forger.did, sep="\n    ", flush=True)
            try:
                verdict = judge(killed, forger.files, name, Path(folder), resume=True)
            except Exception:
                verdict = traceback.format_exc()
        print(verdict)
        return 0 if models.good(verdict) else 1
    tally, findings = models.run_together(
        args.first, args.count, args.jobs, lambda at, many: run_cases(args.seed, at, many, runs)
    )
    for finding in findings:
        print(finding)
    told = ", ".join(f"{n:,} {verdict}" for verdict, n in sorted(tally.items()))
    print(f"{sum(tally.values()):,} forged files of {len(runs)} runs, seed {args.seed}: {told}")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
