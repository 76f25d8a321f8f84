"""Find wrong labels: rows that models of the other rows contradict."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.preprocessing import MaxAbsScaler, Normalizer, QuantileTransformer, StandardScaler
from sklearn.utils.multiclass import check_classification_targets

from .atomic import replacing
from .base.progress import Rounds
from .base.validation import demand_table
from .dual.smo import SmoSVC
from .exact.ramp import RampSVC
from .params import check_count

Floats = NDArray[np.float64]

_LADDER = [(C, width) for C in (0.3, 1.0, 3.0) for width in (0.25, 1.0, 4.0)]
_RAMPS = [(1.0, 1.0), (3.0, 0.25)]
_SPREAD = 0.1  # variance of being right: a machine behind by its standard error counts a third
_LEAST = 0.1  # of the best weight: other machines are not fitted on all rows
_SAMPLE = 600  # rows on which the machines are compared
_FEW = 10  # values of a column that is taken for a category


@dataclass(frozen=True)
class LabelIssues:
    """All rows, from the label most likely to be wrong to the least.

    Attributes
    ----------
    rows : array of int, positions in ``X``
    scores : array of floats between -1 and 1, in the same order: how clearly models of the other
        rows prefer the given label; below 0 they prefer another
    labels, suggested : the given label of each row, and the one that these models prefer
    reasons : list of str
    """

    rows: NDArray[np.intp]
    scores: Floats
    labels: NDArray[Any]
    suggested: NDArray[Any]
    reasons: list[str]

    @property
    def suspected(self) -> NDArray[np.intp]:
        """The rows with a negative score, the worst first."""
        return self.rows[self.scores < 0]

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[tuple[int, float, Any, Any, str]]:
        columns = self.rows.tolist(), self.scores.tolist(), self.labels.tolist()
        return zip(*columns, self.suggested.tolist(), self.reasons, strict=True)

    def to_csv(self, path: str | os.PathLike[str], most: int | None = None) -> None:
        """Write the table, whole or not at all; ``most``: only so many rows from the top."""
        import io

        text = io.StringIO(newline="")
        table = csv.writer(text, lineterminator="\n")
        table.writerow(["row", "score", "label", "suggested", "reason"])
        for number, line in enumerate(self):
            if most is not None and number >= most:
                break
            table.writerow([line[0], f"{line[1]:.4f}", *line[2:]])
        with replacing(path) as file:
            file.write(text.getvalue().encode())


def find_label_issues(
    X: Any,
    y: Any,
    *,
    folds: int = 5,
    random_state: int = 0,
    n_jobs: int | None = None,
    verbose: bool = False,
) -> LabelIssues:
    """Rank rows by how clearly models that did not see them contradict their labels.

    Eleven support vector machines of different width and strictness are trained on all folds but
    one and asked about that one. Those that predict the given labels better count more. A last
    robust machine (:class:`RampSVC`), trained on all rows, says which labels it had to ignore.

    The machines are compared on 600 rows; of more, only the best ones are trained on all rows,
    which costs about as much as cross-validating three to six support vector machines.

    Parameters
    ----------
    X : array or sparse matrix, n rows
        Numbers. Columns of a dense array are brought to a normal shape first, so that neither
        scales nor long tails matter.
    y : array of n labels
    folds : int, default=5
        More folds cost more and help where rows are few.
    random_state : int, default=0
        Draws the folds.
    n_jobs : int or None
        Processes; the result is the same.
    verbose : bool, default=False
        Show a progress bar.

    Returns
    -------
    LabelIssues

    Examples
    --------
    >>> import numpy as np
    >>> from onlinesvm.label_issues import find_label_issues
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 2))
    >>> y = np.where(X[:, 0] > 0, "a", "b")
    >>> y[[4, 40, 140]] = ["b" if label == "a" else "a" for label in y[[4, 40, 140]]]
    >>> issues = find_label_issues(X, y)
    >>> sorted(issues.rows[:3].tolist())
    [4, 40, 140]
    """
    folds = check_count("folds", folds, at_least=2)
    demand_table(X)
    X = X.tocsr().astype(np.float64) if sp.issparse(X) else np.asarray(X, dtype=np.float64)
    y = np.asarray(y)
    if y.shape != (X.shape[0],):
        raise ValueError(f"y must have one label for each of the {X.shape[0]} rows of X")
    if not np.isfinite(X.data if sp.issparse(X) else X).all():
        raise ValueError("X contains NaN or infinity; drop or impute those values first")
    check_classification_targets(y)
    classes, codes = np.unique(y, return_inverse=True)
    if len(classes) < 2:
        raise ValueError(f"y has one label only, {classes.tolist()!r}; nothing can contradict it")
    Z = _prepared(X)
    search = _Search(Z, codes.astype(np.int64), folds, random_state)
    margins = search.ensemble(n_jobs, verbose)
    own = margins[np.arange(len(codes)), codes]
    others = margins.copy()
    others[np.arange(len(codes)), codes] = -np.inf
    best = others.argmax(axis=1)
    scores = (own - others.max(axis=1)) / 2
    suggested = np.where(scores < 0, best, codes)
    ignored, bound = search.robust()
    order = np.argsort(scores, kind="stable")
    reasons = [_reason(scores[i], bool(ignored[i]), bool(bound[i])) for i in order]
    return LabelIssues(order, scores[order], y[order], classes[suggested[order]], reasons)


def _reason(score: float, ignored: bool, bound: bool) -> str:
    if score < 0:
        told = "models of the other rows predict another label"
        return f"{told}, and a robust model ignores this one" if ignored else told
    if ignored:
        return "a robust model ignores this label"
    return "on the wrong side of the margin, or inside it" if bound else "nothing against it"


def _prepared(X: Any) -> Any:
    """Columns of like size; long tails are drawn in."""
    if sp.issparse(X):
        return Normalizer().fit_transform(MaxAbsScaler().fit_transform(X))
    smooth = [len(np.unique(column)) > _FEW for column in X.T]
    Z = StandardScaler().fit_transform(X)
    if any(smooth):
        normal = QuantileTransformer(
            n_quantiles=min(100, len(X)), output_distribution="normal", random_state=0
        )
        Z[:, smooth] = np.clip(normal.fit_transform(X[:, smooth]), -3, 3)
    return Z


@dataclass(frozen=True)
class _Search:
    """The machines, and what they say of rows that they have not seen."""

    X: Any
    y: NDArray[np.int64]
    folds: int
    seed: int

    def machines(self) -> list[Any]:
        return [self._smo(*pair) for pair in _LADDER] + [self._ramp(*pair) for pair in _RAMPS]

    def _gamma(self, width: float) -> float:
        X = self.X
        mean_square = float(X.multiply(X).mean() if sp.issparse(X) else (X**2).mean())
        return float(width / (X.shape[1] * (mean_square or 1.0)))

    def _smo(self, C: float, width: float) -> SmoSVC:
        return SmoSVC(C=C, gamma=self._gamma(width), multiclass="one-vs-one")

    def _ramp(self, C: float, width: float) -> RampSVC:
        return RampSVC(
            C=C, gamma=self._gamma(width), bias="kernel", settle="call", multiclass="one-vs-one"
        )

    def ensemble(self, n_jobs: int | None, verbose: bool) -> Floats:
        """The mean margins of each class, each machine weighted by its accuracy."""
        n, machines = len(self.y), self.machines()
        rng = np.random.default_rng(self.seed)
        few = np.sort(rng.permutation(n)[:_SAMPLE])
        with Rounds("label issues", self.folds * len(machines), watched=verbose) as progress:
            first = self._margins(machines, few, n_jobs, progress)
            right = np.array([np.mean(m.argmax(axis=1) == self.y[few]) for m in first])
            weights = np.exp((right - right.max()) / np.sqrt(_SPREAD / len(few)))
            if len(few) < n:
                kept = np.flatnonzero(weights >= _LEAST)
                first = self._margins([machines[i] for i in kept], np.arange(n), n_jobs, progress)
                weights = weights[kept]
        return np.asarray(np.tensordot(weights / weights.sum(), np.array(first), axes=1))

    def _margins(
        self, machines: list[Any], rows: NDArray[np.intp], n_jobs: int | None, progress: Rounds
    ) -> list[Floats]:
        """For each machine how much it prefers each class, for rows that it has not seen."""
        y = self.y[rows]
        rare = np.bincount(y)[np.unique(y)].min() < self.folds
        cut = (KFold if rare else StratifiedKFold)(self.folds, shuffle=True, random_state=self.seed)
        parts = list(cut.split(rows, y))
        jobs = [(m, learned, asked) for m in range(len(machines)) for learned, asked in parts]
        found = Parallel(n_jobs=n_jobs, return_as="generator")(
            delayed(_asked)(machines[m], self.X[rows[a]], y[a], self.X[rows[b]], self.y.max() + 1)
            for m, a, b in jobs
        )
        margins = [np.zeros((len(rows), self.y.max() + 1)) for _ in machines]
        for (m, _, asked), said in zip(jobs, found, strict=True):
            margins[m][asked] = said
            progress.advance()
        return margins

    def robust(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Which labels a machine of all rows ignores, and which it does not fit."""
        model = self._ramp(1.0, 1.0).fit(self.X, self.y)
        f = _preferences(model, self.X, int(self.y.max()) + 1)
        place = np.arange(len(self.y))
        others = f.copy()
        others[place, self.y] = -np.inf
        margin = f[place, self.y] - others.max(axis=1)
        supports = np.isin(place, model.support_)
        return (margin < 0) & ~supports, supports & (margin < np.tanh(1.0))


def _asked(model: Any, X: Any, y: NDArray[np.int64], asked: Any, classes: int) -> Floats:
    if len(np.unique(y)) < 2:
        said = np.zeros((asked.shape[0], classes))
        said[:, y[0]] = 1.0
        return said
    return _preferences(model.fit(X, y), asked, classes)


def _preferences(model: Any, X: Any, classes: int) -> Floats:
    """How much a machine prefers each class, between 0 and 1 times the pairs it is in."""
    said = np.zeros((X.shape[0], classes))
    known = model.classes_
    duels = model.pairwise_decision_function(X)
    if len(known) == 2:
        share = np.tanh(duels)
        said[:, known[1]], said[:, known[0]] = share, -share
        return said
    firsts, seconds = np.triu_indices(len(known), 1)
    for f, a, b in zip(duels.T, known[firsts], known[seconds], strict=True):
        share = 1 / (1 + np.exp(-2 * np.clip(f, -20, 20)))
        said[:, a] += share
        said[:, b] += 1 - share
    return said / max(1, len(known) - 1)
