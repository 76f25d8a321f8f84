"""JSON Lines that grow, and are read up to the last whole line."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from onlinesvm.files.atomic import opened_plainly
from onlinesvm.stream.run.appended import Appended

__all__ = ["Lines", "line", "read_lines"]

_LONGEST = 1 << 26  # a row that could not be read is quoted in full


class Lines(Appended):
    """One JSON object a line."""

    def add(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Append rows, all or none; what is no finite number is null."""
        text = "".join(line(row) + "\n" for row in rows)
        if text:
            self.append(text.encode())


def line(row: Mapping[str, Any]) -> str:
    """An object as JSON; what is no finite number is null."""
    finite = {
        name: None if isinstance(value, float) and not math.isfinite(value) else value
        for name, value in row.items()
    }
    return json.dumps(finite, allow_nan=False)


def read_lines(path: Path) -> Iterator[dict[str, Any]]:
    """The rows of a file that may be growing; a last line without end is left out."""
    with opened_plainly(path) as file:
        for number, line in enumerate(iter(lambda: file.readline(_LONGEST), b""), 1):
            if not line.endswith(b"\n"):
                return
            try:
                row = json.loads(line)
            except (ValueError, RecursionError):
                row = None
            if not isinstance(row, dict):
                raise ValueError(
                    f"{path}, line {number}: it is no JSON object; the file is damaged"
                )
            yield row
