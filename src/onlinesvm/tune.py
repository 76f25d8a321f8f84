"""Search for C and gamma: one matrix of kernel values per gamma, solutions that follow C.

What :class:`~sklearn.model_selection.GridSearchCV` refits from nothing in every cell, this goes on
with: the kernel values of a gamma serve all folds and all C, the solution for one C is where the
next begins, and the rows of a fold that are held out are decided as a by-product.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.stats import rankdata
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.metrics import check_scoring
from sklearn.metrics.pairwise import euclidean_distances, manhattan_distances
from sklearn.model_selection import ParameterGrid, check_cv
from sklearn.pipeline import Pipeline
from sklearn.svm import SVC
from sklearn.utils import check_array, compute_class_weight, indexable
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

from . import _core  # type: ignore[attr-defined]
from .data.arguments import threads
from .methods.dual.lasvm import LASVC
from .methods.dual.smo import SmoSVC
from .methods.exact.incremental import IncrementalSVC
from .model.progress import Rounds

__all__ = ["GramSearchCV"]

Floats = NDArray[np.float64]
_SEARCHED = ("C", "gamma", "kernel", "degree", "coef0")
_KERNELS = ("linear", "rbf", "poly", "laplacian")
_TOL = 1e-3  # of the solutions that are scored; scikit-learn's


def _has(name: str) -> Any:
    return available_if(
        lambda self: hasattr(getattr(self, "best_estimator_", self.estimator), name)
    )


class GramSearchCV(MetaEstimatorMixin, BaseEstimator):
    """Cross-validated grid search for SVMs with a free bias, as ``GridSearchCV`` and much faster.

    It solves the problem of scikit-learn's ``SVC``, of :class:`SmoSVC`, :class:`IncrementalSVC` and
    :class:`LASVC`, within 1e-3; scores may differ by a row near the boundary. Take ``GridSearchCV``
    for other estimators, other parameters, or rows whose matrix does not fit into memory.

    Memory: 8 bytes for each pair of rows, and 4 more for each of ``n_jobs`` threads.

    Parameters
    ----------
    estimator : SmoSVC, IncrementalSVC, LASVC or SVC, or a pipeline that ends in one
        The steps of a pipeline are fitted anew on the training rows of each fold.
    param_grid : dict or list of dicts
        Values of ``C``, ``gamma``, ``kernel``, ``degree`` and ``coef0``; in a pipeline with the
        name of its last step, such as ``smosvc__C``.
    scoring : str, callable or None
        A scorer as in scikit-learn; None is ``estimator.score``. It is given a stand-in for the
        model, with ``predict``, ``decision_function`` and ``classes_`` for the rows held out.
    cv : int, splitter, iterable or None
        As in ``GridSearchCV``; None is five folds by class.
    refit : bool, default=True
        Fit the best on all rows.
    n_jobs : int or None
        Threads; None is one, -1 all processors. The results are the same bits.
    verbose : bool, default=False
        Show a live bar.

    Attributes
    ----------
    best_params_, best_score_, best_index_, cv_results_, n_splits_, scorer_ : as in ``GridSearchCV``
    best_estimator_, refit_time_, classes_, n_features_in_ : likewise, with ``refit``

    Examples
    --------
    >>> import numpy as np
    >>> from onlinesvm import SmoSVC
    >>> from onlinesvm.tune import GramSearchCV
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, (400, 2))
    >>> y = X[:, 0] * X[:, 1] > 0
    >>> grid = {"C": [0.1, 1, 10, 100], "gamma": [0.1, 1, 10]}
    >>> search = GramSearchCV(SmoSVC(), grid).fit(X, y)
    >>> sorted(search.best_params_.items()), round(search.best_score_, 2)
    ([('C', 10), ('gamma', 10)], 0.99)
    """

    def __init__(
        self,
        estimator: Any,
        param_grid: Any,
        *,
        scoring: Any = None,
        cv: Any = None,
        refit: bool = True,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.estimator = estimator
        self.param_grid = param_grid
        self.scoring = scoring
        self.cv = cv
        self.refit = refit
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Score every candidate on every fold, and fit the best on all rows.

        Parameters
        ----------
        X : array, sparse matrix or data frame, n rows
        y : array of n labels
        sample_weight : array of n numbers >= 0, optional
            For learning, as ``SVC`` takes them, and for the scores.
        groups : array of n, optional
            For splitters that keep groups together.

        Returns
        -------
        self
        """
        X, y = indexable(X, np.asarray(y))
        prefix, last = _last(self.estimator)
        candidates = list(ParameterGrid(self.param_grid))
        for name in {name for params in candidates for name in params}:
            if name.removeprefix(prefix) not in _SEARCHED or not name.startswith(prefix):
                wanted = ", ".join(prefix + searched for searched in _SEARCHED)
                raise ValueError(
                    f"param_grid has {name!r}; it may have {wanted}. GridSearchCV takes the others"
                )
        self.scorer_ = check_scoring(self.estimator, self.scoring)
        splits = list(check_cv(self.cv, y, classifier=True).split(X, y, groups))
        weight = _check_sample_weight(sample_weight, np.empty((len(y), 1)), dtype=np.float64)
        problem = _Problem(last, self.estimator, X, y, weight, splits)

        def scorer(model: Any, X: Any, y: Any, rows: NDArray[np.intp]) -> Any:
            more = {} if sample_weight is None else {"sample_weight": weight[rows]}
            return self.scorer_(model, X, y, **more)

        tasks = list(_tasks(candidates, prefix, problem))
        scores = np.full((len(candidates), len(splits)), np.nan)
        seconds = np.zeros((2, len(candidates), len(splits)))

        def work(task: _Task) -> list[tuple[int, int, float, float, float]]:
            return list(problem.scored(task, scorer))

        jobs = min(threads(self.n_jobs), len(tasks))
        with (
            ThreadPoolExecutor(max(1, jobs)) as pool,
            Rounds("grid search", len(tasks), watched=self.verbose) as progress,
        ):
            for found in pool.map(work, tasks):
                for at, fold, score, fit_time, score_time in found:
                    scores[at, fold] = score
                    seconds[:, at, fold] = fit_time, score_time
                progress.advance()
        self.n_splits_ = len(splits)
        self.cv_results_ = _results(candidates, scores, seconds)
        self.best_index_ = int(self.cv_results_["rank_test_score"].argmin())
        self.best_params_ = candidates[self.best_index_]
        self.best_score_ = float(self.cv_results_["mean_test_score"][self.best_index_])
        if self.refit:
            began = time.perf_counter()
            step = {} if sample_weight is None else {f"{prefix}sample_weight": sample_weight}
            best = clone(self.estimator).set_params(**clone(self.best_params_, safe=False))
            self.best_estimator_ = best.fit(X, y, **step)
            self.refit_time_ = time.perf_counter() - began
        return self

    # --- what the best one does ---------------------------------------------------------------

    @property
    def classes_(self) -> NDArray[Any]:
        """The classes of the best estimator."""
        return np.asarray(self._best().classes_)

    @property
    def n_features_in_(self) -> int:
        """Columns of the rows that were learned."""
        return int(self._best().n_features_in_)

    @_has("predict")
    def predict(self, X: Any) -> Any:
        """The labels that the best estimator gives."""
        return self._best().predict(X)

    @_has("decision_function")
    def decision_function(self, X: Any) -> Any:
        """The scores of the best estimator."""
        return self._best().decision_function(X)

    def score(self, X: Any, y: Any) -> float:
        """The score of the best estimator, by ``scoring``."""
        return float(self.scorer_(self._best(), X, y))

    def _best(self) -> Any:
        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        below = self.estimator.__sklearn_tags__()
        tags.estimator_type, tags.classifier_tags = below.estimator_type, below.classifier_tags
        tags.input_tags.sparse = below.input_tags.sparse
        return tags


def _last(estimator: Any) -> tuple[str, Any]:
    """The SVM at the end, and what its parameters are called by."""
    prefix, last = "", estimator
    if isinstance(estimator, Pipeline):
        name, last = estimator.steps[-1]
        prefix = f"{name}__"
    if not isinstance(last, SVC | SmoSVC | IncrementalSVC | LASVC):
        raise TypeError(
            "estimator must be SmoSVC, IncrementalSVC, LASVC or scikit-learn's SVC, or a pipeline "
            f"that ends in one; got {type(last).__name__}. GridSearchCV takes any"
        )
    if getattr(last, "bias", "free") != "free":
        raise ValueError("estimator must have bias='free'; GridSearchCV takes any")
    if getattr(last, "query", "all") != "all":
        raise ValueError("estimator must have query='all'; GridSearchCV takes any")
    return prefix, last


# --- what is solved -------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Kernel:
    """What kernel values are made with; gamma may still be a word."""

    kernel: Any
    gamma: Any
    degree: Any
    coef0: Any

    def settled(self, X: Any) -> _Kernel:
        """With the gamma that a word means for these rows."""
        if not isinstance(self.gamma, str):
            return self
        gamma = 1.0 / X.shape[1]
        if self.gamma == "scale":
            mean = X.mean()
            spread = (X.multiply(X).mean() - mean**2) if sp.issparse(X) else X.var()
            gamma = gamma / float(spread) if spread else 1.0
        return _Kernel(self.kernel, gamma, self.degree, self.coef0)


@dataclass(frozen=True)
class _Task:
    """Folds of one view with the same kernel values, and the candidates by C."""

    view: _View
    folds: Sequence[tuple[int, NDArray[np.intp], NDArray[np.intp]]]  # number, and places in it
    kernel: _Kernel
    at: Mapping[float, Sequence[int]]


class _View:
    """Rows as the SVM sees them, and what kernel values are made of."""

    def __init__(self, X: Any, rows: NDArray[np.intp]) -> None:
        self.X = check_array(X, accept_sparse="csr", dtype=np.float64)
        self.rows = rows  # their numbers in the data

    @cached_property
    def _squares(self) -> NDArray[np.float32]:
        return np.asarray(euclidean_distances(self.X, squared=True), dtype=np.float32)

    @cached_property
    def _sizes(self) -> NDArray[np.float32]:
        X = self.X.toarray() if sp.issparse(self.X) else self.X
        return np.asarray(manhattan_distances(X), dtype=np.float32)

    @cached_property
    def _products(self) -> Floats:
        products = self.X @ self.X.T
        return np.asarray(products.toarray() if sp.issparse(products) else products)

    def prepare(self, kernel: str) -> None:
        """Compute once what all threads read."""
        _ = {"rbf": "_squares", "laplacian": "_sizes"}.get(kernel, "_products")
        getattr(self, _)

    def gram(self, k: _Kernel) -> NDArray[np.float32]:
        """Kernel values of all rows with each other."""
        if k.kernel in ("rbf", "laplacian"):
            apart = self._squares if k.kernel == "rbf" else self._sizes
            K = np.multiply(apart, np.float32(-k.gamma))
            return np.exp(K, out=K)
        if k.kernel == "linear":
            return self._products.astype(np.float32)
        powers = (k.gamma * self._products + k.coef0) ** k.degree
        return np.asarray(powers, dtype=np.float32)


class _Decided(ClassifierMixin, BaseEstimator):
    """What a scorer sees of a model: its scores of the rows that it is asked about."""

    def __init__(self, classes: NDArray[Any], scores: Floats, *, by_votes: bool) -> None:
        self.classes_ = classes
        self._scores = scores
        self._by_votes = by_votes  # alone: of equal votes the first class has it

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def decision_function(self, X: Any) -> Floats:
        return self._scores

    def predict(self, X: Any) -> NDArray[Any]:
        f = self._scores
        if f.ndim == 1:
            best = (f > 0).astype(np.intp)
        else:
            best = (np.rint(f) if self._by_votes else f).argmax(axis=1)
        return np.asarray(self.classes_[best])


class _Problem:
    """The rows, their classes and weights, and how a model of them is solved and scored."""

    def __init__(
        self, last: Any, estimator: Any, X: Any, y: NDArray[Any], weight: Floats, splits: Any
    ) -> None:
        self.last, self.estimator, self.X, self.y, self.weight = last, estimator, X, y, weight
        self.splits = splits
        self.classes, self.codes = np.unique(y, return_inverse=True)
        if len(self.classes) < 2:
            raise ValueError("y has one class; a search needs two or more")
        self.by_rest = getattr(last, "multiclass", "one-vs-one") == "one-vs-rest"
        self.by_votes = isinstance(last, SVC) and not last.break_ties

    def views(self) -> Iterator[tuple[_View, list[Any]]]:
        """Rows as the SVM sees them, and the folds for which they are so."""
        if not isinstance(self.estimator, Pipeline) or len(self.estimator.steps) == 1:
            folds = [(k, train, test) for k, (train, test) in enumerate(self.splits)]
            yield _View(self.X, np.arange(len(self.y))), folds
            return
        for k, (train, test) in enumerate(self.splits):
            steps = clone(self.estimator[:-1])
            learned = steps.fit_transform(_rows(self.X, train), self.y[train])
            others = steps.transform(_rows(self.X, test))
            join = sp.vstack if sp.issparse(learned) else np.vstack
            at = np.arange(len(train)), np.arange(len(train), len(train) + len(test))
            yield _View(join([learned, others]), np.concatenate([train, test])), [(k, *at)]

    def scored(self, task: _Task, scorer: Any) -> Iterator[tuple[int, int, float, float, float]]:
        """Of each candidate and fold the score, and the seconds to learn and to score it."""
        K = task.view.gram(task.kernel)
        Cs = sorted(task.at)
        for fold, train, test in task.folds:
            began = time.process_time()
            f = self._decisions(K, task.view.rows, train, test, np.array(Cs))
            fit_time = (time.process_time() - began) / len(Cs)
            rows = task.view.rows[test]
            X, y = _rows(self.X, rows), self.y[rows]
            for C, scores in zip(Cs, f, strict=True):
                began = time.process_time()
                model = _Decided(self.classes, scores, by_votes=self.by_votes)
                score = float(scorer(model, X, y, rows))
                for at in task.at[C]:
                    yield at, fold, score, fit_time, time.process_time() - began

    def _decisions(
        self,
        K: NDArray[np.float32],
        rows: NDArray[np.intp],
        train: NDArray[np.intp],
        test: NDArray[np.intp],
        Cs: Floats,
    ) -> Floats:
        """Scores of the rows held out, by C: (n,) for two classes, else (n, classes)."""
        codes, weight = self.codes[rows], np.zeros(len(rows))
        weight[train] = self.weight[rows[train]] * self._factors(codes[train])[codes[train]]
        k = len(self.classes)
        if k == 2:
            return self._binary(K, np.where(codes == 1, 1.0, -1.0), weight, Cs)[:, test]
        if self.by_rest:
            each = [self._binary(K, np.where(codes == c, 1.0, -1.0), weight, Cs) for c in range(k)]
            return np.stack(each, axis=-1)[:, test]
        f = np.empty((len(Cs), len(test), k * (k - 1) // 2))
        for p, (a, b) in enumerate(combinations(range(k), 2)):
            of = train[(codes[train] == a) | (codes[train] == b)]
            y = np.where(codes[of] == a, 1.0, -1.0)
            coef, bias = _solved(np.ascontiguousarray(K[np.ix_(of, of)]), y, weight[of], Cs)
            counts = coef.any(axis=0)
            some = coef[:, counts].astype(np.float32)
            f[:, :, p] = some @ K[np.ix_(of[counts], test)] + bias[:, None]
        return _votes(f, k)

    def _binary(self, K: NDArray[np.float32], y: Floats, weight: Floats, Cs: Floats) -> Floats:
        return np.asarray(_core.gram_path(K, y, weight, Cs, _TOL)[0])

    def _factors(self, codes: NDArray[np.intp]) -> Floats:
        """What the class weights of these training rows multiply each class by."""
        given, factors = self.last.class_weight, np.ones(len(self.classes))
        if given is not None:
            met = np.unique(codes)
            labels, y = self.classes[met], self.classes[codes]
            factors[met] = compute_class_weight(given, classes=labels, y=y)
        return factors


def _solved(K: NDArray[np.float32], y: Floats, weight: Floats, Cs: Floats) -> tuple[Floats, Floats]:
    _, coef, bias, _ = _core.gram_path(K, y, weight, Cs, _TOL)
    return coef, bias


def _votes(f: Floats, k: int) -> Floats:
    """The votes of all pairs of classes, and their sums, squashed below a third of one."""
    votes, sums = np.zeros((*f.shape[:2], k)), np.zeros((*f.shape[:2], k))
    for p, (a, b) in enumerate(combinations(range(k), 2)):
        votes[..., a] += f[..., p] > 0
        votes[..., b] += f[..., p] < 0
        sums[..., a] += f[..., p]
        sums[..., b] -= f[..., p]
    return np.asarray(votes + sums / (3 * (np.abs(sums) + 1)))


def _rows(X: Any, which: NDArray[np.intp]) -> Any:
    return X.iloc[which] if hasattr(X, "iloc") else X[which]


# --- the grid -------------------------------------------------------------------------------------


def _tasks(candidates: Sequence[Any], prefix: str, problem: _Problem) -> Iterator[_Task]:
    """Everything to be done, the candidates of one kernel together."""
    usual = {name: getattr(problem.last, name) for name in _SEARCHED}
    paths: dict[_Kernel, dict[float, list[int]]] = {}
    for at, params in enumerate(candidates):
        chosen = usual | {name.removeprefix(prefix): value for name, value in params.items()}
        clone(problem.last).set_params(**chosen)
        if chosen["kernel"] not in _KERNELS:
            raise ValueError(
                f"kernel={chosen['kernel']!r} is not for GramSearchCV, which has "
                f"{', '.join(_KERNELS)}; GridSearchCV takes any"
            )
        if not chosen["C"] > 0:
            raise ValueError(f"C must be > 0, got {chosen['C']!r}")
        kernel = _Kernel(**{name: chosen[name] for name in _SEARCHED if name != "C"})
        paths.setdefault(_told_apart(kernel), {}).setdefault(chosen["C"], []).append(at)
    for view, folds in problem.views():
        for kernel, path in paths.items():
            view.prepare(kernel.kernel)
            settled: dict[_Kernel, list[Any]] = {}
            for fold in folds:
                settled.setdefault(kernel.settled(view.X[fold[1]]), []).append(fold)
            for values, some in settled.items():
                yield _Task(view, some, values, path)


def _told_apart(kernel: _Kernel) -> _Kernel:
    """Without the parameters that its kernel does not have."""
    poly = kernel.kernel == "poly"
    return _Kernel(
        kernel.kernel,
        1.0 if kernel.kernel == "linear" else kernel.gamma,
        kernel.degree if poly else 0,
        kernel.coef0 if poly else 0.0,
    )


def _results(candidates: Sequence[Any], scores: Floats, seconds: Floats) -> dict[str, Any]:
    """What ``cv_results_`` is in scikit-learn."""
    results: dict[str, Any] = {}
    for name, values in (("fit", seconds[0]), ("score", seconds[1])):
        results[f"mean_{name}_time"] = values.mean(axis=1)
        results[f"std_{name}_time"] = values.std(axis=1)
    for name in sorted({name for params in candidates for name in params}):
        values = np.array([params.get(name) for params in candidates] + [None], dtype=object)[:-1]
        column = np.ma.MaskedArray(values, mask=[name not in params for params in candidates])
        results[f"param_{name}"] = column
    results["params"] = list(candidates)
    for fold in range(scores.shape[1]):
        results[f"split{fold}_test_score"] = scores[:, fold]
    mean = scores.mean(axis=1)
    results |= {"mean_test_score": mean, "std_test_score": scores.std(axis=1)}
    results["rank_test_score"] = rankdata(-np.nan_to_num(mean, nan=-np.inf), method="min").astype(
        np.int32
    )
    return results
