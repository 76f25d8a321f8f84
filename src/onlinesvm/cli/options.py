"""Options of the commands: each field of a dataclass that a command takes is one option."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import Field, dataclass, field, fields, is_dataclass, replace
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import Annotated, Any, Self, get_args, get_type_hints

import typer

from onlinesvm.cli.console import one_line_errors
from onlinesvm.cli.recipe import parse_pairs, parse_params, parse_words

__all__ = [
    "AuditOptions",
    "ColumnOptions",
    "EvaluateOptions",
    "FormOptions",
    "LabelOptions",
    "LearnOptions",
    "PredictOptions",
    "ReadOptions",
    "TuneOptions",
    "folder_for",
    "method_names",
    "register",
]

_READING = "How rows are read"
Read = Callable[[list[str]], Any]


def option(
    help: str, *flags: str, default: Any = None, read: Read | None = None, **more: Any
) -> Any:
    """A field of a dataclass that is an option; `read` makes the value of repeated words."""
    about = {"parameter": typer.Option(*flags, help=help, **more), "read": read}
    if default is dict:
        return field(default_factory=dict, metadata=about)
    return field(default=default, metadata=about)


def argument(name: str, help: str) -> Any:
    """A field that is an argument; the command line asks for it, a file need not have it."""
    about = {"parameter": typer.Argument(metavar=name, help=help, show_default=False)}
    return field(default=None, metadata=about)


def how(help: str, *flags: str, **more: Any) -> Any:
    """An option of the panel that says how rows are read."""
    return option(help, *flags, rich_help_panel=_READING, **more)


def register(app: typer.Typer, command: Callable[..., None]) -> None:
    """Add a command; a parameter that is a dataclass stands for an option for each field."""
    hints = get_type_hints(command, include_extras=True)
    groups: dict[str, Any] = {name: kind for name, kind in hints.items() if is_dataclass(kind)}
    parameters: list[Parameter] = []
    for one in signature(command).parameters.values():
        kind = hints[one.name]
        shown = _parameters(kind) if one.name in groups else [one.replace(annotation=kind)]
        parameters += [each.replace(kind=Parameter.KEYWORD_ONLY) for each in shown]

    def run(**given: Any) -> None:
        with one_line_errors():
            for name, group in groups.items():
                read = {one.name: _value(one, given.pop(one.name)) for one in fields(group)}
                given[name] = group(**read)
            command(**given)

    run.__name__, run.__doc__ = command.__name__, command.__doc__
    run.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {one.name: one.annotation for one in parameters}
    app.command()(run)


def _parameters(group: Any) -> list[Parameter]:
    hints = get_type_hints(group)
    found = []
    for one in fields(group):
        about, kind, default = one.metadata["parameter"], hints[one.name], one.default
        if one.metadata.get("read"):  # words that are read later
            kind, default = list[str] | None, None
        if isinstance(about, typer.models.ArgumentInfo):
            kind, default = get_args(kind)[0], Parameter.empty
        found.append(
            Parameter(
                one.name,
                Parameter.KEYWORD_ONLY,
                default=default,
                annotation=Annotated[kind, about],
            )
        )
    return found


def _value(one: Field[Any], given: Any) -> Any:
    read = one.metadata.get("read")
    return read(given or []) if read else given


# --- how rows are read ----------------------------------------------------------------------------


def _types(words: list[str]) -> dict[str, str]:
    return parse_pairs("--types", words, "zip=category")


@dataclass(frozen=True, slots=True, kw_only=True)
class FormOptions:
    """How fields are told apart; None means that the source is looked at."""

    header: bool | None = how(
        "Whether the first line names the columns.",
        "--header/--no-header",
        show_default="where it shows",
    )
    separator: str | None = how(
        "Between fields; tab, space and spaces (any number) are words.", show_default="by looking"
    )
    format: str | None = how("Of the rows, where neither name nor content tells.")

    def reading(self, **changed: Any) -> ReadOptions:
        """The options of these that say how rows are read."""
        known = {
            f.name: getattr(self, f.name) for f in fields(ReadOptions) if hasattr(self, f.name)
        }
        return ReadOptions(**known | changed)


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnOptions(FormOptions):
    """What the columns are."""

    target: str | None = how(
        "The column to be learned, by name or number; none: there is none.",
        show_default="the last",
    )
    ignore: tuple[str, ...] = how(
        "A column to leave out; repeatable.", default=(), read=tuple[str, ...]
    )
    types: Mapping[str, str] = how(
        "number, flag, category, text or date: overrides the detected type; repeatable.",
        default=dict,
        read=_types,
        metavar="NAME=KIND",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadOptions(ColumnOptions):
    """All options of a source."""

    key: tuple[str, ...] = how(
        "The column with names of the examples; repeatable: together they name one.",
        default=(),
        read=tuple[str, ...],
    )
    missing: tuple[str, ...] = how(
        "Spellings of no value besides the usual ones; repeatable.",
        default=(),
        read=parse_words,
        metavar="WORD,...",
    )


# --- commands -------------------------------------------------------------------------------------


def method_names(incomplete: str) -> list[str]:
    """For shells that complete what is typed."""
    import onlinesvm

    names = (cls.__name__ for cls in onlinesvm.all_estimators())
    return [name for name in names if name.lower().startswith(incomplete.lower())]


_ROWS = "A file (CSV, JSON Lines, Parquet, ...; packed or not), a folder, an address, or -."
SAVED = "A saved model, or the folder of a run."


def _model(chosen: str) -> Any:
    return option(
        "A method, see [bold]onlinesvm methods[/].",
        show_default=f"chosen by the {chosen}",
        autocompletion=method_names,
    )


def _params(help: str = "A parameter of it; repeatable.") -> Any:
    return option(help, "-p", "--param", default=dict, read=parse_params, metavar="NAME=VALUE")


@dataclass(frozen=True, slots=True, kw_only=True)
class LearnOptions(ReadOptions):
    """All options of `learn`, under the names that a TOML file has them by."""

    source: str | None = argument(
        "SOURCE",
        "A file (CSV, JSON Lines, Parquet, ...; packed or not), a folder, an address, - for a "
        "pipe, or a .toml file with all of this.",
    )
    model: str | None = _model("target")
    params: Mapping[str, Any] = _params()
    run: str | None = option(
        "The folder of the run; where it has one, it goes on.", show_default="NAME.run"
    )
    prepare: str | None = option(
        "automatic: gaps, scales, words; as-is: numbers to the model alone.",
        show_default="automatic",
    )
    lesson: int | None = option(
        "Most rows predicted before they are learned.", min=1, show_default="1024"
    )
    window: int | None = option("Size of the recent window, in rows.", min=1, show_default="1000")
    metrics: tuple[str, ...] = option(
        "A metric, such as kappa; repeatable.", "--metric", default=(), read=tuple[str, ...]
    )
    fsync: str | None = option(
        "How often to sync to disk: always, interval or never.", show_default="interval"
    )
    limit: int | None = option("Learn so many rows, no more.", min=1)
    max_bad: float | None = option(
        "Share of rows that may be bad.", min=0, max=1, show_default="0.1"
    )
    follow: bool | None = option(
        "Wait for more, until Ctrl-C.", "--follow/--no-follow", show_default="for brokers"
    )
    keep_rows: bool | None = option("Keep rows as read, for unlearn --scope all.", "--keep-rows")

    def over(self, others: LearnOptions) -> Self:
        """These, and where they say nothing the others; tables are joined."""
        joined: dict[str, Any] = {}
        for one in fields(self):
            mine, theirs = getattr(self, one.name), getattr(others, one.name)
            if isinstance(mine, Mapping):
                joined[one.name] = {**theirs, **mine}
            elif mine is None or mine == ():
                joined[one.name] = theirs
        return replace(self, **joined)


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelOptions(ColumnOptions):
    """The options of `label`."""

    pool: str | None = argument("POOL", "Rows without labels: a file in any form that learn takes.")
    target: str | None = option(
        "What the labels are called; a column of that name is not learned.", default="label"
    )
    classes: str | None = option(
        "The labels to choose from: a,b,c.", show_default="those of the run"
    )
    run: Path | None = option(
        "The folder with all labels; where it has some, it goes on.", show_default="NAME.labels"
    )
    model: str | None = _model("columns")
    params: Mapping[str, Any] = _params()


@dataclass(frozen=True, slots=True, kw_only=True)
class PredictOptions(FormOptions):
    """The options of `predict`."""

    model: Path | None = argument("MODEL", SAVED)
    source: str | None = argument("SOURCE", _ROWS)
    out: Path | None = option("Where the rows go.", show_default="standard output")
    scores: bool = option("Decision values behind each prediction.", "--scores", default=False)
    proba: bool = option("The probability of each class, if calibrated.", "--proba", default=False)
    safe_csv: bool = option(
        "An apostrophe before labels that begin like a formula.", "--safe-csv", default=False
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluateOptions(FormOptions):
    """The options of `evaluate`."""

    model: Path | None = argument("MODEL", SAVED)
    source: str | None = argument("SOURCE", _ROWS)
    target: str | None = how(
        "The column with the labels, by name or number.", show_default="that of the model"
    )
    as_json: bool = option("One JSON object.", "--json", default=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditOptions(ReadOptions):
    """The options of `audit`."""

    source: str | None = argument("SOURCE", _ROWS)
    out: Path | None = option("Where the table goes.", show_default="NAME.audit.csv")
    page: Path | None = option("Where the page goes.", show_default="NAME.audit.html")
    pool: Path | None = option("Where doubtful rows go as they came, for label.")
    rows: int = option("First rows to look at.", default=100_000, min=10)


@dataclass(frozen=True, slots=True, kw_only=True)
class TuneOptions(ReadOptions):
    """The options of `tune`."""

    source: str | None = argument("SOURCE", _ROWS)
    model: tuple[str, ...] = option(
        "A method to try; repeatable.",
        default=(),
        read=tuple[str, ...],
        show_default="usual ones",
        autocompletion=method_names,
    )
    params: Mapping[str, Any] = _params("What all candidates have; repeatable.")
    rows: int = option("First rows to try on.", default=20_000, min=50)
    candidates: int = option("How many are tried.", default=27, min=2)
    seed: int = option("Another seed, other candidates.", default=0, min=0)
    jobs: int | None = option("Processes.", min=1, show_default="all processors")
    folder: Path | None = option("Where trials are kept, to go on.", show_default="NAME.tune")


def folder_for(spec: str, ending: str) -> Path:
    """A folder under the name of a source.

    >>> folder_for("data/flows.csv.gz", ".run").name, folder_for("-", ".run").name
    ('flows.run', 'stdin.run')
    """
    if spec == "-":
        return Path(f"stdin{ending}")
    name = re.sub(r"[?#].*", "", spec.rstrip("/")).rpartition("/")[2].partition(".")[0]
    return Path((name or "source") + ending)
