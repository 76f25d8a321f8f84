"""Results that outlive an interrupted run: each is written down the moment it is there.

    journal = Journal("huller")
    facts = journal.measure("SVC, digit 8", lambda: {"error": ..., "seconds": ...})
    journal.picture("figure_5", figure)

A name measured before is read from ``reproduce/results/<paper>.json`` instead; `--afresh` forgets.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.machine import describe

if TYPE_CHECKING:
    from matplotlib.figure import Figure

RESULTS = Path(__file__).parent / "results"


class Journal:
    """The results of one paper, with the machine and commit of each, in one JSON file."""

    def __init__(self, paper: str, *, afresh: bool = False, folder: Path = RESULTS) -> None:
        self.paper = paper
        self.folder = folder
        self.path = folder / f"{paper}.json"
        folder.mkdir(parents=True, exist_ok=True)
        kept = self.path.exists() and not afresh
        self._pages: dict[str, Any] = json.loads(self.path.read_text()) if kept else {}
        self._about = describe()

    def measure(self, name: str, run: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """The facts under this name: as written down before, or by running now."""
        if name not in self._pages:
            facts = run()
            date = datetime.now(UTC).isoformat(timespec="seconds")
            self._pages[name] = {"facts": facts, "date": date, **self._about}
            self._write()
        facts = self._pages[name]["facts"]
        assert isinstance(facts, dict)
        return facts

    def __contains__(self, name: str) -> bool:
        return name in self._pages

    def picture(self, name: str, figure: Figure) -> Path:
        """Saves a figure beside the results."""
        path = self.folder / f"{self.paper}_{name}.png"
        figure.savefig(path, dpi=120)
        return path

    def _write(self) -> None:
        # Written beside and moved: an interrupted write must not cost hours of results.
        draft = self.path.with_suffix(".json.part")
        draft.write_text(json.dumps(self._pages, indent=1) + "\n")
        draft.replace(self.path)
