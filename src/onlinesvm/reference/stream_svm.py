"""Streamed Learning: One-Pass SVMs (Rai, Daume, Venkatasubramanian, IJCAI 2009), readable.

Example n is the point Z_n = [y_n phi(x_n); e_n / sqrt(C)]. The centre of the smallest ball around
all points is the weight vector of an SVM with squared slack. One pass keeps balls that hold every
point seen. Here a centre is spelled out as shares l of the points, and every distance comes from
the inner products Q of the points, slack coordinates included; the fast class keeps the sums only.

Weights give points unlike slacks, hence unlike lengths, and a ball around those is no SVM. So each
point stands above the space of the centres by what it lacks of the longest slack: its lift.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq

from onlinesvm.reference.kernels import Array, Kernel


@dataclass(frozen=True)
class Ball:
    """A centre, as shares of the points seen so far, and how far around it the points may be."""

    l: Array  # noqa: E741
    rho: float = 0.0  # along the space of the centres no point is farther
    lift2: float = 0.0  # squared, and no point is less high above it
    lower2: float = 0.0  # of the squared radius of any ball around the points

    @property
    def R(self) -> float:
        """The radius."""
        return self.reach(0.0)

    def reach(self, d: float) -> float:
        """The radius that holds it, of a ball whose centre is at distance d."""
        return float(np.hypot(d + self.rho, np.sqrt(self.lift2)))

    @classmethod
    def under(cls, lift2: float, l: Array, R: float, lower2: float) -> Ball:  # noqa: E741
        """The ball of radius R whose points have such a lift at least."""
        return cls(l, float(np.sqrt(max(0.0, R**2 - lift2))), lift2, lower2)


class StreamSVM:
    """Algorithm 1, algorithm 2 and several balls, in coordinates one can look at.

    Parameters
    ----------
    kernel : Kernel
    C : float
        The slack coordinate of an example is 1 / sqrt(C times its weight).
    lookahead : int
        L of algorithm 2; 1 is algorithm 1.
    balls : int
        Most balls kept; lookahead or balls must be 1.
    normalize : bool
        Whether feature vectors are brought to length one: only points of equal length make the
        ball the SVM.

    Attributes
    ----------
    X, y : arrays
        All examples seen.
    balls : list of Ball
    waiting : list of int
        Points outside the ball that wait for the next update.

    Examples
    --------
    >>> from onlinesvm.reference import Kernel, StreamSVM
    >>> model = StreamSVM(Kernel("linear"), normalize=False)
    >>> for x, y in ([1.0], 1), ([-1.0], -1), ([-2.0], 1):
    ...     model.learn(x, y)
    >>> model.w.round(5), round(model.balls[0].R, 5)
    (array([-0.17267]), 1.97374)
    """

    def __init__(
        self,
        kernel: Kernel | None = None,
        *,
        C: float = 1.0,
        lookahead: int = 1,
        balls: int = 1,
        normalize: bool = True,
    ) -> None:
        self.kernel = kernel or Kernel("linear")
        self.C = C
        self.lookahead = lookahead
        self.most = balls
        self.normalize = normalize
        self.X = np.empty((0, 0))
        self.y = np.empty(0)
        self.length = np.empty(0)
        self.slack = np.empty(0)
        self.Q = np.empty((0, 0))
        self.balls: list[Ball] = []
        self.waiting: list[int] = []

    def learn(self, x: ArrayLike, y: float, weight: float = 1.0) -> None:
        """One example."""
        if weight == 0.0:
            return
        z = self._point(np.asarray(x, dtype=np.float64), y, 1.0 / (self.C * weight))
        if any(self._reach(ball, z) < ball.R for ball in self.balls):
            return
        if self.lookahead > 1 and self.balls:
            self.waiting.append(len(self.y) - 1)
            if len(self.waiting) == self.lookahead:
                self.flush()
            return
        self.balls.append(z)
        if len(self.balls) > self.most:
            pairs = [(i, j) for j in range(len(self.balls)) for i in range(j)]
            i, j = min(sorted(pairs), key=lambda p: self._union(*p).R)
            self.balls[i] = self._union(i, j)
            self.balls[j] = self.balls[-1]
            self.balls.pop()

    def flush(self) -> None:
        """Algorithm 2, lines 7 and 13: the exact ball around the ball and the waiting points."""
        if self.waiting:
            points = [self._unit(i) for i in self.waiting]
            self.balls = [self._whole([*self.balls, *points])]
            self.waiting = []

    def fit(
        self, X: ArrayLike, y: ArrayLike, order: ArrayLike, weights: ArrayLike | None = None
    ) -> None:
        """Passes over the rows: each takes them in the given order, one step of the dual apiece.

        D(l) = sum l_n |Z_n|^2 - |c|^2 along c + tau (Z - c) rises by (d^2 - D) tau - h^2 tau^2,
        d the distance of Z and h without its lift: points farther out than sqrt(D) pull the
        centre, at most half the way, and others let go of it.
        """
        weights = np.ones(len(np.asarray(y))) if weights is None else np.asarray(weights)
        for x, label, weight in zip(np.asarray(X), np.asarray(y), weights, strict=True):
            self._point(x, label, 1.0 / (self.C * weight))
        first, *rest = np.asarray(order)
        l = self._unit(first).l  # noqa: E741
        for n in rest:
            z = self._unit(n)
            d2, h2 = self._reach(Ball(l), z) ** 2, self._distance(Ball(l), z) ** 2
            if h2 == 0.0 or l[n] == 1.0:
                continue
            tau = max(-l[n] / (1 - l[n]), min(0.5, (d2 - self._dual(l)) / (2 * h2)))
            if tau > 0 or l[n] > 0:
                l = (1 - tau) * l + tau * z.l  # noqa: E741
        R = max(self._reach(Ball(l), self._unit(n)) for n in range(len(self.y)))
        self.balls = [Ball(l, R, 0.0, self._dual(l))]

    def score(self, x: ArrayLike) -> float:
        """f(x), by the ball around all balls, without the waiting points."""
        if not self.balls:
            return 0.0
        whole = self._whole(self.balls)
        return float((whole.l * self.y / self.length) @ self.kernel(self.X, x)[:, 0])

    def radius_bound(self) -> float:
        """How many times as wide as the smallest ball around the points the kept one is at most."""
        pairs = [self._lower2(a, b) for a in self.balls for b in self.balls]
        return float(self._whole(self.balls).R / np.sqrt(max(pairs)))

    @property
    def w(self) -> Array:
        """Weights of a linear model."""
        return np.asarray((self._whole(self.balls).l * self.y / self.length) @ self.X)

    # --- geometry -----------------------------------------------------------------------------

    def _point(self, x: Array, y: float, slack: float) -> Ball:
        """Take in the point [y phi(x); e_n sqrt(slack)] and return it as a ball of radius 0.

        With a longer slack than any before, all points are lifted by as much as that is longer.
        """
        self.X = np.vstack([self.X.reshape(-1, len(x)), x])
        self.y = np.append(self.y, y)
        k = self.kernel(self.X, x)[:, 0]
        self.length = np.append(self.length, np.sqrt(k[-1]) if self.normalize and k[-1] else 1.0)
        column = self.y * y * k / (self.length * self.length[-1])
        column[-1] += slack
        self.Q = np.block([[self.Q, column[:-1, None]], [column]])
        rise = max(0.0, slack - self.slack.max(initial=0.0)) if len(self.slack) else 0.0
        self.slack = np.append(self.slack, slack)
        self.balls = [
            Ball(np.append(ball.l, 0.0), ball.rho, ball.lift2 + rise, ball.lower2 + rise)
            for ball in self.balls
        ]
        return self._unit(len(self.y) - 1)

    def _unit(self, n: int) -> Ball:
        return Ball(np.eye(len(self.y))[n], lift2=self._lift2[n])

    @property
    def _lift2(self) -> Array:
        return np.asarray(self.slack.max() - self.slack)

    def _distance(self, a: Ball, b: Ball) -> float:
        step = a.l - b.l
        return float(np.sqrt(np.maximum(0.0, step @ self.Q @ step)))

    def _reach(self, a: Ball, b: Ball) -> float:
        """The radius around the centre of a that holds b."""
        return b.reach(self._distance(a, b))

    def _union(self, i: int, j: int) -> Ball:
        """The smallest ball around two: equally far from both, unless one holds the other."""
        a, b = self.balls[i], self.balls[j]
        d = self._distance(a, b)
        wide = d + a.rho + b.rho
        step = (d + b.rho - a.rho + (b.lift2 - a.lift2) / wide) / 2 if wide else b.lift2 - a.lift2
        tau = step / d if 0 < step < d else float(step > 0)
        R = max(a.reach(tau * d), b.reach((1 - tau) * d))
        lift2 = min(a.lift2, b.lift2)
        return Ball.under(lift2, (1 - tau) * a.l + tau * b.l, R, self._lower2(a, b))

    def _dual(self, l: Array) -> float:  # noqa: E741
        """sum l_n |Z_n|^2 - |sum l_n Z_n|^2, at most R*^2 for any shares l; lifts are length."""
        return float(l @ (np.diag(self.Q) + self._lift2) - l @ self.Q @ l)

    def _lower2(self, a: Ball, b: Ball) -> float:
        """The best bound that two balls give: theirs, or the best dual value between them."""
        d2, gain = self._distance(a, b) ** 2, self._dual(b.l) - self._dual(a.l)
        tau = np.clip(0.5 + 0.5 * gain / d2, 0.0, 1.0) if d2 > 0 else 0.0
        return max(a.lower2, b.lower2, self._dual((1 - tau) * a.l + tau * b.l))

    def _whole(self, balls: list[Ball]) -> Ball:
        """The smallest ball around several."""
        centres = np.array([ball.l for ball in balls])
        R, shares = enclosing_ball(
            centres @ self.Q @ centres.T,
            [ball.rho for ball in balls],
            [ball.lift2 for ball in balls],
        )
        known = max(ball.lower2 for ball in balls)
        lift2, bound = min(ball.lift2 for ball in balls), self._dual(shares @ centres)
        return Ball.under(lift2, shares @ centres, R, max(known, bound))


def enclosing_ball(
    G: ArrayLike, rho: ArrayLike, lift2: ArrayLike | None = None
) -> tuple[float, Array]:
    """Radius and centre, as shares of the given ones, of the smallest ball around balls.

    ``G`` holds the inner products of the centres, ``rho`` the radii and ``lift2`` the squared
    heights above the space of the centres. R^2 is at least (|c - c_i| + rho_i)^2 + lift_i^2, that
    is |c - c_i|^2 + lift_i^2 + 2 s_i rho_i - rho_i^2 with s_i^2 = R^2 - lift_i^2; for fixed R the
    best c is a QP over the simplex, and R is right when its value v(R) is R^2.
    """
    G, rho = np.asarray(G, dtype=np.float64), np.asarray(rho, dtype=np.float64)
    lift2 = np.zeros(len(rho)) if lift2 is None else np.asarray(lift2)
    norms = np.diag(G)
    D = np.sqrt(np.maximum(norms[:, None] + norms - 2 * G, 0.0))
    reach = np.hypot(D + rho, np.sqrt(lift2)).max(axis=1)  # from each centre around everything
    own = np.hypot(rho, np.sqrt(lift2))
    best = int(reach.argmin())
    if reach[best] <= own[best]:
        return float(own[best]), np.eye(len(rho))[best]

    def heights(R: float) -> Array:
        s = np.sqrt(np.maximum(R**2 - lift2, 0.0))
        return np.asarray(norms + lift2 + 2 * s * rho - rho**2)

    def best_shares(R: float) -> Array:
        return simplex_qp(G, heights(R))

    def excess(R: float) -> float:
        l = best_shares(R)  # noqa: E741
        return float(l @ heights(R) - l @ G @ l - R**2)

    low, high = max((D + rho + rho[:, None]).max() / 2, own.max()), reach[best]
    R = float(low)
    if excess(low) > 0 > excess(high):
        R = float(brentq(excess, low, high, xtol=1e-15, rtol=1e-15))
    return R, best_shares(R)


def simplex_qp(G: Array, b: Array) -> Array:
    """argmax b'l - l'Gl over l >= 0, sum l = 1, by an active set."""
    l: Array = np.eye(len(b))[int((b - np.diag(G)).argmax())]  # noqa: E741
    for _ in range(20 * len(b)):
        slope = b - 2 * G @ l
        steepest = int(np.where(l > 0, -np.inf, slope).argmax())
        if l.all() or slope[steepest] <= l @ slope + 1e-14 * (np.abs(b) + np.diag(G)).max():
            break
        members = np.append(np.flatnonzero(l), steepest)
        while True:
            n = len(members)
            system = np.block(
                [[2 * G[np.ix_(members, members)], np.ones((n, 1))], [np.ones(n), np.zeros(1)]]
            )
            u = np.linalg.solve(system, np.append(b[members], 1.0))[:n]
            if (u > 0).all():
                l[members] = u
                break
            here = l[members]
            reach = np.where(u <= 0, here / np.where(u <= 0, here - u, 1.0), np.inf)
            step = reach.min()
            here = np.where(reach <= step, 0.0, here + step * (u - here))
            l[members] = here
            members = members[here > 0]
            if step == 0.0:  # the newcomer was left at once: rounding is all that remains
                return l
    return l
