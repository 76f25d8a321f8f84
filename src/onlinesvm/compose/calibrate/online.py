"""Probabilities that stay true along a stream, and sets of classes that hold the label."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

from ...data.arguments import check_count, check_number, check_word
from ...data.sklearn_types import ClassifierMixin
from ...model.wrapping import Lesson, Lessons, WrapsModel, last_of
from .conformal import AdaptiveSets
from .methods import METHODS
from .window import Calibration

_LEAST = 1e-300  # a probability of 0 has no logarithm
_CALLS = 8  # of a fit, where the model solves calls: the first is not calibrated, none is costly


class CalibratedOnline(ClassifierMixin, WrapsModel):
    """Probabilities for any classifier, calibrated by the stream itself: of what is called 80 %
    likely, about four in five come true, and again some hundred examples after a change.

    Every row is scored before it is learned. The last ``window`` such scores and their labels give
    the map from score to probability: no row is held out, no label is used before it was earned,
    and the labels of the future change nothing. :meth:`predict` is the most probable class and
    :meth:`decision_function` the logarithm of the odds, so that all of them agree; what the model
    says by itself is in ``model_``. The order of two scores is never reversed.

    :meth:`predict_set` names the classes that hold the label with probability ``1 - alpha``, by
    adaptive conformal inference: of any ``T`` examples in a row, each asked about just before its
    label is learned, the share of misses is within ``(1 + step) / (step T)`` of alpha, whatever the
    stream does; with the default ``step`` that is a point in 2,000 and less. The price is that
    sets may be empty (nothing is likely enough) or full. A class that was never seen is in no set.

    The cost: predicting takes a map more, learning a score more, row by row, and a fit of the map
    whenever a sixteenth of the window is new: several updates of a linear model, and with
    ``"mixture"`` tens of them. Memory is ``window`` scores of each class. A
    model that solves every call as a whole is asked and taught call by call.

    Parameters
    ----------
    model : classifier of this library with ``partial_fit``, or a pipeline that ends with one
        It is left as it is; a copy learns.
    method : {"mixture", "platt"}, default="mixture"
        ``"mixture"`` lets Platt, temperature and Venn-Abers speak with the weight that each has
        earned by the labels so far, each twice where ``window`` is 1,000 or more: fitted to all of
        it, and to its latest tenth, which follows a change. Its logarithmic loss is at most that of
        the best of them and about ``10 / window`` an example (``1 / window`` below 1,000), and it
        may change its mind. ``"platt"`` fits a sigmoid: the
        cheapest, and it wants the fewest examples; more than two classes are told from the rest
        one by one, and their probabilities divided by the sum.
    window : int, default=2000
        How many of the latest scores count. Fewer follow a change faster, more are less noisy; a
        single method goes by all of them, and is wrong for about as many rows after a change.
    alphas : tuple of floats between 0 and 1, default=(0.1,)
        The shares of misses that :meth:`predict_set` can be asked for.
    step : float, default=0.06
        How fast the sets answer to a miss.

    Attributes
    ----------
    model_ : the model that has learned
    classes_, n_features_in_, feature_names_in_ : as in scikit-learn
    n_seen_ : int, examples that arrived
    nbytes_ : int, memory of the model, the window and the map

    References
    ----------
    J. Platt, "Probabilistic outputs for support vector machines", 1999. H.-T. Lin, C.-J. Lin and
    R. Weng, "A note on Platt's probabilistic outputs for support vector machines", 2007.
    V. Vovk, I. Petej and V. Fedorova, "Large-scale probabilistic predictors with and without
    guarantees of validity", 2015. M. Herbster and M. Warmuth, "Tracking the best expert", 1998.
    I. Gibbs and E. Candes, "Adaptive conformal inference under distribution shift", 2021.

    Examples
    --------
    >>> import numpy as np
    >>> from onlinesvm import CalibratedOnline, SGDSVC
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(4000, 2))
    >>> y = rng.random(4000) < 1 / (1 + np.exp(-3 * X[:, 0]))
    >>> model = CalibratedOnline(SGDSVC(classes=[False, True])).partial_fit(X, y)
    >>> model.predict_proba([[0.0, 0.0], [1.0, 0.0]])[:, 1].round(1).tolist()
    [0.5, 1.0]
    >>> model.predict_set([[0.0, 0.0], [3.0, 0.0]], alpha=0.1).tolist()
    [[True, True], [False, True]]
    """

    _own_names = ("_calibration", "_sets")
    _takes = "calibration"
    _calibration: Calibration
    _sets: AdaptiveSets

    def __init__(
        self,
        model: Any,
        method: Literal["mixture", "platt"] = "mixture",
        *,
        window: int = 2000,
        alphas: Sequence[float] = (0.1,),
        step: float = 0.06,
    ) -> None:
        self.model = model
        self.method = method
        self.window = window
        self.alphas = alphas
        self.step = step

    # --- learning -----------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, keys: Any = None) -> Self:
        """Forget everything, then make one pass over the rows of ``X``, in a random order.

        One, since an answer counts only if it was given before the label was learned; the order
        is the same for every fit, and row ``i`` is example ``i``. ``partial_fit`` keeps the order
        of its rows.
        """
        return super().fit(X, y, sample_weight, keys)

    def _demand_model(self) -> None:
        super()._demand_model()
        if not is_classifier(self.model):
            raise ValueError(f"model must be a classifier to be calibrated, got {self.model!r:.60}")

    def _begin_own(self) -> None:
        method = check_word("method", self.method, METHODS)
        window = check_count("window", self.window, at_least=20)
        if isinstance(self.alphas, str) or not np.iterable(self.alphas):
            raise ValueError(f"alphas must be numbers between 0 and 1, got {self.alphas!r}")
        alphas = [check_number("alphas", alpha, above=0, below=1) for alpha in self.alphas]
        step = check_number("step", self.step, above=0, below=1)
        self._calibration = Calibration(method, window)
        self._sets = AdaptiveSets(alphas, step, window)

    def _course_of_fit(self, lessons: Lessons) -> Iterator[Lesson]:
        """In a random order, since sorted rows would be asked about before their class is known.

        A model that solves every call as a whole gets several, or it would never be asked.
        """
        order = np.random.default_rng(0).permutation(len(lessons.targets))
        if not last_of(self.model)._solves_calls:
            return lessons.taken(order).one_by_one()
        parts = np.array_split(order, min(_CALLS, len(order)))
        return (lessons.taken(part).at_once() for part in parts)

    def _take(self, lesson: Lesson) -> None:
        started = self.model_.__sklearn_is_fitted__()
        classes = self.model_.classes_ if started else None
        several = classes is not None and len(classes) > 1
        scores = lesson.scores(self.model_) if several else []
        lesson.teach(self.model_, self._classes)
        now = self.model_.classes_
        if now is not classes and (now := tuple(now.tolist())) != self._calibration.labels:
            self._calibration.know(now)
        weights, targets = lesson.weights.tolist(), lesson.targets.tolist()
        for score, label, weight in zip(scores, targets, weights, strict=False):
            if weight > 0:
                self._note(score, label, classes)

    def _note(self, score: Any, label: Any, asked: Any) -> None:
        """Learn from what was said before this label, by a model that knew the classes asked."""
        calibration = self._calibration
        code = calibration.labels.index(label)
        values = score.tolist() if isinstance(score, np.ndarray) else [float(score)]
        if len(asked) < len(calibration.labels):  # some came with this lesson
            values = _widened(values, asked.tolist(), calibration.labels)
        if not any(math.isfinite(value) for value in values):
            return
        if self._sets.alphas:
            finite = [v if math.isfinite(v) else -1e300 for v in values]
            new = not math.isfinite(values[code]) if len(values) > 1 else False
            strange = math.inf if new else 1.0 - calibration.one(finite)[code]
            self._sets.learn(strange)
        calibration.learn(values, code)

    # --- asking -------------------------------------------------------------------------------

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """The probability of each class for each row of ``X``; learns nothing.

        Returns
        -------
        array of shape (n, n_classes), in the order of ``classes_``
        """
        if not self.__sklearn_is_fitted__():
            check_is_fitted(self)  # which says what to do; asked by itself it costs microseconds
        calibration = self._calibration
        scores = np.asarray(self.model_.decision_function(X))
        width = 1 if scores.ndim == 1 else scores.shape[1]
        if len(calibration.labels) > 1 and width != calibration.width:
            with self._register:  # another thread is teaching a new class
                calibration = self._calibration
                scores = np.asarray(self.model_.decision_function(X))
        return calibration.many(scores)

    def predict(self, X: Any) -> NDArray[Any]:
        """The most probable class of each row of ``X``; learns nothing."""
        chances = self.predict_proba(X)
        if chances.shape[1] == 2:
            best = (chances[:, 1] > chances[:, 0]).astype(np.intp)
        else:
            best = chances.argmax(axis=1)
        return np.asarray(self.classes_[best])

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """The logarithm of the odds for each row of ``X``; learns nothing.

        Returns
        -------
        array of shape (n,) for two classes, positive for ``classes_[1]``; else (n, n_classes),
        the logarithms of the probabilities less their mean
        """
        return _log_odds(self.predict_proba(X))

    def predict_set(self, X: Any, alpha: float | None = None) -> NDArray[np.bool_]:
        """Which classes may be the label of each row of ``X``; learns nothing.

        Parameters
        ----------
        X : n rows
        alpha : float, optional
            The share of misses, one of ``alphas``; the first of them if not given.

        Returns
        -------
        array of bool of shape (n, n_classes), in the order of ``classes_``
        """
        chances = self.predict_proba(X)
        limit = self._limit(alpha)
        return np.asarray(1.0 - chances <= limit)

    def _limit(self, alpha: float | None) -> float:
        if alpha is None and not self._sets.alphas:
            raise ValueError("alphas is empty; name the alpha to follow before learning")
        return self._sets.limit(self._sets.alphas[0] if alpha is None else alpha)

    def predict_proba_one(self, x: Any) -> dict[Any, float]:
        """The probability of each class for one 1-D array or dict; {} before any is known."""
        if not self.__sklearn_is_fitted__():
            return {}
        calibration = self._calibration
        return dict(zip(calibration.labels, self._chances_one(x), strict=True))

    def predict_set_one(self, x: Any, alpha: float | None = None) -> set[Any]:
        """The labels that one 1-D array or dict may have; none before any is known."""
        if not self.__sklearn_is_fitted__():
            return set()
        limit = self._limit(alpha)
        return {label for label, p in self.predict_proba_one(x).items() if 1.0 - p <= limit}

    def predict_one(self, x: Any) -> Any:
        """The most probable class of one 1-D array or dict; before any label as the model's."""
        if not self.__sklearn_is_fitted__():
            return self.model.predict_one(x)
        chances = self._chances_one(x)
        return self._calibration.labels[chances.index(max(chances))]

    def decide_one(self, x: Any) -> Any:
        """``decision_function`` of one 1-D array or dict; 0.0 before anything was learned."""
        if not self.__sklearn_is_fitted__():
            return 0.0
        odds = _log_odds(np.array([self._chances_one(x)]))[0]
        return float(odds) if np.ndim(odds) == 0 else odds

    def _chances_one(self, x: Any) -> list[float]:
        score = self.model_.decide_one(x)
        values = score.tolist() if isinstance(score, np.ndarray) else [float(score)]
        return self._calibration.one(values)

    # --- persistence --------------------------------------------------------------------------

    def _own(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        facts, arrays = self._calibration.state()
        return facts, arrays | self._sets.state()

    def _recall_own(self, facts: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:
        self._sets.load(arrays.pop("levels"), arrays.pop("late"))
        self._calibration.load(facts, arrays, self.model_.classes_.tolist())

    def _own_bytes(self) -> int:
        return self._calibration.nbytes + self._sets.nbytes


def _widened(values: list[float], asked: list[Any], labels: Sequence[Any]) -> list[float]:
    """The scores of the classes asked, among all that are known now."""
    if len(values) == 1:
        values = [-values[0], values[0]]
    given = dict(zip(asked, values, strict=True))
    return [given.get(label, math.nan) for label in labels]


def _log_odds(chances: NDArray[np.float64]) -> NDArray[np.float64]:
    if chances.shape[1] == 1:
        return np.zeros(len(chances))
    logs = np.log(np.maximum(chances, _LEAST))
    if chances.shape[1] == 2:
        return np.asarray(logs[:, 1] - logs[:, 0])
    return np.asarray(logs - logs.mean(axis=1, keepdims=True))
