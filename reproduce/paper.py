"""A paper: its tables and figures, each a function that measures by a journal and shows the rest.

    def table_1(journal: Journal) -> Shown:
        found = journal.work(cells, one_pass)
        return Shown(table(head, rows), verdicts=[...])

    PAPER = Paper("ramp", "OnlineSVM-R", "ramp.md", (table_1, figure_2))

What `Shown` has of Markdown lands on the paper's page in docs/papers between the comments
``<!-- reproduce: table_1 -->`` and ``<!-- end -->``, its picture in docs/images/ramp-figure-2.png.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from bench.tables import replace, table
from reproduce.journal import Journal
from reproduce.verdict import WORDS, Verdict, counted, fallen_short

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["DOCS", "Paper", "Shown", "table", "verdict_page", "write"]

DOCS = Path(__file__).parents[1] / "docs"


@dataclass(frozen=True)
class Shown:
    """What came of a table or a figure: Markdown, a picture, and a verdict on each figure of it.

    With ``alt``, words for those who do not see it, the picture stands above the text on the page.
    """

    text: str = ""
    picture: Figure | None = None
    verdicts: Sequence[Verdict] = field(default_factory=list)
    alt: str = ""


Exhibit = Callable[[Journal], Shown]


@dataclass(frozen=True)
class Paper:
    """Its name on the command line, its title, its page in docs/papers, and what it shows."""

    name: str
    title: str
    page: str
    exhibits: tuple[Exhibit, ...]

    def find(self, word: str) -> Exhibit:
        """By `table_1`, `table-1` or `table1`."""
        plain = {_plain(exhibit.__name__): exhibit for exhibit in self.exhibits}
        if _plain(word) not in plain:
            known = ", ".join(exhibit.__name__ for exhibit in self.exhibits)
            raise ValueError(f"{self.name} has no {word!r}; known: {known}")
        return plain[_plain(word)]


def _plain(word: str) -> str:
    return word.lower().replace("_", "").replace("-", "").replace(" ", "")


def write(paper: Paper, exhibit: Exhibit, shown: Shown, docs: Path = DOCS) -> list[Path]:
    """Text and picture into the documentation; returns what was written."""
    written, text = [], shown.text
    page = docs / "papers" / paper.page
    if shown.picture is not None:
        name = f"{paper.name}-{exhibit.__name__.replace('_', '-')}.png"
        shown.picture.savefig(docs / "images" / name, dpi=120)
        written.append(docs / "images" / name)
        text = f"![{shown.alt}](../images/{name})\n\n{text}" if shown.alt else text
    if text:
        was = page.read_text()
        page.write_text(replace(was, "reproduce", {exhibit.__name__: text}.get))
        written.append(page)
    return written


def verdict_page(papers: Sequence[Paper], journal: Callable[[str], Journal]) -> dict[str, str]:
    """The bodies of docs/papers/verdicts.md: all papers counted, and all that fell short."""
    rows, short, every = [], [], []
    for paper in papers:
        there = journal(paper.name)
        link = f"[{paper.title}]({paper.page})"
        for exhibit in paper.exhibits:
            verdicts = exhibit(there).verdicts
            if verdicts:
                rows.append([link, exhibit.__name__.replace("_", " "), *counted(verdicts)])
            short += [[link, *line] for line in fallen_short(verdicts)]
            every += verdicts
    rows.append(["all", "", *counted(every)])
    return {
        "counted": table(["paper", "exhibit", *WORDS], rows),
        "short": table(["paper", "exhibit", "what", "printed", "ours", "verdict", "why"], short),
    }
