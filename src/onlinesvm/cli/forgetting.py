"""`unlearn`: what somebody brought is forgotten, with a certificate that anybody can check."""

from __future__ import annotations

import re
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
    requests = [_Request.read(word) for word in where]
    if certificate is not None:
        check_target("--certificate", certificate)
    if path.is_dir():
        if out is not None:
            raise ValueError("--out is for a saved model; a run forgets in its folder")
        _in_run(console, path, requests, certificate)
    else:
        if out is not None:
            check_target("--out", out)
        _in_file(console, path, requests, certificate, out or path)


@dataclass(frozen=True, slots=True)
class _Request:
    """Whose examples are to be forgotten: a value for each key column, or for some of them."""

    word: str
    values: dict[str, str]

    @staticmethod
    def read(word: str) -> _Request:
        values: dict[str, str] = {}
        for pair in re.split(r",(?=[^,=]+=)", word):  # a comma within a value cuts nothing
            name, equals, value = (part.strip() for part in pair.partition("="))
            if not (name and equals and value) or name in values:
                raise ValueError(
                    f"--where {word}: write COLUMN=VALUE, for example --where customer=17, "
                    "or --where shop=2,customer=17 where two columns name an example"
                )
            values[name] = value
        return _Request(word, values)

    def keys(self, model: Any, columns: Sequence[str]) -> list[Any]:
        """Those it means among the keys that the examples of a model bear; none is an error."""
        wanted = [self.values.get(name) for name in columns]
        found = [key for key in model.keys_held() if _means(wanted, key)]
        if not found:
            raise ValueError(
                f"--where {self.word}: no example held bears this key; it never came, is forgotten "
                "already, or its examples were dropped"
            )
        return found


def _means(wanted: Sequence[str | None], key: Any) -> bool:
    """Whether a key has the values wanted, where one is; as a number or as text."""
    parts = key if isinstance(key, tuple) else (key,)
    return len(parts) == len(wanted) and all(
        value is None or value == str(part) for value, part in zip(wanted, parts, strict=True)
    )


def _in_file(
    console: Console, path: Path, requests: list[_Request], certificate: Path | None, out: Path
) -> None:
    saved = Saved.find(path)
    if (path.parent / "run.json").is_file() and out == path:
        raise ValueError(f"{path}: belongs to a run, which would bring it back; name {path.parent}")
    keys = [
        key for one in requests for key in one.keys(saved.model, _columns(saved) or [*one.values])
    ]
    _forget(console, saved.model, keys, certificate)
    saved.model.save(out)
    console.print(f"model       {plain(out)}", soft_wrap=True)


def _columns(saved: Saved) -> list[str]:
    """The columns that keys come from, where that is known: a model alone has forgotten them."""
    schema = saved.schema
    return [] if schema is None else [c.name for c in schema.columns if c.part == "key"]


def _in_run(
    console: Console, folder: Path, requests: list[_Request], certificate: Path | None
) -> None:
    record = read_run(folder)
    columns = [c.name for c in record.schema.columns if c.part == "key"]
    if not columns:
        raise ValueError(f"{folder}: its examples have no keys; learn with --key COLUMN")
    for one in requests:
        for name in one.values.keys() - set(columns):
            listed = ", ".join(map(repr, columns))
            raise ValueError(f"--where {name}: the keys of {folder} are in {listed}")
    with Run.resume(folder, _Silence.of(record)) as run:
        keys = [key for one in requests for key in one.keys(run.model, columns)]
        _forget(console, run.model, keys, certificate)
        for _ in range(2):  # two are kept: neither may know what is forgotten
            run.checkpoint()
    letters = sum(1 for _ in record.dead_letters())
    if letters:
        rows = "1 row" if letters == 1 else f"{letters:,} rows"
        path = folder / "dead_letters.jsonl"
        console.print(f"[yellow]note:[/] {rows} as they came are in {plain(path)}", soft_wrap=True)


def _forget(console: Console, model: Any, keys: list[Any], certificate: Path | None) -> None:
    held = len(model.ids_of(keys))
    proof = model.unlearn(keys=keys, certificate=True)
    examples = "1 example" if held == 1 else f"{held:,} examples"
    left = f"{model.n_seen_:,} seen" if hasattr(model, "n_seen_") else ""
    console.print(f"[bold]{examples}[/] forgotten of {left}", soft_wrap=True)
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
