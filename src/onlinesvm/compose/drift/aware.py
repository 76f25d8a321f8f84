"""A model that notices when its stream has changed."""

from __future__ import annotations

import copy
import math
import warnings
from collections import deque
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from ...data.arguments import check_count, check_flag, check_word
from ...data.keys import demand_borne
from ...files.persistence import rebuilt
from ...model.wrapping import Lesson, WrapsModel, last_of
from .direction import Direction
from .page_hinkley import PageHinkley

_REMEMBERED = 1000  # alarms
_ACTIONS = ("warn", "reset", "switch")


class DriftWarning(UserWarning):
    """The stream has changed under a model that was told to warn."""


def _decides(wrapper: Any) -> bool:
    return hasattr(wrapper.model, "decision_function")


def _has_chances(wrapper: Any) -> bool:
    return bool(wrapper.model.predict_proba)  # or the AttributeError that says who has it


class DriftAware(WrapsModel):
    """A model that notices when its stream has changed, and begins anew instead of dragging the
    past along.

    Every row is predicted before it is learned, and a detector hears the error: 0 or 1 of a
    classifier, the distance of a regressor. When it rings:

    - ``"warn"``: a :class:`DriftWarning` is given and ``alarms_`` notes it; the model goes on;
    - ``"reset"``: the model begins anew with the row that rang;
    - ``"switch"``: a second model has been learning in the background since the detector warned,
      and takes over; if it did not warn, the model begins anew.

    A detector that also rings when errors fall, such as river's ``ADWIN`` and ``KSWIN``, is not
    obeyed then: a model that gets better stays. The detector begins anew with each alarm. After a
    new beginning the classes, the ids and ``n_seen_`` go on; examples of before are forgotten, and
    cannot be unlearned any more. A stream that is merely hard rings, too: compare with the model
    alone.

    The cost: a prediction an example more, what the detector takes, and a second model while one
    is in the background. Learning goes row by row.

    Parameters
    ----------
    model : classifier or regressor of this library with ``partial_fit``, or a pipeline of such
        It is left as it is; copies learn.
    detector : object with ``update(x)`` and ``drift_detected``, optional
        :class:`PageHinkley` if not given. river's are taken, such as ``river.drift.ADWIN()``; a
        model with one of those can be pickled but not saved, since a file has no code.
    on : {"reset", "switch", "warn"}, default="reset"
        What an alarm does.
    warning : detector, optional
        For ``on="switch"``: one that rings earlier. Not needed where ``detector`` has
        ``warning_detected`` itself, as :class:`PageHinkley` and river's ``DDM`` have.

    Attributes
    ----------
    model_ : the model that has learned
    background_ : the model in the background, or None
    alarms_ : array of the numbers of the examples that rang, the last 1,000
    n_alarms_ : int, alarms so far
    classes_, n_features_in_, feature_names_in_ : as in scikit-learn
    n_seen_ : int, examples that arrived
    nbytes_ : int, memory of the models

    Examples
    --------
    >>> import numpy as np
    >>> from onlinesvm import DriftAware, PassiveAggressiveClassifier
    >>> from onlinesvm.compose.drift import PageHinkley
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(2000, 2))
    >>> y = (X[:, 0] > 0) ^ (np.arange(2000) > 1000)  # turned over half way
    >>> learner = PassiveAggressiveClassifier(classes=[False, True])
    >>> model = DriftAware(learner, PageHinkley(threshold=10)).partial_fit(X, y)
    >>> len(model.alarms_), bool(1000 < model.alarms_[0] < 1030)
    (1, True)
    """

    _own_names = (
        "_detector",
        "_warner",
        "_course_heard",
        "_course_warned",
        "_warned",
        "_rang",
        "_before",
        "background_",
        "n_alarms_",
    )
    _takes = "new beginnings"
    _detector: Any
    _warner: Any
    _course_heard: Direction | None  # of the errors, where the detector rings for both directions
    _course_warned: Direction | None
    _warned: bool
    _rang: deque[int]
    _before: int
    background_: Any
    n_alarms_: int

    def __init__(
        self,
        model: Any,
        detector: Any = None,
        *,
        on: Literal["reset", "switch", "warn"] = "reset",
        warning: Any = None,
    ) -> None:
        self.model = model
        self.detector = detector
        self.on = on
        self.warning = warning

    # --- learning -----------------------------------------------------------------------------

    def _demand_model(self) -> None:
        super()._demand_model()
        if not is_classifier(self.model) and not is_regressor(self.model):
            raise ValueError(
                f"model must be a classifier or a regressor, whose errors can be heard, "
                f"got {self.model!r:.60}"
            )

    def _begin_own(self) -> None:
        check_word("on", self.on, _ACTIONS)
        self._detector = _anew(
            "detector", PageHinkley() if self.detector is None else self.detector
        )
        self._warner = None
        if self.on == "switch" and self.warning is not None:
            self._warner = _anew("warning", self.warning)
        elif self.on == "switch" and not hasattr(self._detector, "warning_detected"):
            raise ValueError(
                f"on='switch' needs a detector that warns, which {self._detector!r:.60} does not; "
                "give warning=, one that rings earlier"
            )
        self._warned, self._rang = False, deque(maxlen=_REMEMBERED)
        self._before, self.background_, self.n_alarms_ = 0, None, 0
        self._course_heard = _direction(self._detector)
        self._course_warned = _direction(self._warner)

    def _take(self, lesson: Lesson) -> None:
        started = self.model_.__sklearn_is_fitted__()
        arrived = self.n_seen_ if started else 0
        guesses = lesson.guesses(self.model_) if started else []
        lesson.teach(self.model_, self._classes)
        if self.background_ is not None:
            lesson.teach(self.background_)
        answers = zip(guesses, lesson.targets.tolist(), lesson.weights.tolist(), strict=False)
        errors = [self._error(guess, truth) for guess, truth, weight in answers if weight > 0]
        for error in filter(math.isfinite, errors):
            self._hear(error, lesson, arrived)

    def _error(self, guess: Any, truth: Any) -> float:
        return float(guess != truth) if is_classifier(self.model) else abs(float(guess - truth))

    def _hear(self, error: float, lesson: Lesson, arrived: int) -> None:
        self._detector.update(error)
        if self._course_heard is not None:
            self._course_heard.update(error)
        if self.on == "switch":
            warned = self._warns(error)
            if warned and not self._warned:
                self.background_ = self._beginner(lesson, arrived)
            self._warned = warned
        if self._detector.drift_detected:
            if self._course_heard is not None and not self._course_heard.is_up:
                self._detector = _anew("detector", self._detector)
                self._course_heard = Direction()
                return
            self._rang.append(arrived)
            self.n_alarms_ += 1
            self._act(lesson, arrived)

    def _warns(self, error: float) -> bool:
        if self._warner is None:
            return bool(self._detector.warning_detected)
        self._warner.update(error)
        if self._course_warned is not None:
            self._course_warned.update(error)
        if not self._warner.drift_detected:
            return False
        if self._course_warned is None or self._course_warned.is_up:
            return True
        self._warner, self._course_warned = _anew("warning", self._warner), Direction()
        return False

    def _act(self, lesson: Lesson, arrived: int) -> None:
        self._detector = _anew("detector", self._detector)
        if self._warner is not None:
            self._warner = _anew("warning", self._warner)
        self._course_heard = _direction(self._detector)
        self._course_warned = _direction(self._warner)
        self._warned = False
        if self.on == "warn":
            warnings.warn(
                f"the stream has changed at example {arrived}: the errors of the model have risen",
                DriftWarning,
                stacklevel=5,
            )
            return
        following = self.background_ or self._beginner(lesson, arrived)
        seen = self.n_seen_ - following.n_seen_
        self.__dict__.update(model_=following, background_=None, _before=seen)

    def _beginner(self, lesson: Lesson, arrived: int) -> Any:
        """A model that begins with this lesson; classes and numbers go on."""
        model = clone(self.model)
        known = self.model_.classes_ if is_classifier(model) else None
        if isinstance(self._classes, str):  # they go on being open
            last_of(model).set_params(classes=self._classes)
        ids = arrived + np.arange(len(lesson.targets)) if lesson.ids is None else lesson.ids
        replace(lesson, ids=ids).teach(model, known)
        return model

    # --- asking -------------------------------------------------------------------------------

    def predict(self, X: Any) -> NDArray[Any]:
        """What the model at hand predicts for each row of ``X``; learns nothing."""
        check_is_fitted(self)
        return np.asarray(self.model_.predict(X))

    @available_if(_decides)
    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """The scores of the model at hand for each row of ``X``; learns nothing."""
        check_is_fitted(self)
        return np.asarray(self.model_.decision_function(X))

    @available_if(_has_chances)
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """The probabilities of the model at hand for each row of ``X``; learns nothing."""
        check_is_fitted(self)
        return np.asarray(self.model_.predict_proba(X))

    def predict_one(self, x: Any) -> Any:
        """The prediction for one 1-D array or dict; before anything was learned as the model's."""
        return self._inner.predict_one(x)

    @available_if(_decides)
    def decide_one(self, x: Any) -> Any:
        """``decision_function`` of one 1-D array or dict; 0.0 before anything was learned."""
        return self._inner.decide_one(x)

    @available_if(_has_chances)
    def predict_proba_one(self, x: Any) -> Any:
        """The probabilities of one 1-D array or dict, by label."""
        return self._inner.predict_proba_one(x)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Accuracy, or R^2 of a regressor, of the predictions for ``X``."""
        check_is_fitted(self)
        return float(self.model_.score(X, y, sample_weight=sample_weight))

    def unlearn(
        self,
        ids: Any = None,
        *,
        keys: Any = None,
        certificate: bool = False,
        scope: Literal["examples", "all"] = "examples",
    ) -> Any:
        """Let the models forget examples, by ids or by keys, where they can.

        ``scope="all"``, which would have to look for drift anew, is refused.
        """
        self._demand_scope(scope)
        if keys is not None and ids is None:
            demand_borne(keys, self.keys_held())
            ids, keys = self.ids_of(keys), None
        result = self._inner.unlearn(ids, keys=keys, certificate=certificate)
        behind = self.__dict__.get("background_")
        if behind is not None and behind.__sklearn_is_fitted__():
            behind.unlearn(ids)
        return self._naming_own(result, ids) if certificate else self

    # --- what it knows ------------------------------------------------------------------------

    @property
    def alarms_(self) -> NDArray[np.int64]:
        """The numbers of the examples that rang, the last 1,000 of them."""
        self._fitted("alarms_")
        return np.array(self._rang, dtype=np.int64)

    @property
    def n_seen_(self) -> int:
        """Examples that arrived, those of weight 0 included."""
        return int(self._fitted("n_seen_").n_seen_) + self._before

    # --- persistence --------------------------------------------------------------------------

    def _saved_params(self) -> dict[str, Any]:
        return super()._saved_params() | {
            name: _to_file(name, getattr(self, name)) for name in ("detector", "warning")
        }

    @classmethod
    def _params_from(cls, saved: dict[str, Any]) -> dict[str, Any]:
        params = super()._params_from(saved)
        given = {name: params[name] for name in ("detector", "warning")}
        return params | {n: None if v is None else PageHinkley(*v) for n, v in given.items()}

    def _own(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        for name, heard in (("detector", self._detector), ("warning", self._warner)):
            _to_file(name, heard)
        facts = {"before": self._before, "warned": self._warned, "n_alarms": self.n_alarms_}
        arrays = {"alarms": self.alarms_, "detector": np.array(self._detector.state())}
        if self._warner is not None:
            arrays["warning"] = np.array(self._warner.state())
        if self.background_ is not None:
            behind = self.background_._arrays()
            arrays |= {f"background.{name}": array for name, array in behind.items()}
        return facts, arrays

    def _recall_own(self, facts: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:
        self._before = check_count("before", facts["before"])
        self._warned = check_flag("warned", facts["warned"])
        self.n_alarms_ = check_count("n_alarms", facts["n_alarms"])
        alarms = arrays.pop("alarms")
        if alarms.dtype != np.int64 or alarms.shape != (min(self.n_alarms_, _REMEMBERED),):
            raise ValueError("its alarms are not as many as it says")
        self._rang.extend(alarms.tolist())
        self._detector.load(arrays.pop("detector"))
        if self._warner is not None:
            self._warner.load(arrays.pop("warning"))
        behind = {k: arrays.pop(k) for k in [k for k in arrays if k.startswith("background.")]}
        if behind:
            start = len("background.")
            self.background_ = rebuilt(
                type(self.model).__name__, {k[start:]: v for k, v in behind.items()}
            )
        if arrays:
            raise ValueError("it has arrays that it should not have")

    def _own_bytes(self) -> int:
        behind = 0 if self.background_ is None else int(self.background_.nbytes_)
        return behind + 64 * len(self._rang) + 1024  # a detector of river's does not say


def _direction(detector: Any) -> Direction | None:
    return None if detector is None or type(detector) is PageHinkley else Direction()


def _anew(name: str, detector: Any) -> Any:
    """The detector as it was made: one that has heard nothing."""
    if not hasattr(detector, "update") or not hasattr(detector, "drift_detected"):
        raise ValueError(
            f"{name} must have update and drift_detected, as PageHinkley() and river.drift.ADWIN() "
            f"have, got {detector!r:.60}"
        )
    return detector.clone() if hasattr(detector, "clone") else copy.deepcopy(detector)


def _to_file(name: str, detector: Any) -> Any:
    if detector is None:
        return None
    if type(detector) is not PageHinkley:
        raise ValueError(
            f"{name} is a {type(detector).__name__}, which a file without code cannot hold; "
            "use onlinesvm.compose.drift.PageHinkley, or pickle the model"
        )
    return [detector.delta, detector.threshold, detector.min_instances]
