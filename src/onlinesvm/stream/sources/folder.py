"""A folder that grows: files in the order of their names, each read once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from onlinesvm.stream.sources.examples import no_examples
from onlinesvm.stream.sources.raw import Ending
from onlinesvm.stream.sources.schema import Schema
from onlinesvm.stream.sources.source import BadRow, Block, Place, Source
from onlinesvm.stream.sources.text import whole_number

__all__ = ["Folder"]

_UNDER_WAY = (".tmp", ".part", ".crdownload", "~")

# Opens a file by a schema, or settles one where there is none yet.
Opener = Callable[[Path, Schema | None, Ending], Source]


class Folder:
    """Rows of all files of a folder, and of those that will come.

    The last file may still be written: it is read up to its last whole line, and a line that is
    not finished is read once another file follows. Silence ends `blocks`; call it again with the
    last place. How the rows of a file under way are cut into blocks depends on when one looks;
    which rows come, and in which order, does not.
    """

    replays = True
    live = True

    def __init__(self, path: Path, opener: Opener, schema: Schema | None) -> None:
        self.path, self.name = path, f"{path.name}/"
        self._open = opener
        self.notes: tuple[str, ...] = ()
        if schema is None:
            schema = self._settled()
        self.schema = schema

    def identity(self) -> dict[str, Any]:
        """The columns: files come and go."""
        return {"format": "folder", "columns": [c.name for c in self.schema.columns]}

    def blocks(self, since: Place | None = None) -> Iterator[Block]:
        """The rows behind a place, up to the last that is there now."""
        current, passed, at = _checked(since)
        names = self._names()
        before = [name for name in names if name < current]
        if len(before) > passed:
            yield self._late(before, passed, current, at)
        ahead = [name for name in names if name >= current]
        count = len(before)
        for i, name in enumerate(ahead):
            is_last = i == len(ahead) - 1
            start = at if name == current else None
            yield from self._file(name, count + i, start, "unfinished" if is_last else "record")

    def close(self) -> None:
        """Nothing is held between blocks."""

    def _file(self, name: str, passed: int, at: Any, ending: Ending) -> Iterator[Block]:
        path = self.path / name
        try:
            if not path.stat().st_size:
                return
            source = self._open(path, self.schema, ending)
        except (ValueError, FileNotFoundError) as error:
            if ending == "record":
                row = BadRow("", f"the file cannot be read: {error}", file=name)
                yield self._nothing({"file": name, "passed": passed, "at": "unreadable"}, [row])
            return  # the last file may become readable
        if at == "unreadable":
            return
        for block in source.blocks(at):
            place = {"file": name, "passed": passed, "at": dict(block.end)}
            yield Block(block.examples, place, block.bad)

    def _late(self, before: list[str], passed: int, current: str, at: Any) -> Block:
        reason = (
            f"{len(before) - passed} more of the files before {current} than when they were read; "
            "give new files names that sort behind"
        )
        place = {"file": current, "passed": len(before), "at": at}
        return self._nothing(place, [BadRow("", reason, file=self.name)])

    def _nothing(self, place: Place, bad: list[BadRow]) -> Block:
        return Block(no_examples(self.schema), place, bad)

    def _names(self) -> list[str]:
        try:
            entries = [entry for entry in self.path.iterdir() if entry.is_file()]
        except OSError as error:
            raise ValueError(f"{self.path}: cannot be listed: {error.strerror}") from None
        names = (entry.name for entry in entries)
        return sorted(n for n in names if not n.startswith(".") and not n.endswith(_UNDER_WAY))

    def _settled(self) -> Schema:
        """The schema of the first file that has rows."""
        names = self._names()
        for name in names:
            if (self.path / name).stat().st_size:
                source = self._open(self.path / name, None, "record")
                self.notes = source.notes
                return source.schema
        raise ValueError(
            f"{self.path}: has no file with rows yet; types are settled by the first one"
        )


def _checked(since: Place | None) -> tuple[str, int, Any]:
    if since is None:
        return "", 0, None
    name, at = since.get("file"), since.get("at")
    if not isinstance(name, str) or not (isinstance(at, dict) or at in (None, "unreadable")):
        raise ValueError("the place is of another source than a folder")
    return name, whole_number(since, "passed"), at
