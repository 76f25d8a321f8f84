"""Find wrong labels: rows that models of the other rows contradict.

Each row is judged without itself, and no model is fitted twice for that. Of a support vector
machine, a row that is no support vector leaves the machine as it is; the margin of one that is
falls by ``alpha S^2``, where ``S`` is the distance of its image from the span of the support
vectors on the margin (Vapnik and Chapelle), exactly while no other row changes its role. Of a
least-squares machine the value without a row is in the diagonal of one inverse.
"""

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
from scipy.linalg import eigh
from sklearn.preprocessing import MaxAbsScaler, Normalizer, StandardScaler
from sklearn.utils.multiclass import check_classification_targets

from .data.arguments import check_count
from .data.validation import demand_table
from .files.atomic import replacing
from .methods.dual.smo import SmoSVC
from .model.progress import Rounds

Floats = NDArray[np.float64]

_WIDTHS = (0.25, 1.0, 4.0)  # times 1 / (n_features X.var())
_COSTS = (0.3, 1.0, 3.0)
_RIDGES = (0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
_FEW_CLASSES = 4  # of more, one least-squares machine serves all
_SAMPLE = 200  # rows on which the machines are compared
_BEST = 2  # machines that are fitted on all rows
_SPREAD = 0.1  # variance of being right: a machine behind by its standard error counts a third
_BLOCK = 2000  # rows that are judged together
_FAR = 4.0  # standard deviations to which a value is cut


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
    random_state: int = 0,
    n_jobs: int | None = None,
    verbose: bool = False,
) -> LabelIssues:
    """Rank rows by how clearly models that did not see them contradict their labels.

    Support vector machines of nine widths and costs are compared on 200 rows; the two whose
    leave-one-out predictions agree best with the given labels judge all rows. With more than four
    classes least-squares machines do, first with all rows and then without the doubtful ones.
    Leave-one-out values come from one fit each, so this costs less than one cross-validation.

    Parameters
    ----------
    X : array or sparse matrix, n rows
        Numbers. Columns of a dense array are standardised first.
    y : array of n labels
    random_state : int, default=0
        Draws the sample and, of more than 2,000 rows, the blocks in which rows are judged.
    n_jobs : int or None
        Processes for the blocks; the result is the same.
    verbose : bool, default=False
        Show a progress bar over the blocks.

    Returns
    -------
    LabelIssues

    References
    ----------
    V. Vapnik, O. Chapelle: Bounds on Error Expectation for Support Vector Machines. 2000.

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
    seed = check_count("random_state", random_state, at_least=0)
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
    Z, n = _prepared(X), len(y)
    blocks = np.array_split(np.random.default_rng(seed).permutation(n), -(-n // _BLOCK))
    found = Parallel(n_jobs=n_jobs, return_as="generator")(
        delayed(_judged)(Z[rows], codes[rows], seed) for rows in map(np.sort, blocks)
    )
    scores, suggested, inside = np.zeros(n), codes.copy(), np.zeros(n, dtype=bool)
    with Rounds("label issues", len(blocks), watched=verbose) as progress:
        for rows, (score, other, near) in zip(map(np.sort, blocks), found, strict=True):
            scores[rows], inside[rows] = score, near
            suggested[rows] = np.where(score < 0, other, codes[rows])
            progress.advance()
    order = np.argsort(scores, kind="stable")
    reasons = [_reason(scores[i], bool(inside[i])) for i in order]
    return LabelIssues(order, scores[order], y[order], classes[suggested[order]], reasons)


def _reason(score: float, inside: bool) -> str:
    if score < 0:
        clearly = "clearly " if score < -0.5 else ""
        return f"models that did not learn this row {clearly}predict another label"
    return "on the wrong side of the margin, or inside it" if inside else "nothing against it"


def _prepared(X: Any) -> Any:
    """Columns of like size, and no value far out."""
    if sp.issparse(X):
        return Normalizer().fit_transform(MaxAbsScaler().fit_transform(X))
    return np.clip(StandardScaler().fit_transform(X), -_FAR, _FAR)


Judged = tuple[Floats, NDArray[np.intp], NDArray[np.bool_]]


def _judged(Z: Any, codes: NDArray[np.intp], seed: int) -> Judged:
    """How much each row's own label is preferred, the best other one, and who is inside."""
    met, codes = np.unique(codes, return_inverse=True)
    if len(met) < 2:
        n = len(codes)
        return np.ones(n), np.repeat(met, n), np.zeros(n, dtype=bool)
    judge = _hinge if len(met) <= _FEW_CLASSES else _least_squares
    said, inside = judge(_Block.of(Z, codes), seed)
    own, best = _own_and_best(said, codes)
    return own, met[best], inside


def _own_and_best(said: Floats, codes: NDArray[np.intp]) -> tuple[Floats, NDArray[np.intp]]:
    """By how much the own class is ahead of the best other one, halved, and which that is."""
    place = np.arange(len(codes))
    others = said.copy()
    others[place, codes] = -np.inf
    best = others.argmax(axis=1)
    return (said[place, codes] - others[place, best]) / 2, best


@dataclass(frozen=True)
class _Block:
    """Rows that are judged together, with their squared distances."""

    Z: Any
    codes: NDArray[np.intp]
    classes: int
    distances: Floats
    gamma: float

    @classmethod
    def of(cls, Z: Any, codes: NDArray[np.intp]) -> _Block:
        sparse = sp.issparse(Z)
        squares = np.asarray(Z.multiply(Z).sum(axis=1)).ravel() if sparse else (Z**2).sum(axis=1)
        products = np.asarray((Z @ Z.T).todense()) if sparse else Z @ Z.T
        distances = np.maximum(squares[:, None] + squares - 2 * products, 0.0)
        gamma = float(1.0 / (squares.mean() or 1.0))
        return cls(Z, codes, int(codes.max()) + 1, distances, gamma)

    def __len__(self) -> int:
        return len(self.codes)

    def part(self, rows: NDArray[np.intp]) -> _Block:
        few = self.distances[np.ix_(rows, rows)]
        return _Block(self.Z[rows], self.codes[rows], self.classes, few, self.gamma)

    def sample(self, seed: int) -> _Block:
        if len(self) <= _SAMPLE:
            return self
        return self.part(np.sort(np.random.default_rng(seed).permutation(len(self))[:_SAMPLE]))

    def kernel(self, width: float) -> Floats:
        return np.asarray(np.exp(-width * self.gamma * self.distances))

    def accuracy(self, said: Floats) -> float:
        return float(np.mean(said.argmax(axis=1) == self.codes))


# ---- support vector machines, of a pair of classes each ------------------------------------------


def _hinge(block: _Block, seed: int) -> tuple[Floats, NDArray[np.bool_]]:
    sample = block.sample(seed)
    right = {
        (width, C): sample.accuracy(_duels(sample, kernel, width, C)[0])
        for width in _WIDTHS
        for kernel in [sample.kernel(width)]
        for C in _COSTS
    }
    chosen = sorted(right, key=lambda pair: -right[pair])[:_BEST]
    found = [_duels(block, block.kernel(width), width, C) for width, C in chosen]
    agrees = np.array([block.accuracy(said) for said, _ in found])
    weights = np.exp((agrees - agrees.max()) / np.sqrt(_SPREAD / len(block)))
    said = np.tensordot(weights / weights.sum(), np.array([said for said, _ in found]), axes=1)
    return said, found[int(agrees.argmax())][1]


def _duels(
    block: _Block, kernel: Floats, width: float, C: float
) -> tuple[Floats, NDArray[np.bool_]]:
    """The mean share of each class in its duels with the others, and the rows at a bound."""
    said = np.zeros((len(block), block.classes))
    inside = np.zeros(len(block), dtype=bool)
    for i in range(block.classes):
        for j in range(i + 1, block.classes):
            rows = np.flatnonzero((block.codes == i) | (block.codes == j))
            sign = np.where(block.codes[rows] == j, 1.0, -1.0)
            pair = kernel if len(rows) == len(block) else kernel[:, rows]
            f, bound = _left_out(block.Z[rows], pair, rows, sign, width * block.gamma, C)
            share = np.tanh(f)
            said[:, j] += share
            said[:, i] -= share
            inside[rows[bound]] = True
    return said / max(1, block.classes - 1), inside


def _left_out(
    Z: Any, kernel: Floats, rows: NDArray[np.intp], sign: Floats, gamma: float, C: float
) -> tuple[Floats, NDArray[np.intp]]:
    """What a machine of these rows decides of all, of its own without them; who is at the bound.

    ``kernel``: between all rows and these.
    """
    if (sign == sign[0]).all():
        return np.full(len(kernel), sign[0]), np.zeros(0, dtype=np.intp)
    model = SmoSVC(C=C, gamma=gamma).fit(Z, sign)
    supports, coef = model.support_, np.asarray(model.dual_coef_)[0]
    decided = kernel[:, supports] @ coef + float(model.intercept_[0])
    kernel, f = kernel[rows], decided[rows]
    margin, alpha = sign * f, np.abs(coef)
    free = alpha < C * (1 - 1e-6)
    on, at = supports[free], supports[~free]
    n = len(on)
    system = np.zeros((n + 1, n + 1))  # of the support vectors on the margin, and the bias
    system[:n, :n] = kernel[np.ix_(on, on)] + 1e-6 * np.eye(n)
    system[n, :n] = system[:n, n] = float(n > 0)
    system[n, n] = float(n == 0)
    inverse = np.linalg.inv(system)
    margin[on] -= alpha[free] / np.diag(inverse)[:n]
    reach = np.vstack([kernel[np.ix_(on, at)], np.full(len(at), float(n > 0))])
    span = 1.0 - np.einsum("ij,ij->j", reach, inverse @ reach)
    margin[at] -= C * np.maximum(span, 0.0)
    alone = [np.flatnonzero(sign == one) for one in (-1.0, 1.0)]
    for members in alone:  # without its only row a class is never predicted
        if len(members) == 1:
            margin[members] = -1.0
    decided[rows] = sign * margin
    return decided, at


# ---- least-squares machines, one for all classes -------------------------------------------------


def _least_squares(block: _Block, seed: int) -> tuple[Floats, NDArray[np.bool_]]:
    sample = block.sample(seed)
    wanted = _targets(sample)
    errors: dict[tuple[float, float], float] = {}
    for width in _WIDTHS:
        values, vectors = eigh(sample.kernel(width) + 1.0, check_finite=False)
        along, squared = vectors.T @ wanted, vectors**2
        for ridge in _RIDGES:
            shrunk = 1.0 / (np.maximum(values, 0.0) + ridge)
            off = (vectors @ (shrunk[:, None] * along)) / (squared @ shrunk)[:, None]
            errors[width, ridge] = 1 - sample.accuracy(wanted - off) + 1e-3 * float((off**2).mean())
    said = np.zeros((len(block), block.classes))
    wanted = _targets(block)
    for width, ridge in sorted(errors, key=lambda pair: errors[pair])[:_BEST]:
        kernel = block.kernel(width) + 1.0
        first = _ridge_left_out(kernel, wanted, ridge, np.arange(len(block)))
        kept = np.flatnonzero(_own_and_best(first, block.codes)[0] >= 0)
        said += first + _ridge_left_out(kernel, wanted, ridge, kept)
    said /= 2 * _BEST
    return said, _own_and_best(said, block.codes)[0] < 0.25


def _targets(block: _Block) -> Floats:
    wanted = np.full((len(block), block.classes), -1.0)
    wanted[np.arange(len(block)), block.codes] = 1.0
    return wanted


def _ridge_left_out(kernel: Floats, wanted: Floats, ridge: float, kept: NDArray[np.intp]) -> Floats:
    """What the machine of the rows kept says of each row, without that row."""
    few = kernel[np.ix_(kept, kept)]
    few[np.diag_indices(len(kept))] += ridge
    inverse = np.linalg.inv(few)
    coef = inverse @ wanted[kept]
    said = kernel[:, kept] @ coef
    said[kept] = wanted[kept] - coef / np.diag(inverse)[:, None]
    return said
