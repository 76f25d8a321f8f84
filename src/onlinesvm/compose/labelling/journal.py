"""A desk in a folder: what was asked and answered is on disk before it counts.

``labels.jsonl`` only grows: a line for each ticket, each answer, and each of these taken back. What
a desk is follows from ``begin.onlinesvm``, the desk before the first line, and the lines.
``desk.onlinesvm`` is the desk after some of them, so that not all labels are learned again.
"""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from ...data.arguments import check_count
from ...files.atomic import plain_file, replacing
from ...files.json_values import from_json, to_json
from ...files.persistence import read_plain
from ...stream.run.appended import Appended
from ...stream.run.lock import Lock
from .desk import Asked, LabelDesk, seen_by

if TYPE_CHECKING:
    Desk = TypeVar("Desk", bound=LabelDesk)

__all__ = [
    "FolderJournal",
    "Labelled",
    "begin",
    "read_asked",
    "read_labels",
    "resume",
    "take_back",
]

LINES, BEGIN, DESK, LOCK = "labels.jsonl", "begin.onlinesvm", "desk.onlinesvm", "lock"


class FolderJournal:
    """The lines of a folder, of which ``length`` bytes are good."""

    def __init__(self, folder: Path, lock: Lock, length: int) -> None:
        self.folder, self._lock = folder, lock
        self._lines = Appended(folder / LINES, length)

    @property
    def length(self) -> int:
        return self._lines.length

    def note(self, event: Mapping[str, Any]) -> None:
        """Write a line and wait until it is on the disk."""
        before = self.length
        line = json.dumps({name: to_json(name, value) for name, value in event.items()})
        try:
            self._lines.append(line.encode() + b"\n")
            self._lines.sync()
        except BaseException:
            self.back_to(before)
            raise

    def back_to(self, length: int) -> None:
        """Cut off what came after, which did not happen."""
        self._lines.cut(length)

    def checkpoint(self, desk: LabelDesk) -> None:
        _write(self.folder / DESK, desk._pack(self.length))

    def close(self) -> None:
        self._lines.close()
        self._lock.release()


def begin(desk: LabelDesk, folder: Path) -> None:
    """Keep a desk in a folder that has none."""
    if desk._journal is not None:
        raise ValueError("this desk is kept in a folder already; close it first")
    folder.mkdir(parents=True, exist_ok=True)
    lock = Lock(folder / LOCK)
    try:
        lines = folder / LINES
        kept = any(os.path.lexists(folder / name) for name in (BEGIN, DESK))
        if kept or (lines.exists() and lines.stat().st_size):
            raise ValueError(
                f"folder {str(folder)!r} has a desk; LabelDesk.resume goes on with it, "
                "or choose another folder"
            )
        data = desk._pack()
        desk._journal = FolderJournal(folder, lock, 0)
        _write(folder / BEGIN, data)
    except BaseException:
        desk._journal = None
        lock.release()
        raise


def resume(kind: type[Desk], folder: Path) -> Desk:
    """The desk of a folder as its last line left it."""
    if not (folder / BEGIN).is_file():
        raise ValueError(f"folder {str(folder)!r} has no desk; LabelDesk(...).keep(folder) begins")
    lock = Lock(folder / LOCK)
    try:
        lines = list(_whole_lines(folder / LINES))
        desk, length = _latest(kind, folder)
        there = lines[-1][0] if lines else 0
        if there < length or not (folder / LINES).exists():
            raise ValueError(
                f"{folder / LINES} is lost or was cut: it has {there} of {length} bytes or more; "
                f"bring it back, or load {DESK} by LabelDesk.load and keep it in another folder"
            )
        if any("take_back" in event for end, event in lines if end > length):
            desk, length = _read(kind, folder / BEGIN)
        _replay(desk, [event for end, event in lines if end > length])
        desk._journal = FolderJournal(folder, lock, there)
        return desk
    except BaseException:
        lock.release()
        raise


def take_back(desk: LabelDesk) -> str:
    """Take the last answer of a kept desk back; its ticket is open again."""
    journal = desk._journal
    assert isinstance(journal, FolderJournal)
    events = [event for _, event in _whole_lines(journal.folder / LINES)]
    answers = [event["answer"] for event in _standing(events) if "answer" in event]
    if not answers:
        raise ValueError("there is no answer to take back")
    before, _ = _read(type(desk), journal.folder / BEGIN)
    event = {"take_back": answers[-1]}
    _replay(before, [*events, event])
    with desk.model._register:  # it learns nothing from elsewhere meanwhile
        if seen_by(before.model) + 1 != seen_by(desk.model):
            raise ValueError(
                "the model has learned from elsewhere since the desk was kept, which would be "
                "lost; unlearn the example instead, where the model can"
            )
        noted = journal.length
        try:
            journal.note(event)
            desk.models, desk._open, desk.answered = before.models, before._open, before.answered
            desk._met = before._met
        except BaseException:
            if desk.models is not before.models:
                journal.back_to(noted)
            raise
    journal.checkpoint(desk)
    return str(answers[-1])


@dataclass(frozen=True)
class Labelled:
    """A row that was answered, and whose it is."""

    row: Any
    y: Any
    key: Any


def read_labels(folder: Path) -> list[Labelled]:
    """Every row of a kept desk that has a label, in the order of the answers."""
    asked = {event["ask"]: event for event in read_asked(folder)}
    events = _standing([event for _, event in _whole_lines(folder / LINES)])
    answers = [(asked[event["answer"]], event["y"]) for event in events if "answer" in event]
    return [Labelled(event["row"], y, event["key"]) for event, y in answers]


def read_asked(folder: Path) -> list[dict[str, Any]]:
    """Every ticket that a kept desk ever gave, with its row and key."""
    return [event for _, event in _whole_lines(folder / LINES) if "ask" in event]


def _replay(desk: LabelDesk, events: list[dict[str, Any]]) -> None:
    """Let a desk live through what happened."""
    for event in _standing(events):
        try:
            _apply(desk, event)
        except (KeyError, TypeError) as error:
            raise ValueError(f"{LINES} has a line that no desk wrote: {error!r:.80}") from None


def _apply(desk: LabelDesk, event: Mapping[str, Any]) -> None:
    ledger = desk._ledger
    if "ask" in event:
        ledger.seen = max(ledger.seen, check_count("seen", event["seen"]))
        desk._reopen(event["ask"], Asked.from_facts(event, len(desk.models)))
        ledger.spend()
    elif "answer" in event:
        try:
            desk.answer(event["answer"], event["y"])
        except ValueError as error:
            if event["answer"] not in desk._open:
                raise
            # It stopped between the line and the model's refusal: nobody was told that it counts.
            warnings.warn(f"an answer is open again: {error}", stacklevel=4)
    else:
        desk.withdraw(event["withdraw"])


def _standing(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The events without answers that were taken back."""
    standing: list[dict[str, Any]] = []
    for event in events:
        if "take_back" not in event:
            standing.append(event)
            continue
        for i in range(len(standing) - 1, -1, -1):
            if standing[i].get("answer") == event["take_back"]:
                del standing[i]
                break
    return standing


def _whole_lines(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Each line and where it ends; one that a crash cut short never counted."""
    if not os.path.lexists(path):
        return
    end = 0
    with os.fdopen(plain_file(path, os.O_RDONLY), "rb") as file:
        for number, line in enumerate(file, 1):
            if not line.endswith(b"\n"):
                return
            end += len(line)
            try:
                event = {name: from_json(value) for name, value in json.loads(line).items()}
            except (ValueError, AttributeError, RecursionError):
                raise ValueError(f"{path}, line {number}: it is damaged") from None
            yield end, event


def _latest(kind: type[Desk], folder: Path) -> tuple[Desk, int]:
    if not os.path.lexists(folder / DESK):
        return _read(kind, folder / BEGIN)
    try:
        return _read(kind, folder / DESK)
    except (ValueError, OSError) as error:
        found = _read(kind, folder / BEGIN)
        warnings.warn(
            f"{error}; all labels are learned again, and what the model learned from elsewhere "
            "is lost",
            stacklevel=5,
        )
        return found


def _read(kind: type[Desk], path: Path) -> tuple[Desk, int]:
    try:
        return kind._unpack(read_plain(path))
    except ValueError as error:
        raise ValueError(f"{path} is not a desk this version can load: {error}") from None


def _write(path: Path, data: bytes) -> None:
    with replacing(path, follow=False) as file:
        file.write(data)
