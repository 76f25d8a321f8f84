"""Columns of several kinds, each prepared in its own way."""

from __future__ import annotations

import copy
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from ..data.sklearn_types import TransformerMixin
from ..data.validation import one_row
from ..files.json_values import from_json, to_json
from ..files.persistence import rebuilt, write
from ..model.locking import MadeOfOthers
from ..model.transformer import OnlineTransformer
from ..transform.categories import OfObjects
from ..transform.tables import Named, Names, read_named

KINDS = ("numbers", "categories")
Part = tuple[str, Any, Any]  # name, transformers or "drop", columns


class OnlineColumns(TransformerMixin, MadeOfOthers):
    """Prepares numbers and categories of one table, each in its own way: the door for raw frames.

    Usually the first step of an :class:`OnlinePipeline`. Columns are chosen by name, or by kind:
    ``"numbers"`` and ``"categories"`` are all columns of that kind that no other part names. The
    kinds are taken from the rows of the first call (in a pipeline with a warm-up: from all rows of
    it) and stay; name the columns where the first call may be short. A column that goes nowhere is
    refused, so that none is lost without a word; ``"drop"`` leaves some out.

    Data frames, dicts and arrays of objects are taken; a name that a dict does not have is a gap.
    The output is sparse as soon as one part is.

    Parameters
    ----------
    parts : list of (name, transformer, columns)
        A transformer, a list of them, one behind the other, or ``"drop"``; and a list of names,
        ``"numbers"`` or ``"categories"``.

    Attributes
    ----------
    columns_ : dict of lists, the columns that each part takes
    parts_ : dict of lists, the transformers of each part
    feature_names_in_ : array, the columns of the input

    Examples
    --------
    >>> from onlinesvm import OnlineColumns, OnlineImputer, OnlineOneHot, OnlineScaler
    >>> columns = OnlineColumns([
    ...     ("size", [OnlineImputer(), OnlineScaler()], "numbers"),
    ...     ("kind", OnlineOneHot(max_categories=3), "categories"),
    ... ])
    >>> rows = [{"age": 20, "town": "Rom"}, {"age": None, "town": "Bonn"}, {"age": 40}]
    >>> print(columns.fit_transform(rows).toarray().round(1))
    [[-1.2  1.   0.   0. ]
     [ 0.   0.   1.   0. ]
     [ 1.2  0.   0.   1. ]]
    >>> columns.columns_
    {'size': ['age'], 'kind': ['town']}
    """

    _vocabulary = None
    _any_cut_gives = "bits"
    _names: Names = None
    columns_: dict[str, list[str]]
    parts_: dict[str, list[OnlineTransformer]]

    def __init__(self, parts: list[Part]) -> None:
        self.parts = parts

    # --- learning -----------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Forget everything, then fit each part on its columns."""
        return self._learn("fit", X, sample_weight, fresh=True)

    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Go on with the rows of ``X``, in order."""
        fresh = not self.__sklearn_is_fitted__()
        return self._learn("partial_fit", X, sample_weight, fresh=fresh)

    def learn_one(self, x: Any, y: Any = None, w: float = 1.0) -> Self:
        """Go on with one dict or 1-D array."""
        return self.partial_fit(one_row(x), y, w)

    def _learn(self, verb: str, X: Any, sample_weight: Any, *, fresh: bool) -> Self:
        table, names = read_named(X, None if fresh else self._names, fresh=fresh)
        w = OnlineTransformer._read_weights(sample_weight, len(table))
        columns = self._assigned(table) if fresh else self.columns_
        after = {}
        for name, steps in (self._prototypes() if fresh else self.parts_).items():
            if not columns[name]:
                after[name] = steps
                continue
            rows, learned = _columns_of(table, columns[name], steps), []
            for step in steps:
                if fresh or not step._done:
                    step = copy.copy(step)
                    getattr(step, verb)(rows, sample_weight=w)
                rows = step._features(rows)
                learned.append(step)
            after[name] = learned
        self.__dict__.update(_names=names, columns_=columns, parts_=after)  # in one step
        return self

    def _prototypes(self) -> dict[str, list[OnlineTransformer]]:
        return {name: [clone(s) for s in _steps(name, which)] for name, which, _ in self.parts}

    def _assigned(self, table: Named) -> dict[str, list[str]]:
        """The columns of each part; a ValueError unless each goes to one part."""
        given = [name for name, _, _ in self.parts]
        if len(set(given)) < len(given) or not given:
            raise ValueError("parts is empty or has a name twice; give each part its own name")
        for name, _, columns in self.parts:
            _demand_choice(name, columns)
        named = {c for _, _, columns in self.parts if not isinstance(columns, str) for c in columns}
        kinds = {c: _kind(table.values[:, j]) for j, c in enumerate(table.names)}
        taken: dict[str, str] = {}
        chosen: dict[str, list[str]] = {}
        for name, which, columns in self.parts:
            _steps(name, which)
            if isinstance(columns, str):
                columns = [c for c, kind in kinds.items() if kind == columns and c not in named]
            for column in columns:
                if column not in kinds:
                    raise ValueError(f"X lacks the column {column!r}, which part {name!r} names")
                if taken.setdefault(column, name) != name:
                    raise ValueError(f"parts has the column {column!r} twice; leave one out")
            chosen[name] = list(columns)
        left = [column for column in table.names if column not in taken]
        if left:
            raise ValueError(
                f"X has the column {left[0]!r} of {kinds[left[0]]}, which goes nowhere; name it in "
                f"a part, or add ('rest', 'drop', [{left[0]!r}])"
            )
        return chosen

    # --- features -----------------------------------------------------------------------------

    def transform(self, X: Any) -> Any:
        """The features of the rows of ``X``, part by part; learns nothing."""
        check_is_fitted(self)
        return self._features(X)

    def transform_one(self, x: Any) -> Any:
        """The features of one example: an array of a 1-D array; of a dict those that are not 0."""
        row = self.transform(one_row(x))
        values = np.asarray(row.toarray() if sp.issparse(row) else row)[0]
        if not isinstance(x, Mapping):
            return values
        pairs = zip(self.get_feature_names_out().tolist(), values.tolist(), strict=True)
        return {name: value for name, value in pairs if value}

    def _features(self, X: Any) -> Any:
        known = dict(self.__dict__)  # of one moment
        table, _ = read_named(X, known["_names"], fresh=False)
        blocks = []
        for name, steps in known["parts_"].items():
            if not steps or not known["columns_"][name]:
                continue
            rows = _columns_of(table, known["columns_"][name], steps)
            for step in steps:
                rows = step._features(rows)
            blocks.append(rows)
        if not blocks:
            raise ValueError("parts leaves no column of X; let one part take some")
        if any(sp.issparse(block) for block in blocks):
            return sp.csr_array(sp.hstack([sp.csr_array(block) for block in blocks]))
        return np.hstack(blocks)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """The names of the features: that of the part, and that within it."""
        check_is_fitted(self)
        names = []
        for part, steps in self.parts_.items():
            within: Any = self.columns_[part]
            for step in steps if len(within) else ():
                within = step.get_feature_names_out(within)
            names += [f"{part}__{name}" for name in within] if steps else []
        return np.array(names, dtype=object)

    @property
    def feature_names_in_(self) -> NDArray[Any]:
        """The columns of the input."""
        if self._names is None:
            raise AttributeError("OnlineColumns has no feature_names_in_ yet; call fit first")
        return np.array(self._names, dtype=object)

    @property
    def n_features_in_(self) -> int:
        """How many columns the input has."""
        return len(self.feature_names_in_)

    @property
    def nbytes_(self) -> int:
        """Bytes held by all parts."""
        return sum(int(step.nbytes_) for step in self._every())

    @property
    def _warm_up_rows(self) -> int:
        return max((step._warm_up_rows for step in self._declared()), default=0)

    @property
    def _moves(self) -> bool:
        begun = self.__sklearn_is_fitted__()
        return any(step._moves for step in (self._every() if begun else self._declared()))

    @property
    def _done(self) -> bool:
        return all(step._done for step in self._every())

    @property
    def _settles(self) -> bool:
        by_kind = any(isinstance(columns, str) for _, _, columns in self.parts)
        return by_kind or any(step._settles for step in self._every())

    def can(self, verb: str) -> bool:
        """False: it keeps no examples."""
        return False

    def _ready(self) -> None:
        for step in self._every():
            step._ready()

    def _declared(self) -> list[Any]:
        """All transformers as the parameters have them."""
        return [step for name, which, _ in self.parts for step in _steps(name, which)]

    def _every(self) -> list[Any]:
        """All transformers that have columns."""
        return [s for name, steps in self.parts_.items() for s in steps if self.columns_[name]]

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        doors = [_steps(name, which)[:1] for name, which, _ in self.parts]
        takes = [step.__sklearn_tags__().input_tags for door in doors for step in door]
        tags.input_tags.allow_nan = any(taken.allow_nan for taken in takes)
        tags.input_tags.string = any(taken.string for taken in takes)
        tags.transformer_tags.preserves_dtype = []
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return "parts_" in self.__dict__

    # --- persistence --------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write all parts to one file; :func:`onlinesvm.load` reads it."""
        write(path, "OnlineColumns", self._arrays())

    def _arrays(self) -> dict[str, NDArray[Any]]:
        with self._register:
            return self._arrays_now()

    def _arrays_now(self) -> dict[str, NDArray[Any]]:
        arrays: dict[str, NDArray[Any]] = {}
        begun = self.__sklearn_is_fitted__()
        told = []
        for i, (name, which, columns) in enumerate(self.parts):
            _demand_choice(name, columns)  # what save takes, load takes
            steps = self.parts_[name] if begun else _steps(name, which)
            for k, step in enumerate(steps):
                arrays |= {f"part{i}_{k}.{n}": array for n, array in step._arrays().items()}
            form = "drop" if isinstance(which, str) else "one" if not _is_list(which) else "many"
            told.append([name, form, [type(step).__name__ for step in steps], columns])
        facts = {
            "parts": told,
            "names": self._names,
            "columns": dict(self.columns_) if begun else None,
        }
        text = json.dumps({k: to_json(k, v) for k, v in facts.items()}, allow_nan=False)
        arrays["facts"] = np.frombuffer(text.encode(), dtype=np.uint8)
        return arrays

    @classmethod
    def _from_arrays(cls, arrays: dict[str, NDArray[Any]]) -> OnlineColumns:
        facts = json.loads(arrays.pop("facts").tobytes())
        facts = {name: from_json(value) for name, value in dict(facts).items()}
        parts: list[Part] = []
        fitted: dict[str, list[OnlineTransformer]] = {}
        for i, (name, form, kinds, columns) in enumerate(facts["parts"]):
            steps = []
            for k, kind in enumerate(kinds):
                start = f"part{i}_{k}."
                own = {n: arrays.pop(n) for n in [n for n in arrays if n.startswith(start)]}
                step = rebuilt(kind, {n.removeprefix(start): v for n, v in own.items()})
                if not isinstance(step, OnlineTransformer):
                    raise ValueError("its columns have a part that is no transformer")
                steps.append(step)
            if not isinstance(name, str) or form not in ("drop", "one", "many"):
                raise ValueError("its columns have a part without a name or a form")
            if (form == "drop" and steps) or (form == "one" and len(steps) != 1):
                raise ValueError("its columns have a part of another form")
            _demand_choice(name, columns)
            fresh: Any = [clone(step) for step in steps]
            parts.append((name, {"drop": "drop", "one": fresh[:1], "many": fresh}[form], columns))
            if form == "one":
                parts[-1] = (name, fresh[0], columns)
            fitted[name] = steps
        if arrays or len(fitted) < len(parts):
            raise ValueError("its columns have arrays of no part, or a part twice")
        model = cls(parts)
        names, columns = facts["names"], facts["columns"]
        if columns is not None:
            every = [c for chosen in columns.values() for c in chosen]
            if columns.keys() != fitted.keys() or sorted(every) != sorted(names):
                raise ValueError("its columns are not those of its parts")
            for name, steps in fitted.items():
                if columns[name] and not all(s.__sklearn_is_fitted__() for s in steps):
                    raise ValueError("its columns have a part that has not learned")
            model._names, model.columns_, model.parts_ = list(names), dict(columns), fitted
        return model


def _is_list(which: Any) -> bool:
    return isinstance(which, Sequence) and not isinstance(which, str)


def _demand_choice(name: Any, columns: Any) -> None:
    """A ValueError unless a part names its columns, each once, or a kind of them."""
    if isinstance(columns, str):
        fine = columns in KINDS
    else:
        each = list(columns) if isinstance(columns, Iterable) else [None]
        fine = all(isinstance(c, str) for c in each) and len(set(each)) == len(each)
    if not fine:
        raise ValueError(
            f"parts has {columns!r:.60} for {name!r:.60}; use a list of names, each once, "
            "'numbers' or 'categories'"
        )


def _steps(name: str, which: Any) -> list[OnlineTransformer]:
    """The transformers of a part."""
    if isinstance(which, str) and which == "drop":
        return []
    steps = list(which) if _is_list(which) else [which]
    for step in steps:
        if not isinstance(step, OnlineTransformer):
            raise ValueError(
                f"parts has {step!r:.60} for {name!r}, which is no transformer of this library; "
                "use 'drop' to leave columns out"
            )
    return steps


def _kind(column: NDArray[Any]) -> str:
    """What a column holds; one of gaps alone takes everything, and so is of categories."""
    if column.dtype != object:
        return "numbers" if column.dtype.kind in "fiub" else "categories"
    there = [value for value in column if not _is_gap(value)]
    plain = all(isinstance(value, int | float | np.number | np.bool_) for value in there)
    return "numbers" if there and plain else "categories"


def _is_gap(value: Any) -> bool:
    # pandas' words for a gap come first: NA is not to be compared
    return value is None or type(value).__name__ in ("NAType", "NaTType") or value != value


def _numbers(column: NDArray[Any]) -> Any:
    """Objects as numbers, gaps as nan."""
    try:
        return column.astype(np.float64)  # takes None for nan, and is many times as fast
    except TypeError:
        return [np.nan if _is_gap(value) else float(value) for value in column]


def _columns_of(table: Named, columns: list[str], steps: list[OnlineTransformer]) -> Any:
    """Some columns, as numbers unless an encoder is to read them."""
    where = {name: j for j, name in enumerate(table.names)}
    missing = [name for name in columns if name not in where]
    if missing:
        raise ValueError(f"X lacks the column {missing[0]!r}, which the first rows had; add it")
    values = table.values[:, [where[name] for name in columns]]
    if not steps or isinstance(steps[0]._kind, OfObjects) or values.dtype != object:
        return values
    numbers = np.empty(values.shape)
    for j, name in enumerate(columns):
        try:
            numbers[:, j] = _numbers(values[:, j])
        except (TypeError, ValueError, OverflowError):
            raise ValueError(
                f"X has text in the column {name!r}, whose first rows were numbers; "
                "let an encoder take it, or mend the row"
            ) from None
    return numbers
