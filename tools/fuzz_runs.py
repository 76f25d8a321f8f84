"""Forge databases of runs and see that nothing worse than a ValueError happens.

    python tools/fuzz_runs.py --count 20000 --seed 1 --jobs 2
    python tools/fuzz_runs.py --seed 1 --only 4711             # one case again, in this process
    python tools/fuzz_runs.py --tables 300 --seed 1            # hostile tables through the commands

Runs of several kinds are killed half-way. Facts, arrays, rows, records and cells of what they leave
are changed and every checksum is computed anew, or bytes are cut off, flipped and repeated. Each is
read in a forked child with the limits of tools/campaign.py, and one in sixteen is resumed and
learns on. Case i of a seed is the same on every machine.

A hostile table is learned, predicted, inspected and reported in a child that may take 1 GB. No
command may end otherwise than with 0 or 2 and one line, every row must have been learned or be a
dead letter, and `predict` must give a line for each line.
"""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import sys
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import campaign
import fuzz_models as models
from campaign import Campaign, Case, carry_out, options
from doubles import ArraySource, stream

from onlinesvm import (
    NormaOneClassSVM,
    OnlineScaler,
    PassiveAggressiveClassifier,
    PassiveAggressiveRegressor,
    RampSVC,
    make_online_pipeline,
)
from onlinesvm.files import persistence
from onlinesvm.stream.run import Run, RunOptions, read_run
from onlinesvm.stream.run.store import Store

DATABASE, LETTERS = "run.sqlite", "dead_letters.jsonl"
ROWS = 120
RESUMED = 16  # one in so many is resumed, whatever its reader says
HARMLESS = (ValueError, TypeError, NotImplementedError)  # of what was accepted and contradicts rows


@contextmanager
def database(files: dict[str, bytes]) -> Iterator[sqlite3.Connection]:
    """The database of a run in memory; it is stored again afterwards."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as db:
        db.deserialize(files[DATABASE])
        yield db
        files[DATABASE] = db.serialize()


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
            run._store.cut(run._cutter.taken + 1)
            run._store.close()
            run._lock.release()
            self.files = {n: Path(folder, "run", n).read_bytes() for n in (DATABASE, LETTERS)}
        with database(self.files) as db:
            db.execute("DELETE FROM checkpoints WHERE number = 0")  # nothing to fall back to

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
        name = LETTERS if self.rng.uniform() < 0.05 else DATABASE
        self.did.append(name)
        if name == LETTERS or self.rng.uniform() < 0.25:
            self.files[name] = self.accident(self.files[name])
            return name
        with database(self.files) as db:
            self.pick(
                (self.config, self.checkpoint, self.checkpoint, self.log, self.log, self.cell)
            )(db)
        return name

    def config(self, db: sqlite3.Connection) -> None:
        facts = json.loads(*db.execute("SELECT config FROM about").fetchone())
        self.change(facts)
        db.execute("UPDATE about SET config = ?", (json.dumps(facts),))

    def cell(self, db: sqlite3.Connection) -> None:
        """A value of any type anywhere, a row removed or twice, another table."""
        table, *columns = self.pick(
            (
                ("about", "config"),
                ("checkpoints", "number", "part", "data"),
                ("log", "since", "cut", "rows", "crc", "block"),
                ("facts", "since", "kind", "row"),
            )
        )
        (row,) = db.execute(
            f"SELECT ifnull(min(rowid), 1) + ? FROM {table}", (self.below(4),)
        ).fetchone()
        way, column = (
            self.pick(("set", "set", "set", "remove", "twice", "define")),
            self.pick(columns),
        )
        value = self.pick((None, -1, 2**62, 0.5, float("inf"), "x", "{}", b"", b"\xff" * 40))
        self.did.append(f"{way} {table}.{column} of row {row}: {value!r:.40}")
        if way == "set":
            db.execute(f"UPDATE {table} SET {column} = ? WHERE rowid = ?", (value, row))
        elif way == "remove":
            db.execute(f"DELETE FROM {table} WHERE rowid = ?", (row,))
        elif way == "twice":
            words = ", ".join(columns)
            db.execute(f"INSERT INTO {table} ({words}) SELECT {words} FROM {table}")
        else:
            db.execute(f"CREATE TRIGGER t AFTER UPDATE ON {table} BEGIN DELETE FROM {table}; END")

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

    def checkpoint(self, db: sqlite3.Connection) -> None:
        ((data,),) = db.execute("SELECT data FROM checkpoints").fetchall()
        db.execute("UPDATE checkpoints SET data = ?", (self.packed(data),))

    def packed(self, data: bytes) -> bytes:
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

    def log(self, db: sqlite3.Connection) -> None:
        names = "since, cut, rows, crc, block"
        records = db.execute(f"SELECT {names} FROM log ORDER BY id").fetchall()
        db.execute("DELETE FROM log")
        for _ in range(1 + self.below(2)):
            self.record(records)
        db.executemany(f"INSERT INTO log ({names}) VALUES (?, ?, ?, ?, ?)", records)

    def record(self, records: list[Any]) -> None:
        way = self.pick(("rows", "rows", "rows", "cut", "cut", "swap", "twice", "remove", "junk"))
        self.did.append(way)
        at = self.below(len(records))
        if way == "cut":
            number = self.pick([*models.INTEGERS[1:], 5, 40, 60, 90])
            records.insert(at, (1, int(number) % 2**63, None, None, None))
        elif way == "junk":
            data = self.rng.bytes(self.below(60))
            records.insert(at, (1, None, 3, zlib.crc32(data), data))
        elif not records:
            return
        elif way == "swap":
            other = self.below(len(records))
            records[at], records[other] = records[other], records[at]
        elif way == "twice":
            records.append(records[at])
        elif way == "remove":
            del records[at]
        elif records[at][1] is None:
            since, cut, rows, _, data = records[at]
            data = self.rows(data)
            records[at] = since, cut, rows, zlib.crc32(data), data


# --- what happens ---------------------------------------------------------------------------------


def judge(killed: Killed, files: dict[str, bytes], name: str, folder: Path, *, resume: bool) -> str:
    """ "refused", "accepted", or what went wrong."""
    path = folder / "run"
    shutil.rmtree(path, ignore_errors=True)
    path.mkdir()
    for other, data in files.items():
        (path / other).write_bytes(data)
    campaign.loading(len(files[name]))
    try:
        read(path)
    except ValueError as error:
        if "\n" in str(error):
            return f"a refusal of several lines: {error}"
        if not resume:
            return "refused"
    except Exception:
        return "reading: " + campaign.last_lines()
    if not resume:
        return "accepted"
    campaign.using()
    try:
        run = Run.resume(path, killed.source())
    except ValueError as error:
        return "refused" if "\n" not in str(error) else f"a refusal of several lines: {error}"
    except Exception:
        return "resume: " + campaign.last_lines()
    try:
        run._source.since = min(run.arrived, ROWS)
        for _ in run.steps():
            pass
        run.close()
    except HARMLESS:
        run._store.close()
        run._lock.release()
        return "accepted, and failed later"
    except Exception:
        return "afterwards: " + campaign.last_lines()
    return "accepted"


def read(path: Path) -> None:
    record = read_run(path)
    for _ in (record.evaluation(), record.drifts(), *record.dead_letters(), record.checkpoint()):
        pass
    with Store(path / DATABASE, "never") as store:
        store.back_to(1)
        for _ in store.blocks():
            pass


def forged(seed: int, number: int, runs: list[Killed]) -> tuple[Killed, Forger, str]:
    killed = runs[number % len(runs)]
    forger = Forger(np.random.default_rng([seed, number]), killed)
    return killed, forger, forger.forge()


# --- hostile tables -------------------------------------------------------------------------------

MEMORY = 1 << 30
LABELS = ("p", "q", "$a_$", "=1+1", "\u202egnp", "\x1b[2J", "-1", "[red]", "a" * 30, "1e5", "é")


class Table:
    """A table by seed, what was done to it, and how many rows it has where that is known."""

    def __init__(self, seed: int, number: int) -> None:
        self.rng = rng = np.random.default_rng([seed, number])
        self.did: list[str] = []
        self.rows = int(rng.choice([0, 1, 5, 60, 900, 5000]))
        self.columns = int(rng.choice([1, 2, 2, 3, 8, 200]))
        self.form = str(rng.choice(["csv", "csv", "csv", "jsonl", "json", "svm"]))
        labels = [LABELS[i] for i in rng.permutation(len(LABELS))[: int(rng.integers(1, 6))]]
        X = rng.normal(size=(self.rows, self.columns)).round(4)
        self.cells: list[list[Any]] = [
            [*row, labels[int(rng.integers(len(labels)))]] for row in X.tolist()
        ]
        self.counts = True  # whether lines are rows
        for _ in range(int(rng.integers(0, 4))):
            do = (self.spoil_cells, self.label, self.classes, self.lines, self.extremes, self.names)
            do[int(rng.integers(len(do)))]()

    def some(self) -> list[int]:
        share = float(self.rng.choice([0.001, 0.02, 0.5]))
        return np.flatnonzero(self.rng.random(len(self.cells)) < max(share, 1e-9)).tolist()

    def spoil_cells(self) -> None:
        odd = ("", "x", "1e400", "nan", "-inf", "\x00", "1,2", '"', "\ufeff", " ", "0x1F", "=2*3")
        word = odd[int(self.rng.integers(len(odd)))]
        for i in self.some():
            self.cells[i][int(self.rng.integers(self.columns))] = word
        self.counts = self.counts and word != '"'
        self.did.append(f"cells {word!r}")

    def extremes(self) -> None:
        value = (1e300, -1e308, 5e-324, 10**400, 1e39)[int(self.rng.integers(5))]
        for i in self.some():
            self.cells[i][int(self.rng.integers(self.columns))] = value
        self.did.append(f"values {value!r:.12}")

    def label(self) -> None:
        size = int(self.rng.choice([2000, 300_000, 3_000_000]))
        if self.cells:
            self.cells[int(self.rng.integers(len(self.cells)))][-1] = "L" * size
        self.did.append(f"a label of {size}")

    def classes(self) -> None:
        for i, row in enumerate(self.cells):
            row[-1] = f"n{i}"
        self.did.append("a class for each row")

    def lines(self) -> None:
        odd = (b"", b"1", b"\xff\xfe,2", b'"', b"," * 40, b"\r", b"#", b'"a\nb",1,2')
        self.extra = odd[int(self.rng.integers(len(odd)))]
        self.counts = False
        self.did.append(f"lines {self.extra!r}")

    def names(self) -> None:
        self.many = 20_000 if self.form == "jsonl" else 0
        self.did.append("names of their own")

    def to_bytes(self) -> bytes:
        names = [f"c{j}" for j in range(self.columns)] + ["y"]
        if self.form == "svm":
            self.counts = False
            lines = [
                f"{int(bool(len(str(row[-1])) % 2))} "
                + " ".join(f"{j + 1}:{v}" for j, v in enumerate(row[:-1]))
                for row in self.cells
            ]
        elif self.form == "csv":
            lines = [",".join(names), *(",".join(map(str, row)) for row in self.cells)]
        else:
            dicts = [dict(zip(names, row, strict=True)) for row in self.cells]
            for i in range(getattr(self, "many", 0)) if dicts else ():
                dicts[i % len(dicts)][f"own{i}"] = i
            lines = [json.dumps(row) for row in dicts]
        data = [line.encode(errors="replace") for line in lines]
        if hasattr(self, "extra"):
            for i in sorted(self.some(), reverse=True):
                data.insert(i + 1, self.extra)
        if self.form == "json":
            return b"[" + b",\n".join(data) + b"]"
        return b"".join(line + b"\n" for line in data)


def judge_table(seed: int, number: int, folder: Path) -> str:
    """What the commands make of a table; in a child."""
    from typer.testing import CliRunner

    from onlinesvm.cli.app import app

    table = Table(seed, number)
    path = folder / f"t.{table.form}"
    path.write_bytes(table.to_bytes())
    os.chdir(folder)
    campaign.limit_memory(MEMORY)
    learn = ["learn", path.name, "--run", "r", "-q"]
    if table.form in ("csv", "jsonl", "json"):
        learn += ["--target", "y"]
    said = ""
    for words in (
        learn,
        [*learn, "--max-bad", "1"],
        ["predict", "r", path.name, "--out", "out"],
        ["inspect", "r"],
        ["report", "r"],
    ):
        if words[0] != "learn" and not Path("r/model.onlinesvm").exists():
            break
        result = CliRunner().invoke(app, words)
        error = result.exception
        if error is not None and not isinstance(error, SystemExit):
            return f"{words[0]}: {type(error).__name__}: {error!s:.150}"
        if result.exit_code not in (0, 2) or "Traceback" in result.output:
            return f"{words[0]}: status {result.exit_code}: {result.output[-200:]}"
        if result.exit_code == 2 and "error: " not in result.output:
            return f"{words[0]}: refused without a word"
        if words[0] == "predict" and result.exit_code == 0 and table.form == "csv" and table.counts:
            lines, out = path.read_bytes().count(b"\n"), Path("out").read_bytes().count(b"\n")
            if lines != out:
                return f"predict: {lines} lines in, {out} out"
        said = f"{words[0]} {result.exit_code}"
    if Path("r/model.onlinesvm").exists():
        found = read_run("r").checkpoint()
        letters = sum(1 for _ in read_run("r").dead_letters())
        held = 0 if found.held is None else len(found.held)
        if found.course["seen"] + found.bad + held != found.arrived or letters != found.bad:
            return f"lost: {found.course['seen']} seen, {found.bad} bad, {found.arrived} arrived"
        if table.counts and table.form == "csv" and found.arrived != table.rows:
            return f"lost: {found.arrived} of {table.rows} rows arrived"
    return "accepted" if said.endswith(" 0") else "refused"


def main() -> int:
    parser = options(__doc__)
    parser.add_argument("--tables", type=int, help="so many hostile tables instead")
    args = parser.parse_args()
    if args.tables:
        import onlinesvm.cli.learn
        import onlinesvm.cli.predicting  # noqa: F401

        args.count = args.tables
        return carry_out(
            Campaign("hostile tables", lambda n: table_case(args.seed, n), 120, 1), args
        )
    runs = corpus()

    def case(number: int) -> Case:
        killed, forger, name = forged(args.seed, number, runs)
        resume = args.only is not None or number // len(runs) % RESUMED == 0
        return Case(
            killed.name,
            forger.did,
            lambda folder: judge(killed, forger.files, name, folder, resume=resume),
        )

    return carry_out(Campaign(f"forged files of {len(runs)} runs", case, a_child=500), args)


def table_case(seed: int, number: int) -> Case:
    def judged(folder: Path) -> str:
        work = folder / "work"
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir()
        return judge_table(seed, number, work)

    return Case(f"table {number}", Table(seed, number).did, judged)


if __name__ == "__main__":
    sys.exit(main())
