"""POKER (Fine & Scheinberg, NIPS 2001), readable: the SVM solved along a path.

One engine follows the solution of

    max q(u)'a - a'Qa / 2  with  0 <= a_i <= C_i,      q(u) = q + u c,      G = q(u) - Qa

as u grows. Every variable is in one of three sets: O (a = 0, G < 0), E (a = C, G > 0), S (G = 0).
While nobody changes its set the solution is linear in u: Q_SS d_S = c_S, and r = dG/du = c - Qd.
A breakpoint is where somebody does. What is solved depends on q and c only:

    fixed bias   from a problem that the present solution solves to the true one, u from 0 to 1
    adjust bias  q = lin + t z, c = +-z: t moves until z'a = target; the bias is b = -t
    unlearning   c = -1 for those who leave, until their a is 0

The paper writes f = w.x - b; t is its b. Its tasks differ in lin, z and target (Q = zz' * K):

    classification  lin = 1, z = y, target 0       one class  lin = 0, z = 1, target nu n, C = 1
    regression      two variables an example, lin = y - eps and -y - eps, z = 1 and -1, target 0
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from onlinesvm.reference.kernels import Array, Kernel
from onlinesvm.reference.stored import StoredExamples, may_move, middle, violations

TIE = 1e-9  # nearer to G = 0 than that is at it
Stop = Callable[[float, Array, Array, bool], float]  # (u, a, d, slides) -> step to the run's end


def follow(
    Q: Array, C: Array, a: Array, G: Array, c: Array, stop: Stop
) -> tuple[Array, Array, float]:
    """From the solution a with gradient G at u = 0 to the end of the run: a, G and u there."""
    a, G, u = a.copy(), G.copy(), 0.0
    for _ in range(100 * (len(a) + 10)):
        d, slides = derivative(Q, C, a, G, c)
        r = np.zeros_like(c) if slides else c - Q @ d  # along a null direction Qd = 0
        step, who = np.inf, -1
        for i in np.flatnonzero(d):  # somebody in S meets a bound
            room = (C[i] if d[i] > 0 else 0.0) - a[i]
            if room / d[i] < step:
                step, who = max(0.0, room / d[i]), int(i)
        comes = ((a < C) & (G < -TIE) & (r > 0)) | ((a > 0) & (G > TIE) & (r < 0))
        for i in np.flatnonzero(comes):  # somebody outside comes to G = 0
            if -G[i] / r[i] < step:
                step, who = -G[i] / r[i], int(i)
        end = stop(u, a, d, slides)
        if min(step, end) == np.inf:
            return a, G, u  # nobody is left to move
        h = min(step, end)
        a, G = np.clip(a + h * d, 0.0, C), G + h * r
        u += 0.0 if slides else h
        if end <= step:
            return a, G, u
        if d[who] != 0.0:
            a[who] = C[who] if d[who] > 0 else 0.0
        else:
            G[who] = 0.0
    raise RuntimeError("breakpoints without end: scale the features")


def derivative(Q: Array, C: Array, a: Array, G: Array, c: Array) -> tuple[Array, bool]:
    """The one-sided da/du, or (second value True) a null direction of Q to slide along.

    min d'Qd / 2 - c'd with d free where 0 < a < C, inwards where a waits at a bound with G = 0, and
    0 elsewhere; by an active set F in the manner of non-negative least squares. The paper only
    mentions the degenerate case; duplicates and linear kernels meet it at once.
    """
    tie = np.abs(G) <= TIE
    inward = np.where(a <= 0, 1.0, np.where(a >= C, -1.0, 0.0))  # 0: free
    F = [int(i) for i in np.flatnonzero(inward == 0)]
    d = np.zeros_like(a)
    for _ in range(50 * (len(a) + 10)):
        x, v = _solve(Q[np.ix_(F, F)], c[F] - Q[np.ix_(F, F)] @ d[F])
        # What is left of c has c'v > 0 and Qv = 0: no d balances it, so d goes on along it.
        endless = np.linalg.norm(v) > 1e-8 * (1.0 + np.linalg.norm(c[F]))
        way, limit = (v, np.inf) if endless else (x, 1.0)
        way = np.where(np.abs(way) <= 1e-9 * np.abs(way).max(initial=0.0), 0.0, way)  # rounding
        parts = {k: -d[i] / way[k] for k, i in enumerate(F) if inward[i] * way[k] < 0.0}
        blocker = min(parts, key=parts.__getitem__, default=-1)
        if blocker >= 0 and parts[blocker] < limit:  # back at the bound it came from
            d[F] += parts[blocker] * way
            d[F.pop(blocker)] = 0.0
            continue
        if endless:
            slide = np.zeros_like(a)
            slide[F] = way
            return slide, True
        d[F] += x
        r = c - Q @ d
        pushed = np.where(tie & (C > 0), inward * r, 0.0)
        pushed[F] = 0.0
        if pushed.max(initial=0.0) <= 1e-8:
            return d, False
        F.append(int(np.argmax(pushed)))
    raise RuntimeError("no direction found: scale the features")


def _solve(Q: Array, c: Array) -> tuple[Array, Array]:
    """Qx = c as far as possible, and what is left of c: it lies in the null space of Q."""
    if not len(c):
        return c, c
    values, vectors = np.linalg.eigh(Q)
    inside = values > 1e-10 * max(values.max(), 1e-300)
    parts = vectors.T @ c
    x = vectors[:, inside] @ (parts[inside] / values[inside])
    return x, vectors[:, ~inside] @ parts[~inside]


class Poker(StoredExamples):
    """The SVM of a task with a free or a fixed bias, exact after every chunk.

    A breakpoint costs O(n |S| + |S|^3) here. Where Q is singular, a may be one of many solutions; f
    is the same for all of them.

    Parameters
    ----------
    kernel : Kernel
    C : float
        Price of a unit of loss; C_i = C times the weight of example i.
    task : {"classify", "regress", "detect"}
        What lin, z and target are.
    bias : {"free", "none"}
    epsilon, nu : float
        Of regression, and of the one-class task.

    Attributes
    ----------
    X, lin, z, C_i, owner, ids : arrays
        The examples held; their variables, with the row of X and the id each belongs to.
    a, t : array and float
        Multipliers, and minus the bias.

    Examples
    --------
    >>> from onlinesvm.reference import Kernel, Poker
    >>> model = Poker(Kernel("linear"), C=1.0)
    >>> model.learn([[-1], [0]], [-1, 1])
    >>> model.learn([[1], [3]], [-1, 1])
    >>> model.a.round(3).tolist(), round(-model.t, 3)
    ([0.375, 1.0, 1.0, 0.375], -0.5)
    """

    def __init__(
        self,
        kernel: Kernel | None = None,
        *,
        C: float = 1.0,
        task: str = "classify",
        bias: str = "free",
        epsilon: float = 0.1,
        nu: float = 0.5,
    ) -> None:
        super().__init__(kernel)
        self.C, self.task, self.bias, self.epsilon, self.nu = C, task, bias, epsilon, nu
        self.lin, self.z, self.C_i, self.a = np.zeros((4, 0))
        self.owner, self.ids = np.zeros((2, 0), dtype=np.int64)
        self.t = 0.0

    # ---- the boxes -------------------------------------------------------------------------------

    def learn(self, X: ArrayLike, y: ArrayLike | None = None, weight: ArrayLike = 1.0) -> None:
        """AltPOKER: receive a chunk of examples; the first one by Self-Init."""
        first = not len(self.a)
        old = len(self.a)
        self._extend(np.atleast_2d(np.asarray(X, dtype=np.float64)), y, weight)
        if first and self.bias == "free":
            self._self_init()
            return
        G = self._G()
        slack = G <= 0.0
        slack[:old] = True
        # A violator pretends a slack of 1, or where all start alike up to 2: not all come at once.
        spread = np.arange(len(G)) / len(G) if first else 0.0
        pretended = np.where(slack, G, -1.0 - spread)
        if not slack.all():
            self._fixed_bias(pretended, G - pretended)
        self._adjust_bias()

    def unlearn(self, ids: ArrayLike) -> None:
        """Forget examples: push their a to 0 at the present bias, delete them, adjust the bias."""
        leaves = np.isin(self.ids, ids)
        while (self.a[leaves] > 0.0).any():
            c = np.where(leaves & (self.a > 0.0), -1.0, 0.0)
            still = np.flatnonzero(c)

            def gone(u: float, a: Array, d: Array, slides: bool, still: Any = still) -> float:
                falling = d[still] < 0.0
                return float(np.min(-a[still][falling] / d[still][falling], initial=np.inf))

            self.a, _, _ = follow(self._Q(), self.C_i, self.a, self._G(), c, gone)
            at = still[np.argmin(self.a[still])]
            self.a[at] = self.C_i[at] = 0.0  # held there
        self._leave(leaves)
        self._adjust_bias()

    def _fixed_bias(self, G: Array, c: Array) -> None:
        def whole(u: float, a: Array, d: Array, slides: bool) -> float:
            return np.inf if slides else 1.0 - u

        self.a, _, _ = follow(self._Q(), self.C_i, self.a, G, c, whole)

    def _adjust_bias(self) -> None:
        """t moves, the solution for fixed t follows, until z'a = target (3.3)."""
        if self.bias == "none" or not len(self.a):
            self.t = 0.0
            return
        gap = self._target() - self.z @ self.a
        if abs(gap) > 1e-12 * max(1.0, self.C_i.max()):
            way = np.sign(gap)  # z'a grows with t: the paper's stopping rule has the sign reversed

            def balanced(u: float, a: Array, d: Array, slides: bool) -> float:
                slope, left = self.z @ d, self._target() - self.z @ a
                return float(left / slope) if left * slope > 0.0 else np.inf

            run = follow(self._Q(), self.C_i, self.a, self._G(), way * self.z, balanced)
            self.a, self.t = run[0], float(self.t + way * run[2])
        self._centre()

    def _self_init(self) -> None:
        """With t far out everybody sits at one end; then t comes in (3.4)."""
        low, high = np.where(self.z < 0, self.C_i, 0.0), np.where(self.z > 0, self.C_i, 0.0)
        from_below = self._target() - self.z @ low <= self.z @ high - self._target()
        self.a = low if from_below else high
        h = self.z * self._G()
        self.t = float(-h.max() - 1.0 if from_below else -h.min() + 1.0)
        self._adjust_bias()

    # ---- housekeeping ----------------------------------------------------------------------------

    def _extend(self, X: Array, y: ArrayLike | None, weight: ArrayLike) -> None:
        n, m = len(self.X), len(X)
        target = np.zeros(m) if y is None else np.asarray(y, dtype=np.float64)
        C = np.broadcast_to(self.C * np.asarray(weight, dtype=np.float64), m)
        lin, z = np.ones(m), target
        if self.task == "detect":
            lin, z = np.zeros(m), np.ones(m)
        copies = 1
        if self.task == "regress":
            lin, z = np.r_[target - self.epsilon, -target - self.epsilon], np.repeat([1.0, -1.0], m)
            copies = 2
        self.X = np.vstack([self.X, X]) if n else X
        self.lin, self.z = np.r_[self.lin, lin], np.r_[self.z, z]
        self.C_i, self.a = np.r_[self.C_i, np.tile(C, copies)], np.r_[self.a, np.zeros(m * copies)]
        self.owner = np.r_[self.owner, np.tile(np.arange(n, n + m), copies)]
        self.ids = np.r_[self.ids, np.tile(self.n_seen + np.arange(m), copies)]
        self.n_seen += m

    def _leave(self, leaves: NDArray[np.bool_]) -> None:
        kept = np.setdiff1d(np.arange(len(self.X)), self.owner[leaves])
        for name in ("lin", "z", "C_i", "a", "ids", "owner"):
            setattr(self, name, getattr(self, name)[~leaves])
        self.owner = np.searchsorted(kept, self.owner)
        self.X = self.X[kept]

    def _target(self) -> float:
        return self.nu * float(self.C_i.sum()) if self.task == "detect" else 0.0

    def _Q(self) -> Array:
        K = self.kernel(self.X, self.X)[np.ix_(self.owner, self.owner)]
        return np.asarray(K * np.outer(self.z, self.z))

    def _G(self) -> Array:
        return np.asarray(self.lin + self.t * self.z - self._Q() @ self.a)

    def _centre(self) -> None:
        """With nobody strictly between its bounds, t is only an interval: take its midpoint."""
        near = 1e-12 * self.C_i
        self.a = np.where(self.a <= near, 0.0, self.a)
        self.a = np.where(self.a >= self.C_i - near, self.C_i, self.a)
        if ((self.a > 0.0) & (self.a < self.C_i)).any():
            return
        exact = self.t - self.z * self._G()  # where G_i would be 0
        self.t = -middle(-exact, *may_move(self.z, self.a, self.C_i))

    # ---- looking ---------------------------------------------------------------------------------

    def score(self, x: ArrayLike) -> Array:
        """f of each row."""
        of_row = self.owner == np.arange(len(self.X))[:, None]  # in regression two variables
        return self._f(x, of_row @ (self.z * self.a)) - self.t

    def kkt(self) -> float:
        """Largest violation of the optimality conditions, the balance z'a = target included."""
        G = self._G() if len(self.a) else np.zeros(0)
        v = violations(self.a, self.C_i, G)
        balance = abs(self.z @ self.a - self._target()) if self.bias == "free" else 0.0
        return float(max(v[self.C_i > 0].max(initial=0.0), balance))
