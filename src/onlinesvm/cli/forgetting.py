"""`unlearn`: what somebody brought is forgotten, with a certificate that anybody can check."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console

from onlinesvm.cli.console import plain
from onlinesvm.cli.saved import Saved
from onlinesvm.cli.targets import check_target
from onlinesvm.stream.run import Run, RunRecord, read_run
from onlinesvm.stream.sources import Block, Place, Schema

__all__ = ["unlearn"]


def unlearn(
    console: Console, path: Path, where: Sequence[str], certificate: Path | None, out: Path | None
) -> None:
    """Forget the examples of these keys, in a saved model or in the folder of a run."""
    pairs = [_pair(word) for word in where]
    if certificate is not None:
        check_target("--certificate", certificate)
    if path.is_dir():
        if out is not None:
            raise ValueError("--out is for a saved model; a run forgets in its folder")
        _in_run(console, path, pairs, certificate)
    else:
        if out is not None:
            check_target("--out", out)
        _in_file(console, path, pairs, certificate, out or path)


def _pair(word: str) -> tuple[str, str]:
    name, equals, value = word.partition("=")
    if not (name.strip() and equals and value.strip()):
        raise ValueError(f"--where {word}: write COLUMN=VALUE, for example --where customer=17")
    return name.strip(), value.strip()


def _in_file(
    console: Console, path: Path, pairs: list[tuple[str, str]], certificate: Path | None, out: Path
) -> None:
    saved = Saved.find(path)
    if (path.parent / "run.json").is_file() and out == path:
        raise ValueError(f"{path}: belongs to a run, which would bring it back; name {path.parent}")
    keys = [key for _, value in pairs for key in _either(saved.model, value)]
    _forget(console, saved.model, keys, certificate)
    saved.model.save(out)
    console.print(f"model       {plain(out)}", soft_wrap=True)


def _in_run(
    console: Console, folder: Path, pairs: list[tuple[str, str]], certificate: Path | None
) -> None:
    record = read_run(folder)
    column = next((c for c in record.schema.columns if c.part == "key"), None)
    if column is None:
        raise ValueError(f"{folder}: its examples have no keys; learn with --key COLUMN")
    for name, _ in pairs:
        if name != column.name:
            raise ValueError(f"--where {name}: the keys of {folder} are in {column.name!r}")
    with Run.resume(folder, _Silence.of(record)) as run:
        keys = [key for _, value in pairs for key in _either(run.model, value)]
        _forget(console, run.model, keys, certificate)
        for _ in range(2):  # two are kept: neither may know what is forgotten
            run.checkpoint()
    letters = sum(1 for _ in record.dead_letters())
    if letters:
        rows = "1 row" if letters == 1 else f"{letters:,} rows"
        path = folder / "dead_letters.jsonl"
        console.print(f"[yellow]note:[/] {rows} as they came are in {plain(path)}", soft_wrap=True)


def _either(model: Any, value: str) -> list[Any]:
    """The key as a number, where examples bear it so, and as text."""
    keys: list[Any] = [value]
    if value.lstrip("-").isdecimal() and value.isascii():
        keys.append(int(value))
    return [key for key in keys if len(model.ids_of(key))] or [value]


def _forget(console: Console, model: Any, keys: list[Any], certificate: Path | None) -> None:
    held = len(model.ids_of(keys))
    proof = model.unlearn(keys=keys, certificate=True) if held else None
    examples = "1 example" if held == 1 else f"{held:,} examples"
    left = f"{model.n_seen_:,} seen" if hasattr(model, "n_seen_") else ""
    console.print(f"[bold]{examples}[/] forgotten of {left}", soft_wrap=True)
    if proof is None:
        return
    console.print(f"{plain(proof.statement)}", soft_wrap=True)
    if certificate is not None:
        proof.save(certificate)
        console.print(f"certificate {plain(certificate)}", soft_wrap=True)
    if hasattr(model, "steps") and len(model.steps) > 1:
        console.print("[yellow]note:[/] means and scales of the first rows stay as they are")


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
        from onlinesvm.base.json_values import from_json

        return dict(from_json(self.known))

    def blocks(self, since: Place | None = None) -> Iterator[Block]:
        return iter(())

    def close(self) -> None:
        pass
