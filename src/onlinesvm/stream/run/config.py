"""What is learned from what, and how: settled when a run begins."""

from __future__ import annotations

import json
import platform
import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from onlinesvm.files.json_values import to_json
from onlinesvm.model.container import FORMAT as MODEL_FORMAT
from onlinesvm.stream.run.options import RunOptions
from onlinesvm.stream.sources import Schema, Source

__all__ = ["RunConfig"]

FORMAT = 3  # of the folder: goes up with what its files say
_LARGEST = 1 << 24
_NAMES = ("format", "run", "source", "schema", "model", "options", "versions")


@dataclass(frozen=True, slots=True)
class RunConfig:
    """What a run is, settled when it begins.

    Attributes
    ----------
    run : str
        Sixteen hexadecimal digits that no other run has.
    source : dict
        `name`, `identity`, `replays` and `live` of the source.
    schema : Schema
    model : dict
        `class`, `parameters` as text, and `name` in the metrics.
    options : RunOptions
    versions : dict of str to str
        What began it.
    """

    run: str
    source: dict[str, Any]
    schema: Schema
    model: dict[str, Any]
    options: RunOptions
    versions: dict[str, str]

    @staticmethod
    def new(source: Source, model: Any, options: RunOptions) -> RunConfig:
        """Of a run that begins."""
        import onlinesvm

        return RunConfig(
            secrets.token_hex(8),
            {
                "name": source.name,
                "identity": to_json("identity", source.identity()),
                "replays": source.replays,
                "live": source.live,
            },
            source.schema,
            _about(model),
            options,
            {
                "onlinesvm": onlinesvm.__version__,
                "numpy": np.__version__,
                "python": platform.python_version(),
            },
        )

    def demand(self, source: Source) -> None:
        """A ValueError unless this is the source that the run was begun with."""
        if to_json("identity", source.identity()) != self.source["identity"]:
            raise ValueError(
                f"source {source.name!r} is not the one the run was begun with, "
                f"{self.source['name']!r}, or has changed; open that one"
            )
        if source.replays != self.source["replays"] or source.schema != self.schema:
            raise ValueError(
                f"source {source.name!r} has other columns or types than the run was begun with; "
                "open it with schema=read_run(folder).schema"
            )

    def to_json(self) -> str:
        """As a run folder keeps it."""
        facts = {
            "format": [FORMAT, MODEL_FORMAT],
            "run": self.run,
            "source": self.source,
            "schema": self.schema.to_json(),
            "model": self.model,
            "options": self.options.to_json(),
            "versions": self.versions,
        }
        return json.dumps(facts, allow_nan=False)

    @staticmethod
    def from_json(text: str, path: Path) -> RunConfig:
        """From the database of a run, which has that path."""
        try:
            return _understood(text, path)
        except (
            TypeError,
            LookupError,
            AttributeError,
            ArithmeticError,
            RecursionError,
            json.JSONDecodeError,
        ) as e:
            raise ValueError(f"{path} is damaged: {e!s:.100}") from None


def _understood(text: str, path: Path) -> RunConfig:
    if len(text) > _LARGEST:
        raise ValueError(f"{path} says more than any run")
    facts = json.loads(text)
    library = str(facts["versions"]["onlinesvm"])[:20]
    if facts["format"] != [FORMAT, MODEL_FORMAT]:
        raise ValueError(
            f"{path} has format {facts['format']!r:.20} of onlinesvm {library}, this library "
            f"reads {[FORMAT, MODEL_FORMAT]}; go on with that version, or begin anew"
        )
    if facts.keys() != set(_NAMES):
        raise ValueError(f"{path} must have {', '.join(_NAMES)}, and nothing else")
    run, source, model = facts["run"], facts["source"], facts["model"]
    bytes.fromhex(run)
    if source.keys() != {"name", "identity", "replays", "live"} or len(run) != 16:
        raise ValueError(f"{path} does not say what is learned from what")
    if not isinstance(source["replays"], bool) or not isinstance(model, dict):
        raise ValueError(f"{path} does not say what is learned from what")
    for word in (source["name"], model["class"], model["name"], model["parameters"]):
        if not isinstance(word, str):
            raise ValueError(f"{path} does not say what is learned from what")
    options = RunOptions.from_json(facts["options"])
    schema = Schema.from_json(facts["schema"])
    return RunConfig(run, source, schema, model, options, facts["versions"])


def _about(model: Any) -> dict[str, Any]:
    last = model.steps[-1][1] if hasattr(model, "steps") else model
    return {
        "class": type(model).__name__,
        "name": type(last).__name__,
        "parameters": " ".join(repr(model).split()),
    }
