"""`unlearn`: whoever asks is forgotten, in the model, in both checkpoints, and with a proof."""

from __future__ import annotations

import json
import random

import pytest
from command import refused, run

import onlinesvm
from onlinesvm import Certificate, verify
from onlinesvm.stream.run import read_run

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
    assert "means and scales of the first rows stay" in said
    assert "1 row as they came" in said
    from onlinesvm.stream.run.checkpoint import Checkpoint

    for path in folder.glob("shop.run/checkpoint-*.bin"):
        assert len(Checkpoint.read(path).model.ids_of(17)) == 0
    model = onlinesvm.load("shop.run/model.onlinesvm")
    assert len(model.ids_of(17)) == 0
    assert len(model.ids_of(16)) > 0
    proof = Certificate.load("proof.json")
    assert len(proof.ids_removed) == held
    assert verify(proof, model.steps[-1][1])


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
