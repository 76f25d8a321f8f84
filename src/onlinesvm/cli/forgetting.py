"""`unlearn`: examples are forgotten by key, with a certificate that anybody can check.

In this order: what will be certified is noted beside the model, the model without the examples is
on disk, the certificate is, and only then a word is said. Whatever ends the process in between, no
certificate and no word is of something that did not happen, and the same command goes on from the
note.
"""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rich.console import Console

from onlinesvm.cli.console import plain
from onlinesvm.cli.saved import Saved
from onlinesvm.cli.targets import check_target
from onlinesvm.cli.where import Request
from onlinesvm.cli.words import in_flags, rows_in_words
from onlinesvm.data.arguments import check_word
from onlinesvm.files.atomic import opened_plainly, replacing, sync_folder
from onlinesvm.files.persistence import save_with_about
from onlinesvm.stream.run import Run, RunRecord, read_run
from onlinesvm.stream.sources import Block, Place, Schema
from onlinesvm.unlearn.certificate import Certificate
from onlinesvm.unlearn.settled import SettledWarning, staying

__all__ = ["unlearn"]


def unlearn(
    console: Console,
    path: Path,
    where: Sequence[str],
    certificate: Path | None,
    out: Path | None,
    scope: str = "examples",
) -> None:
    """Forget the examples of these keys, in a saved model or in the folder of a run."""
    check_word("--scope", scope, ("examples", "all"))
    requests = [Request.read(word) for word in where]
    if certificate is not None:
        check_target("--certificate", certificate)
        for other in (path, out):
            if other is not None and os.path.realpath(certificate) == os.path.realpath(other):
                raise ValueError(f"--certificate {certificate}: would overwrite the model")
    if path.is_dir():
        if out is not None:
            raise ValueError("--out is for a saved model; a run forgets in its folder")
        _in_run(console, path, requests, certificate, scope)
    else:
        if out is not None:
            check_target("--out", out)
        _in_file(console, path, requests, certificate, out or path, scope)


def _in_file(
    console: Console,
    path: Path,
    requests: list[Request],
    certificate: Path | None,
    out: Path,
    scope: str,
) -> None:
    saved = Saved.find(path)
    saved.demand("unlearn", "keeps no examples of its own and cannot unlearn")
    in_place = os.path.realpath(out) == os.path.realpath(path)
    if (path.parent / "run.sqlite").is_file() and in_place:
        raise ValueError(f"{path}: belongs to a run, which would bring it back; name {path.parent}")
    columns = saved.key_columns
    note = _Note(Path(os.path.realpath(path)).with_name(f".{path.name}.unlearning"))
    forgotten = _forgotten(saved.model, requests, columns, note, scope)
    about = {} if columns is None else {"keys": columns}
    if in_place:
        note.write(forgotten)
    save_with_about(out, saved.model, about)
    notes = [f"model       {plain(out)}"]
    if columns is None:
        word = plain(repr(next(iter(requests[0].values))))
        notes.append(f"[yellow]note:[/] the file does not name its key column: {word} is taken")
    _certify(console, forgotten, certificate, notes, note.drop)


def _in_run(
    console: Console,
    folder: Path,
    requests: list[Request],
    certificate: Path | None,
    scope: str,
) -> None:
    record = read_run(folder)
    columns = [c.name for c in record.schema.columns if c.part == "key"]
    if not columns:
        raise ValueError(f"{folder}: its examples have no keys; learn with --key COLUMN")
    note = _Note(folder / "unlearning.json")
    with Run.resume(folder, _Silence.of(record)) as run:
        run.catch_up()  # rows that came and wait could bring the examples back
        if not run.seen:
            raise ValueError(f"{folder}: nothing was learned yet")
        forgotten = _forgotten(run.model, requests, columns, note, scope)
        note.write(forgotten)
        run.rewrite()
        _certify(console, forgotten, certificate, _left_behind(record), note.drop)


def _left_behind(record: RunRecord) -> list[str]:
    """What a run folder still has of rows as they came."""
    letters = sum(1 for _ in record.dead_letters())
    kept = [f"{rows_in_words(letters)} as they came in dead_letters.jsonl"] if letters else []
    if letters and (record.folder / "report.html").exists():
        kept.append("report.html")
    kept += [path.name for path in sorted(record.folder.glob("*.damaged"))]
    if not kept:
        return []
    return [f"[yellow]note:[/] {plain(record.folder)} also keeps {plain(', '.join(kept))}"]


# --- what is forgotten, and what was when a command before was cut short --------------------------


@dataclass(frozen=True, slots=True)
class _Forgotten:
    """Examples that a model in memory has forgotten."""

    where: list[str]
    examples: int
    seen: int | None
    statement: str
    certificate: str


def _forgotten(
    model: Any, requests: list[Request], columns: Sequence[str] | None, note: _Note, scope: str
) -> _Forgotten:
    """Forget these keys, or take up what a command before has forgotten and not certified."""
    where = [one.word for one in requests]
    found = [one.keys(model, columns) for one in requests]
    before = note.read()
    if before is not None and not any(
        Request.read(word).keys(model, columns) for word in before.where
    ):
        if before.where == where:
            return before
        again = " ".join(f"--where {word}" for word in before.where)
        raise ValueError(
            f"an unlearn with {again} was ended before it could certify; run that again first, "
            f"or remove {note.path}"
        )
    for one, keys in zip(requests, found, strict=True):
        if not keys:
            raise ValueError(
                f"--where {one.word}: no example held bears this key; it never came, is forgotten "
                "already, or its examples were dropped"
            )
    keys = list(dict.fromkeys(key for keys in found for key in keys))
    held = len(model.ids_of(keys))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SettledWarning)  # what stays is said behind the certificate
        try:
            proof = model.unlearn(keys=keys, certificate=True, scope=scope)
        except (ValueError, NotImplementedError) as error:
            raise ValueError(in_flags(str(error))) from None
    return _Forgotten(
        where, held, getattr(model, "n_seen_", None), proof.statement, proof.to_json()
    )


class _Note:
    """What is about to be forgotten and certified, on disk until it is."""

    _LARGEST = 1 << 28

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self) -> _Forgotten | None:
        """The one that a command has left that was ended, if it can be read."""
        try:
            with opened_plainly(self.path) as file:
                facts = _Forgotten(**json.loads(file.read(self._LARGEST)))
            words_fit = all(isinstance(word, str) for word in facts.where)
        except (OSError, ValueError, TypeError, RecursionError):
            return None
        texts = (facts.statement, facts.certificate)
        fits = words_fit and bool(facts.where) and all(isinstance(t, str) for t in texts)
        return facts if fits and isinstance(facts.examples, int) else None

    def write(self, forgotten: _Forgotten) -> None:
        with replacing(self.path, follow=False) as file:
            file.write(json.dumps(asdict(forgotten)).encode())

    def drop(self) -> None:
        self.path.unlink(missing_ok=True)
        sync_folder(self.path.parent)


def _certify(
    console: Console,
    forgotten: _Forgotten,
    certificate: Path | None,
    notes: list[str],
    done: Callable[[], None],
) -> None:
    """The examples are gone from the disk: write the certificate, then say so."""
    if certificate is not None:
        try:
            with replacing(certificate) as file:
                file.write(forgotten.certificate.encode())
        except OSError as error:
            why = error.strerror or str(error)
            raise OSError(
                f"{certificate}: {why}; the examples are forgotten, and the same command again "
                "writes the certificate"
            ) from None
    examples = "1 example" if forgotten.examples == 1 else f"{forgotten.examples:,} examples"
    left = "" if forgotten.seen is None else f" of {forgotten.seen:,} seen"
    lines = [f"[bold]{examples}[/] forgotten{left}", plain(forgotten.statement)]
    if certificate is not None:
        lines.append(f"certificate {plain(certificate)}")
    proof = Certificate.from_json(forgotten.certificate)
    gone = (forgotten.seen or 0) - proof.n_examples - len(proof.ids_removed)
    if gone > 0:
        lines.append(
            f"[yellow]note:[/] {rows_in_words(gone)} had been dropped by the model or forgotten "
            "before; whether any of them had these keys is not known any more"
        )
    if proof.settled:
        lines.append(f"[yellow]note:[/] {plain(in_flags(staying(proof.settled)))}")
    try:
        for line in [*lines, *notes]:
            console.print(line, soft_wrap=True)
    finally:
        done()


@dataclass(slots=True)
class _Silence:
    """The source of a run, as far as the run knows it, with nothing to say."""

    name: str
    replays: bool
    schema: Schema
    known: Any
    live: bool = False
    notes: tuple[str, ...] = ()

    @staticmethod
    def of(record: RunRecord) -> _Silence:
        facts = record.config.source
        return _Silence(facts["name"], facts["replays"], record.schema, facts["identity"])

    def identity(self) -> dict[str, Any]:
        from onlinesvm.files.json_values import from_json

        return dict(from_json(self.known))

    def blocks(self, since: Place | None = None) -> Iterator[Block]:
        return iter(())

    def close(self) -> None:
        pass
