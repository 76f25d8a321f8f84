"""BSGD (Wang, Crammer, Vucetic 2012), readable: kernel Pegasos that keeps at most B examples."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.optimize import minimize_scalar

from onlinesvm.reference.function import StepLearner, Task, hinge, tube
from onlinesvm.reference.kernels import Array, Kernel


def ramp(s: float, leak: float) -> Task:
    """Hinge loss, but on the wrong side by more than -s an example pulls by ``leak`` only."""

    def task(f: Array, y: float, margin: float = 1.0) -> tuple[float, Array]:
        loss, direction = hinge(f, y, margin)
        if loss <= margin - s:
            return loss, direction
        return (loss, leak * direction) if leak > 0 else (0.0, direction)

    return task


class Bsgd(StepLearner):
    """Step t is 1 / (lam (t + t0)) long; then the budget is kept by a rule.

    ``rule`` is "merge", "project" or "remove"; ``s`` holds a column for each example kept.

    Examples
    --------
    >>> from onlinesvm.reference import Kernel
    >>> from onlinesvm.reference.bsgd import Bsgd
    >>> model = Bsgd(Kernel("rbf", gamma=1.0), lam=0.5, budget=2)
    >>> for x, y in [([0.0], 1), ([3.0], -1), ([0.5], 1)]:
    ...     model.learn(x, y)
    >>> model.X.ravel().round(3), model.s.round(3)
    (array([0.25, 3.  ]), array([[ 1.253, -0.667]]))
    """

    def __init__(
        self,
        kernel: Kernel | None = None,
        *,
        lam: float = 1e-4,
        t0: float | str = 0.0,
        budget: int = 100,
        rule: str = "merge",
        task: Task = hinge,
        level: float = 1.0,
        outputs: int = 1,
    ) -> None:
        super().__init__(kernel, outputs)
        self.lam, self.t0, self.budget, self.task, self.level = lam, t0, budget, task, level
        self.rule: Callable[[int], None] = getattr(self, rule)
        self.lengths: list[float] = []

    def step(self, x: Array, y: float, weight: float) -> None:
        """Algorithm 1."""
        self.lengths.append(self.kernel(x, x)[0, 0])
        t0 = float(np.mean(self.lengths)) / self.lam if self.t0 == "scale" else float(self.t0)
        eta = 1 / (self.lam * (self.t + t0))
        loss, direction = self.task(self.score(x), y, self.level)
        if self.t > 1:
            self.shrink(1 - eta * self.lam)
        if loss > 0:
            step = eta * weight
            if self.task is tube:  # not past the target
                step = min(step, loss / self.lengths[-1])
            self.add(x, step * direction)
            while len(self.X) > self.budget:
                self.rule(self.shortest)

    @property
    def shortest(self) -> int:
        """Who has the smallest coefficients and is not alone on its side; of equals, the last."""
        products = self.s.T @ self.s
        lengths = np.diag(products)
        company = (products - np.diag(lengths) > 0).any(axis=1)
        among = np.flatnonzero(company) if company.any() else np.arange(len(lengths))
        return int(among[lengths[among] <= lengths[among].min() * (1 + 1e-9)][-1])

    def remove(self, p: int) -> None:
        """Leave p out; the last takes its place."""
        self.X[p], self.s[:, p] = self.X[-1], self.s[:, -1]
        self.X, self.s = self.X[:-1], self.s[:, :-1]

    def project(self, p: int) -> None:
        """The others take p over: f stays as close to what it was as it can."""
        rest = np.arange(len(self.X)) != p
        K = self.kernel(self.X, self.X)
        d = np.linalg.lstsq(K[np.ix_(rest, rest)], K[rest, p], rcond=None)[0]
        self.s[:, rest] += np.outer(self.s[:, p], d)
        self.remove(p)

    def merge(self, p: int) -> None:
        """p and the one for which the change of f is smallest become one example between them."""
        mates = np.flatnonzero(self.s.T @ self.s[:, p] > 0)
        offers = {int(q): self.merger(p, int(q)) for q in mates if q != p}
        if not offers:
            return self.remove(p)
        q = min(offers, key=lambda q: offers[q][0])
        _, z, s_z = offers[q]
        self.X[q], self.s[:, q] = z, s_z
        self.remove(p)
        return None

    def merger(self, p: int, q: int) -> tuple[float, Array, Array]:
        """The smallest |change of f|^2 with one example in place of p and q, and that example."""
        pair = self.s[:, [p, q]]

        def kept(h: float) -> tuple[float, Array, Array]:
            z = h * self.X[p] + (1 - h) * self.X[q]
            own = self.kernel(z, z)[0, 0]
            s_z = pair @ self.kernel(self.X[[p, q]], z)[:, 0] / own
            return float(s_z @ s_z * own), z, s_z

        grid = np.linspace(0, 1, 21)
        best = grid[np.argmax([kept(h)[0] for h in grid])]
        found = minimize_scalar(
            lambda h: -kept(h)[0],
            bounds=(max(0, best - 0.05), min(1, best + 0.05)),
            method="bounded",
            options={"xatol": 1e-10},
        )
        value, z, s_z = kept(found.x)
        K = self.kernel(self.X[[p, q]], self.X[[p, q]])
        return float(np.einsum("ri,ij,rj", pair, K, pair)) - value, z, s_z
