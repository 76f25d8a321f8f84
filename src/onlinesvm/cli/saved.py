"""A model on disk, alone or in the folder of a run, and the rows that it understands."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

import onlinesvm
from onlinesvm.cli.opening import open_for
from onlinesvm.cli.options import ReadOptions
from onlinesvm.files.persistence import load_with_about
from onlinesvm.stream.automatic import kinds_of
from onlinesvm.stream.run import read_run
from onlinesvm.stream.sources import Column, Schema, Source
from onlinesvm.stream.sources.schema import Kind

__all__ = ["Saved"]

_NUMERIC = ("number", "flag")


@dataclass(frozen=True, slots=True)
class Saved:
    """A model that was learned, and the schema it was learned with where a run tells it."""

    path: Path
    model: Any
    schema: Schema | None = None
    about: Mapping[str, Any] = field(default_factory=dict)

    @staticmethod
    def find(path: Path) -> Saved:
        """From a file or the folder of a run; a file in such a folder has its schema, too."""
        if path.is_dir():
            record = read_run(path)
            return Saved(path / "model.onlinesvm", record.model(), record.schema)
        if not path.is_file():
            raise ValueError(f"{path}: no such file; name a saved model or the folder of a run")
        model, about = load_with_about(path)
        if isinstance(model, onlinesvm.ModelBank):
            raise ValueError(
                f"{path}: a ModelBank of {len(model):,} models, one for each key; save the one "
                "that is meant: onlinesvm.load(...).model(key).save(...)"
            )
        if not hasattr(model, "n_features_in_"):
            raise ValueError(f"{path}: this model has not learned anything yet")
        beside = path.parent / "run.sqlite"
        schema = read_run(path.parent).schema if beside.is_file() else None
        return Saved(path, model, schema, about)

    @property
    def key_columns(self) -> list[str] | None:
        """The columns that keys come from; None where neither a run nor the file tells."""
        if self.schema is not None:
            return [c.name for c in self.schema.columns if c.part == "key"]
        names = self.about.get("keys")
        if isinstance(names, list) and names and all(isinstance(n, str) for n in names):
            return names
        return None

    @property
    def last(self) -> Any:
        """The method itself, without what prepares its rows."""
        return self.model.steps[-1][1] if hasattr(self.model, "steps") else self.model

    def demand(self, verb: str, what: str) -> None:
        """A ValueError unless the model has that verb."""
        if not hasattr(self.model, verb):
            raise ValueError(f"{self.path}: a {type(self.last).__name__} {what}")

    def open(self, spec: str, reading: ReadOptions) -> Source:
        """Rows for this model: columns by name where it knows some, others left out."""
        schema = self.schema
        if schema is None:
            kinds = kinds_of(self.model)
            if kinds is None:
                return open_for(spec, replace(reading, target=reading.target or "none"))
            schema = self._by_names(spec, reading, kinds)
        if reading.target is not None:
            schema = _with_target(schema, reading.target)
        return open_for(spec, reading, schema)

    def _by_names(self, spec: str, reading: ReadOptions, kinds: dict[str, str]) -> Schema:
        """The model's columns, written as this file writes them."""
        found: dict[str, Column] = {}
        if spec != "-":
            looked = open_for(spec, replace(reading, target="none"))
            found = {c.name: c for c in looked.schema.columns}
            looked.close()
        columns = []
        for name, kind in kinds.items():
            like = found.get(name, Column(name, cast(Kind, kind)))
            if like.kind != kind and not {like.kind, kind} <= set(_NUMERIC):
                like = Column(name, cast(Kind, kind))
            columns.append(replace(like, part="feature"))
        return Schema(tuple(columns))


def _with_target(schema: Schema, target: str) -> Schema:
    """The same with this column as its target, of the kind it has or of words."""
    others = tuple(c for c in schema.columns if c.name != target and c.part != "target")
    if target == "none":
        return replace(schema, columns=others)
    known = next((c for c in schema.columns if c.name == target), None)
    column = Column(target, "category") if known is None else known
    return replace(schema, columns=(*others, replace(column, part="target")))
