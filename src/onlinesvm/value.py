"""The value of a training row: how much it adds to a score on held-out rows.

A permutation of the rows is a stream that grows by one row at a time, so one pass of an online
model gives the score of every prefix. Packages that refit a model for each prefix pay a fit where
this pays an update.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from scipy.special import betaln, gammaln
from scipy.stats import norm
from sklearn.base import clone, is_classifier
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.metrics import check_scoring

from .data.arguments import check_count, check_number, check_word
from .data.validation import demand_table
from .model.progress import Rounds

Floats = NDArray[np.float64]
Method = Literal["shapley", "beta", "banzhaf", "leave_one_out"]
_METHODS = ("shapley", "beta", "banzhaf", "leave_one_out")


@dataclass(frozen=True)
class DataValues:
    """The value of each row, with its sampling error.

    Attributes
    ----------
    values : array of n floats
    errors : array of n floats, their standard errors; 0 for leave-one-out
    n_rounds : int, permutations (or subsets, for Banzhaf) behind them
    method : str
    full_score, empty_score : float, the score of the model of all rows and of a constant one
    """

    values: Floats
    errors: Floats
    n_rounds: int
    method: str
    full_score: float
    empty_score: float
    sums: NDArray[np.float64]  # what further rounds are added to
    seed: int

    def interval(self, confidence: float = 0.95) -> Floats:
        """A normal confidence interval of each value, shape (n, 2).

        Each one alone covers the expected value with this probability, for many rounds; all of
        them together do not.
        """
        confidence = check_number("confidence", confidence, above=0, below=1)
        width = norm.ppf(0.5 + confidence / 2) * self.errors
        return np.column_stack([self.values - width, self.values + width])

    def order(self) -> NDArray[np.intp]:
        """The rows from the least valuable to the most valuable."""
        return np.argsort(self.values, kind="stable")

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write to an ``.npz`` file, from which :meth:`load` goes on."""
        with open(path, "wb") as file:
            np.savez(file, **vars(self))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read what :meth:`save` has written."""
        with np.load(path, allow_pickle=False) as saved:
            facts: dict[str, Any] = {name: saved[name] for name in saved.files}
        try:
            plain = {"n_rounds": int, "seed": int, "full_score": float, "empty_score": float}
            cast = {name: kind(facts[name]) for name, kind in plain.items()}
            return cls(**(facts | cast | {"method": str(facts["method"])}))
        except (KeyError, TypeError, ValueError):
            raise ValueError(f"{os.fspath(path)} has no data values in it") from None


def data_values(
    model: Any,
    X: Any,
    y: Any,
    X_valid: Any,
    y_valid: Any,
    *,
    method: Method = "shapley",
    n_rounds: int = 100,
    scoring: str | Callable[..., float] | None = None,
    truncate: float = 0.01,
    beta: tuple[float, float] = (4.0, 1.0),
    n_jobs: int | None = None,
    random_state: int = 0,
    resume: DataValues | None = None,
    verbose: bool = False,
) -> DataValues:
    """How much each row of ``X`` adds to the score on ``X_valid``.

    A row of low or negative value is wrong, redundant or unlike the rows of interest; values of
    groups of rows add up (Shapley). Use it to price data, to find labels to check, or to thin a
    training set.

    One round of ``"shapley"`` costs one pass of ``model`` over a random order of the rows and a
    score after each row. The kernel width is settled once, on all rows.

    Parameters
    ----------
    model : classifier or regressor with ``partial_fit`` and ``learn_one``
        It is left as it is. Exact ones (:class:`~onlinesvm.IncrementalSVC`,
        :class:`~onlinesvm.RampSVC`, :class:`~onlinesvm.PokerSVR`) give the values that refitting
        would give.
    X, y : n training rows
    X_valid, y_valid : rows to score on
    method : {"shapley", "beta", "banzhaf", "leave_one_out"}, default="shapley"
        The mean of what a row adds to a random prefix: all lengths count alike (``"shapley"``,
        Ghorbani & Zou 2019), short ones more (``"beta"``, Kwon & Zou 2022), or random halves
        (``"banzhaf"``, Wang & Jia 2023: the least noisy ranking). ``"leave_one_out"`` is what all
        other rows would lose, exactly; most rows have the value 0.
    n_rounds : int, default=100
        Permutations, or subsets for ``"banzhaf"``; twice as many add a quarter less error.
    scoring : str, callable or None
        A scorer as in scikit-learn; None is ``model.score``.
    truncate : float, default=0.01
        A permutation ends once its score is so near to the score of all rows; what is left counts
        as 0, a bias of at most this sum over the rows left. 0 visits all rows.
    beta : pair of floats, default=(4, 1)
        The parameters of ``"beta"``; (1, 1) is Shapley.
    n_jobs : int or None
        Processes; the values are the same for any number.
    random_state : int, default=0
    resume : DataValues, optional
        Earlier values of the same data and settings: the rounds are added to theirs, as if all
        had been made at once.
    verbose : bool, default=False
        Show a progress bar.

    Returns
    -------
    DataValues

    Examples
    --------
    >>> import numpy as np
    >>> from onlinesvm import IncrementalSVC
    >>> from onlinesvm.value import data_values
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(160, 2))
    >>> y = np.where(X[:, 0] > 0, 1, -1)
    >>> y[7] = -y[7]  # a wrong label
    >>> svm = IncrementalSVC(C=10, gamma=0.5)
    >>> found = data_values(svm, X[:60], y[:60], X[60:], y[60:], n_rounds=40)
    >>> int(found.order()[0])
    7
    """
    check_word("method", method, _METHODS)
    n_rounds = check_count("n_rounds", n_rounds, at_least=1)
    truncate = check_number("truncate", truncate, at_least=0)
    seed = check_count("random_state", random_state, at_least=0)
    game = _Game.of(model, X, y, X_valid, y_valid, scoring, truncate)
    n = len(game.y)
    if method == "leave_one_out":
        values = game.leave_one_out()
        return DataValues(
            values, np.zeros(n), 1, method, game.full, game.empty, np.zeros((3, n)), seed
        )
    weights = _beta_weights(n, *beta) if method == "beta" else np.ones(n)
    done, sums = 0, np.zeros((5 if method == "banzhaf" else 2, n))
    if resume is not None:
        if (resume.method, resume.seed, resume.sums.shape) != (method, seed, sums.shape):
            raise ValueError("resume is of another method, random_state or number of rows")
        done, sums = resume.n_rounds, resume.sums.copy()
    half = method == "banzhaf"
    play = delayed(game.subset if half else game.permutation)
    rounds = Parallel(n_jobs=n_jobs, return_as="generator")(
        play((seed, k)) for k in range(done, done + n_rounds)
    )
    with Rounds(f"{method} values", n_rounds, watched=verbose) as progress:
        outcome: Any
        for outcome in rounds:
            if half:
                _add_subset(sums, *outcome)
            else:
                _add_marginals(sums, weights, *outcome)
            progress.advance()
    total = done + n_rounds
    values, errors = _summary(method, sums, total)
    return DataValues(values, errors, total, method, game.full, game.empty, sums, seed)


def removal_curve(
    model: Any,
    X: Any,
    y: Any,
    X_valid: Any,
    y_valid: Any,
    order: Any,
    *,
    steps: int = 20,
    most: float = 0.5,
    scoring: str | Callable[..., float] | None = None,
) -> tuple[Floats, Floats]:
    """The score as rows are removed in an order, by unlearning where the model can.

    Returns
    -------
    shares, scores : arrays of ``steps + 1`` floats, from no row to a share ``most`` of them
    """
    game = _Game.of(model, X, y, X_valid, y_valid, scoring, 0.0)
    order = np.asarray(order, dtype=np.intp)
    cuts = np.round(np.linspace(0, most * len(order), steps + 1)).astype(int)
    learned = game.learned(np.arange(len(game.y)))
    scores = [game.score(learned)]
    for before, cut in itertools.pairwise(cuts):
        if game.unlearns and cut > before:
            learned.unlearn(order[before:cut])
        elif cut > before:
            learned = game.learned(np.sort(order[cut:]))
        scores.append(game.score(learned))
    return cuts / len(order), np.array(scores)


@dataclass(frozen=True)
class _Game:
    """Rows that join a model one by one, and what the model then scores."""

    model: Any
    X: Any
    y: NDArray[Any]
    X_valid: Any
    y_valid: NDArray[Any]
    scorer: Callable[..., float] | None
    truncate: float
    full: float = 0.0
    empty: float = 0.0

    @classmethod
    def of(
        cls,
        model: Any,
        X: Any,
        y: Any,
        X_valid: Any,
        y_valid: Any,
        scoring: Any,
        truncate: float,
    ) -> Self:
        if not hasattr(model, "partial_fit"):
            raise ValueError(f"model must have partial_fit, got {model!r:.60}")
        for table in (X, X_valid):
            demand_table(table)
        X, X_valid = np.asarray(X), np.asarray(X_valid)
        y, y_valid = np.asarray(y), np.asarray(y_valid)
        for name, rows, labels in (("y", X, y), ("y_valid", X_valid, y_valid)):
            if labels.shape != (len(rows),):
                raise ValueError(f"{name} must have one label for each of {len(rows)} rows")
        scorer = None if scoring is None and is_classifier(model) else check_scoring(model, scoring)
        game = cls(_with_gamma(model, X), X, y, X_valid, y_valid, scorer, truncate)
        constant = DummyClassifier() if is_classifier(model) else DummyRegressor()
        empty = game.score(constant.fit(X, y))
        full = game.score(game.learned(np.arange(len(y))))
        return cls(game.model, X, y, X_valid, y_valid, scorer, truncate, full, empty)

    @property
    def unlearns(self) -> bool:
        return hasattr(self.model, "can") and bool(self.model.can("unlearn"))

    def score(self, model: Any) -> float:
        if self.scorer is None:
            return float(np.mean(model.predict(self.X_valid) == self.y_valid))
        return float(self.scorer(model, self.X_valid, self.y_valid))

    def new(self) -> Any:
        model = clone(self.model)
        return model.set_params(classes=np.unique(self.y)) if is_classifier(model) else model

    def learned(self, rows: NDArray[np.intp]) -> Any:
        model = self.new()
        return model.partial_fit(self.X[rows], self.y[rows], ids=rows.astype(np.int64))

    def permutation(self, seed: tuple[int, int]) -> Floats:
        """What each row has added to those before it, and its place, shape (2, n)."""
        order = np.random.default_rng(seed).permutation(len(self.y))
        added, place = np.zeros(len(order)), np.zeros(len(order))
        place[order] = np.arange(len(order))
        model, before = self.new(), self.empty
        for row in order:
            model.learn_one(self.X[row], self.y[row])
            after = self.score(model)
            added[row], before = after - before, after
            if self.truncate and abs(self.full - after) < self.truncate:
                break
        return np.stack([added, place])

    def subset(self, seed: tuple[int, int]) -> tuple[NDArray[np.bool_], float]:
        """A random half of the rows, and the score of the model of these."""
        chosen = np.random.default_rng(seed).random(len(self.y)) < 0.5
        rows = np.flatnonzero(chosen)
        return chosen, self.score(self.learned(rows)) if len(rows) else self.empty

    def leave_one_out(self) -> Floats:
        """What all rows but one score less than all; rows without influence are 0 without work."""
        n = len(self.y)
        model = self.learned(np.arange(n))
        values = np.zeros(n)
        if not self.unlearns:
            for row in range(n):
                rest = np.delete(np.arange(n), row)
                values[row] = self.full - self.score(self.learned(rest))
            return values
        for row in np.sort(model.support_):
            model.unlearn(row)
            values[row] = self.full - self.score(model)
            model.partial_fit(self.X[[row]], self.y[[row]], ids=[row])
        return values


def _with_gamma(model: Any, X: NDArray[Any]) -> Any:
    """The model with a kernel width by number: a word would be settled anew in every round."""
    gamma = model.get_params().get("gamma")
    if not isinstance(gamma, str):
        return model
    spread = float(np.var(X)) if gamma == "scale" else 1.0
    return clone(model).set_params(gamma=1.0 / (X.shape[1] * (spread or 1.0)))


def _beta_weights(n: int, a: float, b: float) -> Floats:
    """The weight of the j-th place of n; their mean is 1."""
    check_number("beta", a, above=0)
    check_number("beta", b, above=0)
    j = np.arange(1, n + 1)
    choose = gammaln(n) - gammaln(j) - gammaln(n - j + 1)
    return np.asarray(n * np.exp(choose + betaln(j + b - 1, n - j + a) - betaln(a, b)))


def _add_marginals(sums: Floats, weights: Floats, added: Floats, place: Floats) -> None:
    weighted = added * weights[place.astype(np.intp)]
    sums += np.stack([weighted, weighted**2])


def _add_subset(sums: Floats, chosen: NDArray[np.bool_], score: float) -> None:
    for half, first in ((chosen, 0), (~chosen, 2)):
        sums[first] += half * score
        sums[first + 1] += half * score**2
    sums[4] += chosen


def _summary(method: str, sums: Floats, rounds: int) -> tuple[Floats, Floats]:
    if method != "banzhaf":
        mean = sums[0] / rounds
        spread = np.maximum(sums[1] / rounds - mean**2, 0)
        return mean, np.sqrt(spread / max(rounds - 1, 1))
    counts = np.maximum(np.stack([sums[4], rounds - sums[4]]), 1)
    means = sums[[0, 2]] / counts
    spreads = np.maximum(sums[[1, 3]] / counts - means**2, 0)
    return means[0] - means[1], np.sqrt((spreads / np.maximum(counts - 1, 1)).sum(axis=0))
