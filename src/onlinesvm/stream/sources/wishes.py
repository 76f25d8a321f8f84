"""What the user asked for, what the columns look like, and the schema that comes of both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast, get_args

from onlinesvm.data.arguments import suggestion
from onlinesvm.stream.sources.arrow import compute
from onlinesvm.stream.sources.kinds import Verdict, date_form, judge
from onlinesvm.stream.sources.schema import Column, Kind, Part, Schema
from onlinesvm.stream.sources.values import without_gaps

__all__ = ["Settled", "Wishes", "distinct_names", "settle"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Wishes:
    """The words of `open_source`."""

    target: str | int | None = None
    key: str | int | Sequence[str | int] | None = None
    ignore: Sequence[str | int] = ()
    types: Mapping[str, str] = field(default_factory=dict)
    missing: Sequence[str] = ()
    header: bool | None = None
    separator: str | None = None
    schema: Schema | None = None

    @property
    def keys(self) -> tuple[str | int, ...]:
        """The columns that name an example together."""
        if self.key is None:
            return ()
        return (self.key,) if isinstance(self.key, str | int) else tuple(self.key)


@dataclass(frozen=True, slots=True)
class Settled:
    """A schema, and where the format finds its columns: the number of each that is there."""

    schema: Schema
    places: Mapping[str, int]
    notes: tuple[str, ...] = ()


def settle(
    where: str, names: Sequence[str], cells: Mapping[str, Any], wishes: Wishes, decimal: str = ""
) -> Settled:
    """The schema of columns with these names, whose first cells are given as text."""
    if wishes.schema is not None:
        return _fitted(where, names, wishes.schema)
    missing = tuple(dict.fromkeys(word.strip() for word in wishes.missing))
    verdicts = {name: judge(name, cells[name], decimal, missing) for name in names}
    target, said = _target(where, names, verdicts, cells, wishes)
    keys = {_column(where, names, which, "key") for which in wishes.keys}
    ignored = {_column(where, names, which, "ignore") for which in wishes.ignore}
    types = {_column(where, names, n, "types"): _kind(n, word) for n, word in wishes.types.items()}
    if target is not None and target in keys | ignored:
        raise ValueError(f"{where}: {target!r} is the target; name another column as key or ignore")
    columns, notes = [], list(said)
    for name in names:
        part: Part = "feature"
        if name in ignored:
            part = "ignored"
        elif name == target:
            part = "target"
        elif name in keys:
            part = "key"
        verdict = verdicts[name]
        if name in types:
            verdict = _as_told(where, name, cells[name], types[name], decimal, missing)
        if part == "feature" and verdict.note:
            notes.append(verdict.note)
        if part == "feature" and verdict.is_id:
            part = "ignored"
        columns.append(_for_its_part(Column(name, verdict.kind, part, verdict.form)))
    if not any(c.part == "feature" for c in columns):
        raise ValueError(
            f"{where}: no column is left to learn from; it has {_listed(names)}, "
            "of which target, key and ignore take all"
        )
    places = {name: j for j, name in enumerate(names)}
    return Settled(Schema(tuple(columns), missing=missing), places, tuple(notes))


def distinct_names(names: Sequence[str]) -> tuple[list[str], tuple[str, ...]]:
    """Names of which none comes twice, and what had to be said of that."""
    made: dict[str, None] = {}
    for j, name in enumerate(names):
        plain = fresh = name.strip() or f"x{j}"
        k = 2
        while fresh in made:
            fresh, k = f"{plain}.{k}", k + 1
        made[fresh] = None
    changed = [new for new, old in zip(made, names, strict=True) if new != old.strip()]
    told = f"columns without a name of their own are called {_listed(changed)}"
    return list(made), (told,) if changed else ()


def _target(
    where: str,
    names: Sequence[str],
    verdicts: Mapping[str, Verdict],
    cells: Mapping[str, Any],
    wishes: Wishes,
) -> tuple[str | None, tuple[str, ...]]:
    """The column to be learned: the last that has values, unless another is asked for."""
    if wishes.target is None:
        taken = {_column(where, names, which, "ignore") for which in wishes.ignore}
        taken |= {_column(where, names, which, "key") for which in wishes.keys}
        free = [n for n in names if n not in taken and not verdicts[n].is_empty]
        usual = [n for n in free if 2 * cells[n].null_count < max(len(cells[n]), 1)] or free
        last = usual[-1] if usual else None
        which = "last column" if usual == free or last == free[-1] else "last that most rows have"
        return last, (f"the target is the {which}, {last!r}: target= names another",)
    if wishes.target == "none" and "none" not in names:
        return None, ()
    return _column(where, names, wishes.target, "target"), ()


def _column(where: str, names: Sequence[str], which: str | int, option: str) -> str:
    """A column by its name, or by its number, from the end if negative."""
    if which in names:
        return str(which)
    try:
        return names[range(len(names))[int(which)]]
    except (ValueError, IndexError):
        raise ValueError(
            f"{where}: {option} names {which!r}, but the columns are {_listed(names)}"
            f"{suggestion(which, names)}"
        ) from None


def _kind(name: str, word: str) -> tuple[Kind, str]:
    kind, _, form = word.partition(":")
    if kind not in get_args(Kind):
        raise ValueError(f"types has {word!r} for {name!r}; use one of {', '.join(get_args(Kind))}")
    return cast(Kind, kind), form


def _as_told(
    where: str,
    name: str,
    cells: Any,
    told: tuple[Kind, str],
    decimal: str,
    missing: Sequence[str],
) -> Verdict:
    kind, form = told
    if kind == "number":
        form = form or decimal
    if kind == "date" and not form:
        there = compute().drop_null(without_gaps(cells, missing))
        form = date_form(there)
        if not form and judge(name, cells, missing=missing).kind == "number":
            form = "epoch"
        if not form and len(there):
            raise ValueError(
                f"{where}: types says date for {name!r}, but {there[0].as_py()!r:.40} has no known "
                f"form; give it: types={{{name!r}: 'date:%d %b %Y'}}"
            )
    return Verdict(kind, form)


def _for_its_part(column: Column) -> Column:
    """A target is a number or a class, whatever it looks like; a key likewise."""
    if column.part in ("target", "key") and column.kind in ("flag", "text"):
        return replace(column, kind="category")
    if column.part == "key" and column.kind == "date":
        return replace(column, kind="category", form="")
    return column


def _fitted(where: str, names: Sequence[str], schema: Schema) -> Settled:
    """Columns that are there, by the names of a schema that is known."""
    places = {name: j for j, name in enumerate(names)}
    missing = [c.name for c in schema.features if c.name not in places]
    if missing:
        raise ValueError(
            f"{where}: no column {_listed(missing)}, which the schema has; "
            f"the columns are {_listed(names)}"
        )
    known = {c.name for c in schema.columns}
    more = [name for name in names if name not in known]
    notes = (f"columns that the schema does not have are left out: {_listed(more)}",)
    return Settled(schema, places, notes if more else ())


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(map(repr, names[:6]))
    return shown + (f" and {len(names) - 6} more" if len(names) > 6 else "")
