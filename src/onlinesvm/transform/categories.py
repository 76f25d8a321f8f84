"""Categories of columns in order of arrival: what the encoders know."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Tags

from ..data.rows import Columns, DenseRows, Rows
from ..data.validation import demand_table, one_row, validated
from ..files.json_values import from_json, to_json
from ..model.numpy_core import NumpyCore
from ..model.parameters import Parameters, count, group, inherit
from ..model.transformer import Kind

Known = tuple[dict[Any, int], ...]  # of each column: its categories and their numbers

#: Columns of one, at most: their numbers, for all columns of a table, are numbers still.
MOST_CATEGORIES = 10_000_000


_CATEGORIES = {str, type(None)}  # of which each is one as it is


class CategoryCore(NumpyCore):
    """Gives each category of a column the next number, up to ``max_categories`` of them."""

    known: Known

    def _nothing(self) -> Known:
        return ()

    def _learned(self, rows: Rows, weights: NDArray[np.float64]) -> Known:
        known = self.known or tuple({} for _ in range(rows.columns()))
        most = self.settings["max_categories"]
        after = []
        for j, column in enumerate(known):
            new = dict.fromkeys(value for value in rows.X[:, j] if value not in column)
            room = list(new)[: max(0, most - len(column))]
            more = {value: len(column) + k for k, value in enumerate(room)}
            after.append({**column, **more} if more else column)
        return tuple(after)

    def numbers(self, rows: Rows) -> NDArray[np.int64]:
        """The number of each value; -1 for one that has none."""
        codes = np.full((len(rows), rows.columns()), -1, dtype=np.int64)
        for j, column in enumerate(self.known):
            codes[:, j] = [column.get(value, -1) for value in rows.X[:, j]]
        return codes

    def _state(self) -> dict[str, Any]:
        lists = [[to_json("a category", value) for value in column] for column in self.known]
        text = json.dumps(lists, allow_nan=False).encode()
        return {"width": len(self.known), "categories": np.frombuffer(text, dtype=np.uint8)}

    def _from_state(self, state: Mapping[str, NDArray[Any]], width: int) -> Known:
        lists = json.loads(np.asarray(state["categories"]).tobytes())
        if not isinstance(lists, list) or len(lists) != width:
            raise ValueError("its state has categories of other columns")
        known = tuple(
            {category(from_json(value)): k for k, value in enumerate(values)} for values in lists
        )
        for column, values in zip(known, lists, strict=True):
            if len(column) != len(values) or len(column) > self.settings["max_categories"]:
                raise ValueError("its state has a category twice, or too many")
        return known


def category(value: Any) -> Any:
    """A value as a category: text, a number, or None for a gap; a ValueError for anything else."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        if math.isinf(value):
            raise ValueError("Input X contains infinity; drop or impute those values first")
        if math.isnan(value):
            return None
        return int(value) if value.is_integer() else value  # 1.0 is 1, whatever held it
    if type(value).__name__ in ("NAType", "NaTType"):  # pandas' words for a gap
        return None
    raise ValueError(
        f"X has {value!r:.60} of type {type(value).__name__}, which is no category: argument must "
        "be a string or a number; turn it into one first"
    )


@group
class ReadsObjects(Parameters):
    """Reads tables whose entries need not be numbers."""

    dtype: Literal["float32", "float64"] = inherit(default="float64", doc="Type of the features.")
    _fixed: ClassVar[Mapping[str, Any]] = {"n_jobs": None, "verbose": False}


class OfObjects(Kind):
    """The kind that lists :class:`ReadsObjects`; ``_names_from`` names what it makes."""

    def read_rows(self, model: Any, X: Any, *, fresh: bool, learning: bool) -> tuple[Rows, Columns]:
        if isinstance(X, list | tuple) and len(X) and isinstance(X[0], Mapping):
            table, names = _named(model, X, fresh=fresh)
        else:
            table, names = _validated(model, X, fresh=fresh)
        n, d = table.shape
        values = np.empty((n, d), dtype=object)
        for j in range(d):
            column = table[:, j].tolist()
            plain = set(map(type, column)) <= _CATEGORIES
            values[:, j] = column if plain else [category(value) for value in column]
        return DenseRows(values), Columns(d, d, names)

    def transform_one(self, model: Any, x: Any) -> Any:
        named = isinstance(x, Mapping)
        if not model.__sklearn_is_fitted__():
            return {} if named else np.zeros(0, dtype=model.dtype)
        row = model._features([x] if named else one_row(np.asarray(x, dtype=object)))
        values = np.asarray(row.toarray() if hasattr(row, "toarray") else row)[0]
        if not named:
            return values
        pairs = zip(model._names_out(), values.tolist(), strict=True)
        return {name: value for name, value in pairs if value}

    def feature_names_out(self, model: Any, given: Any) -> NDArray[Any]:
        own = getattr(model, "feature_names_in_", None)
        given = own if given is None else np.asarray(given, dtype=object)
        if given is None:
            given = [f"x{j}" for j in range(model.n_features_in_)]
        if len(given) != model.n_features_in_ or (
            own is not None and not np.array_equal(given, own)
        ):
            raise ValueError(
                "input_features is not equal to feature_names_in_, or should have length equal to "
                f"number of features ({model.n_features_in_}), got {len(given)}"
            )
        return np.array(model._names_from([str(name) for name in given]), dtype=object)

    def tag(self, tags: Tags) -> None:
        tags.input_tags.sparse = False
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.input_tags.allow_nan = True


def _named(model: Any, X: Any, *, fresh: bool) -> tuple[NDArray[Any], NDArray[Any] | None]:
    """Dicts as a table: their names are those of the first one; an absent one is a gap."""
    names: NDArray[Any] | None = getattr(model, "feature_names_in_", None)
    if fresh:
        names = np.array(list(X[0]), dtype=object)
    if names is None:
        raise ValueError(
            "x is a dict, but the model was started with arrays; pass an array of "
            f"{model.n_features_in_} values"
        )
    known = set(names.tolist())
    if not known:
        raise ValueError("X has dicts without a name; name at least one feature")
    for record in X:
        for name in record:
            if name not in known:
                raise ValueError(
                    f"x has the feature {name!r}, but the model was started with "
                    f"{', '.join(map(repr, names.tolist()))}; drop it"
                )
    table = np.empty((len(X), len(names)), dtype=object)
    for i, record in enumerate(X):
        table[i] = [record.get(name) for name in names]
    return table, names


def _validated(model: Any, X: Any, *, fresh: bool) -> tuple[NDArray[Any], NDArray[Any] | None]:
    if isinstance(X, list):
        X = np.array(X, dtype=object)
    demand_table(X)
    return validated(model, X, fresh=fresh, dtype=None)


@group
class Encoder(ReadsObjects):
    """A transformer of categories, which it meets in order of arrival and never forgets.

    What a category became stays, so a model behind may learn from the first example on.
    """

    max_categories: int = count(
        default=100,
        at_least=1,
        doc="""Categories of a column that are told apart: the first ones to come. It bounds the
        memory of a stream in which new ones never end.""",
    )

    _attributes: ClassVar[Mapping[str, str]] = {
        "categories_": "list of lists, the categories of each column in order of arrival",
    }

    def _adjust(self, settings: dict[str, Any], n_features: int) -> None:
        if settings["max_categories"] > MOST_CATEGORIES:
            raise ValueError(
                f"max_categories must be at most {MOST_CATEGORIES:,}; use OnlineHashing for more"
            )

    @property
    def categories_(self) -> list[list[Any]]:
        """The categories of each column in order of arrival; None is a gap."""
        return [list(column) for column in self._fitted_core("categories_").known]
