"""A model around a model: asks it before each label, teaches it, and keeps what it said."""

from __future__ import annotations

import copy
import json
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier
from sklearn.utils import Tags, _safe_indexing
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from ..data.arguments import check_word
from ..data.keys import Key, demand_borne, read_keys
from ..data.validation import demand_table, one_row
from ..data.vocabulary import are_records
from ..files.json_values import from_json, to_json
from ..files.persistence import rebuilt, write
from ..unlearn.certificate import Certificate
from .estimator import OnlineEstimator
from .locking import MadeOfOthers


@dataclass(frozen=True)
class Lesson:
    """Examples that are asked about together, then taught together: one, wherever that can be."""

    rows: Any  # a table
    x: Any  # the one row as learn_one takes it, None where it does not
    targets: NDArray[Any]
    weights: NDArray[np.float64]
    ids: NDArray[np.int64] | None
    keys: Sequence[Any] | None

    def scores(self, model: Any) -> list[Any]:
        """What the model decides of each, a number or an array of them."""
        if self.x is not None:
            return [model.decide_one(self.x)]
        return list(model.decision_function(self.rows))

    def guesses(self, model: Any) -> list[Any]:
        """What the model predicts of each."""
        if self.x is not None:
            return [model.predict_one(self.x)]
        return list(np.asarray(model.predict(self.rows)).tolist())

    def teach(self, model: Any, classes: Any = None) -> None:
        """Let the model learn them; ``classes`` is what its first lesson has to be told."""
        started = model.__sklearn_is_fitted__()
        if started and self.x is not None and self.ids is None:
            key = None if self.keys is None else self.keys[0]
            model.learn_one(self.x, self.targets[0], float(self.weights[0]), key)
            return
        named = {} if started or classes is None else {"classes": classes}
        more = {"sample_weight": self.weights, "ids": self.ids, "keys": self.keys}
        model.partial_fit(self.rows, self.targets, **more, **named)


@dataclass(frozen=True)
class Lessons:
    """A call, row by row; or as a whole for a model that solves every call as a whole."""

    rows: Any
    targets: NDArray[Any]
    weights: NDArray[np.float64]
    ids: NDArray[np.int64] | None
    keys: Sequence[Any] | None

    def one_by_one(self) -> Iterator[Lesson]:
        alone = isinstance(self.rows, np.ndarray | list)
        for i in range(len(self.targets)):
            part = slice(i, i + 1)
            yield Lesson(
                self.rows.iloc[part] if hasattr(self.rows, "iloc") else self.rows[part],
                self.rows[i] if alone else None,
                self.targets[part],
                self.weights[part],
                None if self.ids is None else self.ids[part],
                None if self.keys is None else self.keys[part],
            )

    def at_once(self) -> Lesson:
        return Lesson(self.rows, None, self.targets, self.weights, self.ids, self.keys)

    def taken(self, places: NDArray[np.int64]) -> Lessons:
        """Those at ``places``, in this order; each keeps the id that its place gave it."""
        return Lessons(
            _safe_indexing(self.rows, places),
            self.targets[places],
            self.weights[places],
            places if self.ids is None else self.ids[places],
            None if self.keys is None else [self.keys[i] for i in places],
        )


def learns_calls_whole(model: Any) -> bool:
    """Whether a model solves every call as a whole, also that of a single row."""
    last = last_of(model)
    return bool(last._solves_calls and last._collects_one)


def last_of(model: Any) -> Any:
    """What learns in the end: the last step of a pipeline, what is wrapped, or the model itself."""
    if hasattr(model, "steps"):
        return last_of(model.steps[-1][1])
    return last_of(model._inner) if isinstance(model, WrapsModel) else model


class WrapsModel(MadeOfOthers):
    """An estimator that holds another one: ``model`` as it was given, ``model_`` as it has learned.

    A face states what happens with a lesson (:meth:`_take`), what it knows besides the model
    (:meth:`_own`, :meth:`_recall_own`), and how it begins (:meth:`_begin_own`).
    """

    model: Any
    model_: Any
    _classes: Any = None  # as the first call named them
    _begun: dict[str, Any] | None = None  # the parameters it was begun with
    _altered: bool = False  # some were set since
    _own_names: ClassVar[tuple[str, ...]] = ()  # attributes that a new beginning replaces
    _takes: ClassVar[str]  # what it takes from rows, in a word

    # --- what a face says ---------------------------------------------------------------------

    def _begin_own(self) -> None:
        """Know nothing yet; a bad parameter is a ValueError."""
        raise NotImplementedError

    def _take(self, lesson: Lesson) -> None:
        """Ask about the lesson, teach it, and remember what was said."""
        raise NotImplementedError

    def _course(self, lessons: Lessons) -> Iterator[Lesson]:
        """The rows of a call as they are taken: one by one, wherever the model can."""
        if learns_calls_whole(self.model):
            return iter([lessons.at_once()])
        return lessons.one_by_one()

    def _course_of_fit(self, lessons: Lessons) -> Iterator[Lesson]:
        """The same for ``fit``, which has all the rows beforehand."""
        return self._course(lessons)

    def _own(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """What it knows besides the model: plain facts and arrays."""
        raise NotImplementedError

    def _recall_own(self, facts: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:
        """Take it back from a file, which is not to be trusted."""
        raise NotImplementedError

    def _own_bytes(self) -> int:
        raise NotImplementedError

    # --- learning -----------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, keys: Any = None) -> Self:
        """Forget everything, then make one pass over the rows of ``X``, in order.

        One, since an answer counts only if it was given before the label was learned.
        """
        self._demand_model()
        named = None
        if is_classifier(self):
            check_classification_targets(np.asarray(y))
            if last_of(self).classes is None:
                named = np.unique(np.asarray(y))
        twin = clone(self)
        twin._go_on(X, y, named, sample_weight, None, keys, twin._course_of_fit)
        own = {name: vars(twin)[name] for name in self._of_one_life() if name in vars(twin)}
        self.__dict__.update(own)
        return self

    def partial_fit(
        self,
        X: Any,
        y: Any = None,
        classes: Any = None,
        sample_weight: Any = None,
        ids: Any = None,
        keys: Any = None,
    ) -> Self:
        """Go on learning with the rows of ``X``, in order; any cut gives the same bits.

        Every row is asked about before it is learned. If anything fails all is as it was; Ctrl-C
        keeps the rows that were learned, which ``n_seen_`` counts.

        Parameters
        ----------
        X : array, sparse matrix, data frame or list of dicts, n rows
            Arrays and dicts are fastest: rows of other tables are cut out one by one.
        y : array of n labels or numbers
        classes, sample_weight, ids, keys : as the model takes them
            An example of weight 0 teaches nothing here either.

        Returns
        -------
        self
        """
        self._demand_model()
        self._go_on(X, y, classes, sample_weight, ids, keys, self._course)
        return self

    def _go_on(
        self,
        X: Any,
        y: Any,
        classes: Any,
        sample_weight: Any,
        ids: Any,
        keys: Any,
        course: Callable[[Lessons], Iterator[Lesson]],
    ) -> None:
        """Learn a call along a course, all or nothing."""
        fresh = not self.__sklearn_is_fitted__()
        before = dict(self.__dict__)
        try:
            if fresh:
                self.__dict__.update(model_=clone(self.model), _classes=classes, _altered=False)
                self._begun = self.get_params()
                self._begin_own()
            else:
                self._demand_unaltered()
                if classes is not None:
                    last_of(self.model_)._labels_for(classes, fresh=False)
            lessons = self._read(X, y, classes, sample_weight, ids, keys, fresh=fresh)
            if not fresh and len(lessons.targets) > 1:
                before = dict(copy.copy(self).__dict__)
            for lesson in course(lessons):
                self._take(lesson)
        except BaseException as failure:
            if isinstance(failure, Exception) or not self.__sklearn_is_fitted__():
                for name in self.__dict__.keys() - before.keys() - {"_register"}:
                    del self.__dict__[name]
                self.__dict__.update({k: v for k, v in before.items() if k != "_register"})
            raise

    def learn_one(self, x: Any, y: Any = None, w: float = 1.0, key: Any = None) -> Self:
        """Learn one example, a 1-D array or a dict by feature name; ``key``: whose it is."""
        with self._register:
            if not self._altered and self.__sklearn_is_fitted__() and key is None and w == 1.0:
                plain = type(x) is np.ndarray and x.ndim == 1 and x.dtype == np.float64
                if (plain or type(x) is dict) and not learns_calls_whole(self.model):
                    rows = x.reshape(1, -1) if plain else [x]
                    target = last_of(self.model)._one_target(y)
                    self._take(Lesson(rows, x, np.asarray(target), _ONE, None, None))
                    return self
            self._demand_model()
            last = last_of(self._inner)
            target = None if y is None else last._one_target(y)
            more = {"sample_weight": w, "keys": None if key is None else [key]}
            return self.partial_fit(one_row(x), target, **more, **last._said_of_one())

    def _read(
        self, X: Any, y: Any, classes: Any, sample_weight: Any, ids: Any, keys: Any, *, fresh: bool
    ) -> Lessons:
        model, last = self.model_, last_of(self.model_)
        if isinstance(model, OnlineEstimator):  # all at once, so that nothing is learned in vain
            named = {"classes": classes} if is_classifier(model) else {}
            model._read(X, y, sample_weight, ids, keys, **named, fresh=fresh)
        elif not are_records(X):
            demand_table(X)
        if sp.issparse(X):
            X = X.tocsr()
        elif not hasattr(X, "columns") and not are_records(X):
            X = np.asarray(X)
            X = X.astype(np.float64) if X.dtype.kind in "biuf" else X
        n = X.shape[0] if hasattr(X, "shape") else len(X)
        if not n:
            raise ValueError("X has 0 rows; a minimum of 1 is required")
        if y is None and is_classifier(self):
            raise ValueError("y is missing; give one label for each row of X")
        targets = np.zeros(n) if y is None else last._read_column(y, n)
        weights = last._read_weights(sample_weight, n)
        given = last._read_ids(ids, n, fresh=fresh)
        return Lessons(
            list(X) if isinstance(X, tuple) else X,
            targets,
            np.ones(n) if weights is None else weights,
            given,
            read_keys(keys, n),
        )

    def _demand_model(self) -> None:
        model = self.model
        if not isinstance(model, OnlineEstimator | MadeOfOthers) or not hasattr(
            model, "partial_fit"
        ):
            raise ValueError(
                f"model must be an estimator of this library with partial_fit, got {model!r:.60}"
            )

    def _demand_unaltered(self) -> None:
        if not self._altered or self._begun is None:
            return
        now = self.get_params()
        for name, value in now.items():
            if name != "model" and not _same(value, self._begun.get(name)):
                raise ValueError(
                    f"{name}={value!r} differs from {name}={self._begun.get(name)!r}, with which "
                    f"this {type(self).__name__} was begun; set it back, or fit again from the "
                    "start"
                )
        self._altered = False

    def set_params(self, **params: Any) -> Self:
        super().set_params(**params)
        if self._begun is not None:
            self._altered = True
        return self

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        if name[0] != "_" and name[-1] != "_" and self.__dict__.get("_begun") is not None:
            self.__dict__["_altered"] = True

    # --- what the model offers ----------------------------------------------------------------

    @available_if(lambda wrapper: hasattr(wrapper.model, "wants_label"))
    def wants_label(self, X: Any) -> NDArray[np.bool_]:
        """Which rows of ``X`` deserve a label, by the model's ``query``; learns nothing."""
        check_is_fitted(self)
        return np.asarray(self.model_.wants_label(X))

    def unlearn(
        self,
        ids: Any = None,
        *,
        keys: Any = None,
        certificate: bool = False,
        scope: Literal["examples", "all"] = "examples",
    ) -> Any:
        """Let the model forget examples, by ids or by keys, where it can.

        What the model said of them before they were learned stays until it leaves the window; a
        certificate says so. ``scope="all"``, which would have to begin that anew, is refused.
        """
        self._demand_scope(scope)
        if keys is not None and ids is None:
            demand_borne(keys, self.keys_held())
            ids, keys = np.sort(self.ids_of(keys)), None
        result = self._inner.unlearn(ids, keys=keys, certificate=certificate)
        return self._naming_own(result, ids) if certificate else self

    def _demand_scope(self, scope: str) -> None:
        """An error for ``scope="all"``: the rows that its own part was taken from are not kept."""
        if check_word("scope", scope, ("examples", "all")) == "all":
            raise NotImplementedError(
                f"{type(self).__name__} cannot unlearn with scope='all': its {self._takes} came "
                "from rows that it does not keep; fit a new one without these rows"
            )

    def _naming_own(self, certificate: Certificate, ids: Any) -> Certificate:
        """A certificate that names also what the wrapper took from these examples."""
        own = self._own_settled_on(np.atleast_1d(np.asarray(ids, dtype=np.int64)))
        return certificate.naming(own, last_of(self._inner)._stated) if own else certificate

    def _own_settled_on(self, ids: NDArray[np.int64]) -> dict[str, Any]:
        """What the wrapper took from rows and keeps: as far as it knows, from all of them."""
        return {self._takes: type(self).__name__}

    def _settled_on(self, ids: NDArray[np.int64]) -> dict[str, Any]:
        found: dict[str, Any] = self._inner._settled_on(ids)
        return found | self._own_settled_on(ids)

    def ids_of(self, keys: Any) -> NDArray[np.int64]:
        """The examples held that bear a key, or one of several, in order of arrival."""
        found: NDArray[np.int64] = self._inner.ids_of(keys)
        return found

    def keys_held(self) -> list[Key]:
        """The keys that the examples held bear."""
        found: list[Key] = self._inner.keys_held()
        return found

    def kkt_residual(self) -> float:
        """How far the model is from optimal, over the examples it holds, where it can tell."""
        return float(self._inner.kkt_residual())

    def objective(self) -> float:
        """The value of the problem that the model solves, where it can tell."""
        return float(self._inner.objective())

    def can(self, verb: str) -> bool:
        """Whether the model offers ``"unlearn"``, ``"kkt_residual"`` or ``"objective"``."""
        return bool(self.model.can(verb))

    # --- what it knows ------------------------------------------------------------------------

    @property
    def _inner(self) -> Any:
        """The model at hand: as it has learned, or as it was given."""
        return self.__dict__.get("model_", self.model)

    @property
    def n_seen_(self) -> int:
        """Examples that arrived, those of weight 0 included."""
        return int(self._fitted("n_seen_").n_seen_)

    @property
    def nbytes_(self) -> int:
        """Bytes held by the model and by what is kept of its answers."""
        return int(self._fitted("nbytes_").nbytes_) + self._own_bytes()

    @property
    def classes_(self) -> NDArray[Any]:
        """The labels, in ascending order."""
        return np.asarray(self._fitted("classes_").classes_)

    @property
    def n_features_in_(self) -> int:
        """Features of a row."""
        return int(self._fitted("n_features_in_").n_features_in_)

    @property
    def feature_names_in_(self) -> NDArray[Any]:
        """The names of the columns, where the first rows had some."""
        return np.asarray(self._fitted("feature_names_in_").feature_names_in_)

    def _fitted(self, attribute: str) -> Any:
        if not self.__sklearn_is_fitted__():
            raise AttributeError(
                f"{type(self).__name__} has no {attribute} yet; call fit or partial_fit first"
            )
        return self.model_

    def __sklearn_is_fitted__(self) -> bool:
        inner = self.__dict__.get("model_")
        return inner is not None and bool(inner.__sklearn_is_fitted__())

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        if isinstance(self.model, OnlineEstimator | MadeOfOthers):
            theirs = self.model.__sklearn_tags__()
            tags.estimator_type = theirs.estimator_type
            tags.classifier_tags, tags.regressor_tags = (
                theirs.classifier_tags,
                theirs.regressor_tags,
            )
            tags.input_tags, tags.target_tags = theirs.input_tags, theirs.target_tags
        return tags

    # --- persistence --------------------------------------------------------------------------

    def _of_one_life(self) -> tuple[str, ...]:
        return ("model_", "_classes", "_begun", "_altered", *self._own_names)

    def __copy__(self) -> Self:
        """A copy that goes its own way, since the model learns in place."""
        twin = object.__new__(type(self))
        twin.__dict__.update(self._live_state())
        return twin

    def _detached(self, state: dict[str, Any]) -> dict[str, Any]:
        own = {name: state[name] for name in self._own_names if name in state}
        learned = {"model_": copy.copy(state["model_"])} if "model_" in state else {}
        return state | learned | copy.deepcopy(own)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write all to one file, whole or not at all; :func:`onlinesvm.load` reads it.

        Loaded, it goes on as if it had never stopped, bit for bit.
        """
        self._demand_model()
        write(path, type(self).__name__, self._arrays())

    def _saved_params(self) -> dict[str, Any]:
        """The parameters besides the model, as a file can hold them."""
        params = self.get_params(deep=False)
        del params["model"]
        return params

    @classmethod
    def _params_from(cls, saved: dict[str, Any]) -> dict[str, Any]:
        return dict(saved)

    def _arrays(self) -> dict[str, NDArray[Any]]:
        params, given = self._saved_params(), clone(self.model)
        facts: dict[str, Any] = {"kind": type(given).__name__, "params": params, "own": None}
        arrays = {f"given.{name}": array for name, array in given._arrays().items()}
        with self._register:
            if self.__sklearn_is_fitted__():
                learned = self.model_._arrays()
                arrays |= {f"learned.{name}": array for name, array in learned.items()}
                facts["own"], own = self._own()
                facts["classes"] = self._classes
                # Copies: they are written while others learn.
                arrays |= {f"own.{name}": np.array(array) for name, array in own.items()}
        text = json.dumps({k: _to_json(k, v) for k, v in facts.items()}, allow_nan=False)
        arrays["facts"] = np.frombuffer(text.encode(), dtype=np.uint8)
        return arrays

    @classmethod
    def _from_arrays(cls, arrays: dict[str, NDArray[Any]]) -> Self:
        text = arrays.pop("facts").tobytes()
        facts = {name: from_json(value) for name, value in dict(json.loads(text)).items()}
        parts: dict[str, dict[str, NDArray[Any]]] = {"given": {}, "learned": {}, "own": {}}
        for name, array in arrays.items():
            part, _, rest = name.partition(".")
            parts[part][rest] = array
        kind, own = str(facts["kind"]), facts["own"]
        given = rebuilt(kind, parts["given"])
        if given.__sklearn_is_fitted__():
            raise ValueError("the model it was given has learned something")
        wrapper = cls(**{"model": given, **cls._params_from(facts["params"])})
        wrapper._demand_model()
        wrapper._begin_own()
        if own is None:
            if parts["learned"] or parts["own"]:
                raise ValueError("it has arrays, but says nothing of what was learned")
            for name in cls._own_names:
                wrapper.__dict__.pop(name, None)
            return wrapper
        wrapper.model_ = rebuilt(kind, parts["learned"])
        if not wrapper.model_.__sklearn_is_fitted__():
            raise ValueError("its model has learned nothing")
        wrapper._classes = facts["classes"]
        wrapper._recall_own(own, parts["own"])
        wrapper._begun = wrapper.get_params()
        wrapper._altered = False
        return wrapper


_ONE = np.ones(1)
_ONE.flags.writeable = False


def _same(one: Any, other: Any) -> bool:
    if one is other or (type(one) is type(other) and hasattr(one, "get_params")):
        return True  # its parameters are compared by themselves
    try:
        return bool(one == other)
    except ValueError:  # arrays
        return bool(np.array_equal(one, other))


def _to_json(name: str, value: Any) -> Any:
    if isinstance(value, dict):
        return {"dict": [[to_json(name, k), to_json(str(k), v)] for k, v in value.items()]}
    return to_json(name, value)
