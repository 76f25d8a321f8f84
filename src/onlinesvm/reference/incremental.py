"""Incremental and decremental SVM (Cauwenberghs & Poggio, NIPS 2000), readable.

Keep the optimum of min |w|^2 / 2 + sum_i C_i max(0, 1 - y_i f(x_i)), f(x) = <w, phi(x)> + b, while
examples come and go. The dual maximises sum_i a_i - a'Qa / 2 with 0 <= a_i <= C_i and y'a = 0,
where Q_ij = y_i y_j k(x_i, x_j). With g_i = y_i f(x_i) - 1, every example is in one of three sets:

    margin set S: g = 0        error set E: a = C, g <= 0        reserve set R: a = 0, g >= 0

To learn c, raise a_c from 0 and let S and b follow so that everybody stays where it belongs; stop
at each event (somebody changes its set), and end when c belongs somewhere. To unlearn, go back.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from onlinesvm.reference.kernels import Array, Kernel
from onlinesvm.reference.stored import StoredExamples, may_move, middle, violations

DEPENDENT = 1e-10  # of the largest K_ii: less than that left beside S counts as nothing


class Incremental(StoredExamples):
    """The SVM with a free bias, exact after every example, for labels -1 and +1.

    A step costs O(n |S| + |S|^3) here (the matrix of the sensitivities is solved anew each time).
    Where Q is singular, a may be one of many solutions; f is the same for all of them. With far
    more ties than the kernel has dimensions the paper's events may repeat without end, and the twin
    gives up; the fast class, which only takes steps that gain, does not.

    Parameters
    ----------
    kernel : Kernel
    C : float
        Price of a unit of loss; C_i = C times the weight of example i.

    Attributes
    ----------
    X, y, C_i, ids : arrays
        The examples held, with their bounds.
    a, b, g : arrays and a float
        Multipliers, bias, and g_i = y_i f(x_i) - 1.
    S : list of int
        The margin set; E and R are the others, at a = C and at a = 0.

    Examples
    --------
    >>> from onlinesvm.reference import Incremental, Kernel
    >>> model = Incremental(Kernel("linear"), C=1.0)
    >>> for x, y in [(-1, -1), (0, 1), (1, -1), (3, 1)]:
    ...     model.learn([x], y)
    >>> model.a.round(3).tolist(), round(model.b, 3)
    ([0.375, 1.0, 1.0, 0.375], -0.5)
    """

    def __init__(self, kernel: Kernel | None = None, *, C: float = 1.0) -> None:
        super().__init__(kernel, "y", "C_i", "a", "g", "ids")
        self.C = C
        self.b = 0.0
        self.K: Array = np.zeros((0, 0))
        self.y, self.C_i, self.a, self.g = np.zeros((4, 0))
        self.S: list[int] = []

    # ---- the box ---------------------------------------------------------------------------------

    def learn(self, x: ArrayLike, y: float, weight: float = 1.0) -> None:
        """Receive one example."""
        self.n_seen += 1
        if weight <= 0.0:
            return
        x, g = np.asarray(x, dtype=np.float64), y * float(self.score(x)[0]) - 1.0
        self._append(x, y=y, C_i=self.C * weight, a=0.0, g=g, ids=self.n_seen - 1)
        self.K = self.kernel(self.X, self.X)
        self._drive(len(self.y) - 1, +1.0)
        self._centre()

    def unlearn(self, id: int) -> None:
        """Forget one example: drive its a to 0, then delete it."""
        c = int(np.flatnonzero(self.ids == id)[0])
        if c in self.S:
            self.S.remove(c)
        self._drive(c, -1.0)
        self.S = [j - (j > c) for j in self.S]
        self._delete(c)
        self.K = self.kernel(self.X, self.X)
        self._centre()

    def _drive(self, c: int, way: float) -> None:
        """Raise (way = 1) a_c until it belongs somewhere, or lower it (way = -1) to 0."""
        passed: set[int] = set()  # came to the margin, but depend on S: there is nothing to follow
        left = 100 * (len(self.y) + 10)
        while self.a[c] > 0.0 if way < 0 else (self.g[c] < 0.0 and self.a[c] < self.C_i[c]):
            if (left := left - 1) < 0:
                raise RuntimeError("steps of length zero without end: scale the features")
            if self.S:
                beta, gamma = self._sensitivities(c)
            else:  # a_c cannot move alone (y'a = 0), only b can
                beta, gamma = np.array([self.y[c]]), self.y * self.y[c]
            h, who = self._next_event(c, way, beta, gamma, passed)
            if who is None:  # nobody is left to give way: its class is alone
                self.a[c] = 0.0
                return
            self.b += float(way * h * beta[0])
            if self.S:
                self.a[self.S] += way * h * beta[1:]
                self.a[c] += way * h
            self.g += way * h * gamma
            self.g[self.S] = 0.0
            if who in self.S:
                self._snap(who)
                self.S.remove(who)
            elif who != c and not self._join(who):
                passed.add(who)
        self._snap(c)
        if way > 0 and 0.0 < self.a[c] < self.C_i[c]:
            self._join(c)

    def _sensitivities(self, c: int) -> tuple[Array, Array]:
        """What b, a_S and all g do per unit of a_c: beta = -M^-1 [y_c; Q_Sc], and gamma."""
        S, n = self.S, len(self.S)
        M = np.zeros((n + 1, n + 1))
        M[0, 1:] = M[1:, 0] = self.y[S]
        M[1:, 1:] = self._Q(S, S)
        beta = -np.linalg.solve(M, np.append(self.y[c], self._Q(S, [c])[:, 0]))
        everybody = list(range(len(self.y)))
        gamma = self._Q(everybody, [c])[:, 0] + self._Q(everybody, S) @ beta[1:] + self.y * beta[0]
        gamma[S] = 0.0
        gamma[np.abs(gamma) <= DEPENDENT * self._scale()] = 0.0
        return beta, gamma

    def _next_event(
        self, c: int, way: float, beta: Array, gamma: Array, passed: set[int]
    ) -> tuple[float, int | None]:
        """The shortest step at which somebody changes its set, and who; ties: largest |gamma|."""
        events: list[tuple[float, float, int]] = []
        if self.S:
            room = self.C_i[c] - self.a[c] if way > 0 else self.a[c]
            events.append((float(room), -np.inf, c))
        if way > 0 and gamma[c] > 0.0:
            events.append((float(-self.g[c] / gamma[c]), -np.inf, c))
        for j, d in zip(self.S, way * beta[1:], strict=False):
            if d != 0.0:
                room = self.C_i[j] - self.a[j] if d > 0.0 else -self.a[j]
                events.append((float(room / d), -abs(d), j))
        for i in range(len(self.y)):
            if i == c or i in self.S or i in passed:
                continue
            rate = way * gamma[i]
            comes = (self.a[i] > 0.0 and rate > 0.0) or (self.a[i] < self.C_i[i] and rate < 0.0)
            if comes:
                events.append((float(-self.g[i] / rate), -abs(rate), i))
        if not events:
            return 0.0, None
        h, _, who = min((max(0.0, h), tie, who) for h, tie, who in events)
        return h, who

    def _join(self, k: int) -> bool:
        """Put k into S, unless phi(x_k) depends on S."""
        if self.S and self._sensitivities(k)[1][k] <= 0.0:
            return False
        self.S.append(k)
        self.g[k] = 0.0
        return True

    # ---- housekeeping ----------------------------------------------------------------------------

    def _Q(self, rows: list[int], columns: list[int]) -> Array:
        return np.asarray(self.K[np.ix_(rows, columns)] * np.outer(self.y[rows], self.y[columns]))

    def _scale(self) -> float:
        return float(np.diag(self.K).max(initial=0.0))

    def _snap(self, i: int) -> None:
        near = 1e-12 * self.C_i[i]
        if self.a[i] <= near:
            self.a[i] = 0.0
        elif self.a[i] >= self.C_i[i] - near:
            self.a[i] = self.C_i[i]

    def _centre(self) -> None:
        """With nobody strictly between its bounds, b is only an interval: take its midpoint."""
        for j in self.S:
            self._snap(j)
        self.S = [j for j in self.S if 0.0 < self.a[j] < self.C_i[j]]
        if ((self.a > 0.0) & (self.a < self.C_i)).any():
            return
        exact = self.b - self.y * self.g  # where g_i would be 0
        b = middle(exact, *may_move(self.y, self.a, self.C_i))
        self.g += self.y * (b - self.b)
        self.b = b

    # ---- looking ---------------------------------------------------------------------------------

    def score(self, x: ArrayLike) -> Array:
        """f of each row."""
        return self._f(x, self.y * self.a) + self.b

    def kkt(self) -> float:
        """Largest violation of the optimality conditions, the balance y'a = 0 included."""
        G = 1.0 - self.y * self.score(self.X) if len(self.y) else np.zeros(0)
        worst = violations(self.a, self.C_i, G).max(initial=0.0)
        return float(max(worst, abs(self.y @ self.a)))
