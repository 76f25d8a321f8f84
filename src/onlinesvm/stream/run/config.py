"""What is learned from what, and how: ``run.json``, for people and for resuming."""

from __future__ import annotations

import json
import os
import platform
import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from onlinesvm.atomic import opened_plainly, replacing
from onlinesvm.base.json_values import to_json
from onlinesvm.base.persistence import FORMAT as MODEL_FORMAT
from onlinesvm.stream.run.options import RunOptions
from onlinesvm.stream.sources import Schema, Source

__all__ = ["RunConfig"]

FORMAT = 2  # of the folder: goes up with what its files say
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

    def write(self, path: Path) -> None:
        """Whole or not at all."""
        facts = {
            "format": [FORMAT, MODEL_FORMAT],
            "run": self.run,
            "source": self.source,
            "schema": self.schema.to_json(),
            "model": self.model,
            "options": self.options.to_json(),
            "versions": self.versions,
        }
        with replacing(path, follow=False) as file:
            file.write(json.dumps(facts, indent=1, allow_nan=False).encode() + b"\n")

    @staticmethod
    def read(path: Path) -> RunConfig:
        """From a run folder."""
        if not os.path.lexists(path):
            raise ValueError(f"folder {str(path.parent)!r} has no run: run.json is missing")
        try:
            return _understood(path)
        except (
            TypeError,
            LookupError,
            AttributeError,
            ArithmeticError,
            RecursionError,
            UnicodeDecodeError,
            json.JSONDecodeError,
        ) as e:
            raise ValueError(f"{path} is damaged: {e!s:.100}") from None


def _understood(path: Path) -> RunConfig:
    with opened_plainly(path) as file:
        text = file.read(_LARGEST + 1)
    if len(text) > _LARGEST:
        raise ValueError(f"{path} is longer than any run.json")
    facts = json.loads(text.decode())
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
    for text in (source["name"], model["class"], model["name"], model["parameters"]):
        if not isinstance(text, str):
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
