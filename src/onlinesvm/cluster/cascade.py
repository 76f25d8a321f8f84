"""Exact kernel machines over many machines: a cascade with feedback, and a proof at its end.

    survey      every part: its classes, counts and moments, and a few rows of each class
    leaves      every part solves its rows with those few of the others; support vectors travel
    tree        two sets of support vectors are solved as one, until two are left; each solution
                begins where those below it have ended
    root        the caller solves what is left: the global model
    feedback    the model goes to every part; each reports the largest violation over its own rows
                and sends those that violate, worst first; the root goes on with them from where
                it stands; until no row of any part violates by more than tol

Leaves and tree only choose rows that deserve to travel: whatever they miss, feedback finds. Why it
ends: the root keeps every row that ever travelled and solves those within tol, so a row that
violates by more is a new one; each round but the last brings such a row, and there are finitely
many. The dual optimum over the rows held rises with each, since a violated condition is a direction
of ascent. At the end the conditions hold over all rows, which for a convex problem means that the
model is its solution, within tol: that of one machine that held them all. The proof is in
docs/papers/cascade.md.

H. P. Graf, E. Cosatto, L. Bottou, I. Durdanovic, V. Vapnik: Parallel Support Vector Machines: The
Cascade SVM. NIPS 2004.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from ..data.arguments import check_count
from ..methods.dual.smo import SmoSVC
from ..methods.exact.incremental import IncrementalSVC
from .certificate import ClusterCertificate
from .examples import Examples, Floats, Ids, Reading
from .judging import Judgement, Report, Solution, judge, prices_held
from .learned import Learned
from .parts import Metered, Part, Parts
from .survey import Survey

#: Leaves only choose who travels: finer is wasted on them.
_LEAF_TOL = 1e-3
#: At least so many violators may join at once, over all parts, or half as many as are held.
_JOIN_LEAST = 1000


def cascade(parts: Parts, model: Any, *, max_rounds: int = 100) -> Learned:
    """Fit an exact kernel machine to all rows of all parts: what one machine would find.

    Parameters
    ----------
    parts : Parts
        Cut in any way: sorted, skewed, of one class, empty.
    model : SmoSVC or IncrementalSVC
        Its parameters; it is not changed. Several classes are learned one-vs-rest. Words are
        settled over all parts first: ``gamma`` and
        ``class_weight="balanced"`` are numbers in the model returned.
    max_rounds : int, default=100
        How often the model goes to the parts, at most; a ``ConvergenceWarning`` tells when that was
        not enough.

    Returns
    -------
    Learned
        Its ``model`` holds the rows that travelled, under their global ids and keys; its
        ``certificate`` covers every row of every part.

    Examples
    --------
    >>> import numpy as np
    >>> from onlinesvm import SmoSVC
    >>> from onlinesvm.cluster import LocalParts, cascade
    >>> X = np.random.default_rng(0).normal(size=(2000, 2))
    >>> y = X[:, 0] * X[:, 1] > 0
    >>> learned = cascade(LocalParts.cut(X, y, 4), SmoSVC(C=10))
    >>> learned.certificate.holds, sum(learned.certificate.rows)
    (True, 2000)
    >>> one = SmoSVC(C=10).fit(X, y)
    >>> distance = learned.model.decision_function(X) - one.decision_function(X)
    >>> bool(abs(distance).max() < 0.01)
    True
    """
    demand_exact(model)
    check_count("max_rounds", max_rounds, at_least=1)
    metered = Metered(parts)
    survey = Survey.of(metered, model)
    if not len(survey.seeds):
        raise ValueError("sample_weight is zero everywhere; fit needs an example that counts")
    fresh = survey.resolved(model)
    classes = survey.classes(fresh)
    root = Root.begun(fresh, classes, _travelled(metered, survey, _Solver.like(fresh, classes)))
    return feedback(metered, root, survey, max_rounds)


def demand_exact(model: Any) -> None:
    """A TypeError or ValueError for what a cascade cannot learn."""
    if not isinstance(model, SmoSVC | IncrementalSVC):
        name = type(model).__name__
        why = " (the ramp loss has many solutions)" if name == "RampSVC" else ""
        raise TypeError(
            f"a cascade needs a convex problem{why}: SmoSVC or IncrementalSVC, not {name}"
        )
    if model.multiclass == "one-vs-one":
        raise ValueError(
            "multiclass='one-vs-one' is not for a cascade; use multiclass='one-vs-rest'"
        )


# ---- leaves and tree: who deserves to travel -----------------------------------------------------


@dataclass(frozen=True)
class Solved:
    """Rows and their coefficients, outputs x rows, in the solution they come from."""

    rows: Examples
    s: Floats

    def __len__(self) -> int:
        return len(self.rows)

    @classmethod
    def fresh(cls, rows: Examples, outputs: int) -> Self:
        """Rows that no solution had to do with."""
        return cls(rows, np.zeros((outputs, len(rows))))

    def picked(self, which: NDArray[Any]) -> Self:
        """Only these, by number or by mask."""
        return replace(self, rows=self.rows.picked(which), s=self.s[:, which])

    @staticmethod
    def joined(several: Sequence[Solved]) -> Solved:
        """All of them, each id once; of two the first is believed."""
        rows = Examples.joined([some.rows for some in several])
        ids, first = np.unique(np.concatenate([s.rows.ids for s in several]), return_index=True)
        s = np.concatenate([some.s for some in several], axis=1)
        return Solved(rows, s[:, first[np.searchsorted(ids, rows.ids)]])


@dataclass(frozen=True)
class _Solver:
    """Finds the support vectors among rows."""

    model: SmoSVC
    classes: NDArray[Any]

    @classmethod
    def like(cls, model: Any, classes: NDArray[Any]) -> _Solver:
        own = SmoSVC().get_params()
        params = {name: value for name, value in model.get_params().items() if name in own}
        params |= {"tol": max(model.tol, _LEAF_TOL), "verbose": False, "n_jobs": None}
        return cls(SmoSVC(**params), classes)

    @property
    def outputs(self) -> int:
        return 1 if len(self.classes) <= 2 else len(self.classes)

    def support(self, some: Solved) -> Solved:
        """Only the support vectors, from the coefficients at hand.

        A coefficient at its bound mostly stays there. Where most are not, a solution of the parts
        is no better beginning than 0, whose gradients cost nothing, and none are handed on.
        """
        if not len(some):
            return some
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model = _learned(clone(self.model), some.rows, self.classes, some.s)
        ids, coef = model.support_, np.asarray(model.dual_coef_)
        rows, order = some.rows.picked(np.isin(some.rows.ids, ids)), np.argsort(ids)
        at_bound = np.abs(coef) >= prices_held(model, ids)
        if 2 * at_bound.sum() < np.count_nonzero(coef):
            return Solved.fresh(rows, self.outputs)
        return Solved(rows, coef[:, order[np.searchsorted(ids[order], rows.ids)]])


@dataclass(frozen=True)
class _Leaf:
    reading: Reading
    solver: _Solver
    seeds: Examples


def _solve_leaf(part: Part, leaf: _Leaf) -> Solved:
    own, outputs = leaf.reading.of(part), leaf.solver.outputs
    if not len(own):
        return Solved.fresh(own, outputs)
    # A part of one class has a problem to solve, too: against what the others sent ahead.
    support = leaf.solver.support(Solved.fresh(Examples.joined([own, leaf.seeds]), outputs))
    return support.picked(np.isin(support.rows.ids, own.ids))


@dataclass(frozen=True)
class _Fork:
    solver: _Solver
    branches: tuple[Solved, Solved]


def _solve_fork(fork: _Fork) -> Solved:
    return fork.solver.support(Solved.joined(fork.branches))


def _travelled(parts: Parts, survey: Survey, solver: _Solver) -> Solved:
    """What reaches the root: the support vectors of the last two branches, and the seeds."""
    leaves = parts.map(_solve_leaf, _Leaf(survey.reading, solver, survey.seeds))
    branches = [leaf for leaf in leaves if len(leaf)]
    while len(branches) > 2:
        pairs = [(branches[i], branches[i + 1]) for i in range(0, len(branches) - 1, 2)]
        odd = branches[len(pairs) * 2 :]
        branches = parts.run(_solve_fork, [_Fork(solver, pair) for pair in pairs]) + odd
    return Solved.joined([*branches, Solved.fresh(survey.seeds, solver.outputs)])


# ---- the root ------------------------------------------------------------------------------------


class Root:
    """The global model, and the rows it holds."""

    def __init__(self, model: Any, held: Ids, ordered: Mapping[str, Any]) -> None:
        self.model = model
        self.held = held  # ascending
        self.removed = np.zeros(0, np.int64)
        self._ordered = ordered  # parameters that are others while it works

    @classmethod
    def begun(cls, fresh: Any, classes: NDArray[Any], some: Solved) -> Self:
        """One that begins with these rows, and where their solutions have ended."""
        ordered = _at_work(fresh)
        return cls(_learned(fresh, some.rows, classes, some.s), np.sort(some.rows.ids), ordered)

    @classmethod
    def going_on(cls, model: Any) -> Self:
        """One that has a model already."""
        check_is_fitted(model)
        return cls(model, np.sort(np.asarray(model._core.labels()[0])), {})

    def admit(self, rows: Examples) -> None:
        """Go on with these rows, too, from the solution at hand."""
        _learned(self.model, rows)
        self.held = np.union1d(self.held, rows.ids)

    def forget(self, ids: Ids) -> None:
        """Go on without these rows, from the solution at hand."""
        self.model.unlearn(np.intersect1d(ids, self.held))
        self.held, self.removed = np.setdiff1d(self.held, ids), ids

    def finished(self) -> Any:
        """The model as it was ordered."""
        if self._ordered:
            self.model.set_params(**self._ordered)
            self.model._ready()
        return self.model


def _at_work(fresh: Any) -> dict[str, Any]:
    """Set what suits a model that is asked once a round; what was ordered instead."""
    if getattr(fresh, "settle", "call") == "call":
        return {}
    ordered = {"settle": fresh.settle}
    fresh.set_params(settle="call")
    return ordered


def _learned(
    model: Any, rows: Examples, classes: NDArray[Any] | None = None, s: Floats | None = None
) -> Any:
    """The model with these rows, too; a fresh SmoSVC begins at their coefficients."""
    if s is not None and s.any() and isinstance(model, SmoSVC):
        model._start = rows.ids, s
    keys = None if rows.keys is None else rows.keys.tolist()
    return model.partial_fit(
        rows.X, rows.y, classes=classes, sample_weight=rows.weight, ids=rows.ids, keys=keys
    )


# ---- feedback ------------------------------------------------------------------------------------


def feedback(parts: Metered, root: Root, survey: Survey, max_rounds: int) -> Learned:
    """Ask all parts about the model, and let violators join, until there are none."""
    tol = float(root.model.tol)
    for rounds in range(1, max_rounds + 1):
        reports = judged(parts, root, survey)
        worst = max(report.violation for report in reports)
        joining = [report.bounding for report in reports]
        if not worst <= tol:
            joining += [report.violators for report in reports]
        newcomers = Examples.joined(joining)
        if not len(newcomers) or rounds == max_rounds:
            break
        root.admit(newcomers)
    if not worst <= tol:
        warnings.warn(
            f"the cascade left a row that violates its optimality condition by {worst:.2g}, more "
            f"than tol={tol:g}; raise max_rounds={max_rounds} or tol, or use dtype='float64'",
            ConvergenceWarning,
            stacklevel=3,
        )
    certificate = _certificate(parts, root, survey, reports, rounds)
    return Learned(root.finished(), certificate, rounds, parts.down, parts.up)


def _certificate(
    parts: Metered, root: Root, survey: Survey, reports: list[Report], rounds: int
) -> ClusterCertificate:
    """What the last answers of all parts prove about the model."""
    solution = Solution.of(root.model)
    dual, gaps = _objective(solution, reports)
    gap = max(0.0, float(gaps.max()))
    certificate = ClusterCertificate(
        method=type(root.model).__name__,
        statement="",
        settled={},
        tol=float(root.model.tol),
        kkt_residual=max(report.violation for report in reports),
        violations=[report.violation for report in reports],
        rows=[report.rows for report in reports],
        n_support=len(solution.function),
        objective=float(dual.sum()),
        duality_gap=gap,
        distance=float(np.sqrt(2 * gap)),
        ids_removed=root.removed.tolist(),
        rounds=rounds,
        bytes_down=parts.down,
        bytes_up=parts.up,
        data_hash=survey.digest,
        solution_hash=solution.digest(),
    )
    return certificate.naming(root.model._settled_on(root.removed))


def judged(parts: Parts, root: Root, survey: Survey) -> list[Report]:
    """What every part says about the model."""
    solution = Solution.of(root.model)
    full = sum(rows > 0 for rows in survey.rows)
    together = max(_JOIN_LEAST, len(root.held) // 2)
    question = Judgement(
        reading=survey.reading,
        solution=solution,
        held=root.held,
        tol=float(root.model.tol),
        most=min(together, -(-4 * together // max(1, full))),
    )
    reports = parts.map(judge, question)
    owned, support = sum(report.support for report in reports), len(solution.function)
    if owned > support:
        raise ValueError("ids are not distinct over all parts; give every row an id of its own")
    if owned < support:
        raise ValueError(
            f"{support - owned} support vectors of the model are rows of no part; pass the parts "
            "that it was learned from, in their order"
        )
    return reports


def _objective(solution: Solution, reports: Sequence[Report]) -> tuple[Floats, Floats]:
    """The dual by output, sum y_i s_i - |w|^2 / 2, and how far below the primal over all rows."""
    loss = np.sum([report.loss for report in reports], axis=0)
    gains = np.abs(solution.function.coef).sum(axis=1)  # y and s have one sign
    norms2 = np.sum([report.norm2 for report in reports], axis=0)
    return gains - norms2 / 2, norms2 + loss - gains
