"""Run a paper's tables and figures again; what was measured before is not measured twice.

python -m reproduce                       the papers there are
python -m reproduce ramp                  all of this one
python -m reproduce ramp table_1          this table
python -m reproduce ramp --quick          at tiny sizes: shows that it runs, says nothing
python -m reproduce ramp --measured       runs nothing, writes what has been measured
python -m reproduce verdicts              counts all papers on docs/papers/verdicts.md
"""

from __future__ import annotations

import argparse
import os
import sys
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from types import ModuleType

from bench.tables import replace
from reproduce.journal import InUse, Journal
from reproduce.paper import DOCS, Paper, verdict_page, write

FRAME = {"journal", "paper", "verdict"}
PAPERS = sorted(
    module.name
    for module in iter_modules([str(Path(__file__).parent)])
    if module.name not in FRAME and not module.name.startswith("_")
)


def main(words: list[str]) -> int:
    if words[:1] == ["verdicts"]:
        return verdicts()
    if words and words[0] in PAPERS:
        module = import_module(f"reproduce.{words[0]}")
        if not hasattr(module, "PAPER"):
            return its_own(module, words)
    told = parser().parse_args(words)
    if told.paper is None:
        print(f"{__doc__}\npapers: {', '.join(PAPERS)}")
        return 0
    if told.paper not in PAPERS:
        print(f"unknown paper {told.paper!r}; known: {', '.join(PAPERS)}", file=sys.stderr)
        return 2
    paper: Paper = module.PAPER
    try:
        exhibits = [paper.find(word) for word in told.exhibits] or paper.exhibits
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    how = {"quick": told.quick, "measured": told.measured}
    journal = Journal(paper.name, afresh=told.afresh, jobs=told.jobs, **how)
    for exhibit in exhibits:
        try:
            shown = exhibit(journal)
        except InUse as error:
            print(error, file=sys.stderr)
            return 2
        print(f"\n{exhibit.__name__}\n\n{shown.text}\n")
        if not journal.quick:
            for path in write(paper, exhibit, shown):
                print(f"written: {os.path.relpath(path)}")
    return 0


def parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="reproduce",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("paper", nargs="?", metavar="PAPER", help=", ".join(PAPERS))
    parser.add_argument("exhibits", nargs="*", metavar="TABLE|FIGURE", help="all, if none is named")
    parser.add_argument("--quick", action="store_true", help="tiny sizes, kept in results/local")
    parser.add_argument("--jobs", type=int, default=2, metavar="N", help="processes (default 2)")
    parser.add_argument("--afresh", action="store_true", help="forget what was measured before")
    parser.add_argument("--measured", action="store_true", help="run nothing, write what is there")
    return parser


def its_own(module: ModuleType, words: list[str]) -> int:
    """A paper that reads its own command line."""
    sys.argv = [f"reproduce {words[0]}", *words[1:]]
    module.main()
    return 0


def verdicts() -> int:
    modules = (import_module(f"reproduce.{name}") for name in PAPERS)
    papers = [module.PAPER for module in modules if hasattr(module, "PAPER")]
    bodies = verdict_page(papers, lambda name: Journal(name, measured=True))
    page = DOCS / "papers" / "verdicts.md"
    page.write_text(replace(page.read_text(), "reproduce", bodies.get))
    print(bodies["counted"])
    print(f"written: {os.path.relpath(page)}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
