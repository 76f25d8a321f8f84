"""`audit`: labels that are wrong stand on top, in the table, on the page and in the pool."""

from __future__ import annotations

import csv
import random

import pytest
from command import refused, run

pytest.importorskip("jinja2")


@pytest.fixture
def wrong(tmp_path, monkeypatch):
    """A file with gaps, a category and wrong labels, the numbers of whose rows are given."""
    monkeypatch.chdir(tmp_path)
    rng, names = random.Random(0), ["<rose>", "daisy", "tulip"]
    rows = []
    for _ in range(240):
        i = rng.randrange(3)
        depth = "" if rng.random() < 0.1 else round(rng.gauss(i, 0.3), 2)
        rows.append(
            [round(rng.gauss(3 + 2 * i, 0.5), 2), rng.choice(["Bonn", "Rom"]), depth, names[i]]
        )
    wrong = rng.sample(range(240), 12)
    for i in wrong:
        rows[i][-1] = rng.choice([name for name in names if name != rows[i][-1]])
    with open("petals.csv", "w", newline="") as file:
        csv.writer(file).writerows([["length", "town", "depth", "flower"], *rows])
    return {i + 1 for i in wrong}


def test_wrong_labels_stand_on_top(wrong, tmp_path):
    said = run("audit", "petals.csv", "--target", "flower", "--pool", "doubtful.csv")
    with open("petals.audit.csv", newline="") as file:
        head, *table = csv.reader(file)
    assert head == ["row", "score", "flower", "suggested", "reason", "length", "town", "depth"]
    assert len(table) == 240
    assert len({int(row[0]) for row in table[:12]} & wrong) >= 10
    came = list(csv.reader((tmp_path / "petals.csv").read_text().splitlines()))
    for number, _, label, _, _, *cells in table[:20]:
        assert [*map(str, cells), label] == came[int(number)]
    suspected = sum(float(row[1]) < 0 for row in table)
    assert f"suspected  {suspected} labels" in said
    page = (tmp_path / "petals.audit.html").read_text()
    assert f"{suspected} of 240 labels" in page
    assert "&lt;rose&gt;" in page
    assert "<rose>" not in page
    pool = list(csv.reader((tmp_path / "doubtful.csv").read_text().splitlines()))
    assert pool[0] == ["length", "town", "depth", "flower"]
    assert len(pool) == suspected + 1
    assert pool[1] == [*table[0][5:], table[0][2]]
    told = run(
        "label",
        "doubtful.csv",
        "--target",
        "flower",
        "--classes",
        "<rose>,daisy,tulip",
        stdin="q\n",
    )
    assert f"0 of {suspected} rows" in told


def test_what_audit_refuses(wrong, tmp_path):
    before = (tmp_path / "petals.csv").read_bytes()
    assert "is a number, and audit judges labels" in refused(
        "audit", "petals.csv", "--target", "length"
    )
    assert "different files" in refused("audit", "petals.csv", "--out", "petals.csv")
    assert "no column with labels" in refused("audit", "petals.csv", "--target", "none")
    assert "name a file" in refused("audit", "-")
    assert (tmp_path / "petals.csv").read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["petals.csv"]
