"""Semi-online retraining (Syed et al. 1999; Domeniconi & Gunopulos 2001), readable.

Examples wait; when ``chunk`` of them do, the SVM is trained on them and on the examples kept, and
those that support nothing go. With a budget (Pronobis et al. 2010 and others) those beyond it go as
well, by a policy, and the rest is trained again.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from onlinesvm.reference.kernels import Array, Kernel
from onlinesvm.reference.smo import SMO
from onlinesvm.reference.stored import Mask, middle, turns

#: An example waits when y f(x) is no more.
REACH = {"all": np.inf, "margin": 1.0, "error": 0.0}


class Retrain(SMO):
    """The SVM of the examples kept, for labels -1 and +1; the first ``n_kept`` of those held.

    Parameters
    ----------
    kernel : Kernel
    C, tol : float
        As in :class:`SMO`.
    rule : {"all", "margin", "error"}
        Which examples wait.
    chunk : int
        How many wait until all is trained again.
    budget : int or None
        How many are kept at most.
    forget : {"oldest", "least_significant", "outlier_first", "linear_dependence"}
        Which of them go.
    eta : float
        Of ``"linear_dependence"``: who has more outside the span of the others stays.

    Examples
    --------
    >>> from onlinesvm.reference import Kernel, Retrain
    >>> model = Retrain(Kernel("linear"), C=10.0, chunk=2)
    >>> for x, y in [(0.0, 1), (2.0, -1), (-1.0, 1), (3.0, -1)]:
    ...     model.learn([x], y)
    >>> model.ids.tolist(), model.score([[0.0], [2.0]]).round(6).tolist()
    ([0, 1], [1.0, -1.0])
    """

    def __init__(
        self,
        kernel: Kernel | None = None,
        *,
        C: float = 1.0,
        tol: float = 1e-3,
        rule: Literal["all", "margin", "error"] = "all",
        chunk: int = 100,
        budget: int | None = None,
        forget: str = "oldest",
        eta: float = 1e-2,
    ) -> None:
        super().__init__(kernel, C=C, tol=tol)
        self.columns = (*self.columns, "ids")
        self.reach, self.chunk, self.forget, self.eta = REACH[rule], chunk, forget, eta
        self.budget = np.inf if budget is None else budget
        self.y, self.lo, self.hi, self.s = np.zeros((4, 0))
        self.beta = self.s  # what predicts: s, or what it was folded onto
        self.n_kept = 0
        self.tried = 0  # of those that wait, how many were of one class when training was due

    # ---- the box ---------------------------------------------------------------------------------

    def learn(self, x: ArrayLike, y: float, weight: float = 1.0, id: int | None = None) -> None:
        """One example passes, or waits; when enough wait, all is trained again."""
        id = self.n_seen if id is None else id
        self.n_seen += 1
        if weight <= 0.0 or (self.n_kept and y * self.score(x)[0] > self.reach):
            return
        edge = y * self.C * weight
        row = np.asarray(x, dtype=np.float64)
        self._append(row, y=y, lo=min(0.0, edge), hi=max(0.0, edge), s=0.0, ids=id)
        self.beta = np.append(self.beta, 0.0)
        if not self.n_kept:
            known = slice(self.tried or None)  # of the first class, while another waits
            rises, falls = self.s < self.hi, self.s > self.lo
            self.b = middle(self.y[known], rises[known], falls[known])
        if len(self.y) - self.n_kept >= self.chunk + self.tried:
            self.train()

    def train(self) -> None:
        """Train, keep who supports, forget whom the budget has no place for, train the rest."""
        if len(set(self.y)) < 2:  # nothing to tell apart: the newest wait, for another chunk
            self.tried = int(min(len(self.y), self.chunk, self.budget))
            self._keep(np.arange(len(self.y))[-self.tried :])
            self.n_kept = 0
            return
        self.tried = 0
        self._solve()
        needed = np.flatnonzero(self._needed())
        if len(needed) > self.budget and self.forget == "linear_dependence":
            self._fold(needed)
        elif len(needed) > self.budget:
            self._refit(self._survivors(needed))
            self._keep(np.flatnonzero(self._needed()))
        else:
            self._keep(needed)

    def finish(self) -> None:
        """Train on those that wait."""
        if len(self.y) > self.n_kept:
            self.train()

    def _needed(self) -> Mask:
        """Who supports, or holds the bias: an end of the gap in which it lies."""
        g = self.y - self._f(self.X, self.s)
        high = np.max(g, where=self.s < self.hi, initial=-np.inf)
        low = np.min(g, where=self.s > self.lo, initial=np.inf)
        rises = (g > low) | (g >= high)
        falls = (g < high) | (g <= low)
        return np.asarray((self.s != 0.0) | np.where(self.y > 0, rises, falls))

    def _keep(self, members: NDArray[np.intp]) -> None:
        for name in ("X", *self.columns):
            setattr(self, name, getattr(self, name)[np.sort(members)])
        self.beta = self.s
        self.n_kept = len(self.y)

    def _solve(self) -> None:
        self._climb()
        self.beta = self.s

    def _refit(self, members: NDArray[np.intp]) -> None:
        """The SVM of these alone; merely dropping the others would break sum s = 0 and the bias."""
        self._keep(members)
        self.s = np.zeros(len(self.s))
        self._solve()

    # ---- forgetting ------------------------------------------------------------------------------

    def _survivors(self, members: NDArray[np.intp]) -> NDArray[np.intp]:
        """By the policy, but the last of a class never goes."""
        alpha, g = np.abs(self.s), 1.0 - self.y * self.score(self.X)
        turn = turns(self.forget, alpha, g)
        left = list(members)
        for k in members[np.lexsort((members, turn[members]))]:
            if len(left) > self.budget and np.sum(self.y[left] == self.y[k]) > 1:
                left.remove(k)
        return np.array(left)

    def _fold(self, members: NDArray[np.intp]) -> None:
        """Keep who is outside the span of the others; they take over what the rest contributed."""
        s, b, ids = self.s.copy(), self.b, self.ids.copy()
        order = members[np.lexsort((-members, -np.abs(s[members])))]
        firsts = [order[self.y[order] == y][0] for y in (-1.0, 1.0)]
        basis: list[int] = []
        K = self.kernel(self.X, self.X)
        for k in sorted(firsts, key=list(order).index) + [k for k in order if k not in firsts]:
            d = np.linalg.solve(K[np.ix_(basis, basis)], K[basis, k])
            delta = K[k, k] - K[k, basis] @ d
            if len(basis) < self.budget and delta > max(self.eta, 1e-10 * K[k, k]):
                basis.append(k)
            else:
                s[basis] += s[k] * d
                s[k] = 0.0
        beta = dict(zip(ids, s, strict=True))
        self._refit(np.unique([*basis, *firsts]))  # from which training goes on
        self.beta, self.b = np.array([beta[i] for i in self.ids]), b

    def score(self, X: ArrayLike) -> Array:
        """f(x) for every row, bias included."""
        return self._f(X, self.beta) + self.b
