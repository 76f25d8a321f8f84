"""One small model for each key, in one block of memory."""

from __future__ import annotations

import copy
import os
from collections.abc import Iterator
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from ...core import Numbering
from ...data.arguments import threads
from ...data.batch import Batch
from ...data.keys import Key, read_key, read_wanted
from ...data.labels import NO_LABELS, Labels
from ...data.validation import one_row
from ...files.persistence import (
    among,
    apart,
    pack_arrays,
    reduced,
    restored_state,
    saved_state,
    unpack_model,
    write,
)
from ...model.estimator import OnlineEstimator
from ...model.state import OnDemand, State
from .core import Asked, BankCore, can_hold, core_keys, create, unwritten, written

_KIND = "ModelBank"


class ModelBank:
    """A million small models, one for each key: each learns as it would alone, bit for bit.

    For one model per user, device or shop, where a loop over a dict of models would spend its time
    and memory on Python objects. A model takes the 8 bytes of each weight and about a hundred more;
    a row costs little more than the step itself, and a bank is saved and loaded as fast as memory
    can be checked and copied. Keys are integers, strings or tuples of these.

    A bank holds methods that keep weights: a linear kernel, or none. Those that keep examples have
    models that grow, which a dict of models can hold. All rows have the same features.

    Parameters
    ----------
    model : classifier, regressor or outlier detector
        What every key gets a copy of. A classifier names its ``classes``. ``n_jobs`` threads learn
        and predict, each for other keys; the results are the same bits.

    Attributes
    ----------
    classes_, n_features_in_, feature_names_in_ : as in scikit-learn
    n_seen_ : int, examples that arrived, of all keys
    nbytes_ : int, memory of the bank

    Examples
    --------
    >>> import numpy as np
    >>> from onlinesvm import ModelBank, PassiveAggressiveClassifier
    >>> rng = np.random.default_rng(0)
    >>> users = rng.integers(1000, size=20_000)
    >>> X = rng.normal(size=(20_000, 5))
    >>> taste = rng.normal(size=(1000, 5))  # everyone has one of their own
    >>> y = (X * taste[users]).sum(axis=1) > 0
    >>> bank = ModelBank(PassiveAggressiveClassifier(classes=[False, True]))
    >>> bank.learn_many(users, X, y)
    ModelBank(PassiveAggressiveClassifier(classes=[False, True])) of 1,000 models
    >>> Z = rng.normal(size=(20_000, 5))
    >>> right = bank.predict(users, Z) == ((Z * taste[users]).sum(axis=1) > 0)
    >>> float(right.mean().round(2))
    0.84
    >>> bank.forget([7, 8]).model(9).n_seen_
    21
    """

    _register: Numbering = OnDemand()  # type: ignore[assignment]

    def __init__(self, model: OnlineEstimator) -> None:
        _demand_bankable(model)
        self._model: OnlineEstimator = clone(model)  # once begun: one that has learned nothing
        self._core: BankCore | None = None

    def __repr__(self) -> str:
        return f"ModelBank({self._model!r}) of {len(self):,} models"

    # --- learning -----------------------------------------------------------------------------

    def learn_many(self, keys: Any, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn rows in order, each by the model of its key; a new key begins a new model.

        Cutting a stream into other calls gives the same models, bit for bit. A call that fails, or
        is ended by Ctrl-C, leaves the bank as it was: for that it keeps a copy of the models it
        changes while it runs.

        Parameters
        ----------
        keys : list or array of n keys
            Integers, strings or tuples of these.
        X : array, sparse matrix or data frame, n rows
        y : array of n labels or numbers
            The targets; outlier detectors ignore them.
        sample_weight : array of n numbers >= 0, optional
            As ``partial_fit`` of the model takes them.

        Returns
        -------
        self
        """
        with self._register:
            fresh = self._core is None
            model = clone(self._model) if fresh else self._model
            batch = model._read(X, y, sample_weight, None, None, fresh=fresh)
            wanted = core_keys(keys, len(batch.rows))
            core = _begin(model, batch) if self._core is None else self._core
            batch = model._weighted(batch)
            targets = np.ascontiguousarray(batch.targets, dtype=np.float64)
            weights = np.ones(len(targets)) if batch.weights is None else batch.weights
            core.threads = threads(model.n_jobs)
            batch.rows.learn(core, targets, weights, wanted)  # type: ignore[arg-type]
            self._model, self._core = model, core
        return self

    def learn_one(self, key: Key, x: Any, y: Any = None, w: float = 1.0) -> Self:
        """Learn one example by the model of its key: a 1-D array ``x`` and its target."""
        if w == 1.0 and type(x) is np.ndarray and self._learn_next(key, x, y):
            return self
        return self.learn_many([key], one_row(x), self._model._one_target(y), w)

    def _learn_next(self, key: Key, x: NDArray[Any], y: Any) -> bool:
        """The short way; False, and nothing has happened, where something has to be read first."""
        with self._register:
            core, target = self._core, self._model._door.target
            if core is None or target is None:
                return False
            try:
                number = target(y)
            except TypeError:  # no target at all: validation says so
                return False
            return number is not None and core.learn_next(x, number, written([key]))

    # --- predicting ---------------------------------------------------------------------------

    def decision_function(self, keys: Any, X: Any) -> NDArray[np.float64]:
        """Scores of rows, each by the model of its key, 0 where there is none; learns nothing.

        Shaped as the model's own.
        """
        scores: NDArray[np.float64] = self._speaking(keys, X).decision_function(X)
        return scores

    def predict(self, keys: Any, X: Any) -> NDArray[Any]:
        """What the model of its key says of each row; learns nothing.

        For a key without a model, what a score of 0 means.
        """
        said: NDArray[Any] = self._speaking(keys, X).predict(X)
        return said

    def _speaking(self, keys: Any, X: Any) -> Any:
        """The model's own face, in front of the scores of these rows."""
        with self._register:
            model, core = self._model, self._core
        rows, _ = model._read_rows(X, fresh=core is None, learning=False)
        wanted = core_keys(keys, len(rows))
        face = object.__new__(type(model))
        face.__dict__.update(model.__dict__)
        if core is None:
            face.__dict__["_state"] = State(None, "", {}, {}, labels=_declared(model))  # type: ignore[arg-type]
            scores = np.zeros((len(rows), face._outputs()))
        else:
            core.threads = threads(model.n_jobs)
            scores = model._by_output(rows.score(Asked(core, wanted)))  # type: ignore[arg-type]
        face.__dict__["_scores"] = lambda _: scores
        return face

    # --- models by key ------------------------------------------------------------------------

    def model(self, key: Key) -> Any:
        """The model of a key, an ordinary one of its own: what it learns, the bank does not."""
        name = written([read_key(key)])
        with self._register:
            found = None if self._core is None else self._core.model(name)
            if found is None:
                raise ValueError(f"key is {key!r:.60}, which has no model here; keys() lists all")
            model = copy.deepcopy(self._model)
        seen, state = found
        model._core.load(dict(state))
        model._next_id = seen
        return model

    def keys(self) -> list[Key]:
        """Every key, in order of arrival."""
        core = self._core  # another thread may begin, or forget the last of them
        return [] if core is None else list(map(unwritten, core.keys()))

    def __iter__(self) -> Iterator[Key]:
        return iter(self.keys())

    def __contains__(self, key: object) -> bool:
        core = self._core
        return core is not None and core.has(written([read_key(key)]))[0]

    def __len__(self) -> int:
        core = self._core
        return 0 if core is None else core.size

    def forget(self, keys: Any) -> Self:
        """Unlearn all that was learned for a key, or for several; a tuple is one.

        The bank is then, byte for byte, the one that never heard of them. One pass over it,
        however many they are.

        Parameters
        ----------
        keys : key or list of keys
            Each must have a model.

        Returns
        -------
        self
        """
        wanted = read_wanted(keys)
        with self._register:
            names = written(list(wanted))
            known = [False] * len(wanted) if self._core is None else self._core.has(names)
            for key, has in zip(wanted, known, strict=True):
                if not has:
                    raise ValueError(f"keys has {key!r:.60}, which has no model here")
            if self._core is not None and names:
                self._core.forget(names)
                if self._core.size == 0:
                    self._model, self._core = clone(self._model), None
        return self

    def merge(self, other: ModelBank) -> Self:
        """Take the models of another bank, which has other keys: of another part of a stream.

        Parameters
        ----------
        other : ModelBank
            Of the same model and features. It stays as it is.

        Returns
        -------
        self
        """
        if not isinstance(other, ModelBank):
            raise ValueError(f"other must be a ModelBank, got {other!r:.60}")
        theirs = copy.deepcopy(other)  # it may go on learning, and it may be this one
        with self._register:
            if _terms(self._model) != _terms(theirs._model):
                raise ValueError("other has another model; banks merge where all parameters agree")
            if theirs._core is None:
                return self
            if self._core is None:
                self._model, self._core = theirs._model, theirs._core
                return self
            if _shape(self._model) != _shape(theirs._model):
                raise ValueError("other has other features or classes")
            mine = self.keys()
            both = set(mine).intersection(theirs.keys())
            if both:
                raise ValueError(
                    f"other has {min(both, key=mine.index)!r:.60}, as this bank has: which of two "
                    "models is right, neither knows; forget it in one of them"
                )
            self._core.merge(theirs._core)
        return self

    # --- what it knows ------------------------------------------------------------------------

    @property
    def n_seen_(self) -> int:
        """Examples that arrived, of all keys."""
        core = self._core
        return 0 if core is None else core.seen

    @property
    def nbytes_(self) -> int:
        """Memory of the bank."""
        core = self._core
        return 4096 + (0 if core is None else core.nbytes)

    def __getattr__(self, name: str) -> Any:
        if name in ("classes_", "n_features_in_", "feature_names_in_"):
            return getattr(self._model, name)
        raise AttributeError(f"ModelBank has no attribute {name!r}")

    # --- persistence --------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the bank to ``path``, whole or not at all; :func:`onlinesvm.load` brings it back.

        Learning then goes on as if it had never stopped, bit for bit.
        """
        write(path, _KIND, self._arrays())

    def to_bytes(self) -> bytes:
        """What :meth:`save` would write."""
        return pack_arrays(_KIND, self._arrays())

    @staticmethod
    def from_bytes(data: bytes) -> ModelBank:
        """The bank that :meth:`to_bytes` wrote; a ValueError in one line if it did not."""
        bank: ModelBank = unpack_model(data, _KIND)
        return bank

    def _arrays(self) -> dict[str, NDArray[Any]]:
        with self._register:
            return among(self._model, {} if self._core is None else self._core.state())

    @classmethod
    def _from_arrays(cls, arrays: dict[str, NDArray[Any]]) -> Self:
        model, own = apart(arrays)
        try:
            bank = cls(model)
        except NotImplementedError as refusal:
            raise ValueError(str(refusal)) from None
        if not model.__sklearn_is_fitted__():
            if own:
                raise ValueError("it has models, but says nothing of their features")
            return bank
        if model._next_id or model._vocabulary is not None or model._core.state()["width"].any():
            raise ValueError("the model that its keys begin with has learned something")
        if _has_classes(model) and _declared(model).codes != model._labels.codes:
            raise ValueError("its classes are not those of its parameters")
        kinds, ends, text, records = (own.pop(k) for k in ("kinds", "ends", "bytes", "records"))
        weights = len(kinds) * model._core.outputs * model.n_features_in_
        if own or not len(kinds) or records.ndim != 1 or records.size < weights:
            raise ValueError("its models do not fit their features")  # before there is room for any
        bank._model, bank._core = model, _bank_of(model)
        bank._core.load(kinds, ends, text, records)
        if kinds.any():  # something raises where one is not written as it should be
            bank.keys()
        return bank

    def _live_state(self) -> dict[str, Any]:
        with self._register:
            state = None if self._core is None else self._core.state()
            return {"model": self._model, "state": state}

    __reduce_ex__ = reduced
    __getstate__ = saved_state
    __setstate__ = restored_state

    def _live_on(self, state: dict[str, Any]) -> None:
        self._model, self._core = state["model"], None
        if state["state"] is not None:
            self._core = _bank_of(self._model)
            self._core.load(**state["state"])


def _demand_bankable(model: Any) -> None:
    """A refusal in one sentence unless all models with these parameters have one size."""
    if not isinstance(model, OnlineEstimator) or not hasattr(model, "_stem"):
        raise ValueError(f"model must be one of the methods of this library, got {model!r:.60}")
    kind = type(model).__name__
    if not can_hold(model._core_stem() + model.dtype.removeprefix("float"), model._core_params(1)):
        raise NotImplementedError(
            f"{kind} cannot be held in a bank with these parameters: its models keep examples; "
            "take a method that keeps weights, with kernel='linear', a StreamSVC with lookahead=1, "
            "a PegasosSVC with block=1"
        )
    if getattr(model, "class_weight", None) == "balanced":
        raise NotImplementedError(
            "class_weight='balanced' cannot be held in a bank: each model would have counts of "
            "its own; give the weights as a dict"
        )
    if _has_classes(model) and (model.classes is None or isinstance(model.classes, str)):
        raise ValueError(
            f"model must name its classes beforehand, which size its weights: {kind}(classes=[...])"
        )
    _declared(model)  # something raises where they are none


def _has_classes(model: OnlineEstimator) -> bool:
    return "classes" in model._parameters


def _declared(model: OnlineEstimator) -> Labels:
    """The classes that it names; none of a regressor or a detector."""
    named = model._declared_labels() if _has_classes(model) else None
    return NO_LABELS if named is None else named


def _begin(model: OnlineEstimator, batch: Batch) -> BankCore:
    """Make ``model`` one that stands ready for its first example, and a bank for such models."""
    if batch.columns.newcomers is not None:
        raise ValueError(
            "X has dicts, whose names may grow; pass arrays or data frames, or hash the names "
            "(OnlineHashing)"
        )
    model._begin(batch)
    return _bank_of(model)


def _bank_of(model: OnlineEstimator) -> BankCore:
    classes = len(model._labels) if _has_classes(model) else 0
    return create(model._core_name, model._core_settings, model.n_features_in_, classes)


def _terms(model: OnlineEstimator) -> dict[str, Any]:
    """What two banks must agree on before they have learned anything."""
    params = {
        k: v for k, v in model.get_params(deep=False).items() if k not in ("n_jobs", "verbose")
    }
    if params.get("classes") is not None:
        params["classes"] = _declared(model).names.tolist()
    return {"class": type(model), **params}


def _shape(model: OnlineEstimator) -> tuple[Any, ...]:
    names = getattr(model, "feature_names_in_", None)
    return model.n_features_in_, None if names is None else names.tolist(), model._sparsely
