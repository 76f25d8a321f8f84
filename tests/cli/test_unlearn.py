"""`unlearn`: whoever asks is forgotten, in the model, in both checkpoints, and with a proof."""

from __future__ import annotations

import errno
import json
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from command import refused, run
from rich.console import Console
from typer.testing import CliRunner

import onlinesvm
from onlinesvm import Certificate, verify
from onlinesvm.cli import forgetting
from onlinesvm.cli.app import app
from onlinesvm.cli.where import Request
from onlinesvm.stream.run import Run, read_run
from onlinesvm.stream.run.reader import Reader
from onlinesvm.stream.sources import open_source

pytest.importorskip("pyarrow")
pytest.importorskip("matplotlib")

LEARN = ("learn", "shop.csv", "--target", "buys")
EXACT = ("--model", "IncrementalSVC")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A shop with forty customers, some called by numbers and some by names."""
    monkeypatch.chdir(tmp_path)
    rng = random.Random(0)
    lines = ["customer,name,age,town,buys"]
    for _ in range(400):
        k, age, town = rng.randint(1, 40), rng.randint(18, 80), rng.choice(["Bonn", "Rom"])
        buys = "yes" if (age > 40) == (town == "Bonn") else "no"
        lines.append(f"{k},n{k},{age},{town},{buys}")
    lines[90] = lines[90].rpartition(",")[0]
    (tmp_path / "shop.csv").write_text("\n".join(lines) + "\n")
    return tmp_path


def test_a_customer_is_forgotten_everywhere(folder):
    run(*LEARN, *EXACT, "--key", "customer", "--ignore", "name", "-q")
    held = len(read_run("shop.run").model().ids_of(17))
    assert held > 3
    said = run("unlearn", "shop.run", "--where", "customer=17", "--certificate", "proof.json")
    assert f"{held} examples forgotten" in said
    assert "note: gamma = " in said
    assert "which were settled on rows that include removed ones, stay" in said
    assert "1 row as they came" in said
    config = read_run("shop.run").config
    with Reader(folder / "shop.run" / "run.sqlite") as reader:
        for number in reader.numbers():
            assert len(reader.checkpoint(config.run, number).model.ids_of(17)) == 0
    model = onlinesvm.load("shop.run/model.onlinesvm")
    assert len(model.ids_of(17)) == 0
    assert len(model.ids_of(16)) > 0
    proof = Certificate.load("proof.json")
    assert len(proof.ids_removed) == held
    assert verify(proof, model.steps[-1][1])
    said = verify("proof.json", "shop.run/model.onlinesvm")
    assert not said.complete
    assert list(said.settled) == list(proof.settled)


def test_with_the_scope_of_all_nothing_is_left(folder):
    run(*LEARN, *EXACT, "--key", "customer", "--ignore", "name", "-q", "--keep-rows")
    wanted = ("unlearn", "shop.run", "--where", "customer=17", "--scope", "all")
    said = " ".join(run(*wanted, "--certificate", "proof.json").split())
    assert "Settled anew without the examples removed: " in said
    assert "examples were learned again" in said
    assert "which were settled on" not in said
    proof = Certificate.load("proof.json")
    assert proof.complete
    assert verify("proof.json", "shop.run/model.onlinesvm").complete
    model = read_run("shop.run").model()
    assert model.keep_rows
    assert len(model.ids_of(16)) > 0
    run(*LEARN, *EXACT, "--key", "customer", "--ignore", "name", "-q", "--keep-rows")


def test_the_scope_of_all_needs_the_rows(folder):
    run(*LEARN, *EXACT, "--key", "customer", "--ignore", "name", "-q")
    before = (folder / "shop.run" / "model.onlinesvm").read_bytes()
    said = refused("unlearn", "shop.run", "--where", "customer=17", "--scope", "all")
    assert "learn with --keep-rows" in said
    assert "--scope must be" in refused(
        "unlearn", "shop.run", "--where", "customer=17", "--scope", "x"
    )
    assert (folder / "shop.run" / "model.onlinesvm").read_bytes() == before


def test_rows_that_the_model_had_dropped_are_counted(folder):
    dropping = ("--model", "RampSVC", "--param", "keep_non_support=40")
    run(*LEARN, *dropping, "--key", "customer", "--ignore", "name", "-q")
    model = read_run("shop.run").model()
    dropped = model.n_seen_ - len(model[-1]._core.labels()[0])
    assert dropped > 10
    said = run("unlearn", "shop.run", "--where", "customer=17")
    assert f"note: {dropped} rows had been dropped by the model or forgotten before" in said


def test_the_run_goes_on_and_does_not_learn_them_again(folder):
    run(*LEARN, *EXACT, "--key", "name", "--ignore", "customer", "-q", "--limit", 200)
    run("unlearn", "shop.run", "--where", "name=n17", "--where", "name=n3")
    before = read_run("shop.run").model()
    assert len(before.ids_of(["n17", "n3"])) == 0
    run(*LEARN, *EXACT, "--key", "name", "--ignore", "customer", "-q")
    after = read_run("shop.run").model()
    assert read_run("shop.run").checkpoint().taken == 399
    rows = (folder / "shop.csv").read_text().splitlines()
    later = [line for line in rows[202:] if ",n17," in line]
    assert len(after.ids_of("n17")) == len(later)


def test_a_key_that_nobody_bears_is_refused_by_name_and_nothing_changes(folder):
    run(*LEARN, *EXACT, "--key", "customer", "--ignore", "name", "-q")
    run("unlearn", "shop.run", "--where", "customer=17")
    before = (folder / "shop.run" / "model.onlinesvm").read_bytes()
    for who in ("17", "nobody"):
        wanted = ("--where", "customer=16", "--where", f"customer={who}")
        assert f"customer={who}: no example held" in refused("unlearn", "shop.run", *wanted)
    assert (folder / "shop.run" / "model.onlinesvm").read_bytes() == before


def test_two_columns_name_an_example_together(folder):
    run(*LEARN, *EXACT, "--key", "town", "--key", "customer", "--ignore", "name", "-q")
    model = read_run("shop.run").model()
    assert all(isinstance(key, tuple) for key in model.keys_held())
    mine = len(model.ids_of((17, "Rom")))
    theirs = len(model.ids_of([(16, "Rom"), (16, "Bonn")]))
    assert mine > 0
    said = run("unlearn", "shop.run", "--where", "customer=17,town=Rom")
    assert f"{mine} example" in said
    said = run("unlearn", "shop.run", "--where", "customer=16")
    assert f"{theirs} examples forgotten" in said
    left = {customer for customer, _ in read_run("shop.run").model().keys_held()}
    assert 16 not in left
    assert 17 in left
    assert "'customer', 'town'" in refused("unlearn", "shop.run", "--where", "age=17")


def test_a_saved_model_forgets_in_place_or_elsewhere(folder):
    model = onlinesvm.IncrementalSVC(classes=[0, 1])
    model.partial_fit([[0.0], [1.0], [2.0], [0.5]], [0, 1, 1, 0], keys=["a", "b", "a", 7])
    model.save("m.onlinesvm")
    run("unlearn", "m.onlinesvm", "--where", "who=a", "--out", "less.onlinesvm")
    assert len(onlinesvm.load("m.onlinesvm").ids_of("a")) == 2
    assert len(onlinesvm.load("less.onlinesvm").ids_of("a")) == 0
    run("unlearn", "m.onlinesvm", "--where", "who=7", "--certificate", "proof.json")
    assert len(onlinesvm.load("m.onlinesvm").ids_of(7)) == 0
    assert json.loads((folder / "proof.json").read_text())["method"] == "IncrementalSVC"


def test_what_unlearn_refuses(folder):
    run(*LEARN, *EXACT, "--key", "customer", "--ignore", "name", "-q")
    before = (folder / "shop.run" / "model.onlinesvm").read_bytes()
    assert "COLUMN=VALUE" in refused("unlearn", "shop.run", "--where", "17")
    assert "are in 'customer'" in refused("unlearn", "shop.run", "--where", "town=Rom")
    inside = "shop.run/model.onlinesvm"
    assert "belongs to a run" in refused("unlearn", inside, "--where", "customer=17")
    assert "--out" in refused("unlearn", "shop.run", "--where", "customer=1", "--out", "x")
    assert "does not exist" in refused(
        "unlearn", "shop.run", "--where", "customer=1", "--certificate", "no/x.json"
    )
    assert (folder / "shop.run" / "model.onlinesvm").read_bytes() == before
    run(*LEARN, "--model", "PegasosSVC", "--run", "b.run", "-q", "--ignore", "name")
    assert "--key COLUMN" in refused("unlearn", "b.run", "--where", "customer=17")
    run(*LEARN, "--model", "PegasosSVC", "--key", "customer", "--run", "c.run", "-q")
    assert "has no unlearn()" in refused("unlearn", "c.run", "--where", "customer=17")


# --- nothing comes back, and nothing is said before it is so --------------------------------------


def bytes_with(folder, word):
    """The files of a folder that have a word in them."""
    return [path.name for path in folder.iterdir() if word in path.read_bytes()]


@pytest.mark.parametrize("how", ["pipe", "pipe that was killed", "cut by a limit"])
def test_rows_that_came_by_a_pipe_or_wait_are_forgotten_too(folder, how):
    secret = (folder / "shop.csv").read_text().replace(",n17,", ",SECRET,")
    (folder / "shop.csv").write_text(secret)
    if how == "cut by a limit":  # part of a block waits in the checkpoint
        run(*LEARN, *EXACT, "--key", "name", "--ignore", "customer", "-q", "--limit", 250)
    else:
        words = ["learn", "-", "--target", "buys", *EXACT, "--key", "name", "--run", "shop.run"]
        command = [sys.executable, "-m", "onlinesvm", *words, "--ignore", "customer", "-q"]
        subprocess.run(command, input=secret.encode(), check=True)
    if how == "pipe that was killed":  # its log has rows that no checkpoint has
        home = folder / "shop.run"
        source = open_source("shop.csv", schema=read_run(home).schema)
        again = Run.resume(home, Once(source))
        next(again.steps())
        again._store.close()
        again._lock.release()
    assert bytes_with(folder / "shop.run", b"SECRET")
    run("unlearn", "shop.run", "--where", "name=SECRET", "--certificate", "proof.json")
    assert bytes_with(folder / "shop.run", b"SECRET") == []
    assert "SECRET" not in read_run("shop.run").model().keys_held()
    assert len(Certificate.load("proof.json").ids_removed) > 3


class Once:
    """A source as a pipe: it gives each row once."""

    def __init__(self, source):
        self.name, self.replays, self.live, self.notes = "standard input", False, False, ()
        self.schema, self._source = source.schema, source

    def identity(self):
        return {"format": "csv", "pipe": True}

    def blocks(self, since=None):
        return self._source.blocks()


def fails_from(monkeypatch, count):
    """Replacing files fails from the so-many-th on, as on a full disk; gives the files before."""
    done, real = [], os.replace

    def replace(old, new):
        if len(done) >= count:
            raise OSError(errno.ENOSPC, "No space left on device", str(new))
        done.append(os.path.basename(new))
        real(old, new)

    monkeypatch.setattr(os, "replace", replace)
    return done


@pytest.mark.parametrize("path", ["shop.run", "alone.onlinesvm"])
def test_no_certificate_and_no_word_before_the_examples_are_gone_from_the_disk(
    folder, monkeypatch, path
):
    run(*LEARN, *EXACT, "--key", "customer", "--ignore", "name", "-q")
    shutil.copytree("shop.run", "kept.run")
    words = ("unlearn", path, "--where", "customer=17", "--certificate", "proof.json")
    for count in range(12):
        for old in ("shop.run", "alone.onlinesvm", ".alone.onlinesvm.unlearning", "proof.json"):
            shutil.rmtree(old) if os.path.isdir(old) else Path(old).unlink(missing_ok=True)
        shutil.copytree("kept.run", "shop.run")
        shutil.copy("kept.run/model.onlinesvm", "alone.onlinesvm")
        with monkeypatch.context() as patched:
            done = fails_from(patched, count)
            result = CliRunner().invoke(app, words)
        if result.exit_code == 0:
            assert done[-1] == "proof.json"
            break
        assert result.exit_code == 2
        assert "forgotten of" not in result.output
        assert not Path("proof.json").exists()
        said = run(*words)  # goes on from where it was
        assert "examples forgotten of 399 seen" in said
        proof = Certificate.load("proof.json")
        where = Path(path) / "model.onlinesvm" if os.path.isdir(path) else path
        model = onlinesvm.load(where)
        assert 17 not in model.keys_held()
        assert verify(proof, model.steps[-1][1])
        assert not [p.name for p in folder.rglob("*") if "unlearning" in p.name]
    assert count > 2


def test_another_request_waits_for_one_that_was_ended(folder, monkeypatch):
    run(*LEARN, *EXACT, "--key", "customer", "--ignore", "name", "-q")
    words = ("unlearn", "shop.run", "--where", "customer=17", "--certificate", "proof.json")
    with monkeypatch.context() as patched:
        patched.setattr(forgetting, "_certify", lambda *_: sys.exit(137))
        run(*words, code=137)
    said = refused("unlearn", "shop.run", "--where", "customer=16")
    assert "--where customer=17 was ended before it could certify" in said
    run(*words)
    run("unlearn", "shop.run", "--where", "customer=16")
    assert {16, 17}.isdisjoint(read_run("shop.run").model().keys_held())


def test_a_closed_pipe_does_not_stop_what_it_is_told_of(folder, monkeypatch):
    run(*LEARN, *EXACT, "--key", "customer", "--ignore", "name", "-q")

    class Closed:
        encoding = "utf-8"

        def write(self, text):
            raise BrokenPipeError

        def flush(self):
            pass

    console = Console(file=Closed())
    monkeypatch.setattr(console, "on_broken_pipe", lambda: sys.exit(1))
    with pytest.raises(SystemExit):
        forgetting.unlearn(console, Path("shop.run"), ["customer=17"], Path("proof.json"), None)
    assert 17 not in onlinesvm.load("shop.run/model.onlinesvm").keys_held()
    assert Path("proof.json").exists()


# --- whose examples are meant ---------------------------------------------------------------------


def test_a_model_alone_knows_the_names_of_its_keys(folder):
    run(*LEARN, *EXACT, "--key", "town", "--key", "customer", "--ignore", "name", "-q")
    shutil.copy("shop.run/model.onlinesvm", "alone.onlinesvm")
    columns = [c.name for c in read_run("shop.run").schema.columns if c.part == "key"]
    assert columns == ["customer", "town"]
    rest = set(onlinesvm.load("alone.onlinesvm").keys_held()) - {(17, "Rom")}
    assert "no key column 'taste'" in refused(
        "unlearn", "alone.onlinesvm", "--where", "taste=17,town=Rom"
    )
    run("unlearn", "alone.onlinesvm", "--where", "town=Rom,customer=17")
    assert set(onlinesvm.load("alone.onlinesvm").keys_held()) == rest
    run("unlearn", "alone.onlinesvm", "--where", "town=Rom", "--out", "less.onlinesvm")
    assert {town for _, town in onlinesvm.load("less.onlinesvm").keys_held()} == {"Bonn"}
    run("unlearn", "less.onlinesvm", "--where", "customer=16")  # the names went along


def test_keys_of_several_columns_without_names_are_refused(folder):
    model = onlinesvm.IncrementalSVC(classes=[0, 1])
    model.partial_fit([[0.0], [1.0]], [0, 1], keys=[(2, 3), (3, 2)])
    model.save("m.onlinesvm")
    for word in ("customer=3,shop=2", "shop=2"):
        said = refused("unlearn", "m.onlinesvm", "--where", word)
        assert "does not tell the names of its key columns" in said


@pytest.mark.parametrize(
    ("key", "word"),
    [
        ("x,y=z", 'who="x,y=z"'),
        ("Smith, John", "who=Smith, John"),
        ("a=b", "who=a=b"),
        ('say "hi"', 'who="say ""hi"""'),
        ('5" pipe', 'who=5" pipe'),
        ("17", "who=17"),
    ],
)
def test_any_key_can_be_named(folder, key, word):
    model = onlinesvm.IncrementalSVC(classes=[0, 1])
    model.partial_fit([[0.0], [1.0]], [0, 1], keys=[key, "other"])
    model.save("m.onlinesvm")
    run("unlearn", "m.onlinesvm", "--where", word)
    assert onlinesvm.load("m.onlinesvm").keys_held() == ["other"]


@pytest.mark.parametrize("word", ["who", "=ann", "who=", "who=a,who=b", 'who="a', 'who="a"b', ""])
def test_what_names_nobody_is_refused(word):
    with pytest.raises(ValueError, match="COLUMN=VALUE"):
        Request.read(word)
