"""The page: whole, self-contained, sound as XML where it draws, and safe for any name."""

import re
from html.parser import HTMLParser
from types import SimpleNamespace
from xml.etree import ElementTree

import pytest

pytest.importorskip("matplotlib")

from onlinesvm.report import Section, write_page
from onlinesvm.stream import Snapshot

NAN = float("nan")
EVIL = '<script>alert("1")</script> $\\frac$ & co'


def snapshot(seen, kappa, role="model", support=3):
    return Snapshot(
        seen,
        0.5,
        None,
        0.5,
        support,
        seen,
        1.0,
        metrics={"kappa": kappa / 2},
        window={"kappa": kappa, "auc": NAN},
        role=role,
    )


HISTORY = [
    {EVIL: snapshot(n, n / 400), "no-change": snapshot(n, 0.1, "baseline", None)}
    for n in (100, 200, 300)
]


class Reader(HTMLParser):
    """Which tags a page has, what they refer to, and whether they are closed."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.open, self.ids, self.refers = [], [], [], []
        self.feed(page)

    def handle_startendtag(self, tag, attributes):
        self._note(tag, attributes)

    def handle_starttag(self, tag, attributes):
        self._note(tag, attributes)
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def _note(self, tag, attributes):
        self.tags.append(tag)
        given = dict(attributes)
        if "id" in given:
            self.ids.append(given["id"])
        self.refers += [v for k, v in given.items() if k in ("href", "xlink:href", "src")]


@pytest.fixture
def page(tmp_path):
    write_page(HISTORY, tmp_path / "run.html", title=f"A run of {EVIL}", drifts=[150])
    return (tmp_path / "run.html").read_text(encoding="utf-8")


def test_tags_are_closed_and_nothing_runs_or_is_fetched(page):
    read = Reader(page)
    assert read.open == []
    assert not {"script", "img", "link", "iframe", "metadata"} & set(read.tags)
    assert all(target.startswith("#") for target in read.refers)
    assert "url(http" not in page
    assert "<script>" not in page


def test_ids_are_unique_and_known(page):
    read = Reader(page)
    assert len(set(read.ids)) == len(read.ids)
    used = {target[1:] for target in read.refers} | set(re.findall(r"url\(#(\w+)\)", page))
    assert used <= set(read.ids)


def test_there_is_a_drawing_for_what_is_known(page):
    titles = re.findall(r"<h2>(.*?)</h2>", page)
    assert titles == ["kappa, last window", "support vectors"]
    drawings = re.findall(r"<svg .*?</svg>", page, re.DOTALL)
    assert len(drawings) == len(titles)
    for drawing in drawings:
        ElementTree.fromstring(drawing)
        assert "#222222" not in drawing.lower()  # ink follows light and dark
        assert "#000000" not in drawing
        assert "examples seen" in drawing


def test_labels_have_a_curve_where_some_were_saved(tmp_path):
    from dataclasses import replace

    saved = [
        {name: replace(shot, labels_used=shot.seen // 2) for name, shot in shots.items()}
        for shots in HISTORY
    ]
    write_page(saved, tmp_path / "run.html")
    assert "<h2>labels used</h2>" in (tmp_path / "run.html").read_text(encoding="utf-8")


def test_facts_and_sections_stand_where_they_belong(tmp_path):
    write_page(
        HISTORY,
        tmp_path / "run.html",
        sections=[Section(EVIL, "<p>body</p>", "full")],
        facts={"model": EVIL},
    )
    page = (tmp_path / "run.html").read_text(encoding="utf-8")
    assert Reader(page).open == []
    assert "<script>" not in page
    assert page.index("<dt>model</dt>") < page.index("<table>") < page.index("<p>body</p>")
    assert '<section class="full">' in page


def test_the_table_and_the_legend_tell_who_is_who(page):
    rows = re.findall(r'<tr class="(\w+)"><th>(.*?)</th><td>(.*?)<small>(.*?)</small>', page)
    assert [(role, window, overall) for role, _, window, overall in rows] == [
        ("model", "0.75", "0.375"),
        ("baseline", "0.1", "0.05"),
    ]
    assert rows[0][1].startswith("&lt;script&gt;")
    (legend,) = re.findall(r'<ul class="legend">(.*?)</ul>', page)
    assert legend.count("<li>") == 3
    assert "drift" in legend


def test_the_same_run_gives_the_same_page(page, tmp_path):
    write_page(iter(HISTORY), tmp_path / "again.html", title=f"A run of {EVIL}", drifts=[150])
    assert (tmp_path / "again.html").read_text(encoding="utf-8") == page


def test_nothing_to_show_leaves_the_old_file(tmp_path):
    old = tmp_path / "run.html"
    old.write_text("old")
    with pytest.raises(ValueError, match="history is empty"):
        write_page([], old)
    broken = [{"m": SimpleNamespace(seen=1, window_kappa="?")}]
    with pytest.raises(TypeError):
        write_page(broken, old)
    assert old.read_text() == "old"
