"""Draws docs/images/architecture.svg: the folders of the package by layers, and their imports.

    python tools/architecture.py

Layers are those that `lint-imports` holds (pyproject.toml); imports and lines of code are counted
from the sources.
"""

from __future__ import annotations

import ast
import re
import tomllib
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "onlinesvm"
WIDTH, BOX, HIGH, GAP = 900, (104, 44), 92, 20


def layers() -> list[list[str]]:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    return [re.findall(r"\w+", layer) for layer in contracts["contracts"][0]["layers"]]


def room_of(path: Path) -> str:
    """The folder or module right below the package."""
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imports(path: Path) -> set[str]:
    """The rooms that a file imports from."""
    here = path.relative_to(PACKAGE).parent.parts
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if not isinstance(node, ast.ImportFrom):
            continue
        if node.level:
            names = [*here[: len(here) - node.level + 1], *(node.module or "").split(".")]
        elif (node.module or "").startswith("onlinesvm"):
            names = node.module.split(".")[1:]
        else:
            continue
        names = [name for name in names if name] or [alias.name for alias in node.names]
        found.add(names[0])
    return found


def main() -> None:
    lines, edges = Counter[str](), set[tuple[str, str]]()
    for path in PACKAGE.rglob("*.py"):
        lines[room_of(path)] += len(path.read_text().splitlines())
        edges |= {(room_of(path), room) for room in imports(path)}
    places, shapes = {}, []
    rows = layers()
    for i, rooms in enumerate(rows):
        step = BOX[0] + GAP
        left = (WIDTH - len(rooms) * step + GAP) / 2
        for k, room in enumerate(rooms):
            places[room] = (left + k * step, 12 + i * HIGH)
    for a, b in sorted(edges):
        if a in places and b in places and places[a][1] < places[b][1]:
            (x, y), (u, v) = places[a], places[b]
            x, y, u = x + BOX[0] / 2, y + BOX[1], u + BOX[0] / 2
            shapes.append(f'<path d="M{x},{y} C{x},{y + 30} {u},{v - 30} {u},{v}"/>')
    for room, (x, y) in places.items():
        shapes.append(
            f'<g><rect x="{x}" y="{y}" width="{BOX[0]}" height="{BOX[1]}" rx="6"/>'
            f'<text x="{x + BOX[0] / 2}" y="{y + 19}" class="name">{room}</text>'
            f'<text x="{x + BOX[0] / 2}" y="{y + 35}">{lines[room]:,} lines</text></g>'
        )
    style = (
        "rect{fill:#eef3f8;stroke:#3b6ea5}path{fill:none;stroke:#8a99a8;opacity:.55}"
        "text{font:11px sans-serif;text-anchor:middle;fill:#333}"
        ".name{font-size:13px;font-weight:600}"
    )
    high = 12 + len(rows) * HIGH - (HIGH - BOX[1]) + 12
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {high}">'
    white = f'<rect width="{WIDTH}" height="{high}" style="fill:#fff;stroke:none"/>'
    text = f"{head}<style>{style}</style>{white}" + "\n".join(shapes) + "</svg>\n"
    (ROOT / "docs" / "images" / "architecture.svg").write_text(text)


if __name__ == "__main__":
    main()
