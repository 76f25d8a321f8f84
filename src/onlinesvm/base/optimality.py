"""Optimality conditions: how well they hold, and how examples are taken away again."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Mapping
from typing import Any, ClassVar, Literal, Self, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from ..params import check_flag, check_word
from .anew import adopt, retrained_without
from .certificate import Certificate, Claim, Evidence, issue
from .core import offers
from .keyed import Keyed
from .keys import demand_borne
from .settled import IdRuns, SettledWarning, warn_of

_CHECK_ROWS_MOST = 65536


class Optimality(Keyed):
    """``kkt_residual``, ``objective`` and ``unlearn``, where the core can; the promise ``tol``."""

    # The verbs that leave every optimality condition within tol; checked now and then.
    _optimal_after: ClassVar[tuple[Literal["learn", "unlearn"], ...]] = ()
    # What a certificate of unlearning states; None: there is none.
    _claim: ClassVar[Claim | None] = None
    _checked: float = 0  # changes up to the last check
    _unchecked: float = 0  # and since

    def _end_call(self, verb: Literal["learn", "unlearn"], changes: int) -> None:
        """The last step of every call that learned or unlearned: so many examples changed."""
        if verb == "learn":
            self._warn_if_capped()
        if verb in self._optimal_after:
            self._check_tol(changes)

    def _warn_if_capped(self) -> None:
        """Say so when the solver stopped short; the model is valid, only less exact."""
        if getattr(self._core, "capped", False):
            warnings.warn(
                f"{type(self).__name__} stopped before it reached tol={self.tol:g}; "
                "scale the features, lower C, or raise tol",
                ConvergenceWarning,
                stacklevel=4,
            )

    def _check_tol(self, changes: float = np.inf, tol: float | None = None) -> None:
        """Warn if some conditions, computed in double, are violated by more than ``tol``.

        A check costs 64 predictions in double. So it comes when there were a quarter more changes
        than at the last one, or 65,536 more; without a number, now.
        """
        self._unchecked += min(changes, _CHECK_ROWS_MOST)
        if self._core.capped or self._unchecked < min(self._checked / 4, _CHECK_ROWS_MOST):
            return
        self._checked, self._unchecked = self._checked + self._unchecked, 0
        residual, tol = self._core.spot_check(), self.tol if tol is None else tol
        if not residual <= tol:
            finer = "use dtype='float64', " if self.dtype == "float32" else ""
            warnings.warn(
                f"{type(self).__name__} violates its optimality conditions by {residual:.2g}, more "
                f"than tol={tol:g}; {finer}scale the features, lower C, or raise tol",
                ConvergenceWarning,
                stacklevel=4,
            )

    @overload
    def unlearn(
        self,
        ids: ArrayLike | None = None,
        *,
        keys: Any = None,
        certificate: Literal[False] = False,
        scope: Literal["examples", "all"] = "examples",
    ) -> Self: ...
    @overload
    def unlearn(
        self,
        ids: ArrayLike | None = None,
        *,
        keys: Any = None,
        certificate: Literal[True],
        scope: Literal["examples", "all"] = "examples",
    ) -> Certificate: ...
    def unlearn(
        self,
        ids: ArrayLike | None = None,
        *,
        keys: Any = None,
        certificate: bool = False,
        scope: Literal["examples", "all"] = "examples",
    ) -> Self | Certificate:
        """Forget examples, as if they had never been learned.

        The exact, dual and core vector machines go to the solution without them. NORMA drops their
        own terms; what later examples did because of them stays.

        What was settled on rows stays as it is: ``gamma="scale"`` and
        ``class_weight="balanced"``. Where rows that had a part in it are removed, a
        :class:`SettledWarning` names it, and so does the certificate. ``scope="all"`` settles it
        anew.

        Parameters
        ----------
        ids : int or array of int
            The ids given to ``partial_fit``, or the numbers 0, 1, 2, ... in order of arrival.
            An example the model no longer holds has no influence left: its id is passed over,
            so a request may safely be repeated.
        keys : key or list of keys
            Instead of ids: all examples that bear one of these keys. A tuple is one key. A key that
            no example held bears is refused by name: a slip of the pen is no deletion.
            :meth:`keys_held` lists those known.
        certificate : bool, default=False
            Return evidence instead of the model: a :class:`Certificate`, which
            :func:`onlinesvm.verify` checks. It costs as much as predicting every example held.
        scope : "examples" or "all", default="examples"
            ``"all"`` leaves nothing of the examples, or raises and changes nothing: where they had
            a part in something settled, the model is trained again on the examples it holds
            besides, in the order of their ids. The certificate says what was settled anew and how
            many examples were learned again.

        Returns
        -------
        self, or with ``certificate=True`` a Certificate
        """
        self._verb("unlearn")
        self._ready()
        wanted = self._read_gone(ids, keys)
        if check_word("scope", scope, ("examples", "all")) == "all":
            proof = self._unlearn_wholly(wanted)
            return proof if certificate else self
        if not certificate:
            self._forget(wanted)
            return self
        if self._claim is None:
            able = [c.__name__ for c in finished_classes() if c._claim is not None]
            raise NotImplementedError(
                f"{type(self).__name__} has no certificate: it does not keep all examples that "
                f"its solution depends on; {', '.join(able)} can."
            )
        gone, before = self._held_of(wanted)
        self._forget(wanted)
        self._polish()
        return issue(self, self._stated, gone, before, self._settled_on(wanted))

    @property
    def _stated(self) -> Claim | None:
        """The claim, in the words of this model."""
        return self._claim

    def _held_of(self, ids: NDArray[np.int64]) -> tuple[list[int], str]:
        """Which of these are held, and the hash of the solution."""
        self._verb("evidence")
        held = [i for i in ids.tolist() if self._core.holds(np.array([i]))]
        return held, Evidence.of(self).solution_hash()

    def _unlearn_wholly(self, ids: NDArray[np.int64]) -> Certificate:
        """Forget examples and settle anew what they had a part in."""
        claim = self._demand_wholly()
        gone, before = self._held_of(ids)
        named = self._settled_on(ids)
        if not named:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", SettledWarning)
                self._forget(ids)
            named = self._settled_without(Evidence.of(self))
        if named:
            adopt(self, retrained_without(self, ids))
        self._polish()
        return issue(self, claim, gone, before, self._settled_on(ids), self._settled_now(named))

    def _demand_wholly(self) -> Claim:
        """The claim of a model of which nothing may be left; an error where something would be."""
        if self._claim is None or not self._claim.complete or self._settled_elsewhere:
            raise NotImplementedError(
                f"{type(self).__name__} cannot unlearn with scope='all': "
                + (
                    f"{' and '.join(self._settled_elsewhere)} was settled on rows elsewhere"
                    if self._settled_elsewhere
                    else "its solution depends on examples that it does not keep"
                )
                + "; fit a new model without these rows"
            )
        return self._claim

    def _settled_now(self, names: Collection[str]) -> dict[str, Any]:
        """What was settled anew, by name, with its value."""
        values: dict[str, Any] = {"class_weight": "balanced"}
        values |= {"gamma": self.gamma_} if "gamma" in names else {}
        return {name: values.get(name, "those of the rows left") for name in names}

    def _not_wholly_gone(self, ids: NDArray[np.int64]) -> NDArray[np.int64]:
        """These ids without those whose rows have left nothing."""
        gone = self._wholly_gone.include(ids)
        gone[gone] = [not self._core.holds(np.array([i])) for i in ids[gone]]  # given again
        return ids[~gone]

    def _settled_on(self, ids: NDArray[np.int64]) -> dict[str, Any]:
        """What was settled on rows that include these, or some removed before, and still stands."""
        ids = self._not_wholly_gone(ids)
        if len(ids) or self._removed_from:
            elsewhere = {name: getattr(self, name) for name in self._settled_elsewhere}
            if elsewhere:
                return {n: v if isinstance(v, float) else "balanced" for n, v in elsewhere.items()}
        if self._spread is None:  # gamma is a number
            return {}
        by_count = self._begun["gamma"] == "auto" and self._vocabulary is None
        met = not by_count and (self._settled_by is None or self._settled_by.meet(ids))
        return {"gamma": self.gamma_} if met or "gamma" in self._removed_from else {}

    def _settled_without(self, evidence: Evidence) -> dict[str, Any]:
        """What is known of rows and no example held would tell: names that only others bore."""
        if self._vocabulary is None:
            return {}
        met = set(np.unique(evidence.examples[1]).tolist())
        lost = [str(name) for j, name in enumerate(self._vocabulary.names()) if j not in met]
        return {"features": ", ".join(lost)} if lost else {}

    def _settled_facts(self) -> dict[str, Any]:
        """What a file says of it: nothing of a model that cannot unlearn."""
        by = self._settled_by
        if not self.can("unlearn"):
            return {}
        kept = by is not None and (self._spread is not None or self._by_fit)
        said: dict[str, Any] = {"settled_by": by.runs} if by is not None and kept else {}
        said |= {"by_fit": True} if kept and self._by_fit else {}
        said |= {"wholly_gone": self._wholly_gone.runs} if len(self._wholly_gone.runs) else {}
        said |= {"elsewhere": list(self._settled_elsewhere)} if self._settled_elsewhere else {}
        return said | ({"removed_from": list(self._removed_from)} if self._removed_from else {})

    def _recall_settled(self, facts: Mapping[str, Any]) -> None:
        """Take it from a file, which is not to be trusted; one that does not say knows nothing."""
        self._settled_by = IdRuns.from_fact(facts.get("settled_by"))
        self._by_fit = check_flag("by_fit", facts.get("by_fit", False))
        self._wholly_gone = IdRuns.from_fact(facts.get("wholly_gone")) or IdRuns.first(0)
        named = [facts.get(name, []) for name in ("removed_from", "elsewhere")]
        if any(not isinstance(n, list) or not set(n) <= {"class_weight", "gamma"} for n in named):
            raise ValueError("what its removed rows had settled is unknown")
        self._removed_from, self._settled_elsewhere = map(tuple, named)

    def _polish(self) -> None:
        """Go as near to the solution as a certificate deserves, where ``tol`` is loose."""

    def _read_gone(self, ids: ArrayLike | None, keys: Any) -> NDArray[np.int64]:
        """The ids to unlearn, each once."""
        if (ids is None) == (keys is None):
            raise ValueError("unlearn takes ids or keys; pass one of them")
        if ids is None:
            demand_borne(keys, self.keys_held())
            return np.sort(self.ids_of(keys))
        wanted = np.atleast_1d(np.asarray(ids))
        if wanted.ndim != 1 or (wanted.size and wanted.dtype.kind not in "iu"):
            raise ValueError("ids must be an integer or a one-dimensional array of integers")
        for odd in wanted[(wanted < 0) | (wanted >= self._next_id)]:
            raise ValueError(
                f"ids has {odd}, which no example bears; those learned so far have ids "
                f"from 0 to {self._next_id - 1}"
            )
        return np.unique(wanted.astype(np.int64))

    def _forget(self, ids: NDArray[np.int64]) -> None:
        self._wholly_gone = self._wholly_gone.without(self._not_wholly_gone(ids))
        named = self._settled_on(ids)
        before, self._removed_from = self._removed_from, tuple(sorted(named))
        self._core.unlearn(ids)
        if self._settled_by is not None:
            self._settled_by = self._settled_by.without(ids)
        if self._held is not None:
            self._held = self._held.without(ids)
        if self._keys is not None:
            self._keys = self._keys.without(ids.tolist())
        self._end_call("unlearn", len(ids))
        if self._held is None:  # else it will be settled anew, on the first rows that are left
            warn_of({name: value for name, value in named.items() if name not in before})

    def kkt_residual(self) -> float:
        """How far the solution is from optimal: the largest violation of the KKT conditions.

        Over all examples the model holds, in double whatever ``dtype`` is: kernel values anew
        from the stored examples, times the stored coefficients. Costs as much as predicting them.
        """
        return float(self._verb("kkt_residual")())

    def objective(self) -> float:
        """The value of the problem the method solves, at the current solution; in double."""
        return float(self._verb("objective")())

    @classmethod
    def can(cls, verb: str) -> bool:
        """Whether this class offers ``"unlearn"``, ``"kkt_residual"`` or ``"objective"``."""
        return offers(cls._stem, verb)

    def _verb(self, name: str) -> Any:
        """The core's method of that name; where there is none, say which class has it."""
        if not self.can(name):
            able = ", ".join(c.__name__ for c in finished_classes() if c.can(name))
            raise NotImplementedError(
                f"{type(self).__name__} has no {name}(): it keeps a summary of the stream, not "
                f"the problem it solved; {able or 'no class of this version'} can."
            )
        check_is_fitted(self)
        self._demand_whole(name)
        return getattr(self._core, name)


def finished_classes() -> list[type[Optimality]]:
    """Every class that names a core, by name."""
    found: dict[str, type[Optimality]] = {}
    roots: list[type[Optimality]] = [Optimality]
    while roots:
        below = roots.pop().__subclasses__()
        roots += below
        found |= {cls.__name__: cls for cls in below if "_stem" in cls.__dict__}
    return [found[name] for name in sorted(found)]
