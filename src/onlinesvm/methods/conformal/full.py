"""Full conformal prediction: an exact SVM learns, scores and unlearns every candidate label."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from ...data.arguments import check_count, check_flag, check_number
from ...data.rows import Rows
from ...data.sklearn_types import ClassifierMixin, OutlierMixin, RegressorMixin
from ...data.validation import one_row
from ...model.wrapping import Lesson, Lessons, WrapsModel
from .martingale import Jumper
from .trial import Trial, demand_exact, draw, p_value

Floats = NDArray[np.float64]


class FullConformal(WrapsModel):
    """What the three tasks share: the exact model, the trials on a copy of it, the martingale."""

    _own_names = ("_jumper",)
    _stems: ClassVar[tuple[str, ...]]
    _takes = "martingale"
    _jumper: Jumper

    @property
    def log_martingale_(self) -> float:
        """The natural logarithm of the exchangeability martingale, over rows learned online.

        If the rows are exchangeable it ever exceeds ``log(c)`` with probability at most ``1 / c``:
        above ``log(100)`` the stream has drifted, and the sets are no longer guaranteed.
        """
        self._fitted("log_martingale_")
        return self._jumper.log_value

    def _demand_model(self) -> None:
        demand_exact(self.model, self._stems)
        super()._demand_model()

    def _begin_own(self) -> None:
        check_count("random_state", self.random_state, at_least=0)
        self._jumper = Jumper()
        if self.model.gamma == "scale" and self.model.kernel != "linear":
            warnings.warn(
                "gamma='scale' is settled on the rows learned and not on those asked about: the "
                "guarantee then holds only nearly; give gamma as a number",
                UserWarning,
                stacklevel=5,
            )

    def _course(self, lessons: Lessons) -> Iterator[Lesson]:
        return lessons.one_by_one()  # each gets a p-value of its own

    def _take(self, lesson: Lesson) -> None:
        lesson.teach(self.model_, self._classes)
        if len(lesson.targets) == 1 and lesson.weights[0] > 0 and hasattr(self.model_, "_core"):
            core = self.model_._core
            ids, labels = map(np.asarray, core.labels())
            if len(ids) > 1:
                order = np.argsort(ids)
                row = self._rows(lesson.rows)
                scores = self._strangeness(np.asarray(core.decisions()), labels[order], lesson)
                self._jumper.bet(p_value(scores, draw(self.random_state, row, self.n_seen_)))

    def _rows(self, X: Any) -> Rows:
        rows: Rows = self.model_._read_rows(X, fresh=False, learning=False)[0]
        return rows

    def _strangeness(self, f: Floats, labels: NDArray[np.int64], lesson: Lesson) -> Floats:
        """The nonconformity of all rows held, the lesson's last."""
        raise NotImplementedError

    def _tau(self, row: Rows) -> float | None:
        return draw(self.random_state, row) if self.smoothed else None

    def _own(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        return {}, {"jumper": self._jumper.state()}

    def _recall_own(self, facts: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:
        self._jumper = Jumper()
        self._jumper.load(arrays.pop("jumper"))

    def _own_bytes(self) -> int:
        return self._jumper.state().nbytes


class FullConformalSVC(ClassifierMixin, FullConformal):
    """Sets of labels that hold the true one with probability ``1 - alpha``, from all the rows.

    For every row and every class the row is added with that label, the scores of all rows are read
    from the exact solution, and the row is removed again. The p-value of a label is the share of
    rows at least as strange as this one. No rows are set aside for calibration, and none are
    refitted: a question costs about as much as unlearning a row for each class.

    The guarantee is that of full conformal prediction: if the rows learned and the row asked about
    are exchangeable, the true label has a p-value of at most ``alpha`` with probability at most
    ``alpha`` (exactly ``alpha`` with ``smoothed=True``), on average over rows, not for each single
    one; with ``mondrian=True``, within each class. It holds for a kernel that was fixed
    beforehand and for unweighted rows (``class_weight="balanced"`` weights them). Where the stream
    drifts, :attr:`log_martingale_` grows; use :meth:`CalibratedOnline.predict_set
    <onlinesvm.CalibratedOnline.predict_set>` there, whose sets follow.

    Parameters
    ----------
    model : IncrementalSVC or PokerSVC
        It is left as it is; a copy learns.
    mondrian : bool, default=False
        Compare a row with those of its candidate class only: the guarantee then holds for each
        class, at the price of larger sets.
    smoothed : bool, default=True
        Break ties at random (the same way for the same row), so that p-values are uniform.
        False counts ties in full: larger sets, no randomness.
    random_state : int, default=0

    Attributes
    ----------
    model_ : the model that has learned
    log_martingale_ : float, evidence against exchangeability so far
    classes_, n_features_in_, feature_names_in_ : as in scikit-learn
    n_seen_ : int, rows that arrived
    nbytes_ : int, memory of the model

    References
    ----------
    V. Vovk, A. Gammerman, G. Shafer: Algorithmic Learning in a Random World. 2nd ed., 2022.

    Examples
    --------
    >>> import numpy as np
    >>> from onlinesvm import FullConformalSVC, IncrementalSVC
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 2))
    >>> y = np.where(X[:, 0] + rng.normal(0, 0.3, 200) > 0, 1, -1)
    >>> model = FullConformalSVC(IncrementalSVC(gamma=0.5)).fit(X, y)
    >>> model.predict_set([[2.0, 0.0], [0.0, 0.0]], alpha=0.05).tolist()
    [[False, True], [True, True]]
    """

    _stems = ("Incremental", "PokerClassifier")

    def __init__(
        self,
        model: Any,
        *,
        mondrian: bool = False,
        smoothed: bool = True,
        random_state: int = 0,
    ) -> None:
        self.model = model
        self.mondrian = mondrian
        self.smoothed = smoothed
        self.random_state = random_state

    def _demand_model(self) -> None:
        super()._demand_model()
        if getattr(self.model, "multiclass", "one-vs-rest") == "one-vs-one":
            raise ValueError("multiclass='one-vs-one' has no score of a class; use 'one-vs-rest'")

    def _begin_own(self) -> None:
        check_flag("mondrian", self.mondrian)
        check_flag("smoothed", self.smoothed)
        model = self.__dict__.get("model_")  # none yet where it comes from a file
        if model is not None and getattr(model, "multiclass", None) == "auto":
            model.set_params(multiclass="one-vs-rest")  # a p-value needs a score of each class
        super()._begin_own()

    def p_values(self, X: Any) -> Floats:
        """The p-value of each class for each row of ``X``; learns nothing.

        Returns
        -------
        array of shape (n, n_classes), in the order of ``classes_``
        """
        check_is_fitted(self)
        rows, model = self._rows(X), self.model_
        trial, labels = Trial(model), model._labels
        factors = np.ones(len(labels)) if model._class_factors is None else model._class_factors
        p = np.empty((len(rows), len(labels)))
        for i in range(len(rows)):
            row = rows.part(i, i + 1)
            tau = self._tau(row)
            for code in range(len(labels)):
                f = trial.decisions_with(row, float(code), float(factors[code]))
                p[i, code] = p_value(self._compared(f, np.append(trial.labels, code)), tau)
        return np.asarray(labels.columns(p))

    def predict_set(self, X: Any, alpha: float = 0.1) -> NDArray[np.bool_]:
        """Which classes may be the label of each row of ``X``: those with a p-value above alpha.

        Returns
        -------
        array of bool of shape (n, n_classes), in the order of ``classes_``
        """
        return self.p_values(X) > check_number("alpha", alpha, above=0, below=1)

    def predict(self, X: Any) -> NDArray[Any]:
        """The class that the model itself predicts for each row; no trial is made."""
        check_is_fitted(self)
        return np.asarray(self.model_.predict(X))

    def decision_function(self, X: Any) -> Floats:
        """What the model itself decides of each row."""
        check_is_fitted(self)
        return np.asarray(self.model_.decision_function(X))

    def predict_one(self, x: Any) -> Any:
        """The class that the model itself predicts for one 1-D array or dict."""
        return self._inner.predict_one(x)

    def decide_one(self, x: Any) -> Any:
        """``decision_function`` of one 1-D array or dict."""
        return self._inner.decide_one(x)

    def _strangeness(self, f: Floats, labels: NDArray[np.int64], lesson: Lesson) -> Floats:
        return self._compared(f, labels)

    def _compared(self, f: Floats, labels: NDArray[np.int64]) -> Floats:
        scores = _margin_losses(f, labels)
        return scores[labels == labels[-1]] if self.mondrian else scores


class FullConformalSVR(RegressorMixin, FullConformal):
    """Intervals that hold the target with probability at least ``1 - alpha``, from all the rows.

    Each end of an interval costs one trial: a row whose target lies far above has its coefficient
    at the bound ``C``, and from there on the solution no longer depends on the target. The
    strangeness of a row is its absolute residual.

    The guarantee is that of full conformal prediction, for exchangeable rows and a kernel that was
    fixed beforehand: at least ``1 - alpha`` on average over rows. Where more than a share
    ``1 - alpha`` of the rows lies strictly inside the tube, the interval is at least as wide as the
    tube; a smaller ``epsilon`` makes it tighter.

    Parameters
    ----------
    model : PokerSVR
        It is left as it is; a copy learns.
    random_state : int, default=0
        Of the ties in :attr:`log_martingale_`.

    Attributes
    ----------
    model_ : the model that has learned
    log_martingale_ : float, evidence against exchangeability so far
    n_seen_, nbytes_, n_features_in_, feature_names_in_ : as the model has them

    References
    ----------
    V. Vovk, A. Gammerman, G. Shafer: Algorithmic Learning in a Random World. 2nd ed., 2022.

    Examples
    --------
    >>> import numpy as np
    >>> from onlinesvm import FullConformalSVR, PokerSVR
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-3, 3, size=(200, 1))
    >>> y = np.sin(X[:, 0]) + rng.normal(0, 0.1, 200)
    >>> model = FullConformalSVR(PokerSVR(C=10, gamma=0.5)).fit(X, y)
    >>> model.predict_interval([[0.0]], alpha=0.1).round(1).tolist()
    [[-0.2, 0.2]]
    """

    _stems = ("PokerRegressor",)

    def __init__(self, model: Any, *, random_state: int = 0) -> None:
        self.model = model
        self.random_state = random_state

    def predict_interval(self, X: Any, alpha: float = 0.1) -> Floats:
        """The interval of each row of ``X``, shape (n, 2); infinite where rows are too few."""
        check_is_fitted(self)
        alpha = check_number("alpha", alpha, above=0, below=1)
        rows, trial = self._rows(X), Trial(self.model_)
        ends = np.empty((len(rows), 2))
        for i in range(len(rows)):
            for side, sign in enumerate((-1.0, 1.0)):
                ends[i, side] = self._end(trial, rows.part(i, i + 1), sign, alpha)
        return ends

    def p_value(self, X: Any, y: Any) -> Floats:
        """The p-value of each target, ties counted in full."""
        check_is_fitted(self)
        rows, trial = self._rows(X), Trial(self.model_)
        targets = self.model_._read_column(y, len(rows))
        p = np.empty(len(rows))
        for i, target in enumerate(targets.tolist()):
            f = trial.decisions_with(rows.part(i, i + 1), target)[:, 0]
            p[i] = p_value(np.abs(np.append(self._held(trial), target) - f), None)
        return p

    def predict(self, X: Any) -> Floats:
        """What the model itself predicts for each row; no trial is made."""
        check_is_fitted(self)
        return np.asarray(self.model_.predict(X))

    def predict_one(self, x: Any) -> float:
        """What the model itself predicts for one 1-D array or dict."""
        return float(self._inner.predict_one(x))

    def decide_one(self, x: Any) -> float:
        """``predict_one``."""
        return self.predict_one(x)

    def _held(self, trial: Trial) -> Floats:
        """The targets of the rows held, by id."""
        return trial.targets()

    def _end(self, trial: Trial, row: Rows, sign: float, alpha: float) -> float:
        """The upper (1) or lower (-1) end of the interval of a row.

        A target beyond the tube of the solution at the bound leaves that solution as it is, so the
        residuals of all other rows are those of one trial, and the p-value is their rank.
        """
        held, epsilon = self._held(trial), float(self.model_.epsilon)
        n = len(held)
        rank = math.floor(alpha * (n + 1))
        if rank < 1:
            return sign * math.inf
        here = float(row.score(self.model_._core)[0, 0])
        far = 2.0 * float(np.ptp(held)) + 2.0 * float(self.model_.C) + epsilon + 1.0
        while True:
            f = trial.decisions_with(row, here + sign * far)[:, 0]
            if abs(here + sign * far - f[-1]) > epsilon + 1e-3 * far:
                break
            far *= 2.0
        residuals = np.sort(np.abs(held - f[:-1]))
        return float(f[-1] + sign * max(residuals[n - rank], epsilon))

    def _strangeness(self, f: Floats, labels: NDArray[np.int64], lesson: Lesson) -> Floats:
        targets = Trial.targets_of(self.model_._core)
        return np.asarray(np.abs(targets - f[:, 0]))


class FullConformalOneClassSVM(OutlierMixin, FullConformal):
    """A p-value for each row: how many rows of the data are as unusual, by an exact one-class SVM.

    The row is learned with the others, the scores of all are read, and the row is removed again.
    If it is exchangeable with the rows learned, its p-value is at most ``alpha`` with probability
    at most ``alpha``: the rate of false alarms is guaranteed.

    Parameters
    ----------
    model : PokerOneClassSVM
        It is left as it is; a copy learns.
    alpha : float, default=0.05
        The share of false alarms of :meth:`predict`.
    smoothed : bool, default=True
        Break ties at random, the same way for the same row.
    random_state : int, default=0

    Attributes
    ----------
    model_ : the model that has learned
    log_martingale_ : float, evidence against exchangeability so far
    n_seen_, nbytes_, n_features_in_, feature_names_in_ : as the model has them

    References
    ----------
    V. Vovk, A. Gammerman, G. Shafer: Algorithmic Learning in a Random World. 2nd ed., 2022.

    Examples
    --------
    >>> import numpy as np
    >>> from onlinesvm import FullConformalOneClassSVM, PokerOneClassSVM
    >>> rng = np.random.default_rng(0)
    >>> model = FullConformalOneClassSVM(PokerOneClassSVM(nu=0.1, gamma=0.5))
    >>> model.fit(rng.normal(size=(200, 2))).predict([[0.0, 0.1], [4.0, -4.0]]).tolist()
    [1, -1]
    """

    _stems = ("PokerOneClass",)

    def __init__(
        self, model: Any, *, alpha: float = 0.05, smoothed: bool = True, random_state: int = 0
    ) -> None:
        self.model = model
        self.alpha = alpha
        self.smoothed = smoothed
        self.random_state = random_state

    def _begin_own(self) -> None:
        check_number("alpha", self.alpha, above=0, below=1)
        check_flag("smoothed", self.smoothed)
        super()._begin_own()

    def p_values(self, X: Any) -> Floats:
        """The p-value of each row of ``X``; learns nothing."""
        check_is_fitted(self)
        rows, trial = self._rows(X), Trial(self.model_)
        p = np.empty(len(rows))
        for i in range(len(rows)):
            row = rows.part(i, i + 1)
            p[i] = p_value(-trial.decisions_with(row, 0.0)[:, 0], self._tau(row))
        return p

    def predict(self, X: Any) -> NDArray[np.int64]:
        """-1 for rows with a p-value of at most ``alpha``, else 1."""
        return np.where(self.p_values(X) <= self.alpha, -1, 1)

    def predict_one(self, x: Any) -> int | None:
        """-1 for an unusual 1-D array or dict, else 1; ``None`` before anything was learned."""
        if not self.__sklearn_is_fitted__():
            return None
        return int(self.predict(one_row(x))[0])

    def decision_function(self, X: Any) -> Floats:
        """What the model itself decides of each row."""
        check_is_fitted(self)
        return np.asarray(self.model_.decision_function(X))

    def decide_one(self, x: Any) -> float:
        """``decision_function`` of one 1-D array or dict."""
        return float(self._inner.decide_one(x))

    def _strangeness(self, f: Floats, labels: NDArray[np.int64], lesson: Lesson) -> Floats:
        return np.asarray(-f[:, 0])


def _margin_losses(f: Floats, labels: NDArray[np.int64]) -> Floats:
    """How far each row is on the wrong side: the best other class less its own."""
    if f.shape[1] == 1:
        return np.asarray(np.where(labels == 1, -f[:, 0], f[:, 0]))
    places = np.arange(len(labels))
    own, others = f[places, labels].copy(), f.copy()
    others[places, labels] = -np.inf
    return np.asarray(others.max(axis=1) - own)
