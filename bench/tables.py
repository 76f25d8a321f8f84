"""Write the figures of bench/results into Markdown, so that no figure is ever copied by hand.

python -m bench.tables FILE.md ...

A place for figures is a pair of comment lines; what stands between them is replaced:

<!-- results: ramp_pass -->
<!-- end -->

The name is that of a result, or "sizing_by_key": a model for each key over many executors,
simulated from two results.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench.common import RESULTS, figure
from bench.quality.sizing import CASE, assumptions, sizing

MISSING = "Not measured yet."


def markdown(result: dict[str, Any]) -> str:
    """One result as a table of cases, a table of bars, and a line on where it was measured."""
    own = result["details"].get("tables", [])
    parts = [f"**{one['title']}**\n\n{table(*_split(one['rows']))}" for one in own]
    parts = parts or [_cases(result)]
    if result["bars"]:
        verdict = {True: "holds", False: "**does not hold**"}
        bars = [
            [bar["claim"], figure(bar["value"]), bar["bound"], verdict[bar["holds"]]]
            for bar in result["bars"]
        ]
        parts.append(table(["must hold", "measured", "bar", "verdict"], bars))
    if result["notes"]:
        parts.append("\n".join(f"- {note}" for note in result["notes"]))
    parts.append(_origin(result))
    return "\n\n".join(parts)


def _split(lines: list[list[str]]) -> tuple[list[str], list[list[str]]]:
    head, *rows = lines
    return head, rows


def _cases(result: dict[str, Any]) -> str:
    shown = ("best_s", "ratio", "per_second", "GFLOP/s", "accuracy", "SVs", "labels", "passes")
    shown += ("violation", "beyond %", "gap")
    rows = [
        (case, name, row) for case, group in result["cases"].items() for name, row in group.items()
    ]
    keys = [key for key in shown if any(row.get(key) is not None for _, _, row in rows)]
    titles = {"best_s": "seconds", "ratio": f"x {result['baseline']}", "per_second": "per second"}
    return table(
        ["case", "contestant", *(titles.get(key, key) for key in keys)],
        [[case, name, *(figure(row.get(key)) for key in keys)] for case, name, row in rows],
    )


def _origin(result: dict[str, Any]) -> str:
    machine = result["machine"]
    caches = ", ".join(f"{level} {size}" for level, size in machine["caches"].items())
    return (
        f"{result['date'][:10]}, commit {(result['commit'] or 'unknown')[:10]}, {machine['cpu']} "
        f"({machine['cores']} cores, {caches}), {result['isa']}, {result['compiler']}, "
        f"scikit-learn {result['versions'].get('scikit-learn')}; minimum of {result['repeats']}, "
        "one thread."
    )


def table(head: list[str], rows: list[list[str]]) -> str:
    """A table in Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    cells = ([cell.replace("|", r"\|") for cell in line] for line in lines)
    return "\n".join("| " + " | ".join(line) + " |" for line in cells)


def sizing_by_key() -> str:
    """A model for each key over many executors, from what `spark` and `bank` measured."""
    spark, bank = _result("spark"), _result("bank")
    if not spark or not bank or CASE not in spark["cases"]:
        return MISSING
    notes = "\n".join(f"- {note}" for note in assumptions(spark, bank))
    shown = table(*sizing(spark, bank))
    return f"**a model for each key: simulated**\n\n{shown}\n\n{notes}\n\n{_origin(spark)}"


def _result(name: str) -> Any:
    path = RESULTS / f"{name}.json"
    return json.loads(path.read_text()) if path.exists() else None


def fill(text: str) -> str:
    """Fill the places for results; one that is not there is said to be missing."""
    return replace(text, "results", _body)


def _body(name: str) -> str:
    if name in COMPOSED:
        return COMPOSED[name]()
    result = _result(name)
    return markdown(result) if result else MISSING


COMPOSED = {"sizing_by_key": sizing_by_key}


def replace(text: str, mark: str, body: Callable[[str], str | None]) -> str:
    """Replace what stands between the comments of this mark, by name; None leaves it as it is."""

    def place(match: re.Match[str]) -> str:
        new = body(match[2])
        return match[0] if new is None else f"{match[1]}\n{new}\n\n{match[3]}"

    places = rf"(<!-- {mark}: (\w+) -->\n).*?(<!-- end -->)"
    return re.sub(places, place, text, flags=re.DOTALL)


def main(files: list[str]) -> None:
    for file in map(Path, files):
        file.write_text(fill(file.read_text()))
        print(f"written: {file}")


if __name__ == "__main__":
    main(sys.argv[1:])
