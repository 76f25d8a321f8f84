"""From columns to a model: what each kind of column needs, and which method suits a newcomer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from sklearn.base import is_classifier

import onlinesvm
from onlinesvm.stream.sources import Column, Examples, Schema

__all__ = [
    "Choice",
    "as_they_are",
    "choose",
    "kinds_of",
    "prepared",
    "task_of",
    "with_open_classes",
]

o: Any = onlinesvm  # checkers see members of a core where a constructor has parameters

Task = Literal["classify", "regress", "detect"]

MOST_LABELS = 20  # different numbers of a target, beyond which they are sizes and not names
MOST_WITH_KERNEL = 5  # classes, each of which costs a machine of its own
MOST_CATEGORIES = 100  # of one column, that are told apart; more are hashed
_DENSE = ("number", "flag")


@dataclass(frozen=True, slots=True)
class Choice:
    """A model, and in one sentence why this one."""

    model: Any
    why: str


def task_of(schema: Schema, examples: Examples) -> Task:
    """What there is to learn: labels, numbers, or what is usual where there is no target."""
    if schema.target is None or examples.y is None:
        return "detect"
    kind = next((c.kind for c in schema.columns if c.part == "target"), "number")
    y = np.asarray(examples.y)
    if kind in ("category", "text") or y.dtype.kind not in "fiu":
        return "classify"
    whole = y.dtype.kind in "iu" or bool(np.all(y == np.round(y)))
    return "classify" if whole and len(np.unique(y)) <= MOST_LABELS else "regress"


def choose(schema: Schema, examples: Examples) -> Choice:
    """A method that does well without further words, in time and memory that stay bounded.

    Kernels where they pay: on numbers and categories with few classes. Linear steps on text and
    sparse rows, and where many classes would each need a machine.
    """
    task, target = task_of(schema, examples), schema.target
    linear = schema.sparse or any(c.kind == "text" for c in schema.features)
    if task == "detect":
        return Choice(o.NormaOneClassSVM(), "there is no target: it learns what is usual")
    labels = len(np.unique(np.asarray(examples.y).astype(str)))
    if task == "regress":
        why = f"{target!r} has {labels:,} different numbers in the first rows: regression"
        return Choice(o.PassiveAggressiveRegressor() if linear else o.NormaSVR(), why)
    if linear or labels > MOST_WITH_KERNEL:
        what = "words" if linear else f"{labels} labels"
        return Choice(
            o.PassiveAggressiveClassifier(classes="open"), f"{what}: linear, constant time per row"
        )
    return Choice(
        # Below s = -1 and with the oldest forgotten first, it also follows a stream that turns.
        o.RampSVC(classes="open", s=-3.0, forget="oldest", max_support=1000, keep_non_support=500),
        f"{labels} labels: a kernel that tolerates label noise and drift, in bounded memory",
    )


def prepared(schema: Schema, examples: Examples, model: Any) -> Any:
    """The model behind what these columns need, by the first examples.

    Numbers are filled and scaled, dates taken apart, categories get columns of their own or, where
    there are many, a hash, texts are counted by word. Sparse rows go to the model as they are.
    """
    if schema.sparse:
        return model
    by_kind = _by_kind(schema, examples)
    if by_kind.keys() <= set(_DENSE):
        steps = [("gaps", o.OnlineImputer()), ("scale", o.OnlineScaler()), ("model", model)]
        return _named(steps, schema)
    parts = [(kind, _STEPS[kind](), names) for kind, names in by_kind.items()]
    return o.OnlinePipeline([("columns", o.OnlineColumns(parts)), ("model", model)])


def as_they_are(schema: Schema, model: Any) -> Any:
    """The model alone, which then needs numbers without gaps; it knows its columns by name."""
    if schema.sparse:
        return model
    words = [c for c in schema.features if c.kind not in _DENSE]
    if words:
        raise ValueError(
            f"column {words[0].name!r} is a {words[0].kind}, which no model takes as it is; "
            f"prepare it, or ignore it"
        )
    return _named([("model", model)], schema)


def _named(steps: list[tuple[str, Any]], schema: Schema) -> Any:
    return o.OnlinePipeline(steps).name_columns([c.name for c in schema.features])


def _by_kind(schema: Schema, examples: Examples) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for column in schema.features:
        many = column.kind == "category" and _has_many(examples, column)
        found.setdefault("many" if many else column.kind, []).append(column.name)
    return found


def _has_many(examples: Examples, column: Column) -> bool:
    return len(set(examples.X[column.name].tolist())) > MOST_CATEGORIES


def _numbers() -> list[Any]:
    return [o.OnlineImputer(), o.OnlineScaler()]


# By kind, and so are the parts called: a saved model tells by that what its columns hold.
_STEPS: dict[str, Callable[[], Any]] = {
    "number": _numbers,
    "flag": _numbers,
    "date": lambda: [o.OnlineDates(), *_numbers()],
    "category": lambda: o.OnlineOneHot(max_categories=MOST_CATEGORIES, unknown="infrequent"),
    "many": lambda: o.OnlineHashing(1024),
    "text": lambda: o.OnlineText(),
}


def kinds_of(model: Any) -> dict[str, str] | None:
    """What the columns of a saved model hold, as far as it knows their names.

    "number" may be a flag, too.
    """
    first = model.steps[0][1] if hasattr(model, "steps") else model
    if isinstance(first, o.OnlineColumns):
        kinds = {"many": "category"}
        return {
            name: kinds.get(part, part if part in _STEPS else "number")
            for part, names in first.columns_.items()
            for name in names
        }
    names = getattr(model, "feature_names_in_", None)
    return None if names is None else dict.fromkeys(map(str, names), "number")


def with_open_classes(model: Any) -> Any:
    """A classifier that takes new labels at any time, unless it was told which ones come."""
    if is_classifier(model) and model.get_params().get("classes", "") is None:
        model.set_params(classes="open")
    return model
