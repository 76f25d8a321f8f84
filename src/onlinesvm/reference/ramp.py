"""OnlineSVM-R and OnlineASVM-R (Wang & Vucetic, Fast Online Training of Ramp Loss SVMs), readable.

Minimise P(w) = |w|^2 / 2 + sum_i C_i R_s(z_i) over f(x) = <w, phi(x)>, with z_i = y_i f(x_i) and
the ramp loss R_s(z) = min(1 - s, max(0, 1 - z)), one example at a time, and stay stationary.
Equation and step numbers are the paper's; where it errs, a comment says what is done instead.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from onlinesvm.reference.kernels import Array, Kernel
from onlinesvm.reference.stored import StoredExamples, turns, violations

SNAP = 1e-12  # alpha this close to a bound, relative to C_i, is put exactly on it
ROUGH = 25  # times the tolerance: how well the hinge loss is solved to see who is on the wrong side
FEW, SHARE = (
    16,
    64,
)  # examples put aside that are worth a look, and how many times fewer than there are


class Example(NamedTuple):
    """What the stream brings."""

    x: Array
    y: float
    weight: float
    id: int


class Query(Protocol):
    """Decides whose label is worth asking for; yields the examples to learn, now or later."""

    def ask(self, model: Ramp, example: Example) -> Iterator[Example]: ...


@dataclass
class QueryAll:
    """Ask for every label."""

    def ask(self, model: Ramp, example: Example) -> Iterator[Example]:
        yield example


@dataclass
class Margin:
    """OnlineASVM-R, Algorithm 3: ask when |f(x)| <= 1, or farther out."""

    width: float = 1.0

    def ask(self, model: Ramp, example: Example) -> Iterator[Example]:
        if abs(model.score(example.x)[0]) <= self.width:
            yield example


@dataclass
class Greedy:
    """Of every h examples in a row ask for the one closest to the boundary; h = 1 asks for all."""

    h: int = 5
    waiting: list[Example] = field(default_factory=list)

    def ask(self, model: Ramp, example: Example) -> Iterator[Example]:
        self.waiting.append(example)
        if len(self.waiting) == self.h:
            f = model.score(np.array([e.x for e in self.waiting]))
            yield self.waiting[int(np.argmin(np.abs(f)))]
            self.waiting = []


@dataclass
class Latest:
    """Ask for the one closest to the boundary of the h latest examples, each once: as printed."""

    h: int = 5
    window: list[Example] = field(default_factory=list)
    asked: list[Example] = field(default_factory=list)

    def ask(self, model: Ramp, example: Example) -> Iterator[Example]:
        self.window = [*self.window, example][-self.h :]
        f = model.score(np.array([e.x for e in self.window]))
        best = self.window[int(np.argmin(np.abs(f)))]
        if not any(e is best for e in self.asked):
            self.asked.append(best)
            yield best


class Ramp(StoredExamples):
    """Ramp-loss SVM that is stationary after every example (OnlineSVM-R), for labels -1 and +1.

    A step costs one kernel column and O(|I|) time; a new example costs as many steps as it takes to
    be optimal again, often none. The solution is a stationary point, not *the* optimum: the ramp
    is not convex, and the order of arrival matters.

    Parameters
    ----------
    kernel : Kernel
    C : float
        Price of a unit of loss; C_i = C times the weight of example i.
    s : float
        Where the ramp flattens, s <= 0. Examples with z < s cost 1 - s and have no say.
        -inf: no ramp, the plain zero-bias SVM.
    tol_kkt, tol_gain : float
        The inner loop ends when the KKT residual or the best gain is no larger. With ``tol_gain=0``
        the residual is kept; the paper's pair is 1e-3 and 1e-5.
    m : int or None
        Non-support vectors to keep (Algorithm 2); None keeps all.
    max_support : int or None
        Support vectors to keep at most; None keeps all.
    forget : {"outlier_first", "oldest", "least_significant"}
        Which of them go.
    reexamine : bool
        Whether those outside V are examined anew each time they have doubled (ours).
    query : Query
        Which labels to ask for: ``QueryAll()``, ``Margin()`` or ``Greedy(h)``.
    max_rounds : int
        Most relocations of V per example.

    Attributes
    ----------
    X, y, C_i, K_ii, ids : arrays
        The stored examples I, with their bounds and kernel diagonal.
    alpha, g : arrays
        Multipliers and gradients g_i = 1 - z_i, equation 3.
    V : array of bool
        Members of I inside the ramp, equation 10.
    n_seen, labels_used, evicted : int

    Examples
    --------
    The last example shouts from the wrong side; the ramp does not listen.

    >>> from onlinesvm.reference import Kernel, Ramp
    >>> model = Ramp(Kernel("linear"), C=1.0)
    >>> for x, y in [(1, 1), (1.2, 1), (1.4, 1), (-1, -1), (-1.2, -1), (3, -1)]:
    ...     model.learn([x], y)
    >>> float(model.score([1.0])[0])
    1.0
    """

    def __init__(
        self,
        kernel: Kernel | None = None,
        *,
        C: float = 1.0,
        s: float = -1.0,
        tol_kkt: float = 1e-2,
        tol_gain: float = 0.0,
        m: int | None = None,
        max_support: int | None = None,
        forget: str = "outlier_first",
        reexamine: bool = True,
        query: Query | None = None,
        max_rounds: int = 50,
    ) -> None:
        super().__init__(kernel, "y", "C_i", "K_ii", "alpha", "g", "V", "ids")
        self.C, self.s = C, s
        self.tol_kkt, self.tol_gain = tol_kkt, tol_gain
        self.m, self.max_support, self.max_rounds = m, max_support, max_rounds
        self.forget = forget
        self.reexamine = reexamine and np.isfinite(s)
        self.put_aside, self.quota = 0, FEW
        self.query = QueryAll() if query is None else query
        self.labels_used = self.evicted = 0
        self.y, self.C_i, self.K_ii, self.alpha, self.g = np.zeros((5, 0))
        self.V: NDArray[np.bool_] = np.zeros(0, dtype=bool)

    # ---- the box ---------------------------------------------------------------------------------

    def learn(self, x: ArrayLike, y: float, weight: float = 1.0) -> None:
        """Receive one example; ask for its label if the query strategy wants it (Algorithm 3)."""
        example = Example(np.asarray(x, dtype=np.float64), y, weight, self.n_seen)
        self.n_seen += 1
        for asked in self.query.ask(self, example):
            self.labels_used += 1
            if asked.weight > 0.0:
                self._learn(asked)

    def learn_call(self, X: ArrayLike, y: ArrayLike) -> None:
        """Receive labelled rows together, and be stationary once at the end (ours)."""
        rows, labels = np.asarray(X, dtype=np.float64), np.asarray(y, dtype=np.float64)
        for x, label in zip(rows, labels, strict=True):
            self._add(Example(x, float(label), 1.0, self.n_seen))
            self.n_seen += 1
            self.labels_used += 1
        many = 2 * len(rows) >= len(self.X)
        if self.reexamine and (many or self.put_aside >= self.quota):
            self._examine()
        else:
            self._settle()
        self._shed()
        self._trim()

    def _learn(self, example: Example) -> None:
        """Algorithm 1 for one labelled example, then Algorithm 2."""
        g_new = self._add(example)  # steps 2, 3
        if 0.0 <= g_new <= 1.0 - self.s:  # step 4; elsewhere the solution is still stationary
            self._settle()  # steps 9 to 27
        if self.reexamine and self.put_aside >= self.quota:
            self._examine()
        self._shed()
        self._trim()

    def _settle(self) -> None:
        """Alternate the convex problem on V and the choice of V until V rests (steps 9 to 27)."""
        self._optimise()
        for _ in range(self.max_rounds):
            V = self._inside_ramp()
            if np.array_equal(V, self.V):
                break
            self._relocate(V)
            self._optimise()

    def _examine(self) -> None:
        """Begin anew from the hinge loss, so that what was taken for noise may come back (ours).

        Outside V is then who is on the wrong side of the hinge solution or, of a class of which
        that would be more than half, beyond the ramp; from there on as ever.
        """
        self.V[:] = True
        self._optimise(ROUGH * self.tol_kkt)
        edge = np.full_like(self.g, 1.0)
        for sign in (-1.0, 1.0):
            own = self.y == sign
            if 2 * self.C_i[own & (self.g > 1.0)].sum() > self.C_i[own].sum():
                edge[own] = 1.0 - self.s
        self._relocate(self.g <= edge)
        self._settle()
        self.put_aside = 0
        self.quota = max(int(np.count_nonzero(~self.V)), FEW, len(self.V) // SHARE)

    def _optimise(self, tol: float | None = None) -> None:
        """Maximise the dual (11) on V by one-variable steps, best gain first (steps 10 to 15).

        Step 10 is printed with "or"; it takes a violator *and* a gain worth the step.
        """
        while self.kkt() > (self.tol_kkt if tol is None else tol):
            best = self._best_alpha()
            gain = np.where(self.V, self._gain(best), 0.0)
            i = int(np.argmax(gain))  # (13)
            if gain[i] <= self.tol_gain:
                break
            self._move(i, best[i])

    def _inside_ramp(self) -> NDArray[np.bool_]:
        """V of equation 10; a member leaves only when clearly out, or V could swing for ever."""
        slack = np.where(self.V, self.tol_kkt, 0.0)
        return self.g <= 1.0 - self.s + slack

    def _relocate(self, V: NDArray[np.bool_]) -> None:
        """Make V the active set; who leaves loses its multiplier (steps 16 to 26)."""
        for i in np.flatnonzero(self.V & ~V & (self.alpha > 0.0)):
            self._move(int(i), 0.0)
        left = np.count_nonzero(self.V) - np.count_nonzero(V)
        self.put_aside = max(0, self.put_aside + int(left))
        self.V = V

    def _shed(self) -> None:
        """Give up support vectors beyond the bound (ours), one by one; the rest settle each time.

        By default first the one with the largest loss of those on the wrong side, which is most
        likely noise; where all are on the right side, the oldest.
        """
        while self.max_support is not None and np.count_nonzero(self.alpha) > self.max_support:
            sv = np.flatnonzero(self.alpha)
            turn = turns(self.forget, self.alpha[sv], self.g[sv])
            first = int(sv[np.lexsort((self.ids[sv], turn))[0]])
            self._move(first, 0.0)
            self._delete([first])
            self.evicted += 1
            self._settle()

    def _trim(self) -> None:
        """Keep the m non-support vectors closest to the boundary (Algorithm 2)."""
        if self.m is None:
            return
        zero = np.flatnonzero(self.alpha == 0.0)
        far_first = zero[np.lexsort((self.ids[zero], -np.abs(1.0 - self.g[zero])))]
        self._delete(far_first[: max(0, len(zero) - self.m)])

    # ---- one variable ----------------------------------------------------------------------------

    def _best_alpha(self) -> Array:
        """Best alpha_i with all others held, for every i: equation 14, snapped to the bounds."""
        # K_ii = 0 means phi(x_i) = 0, so g_i = 1 whatever alpha is: the best alpha_i is C_i.
        step = np.divide(self.g, self.K_ii, out=np.full_like(self.g, np.inf), where=self.K_ii > 0.0)
        best = np.clip(self.alpha + step, 0.0, self.C_i)
        best[best < SNAP * self.C_i] = 0.0
        at_C = best > (1.0 - SNAP) * self.C_i
        best[at_C] = self.C_i[at_C]
        return best

    def _gain(self, best: Array) -> Array:
        """Rise of the dual if alpha_i alone moves to its best: equation 13, simplified.

        Times max(1, K_ii), so that a gain means the same residual for every kernel: under a linear
        one, examples of length 300 gain little, yet everything hangs on them.
        """
        d = best - self.alpha
        return np.asarray((self.g * d - self.K_ii * d**2 / 2.0) * np.maximum(1.0, self.K_ii))

    def _move(self, i: int, alpha_new: float) -> None:
        """Set alpha_i and update g on all of I: equation 15, printed with the wrong sign."""
        d = alpha_new - self.alpha[i]
        self.alpha[i] = alpha_new
        self.g -= self.y * self.y[i] * d * self.kernel(self.X, self.X[i])[:, 0]

    # ---- the set I -------------------------------------------------------------------------------

    def _add(self, example: Example) -> float:
        """Append with alpha = 0 and return g; who has g < 0 joins V at once, as (10) says."""
        x, y, weight, id = example
        g = float(1.0 - y * self.score(x)[0])
        bound, inside = self.C * weight, g <= 1.0 - self.s
        self.put_aside += not inside
        K_ii = self.kernel(x, x)[0, 0]
        self._append(x, y=y, C_i=bound, K_ii=K_ii, alpha=0.0, g=g, V=inside, ids=id)
        return g

    # ---- looking and taking back -----------------------------------------------------------------

    def unlearn(self, *ids: int) -> None:
        """Forget these examples and become stationary on the rest; who was excluded may come back.

        Ids no longer stored are passed over: such an example has no multiplier, hence no influence.
        """
        positions = np.flatnonzero(np.isin(self.ids, ids))
        for i in positions:
            self._move(int(i), 0.0)
        self._delete(positions)
        self._settle()
        self._shed()
        self._trim()

    def score(self, X: ArrayLike) -> Array:
        """f(x) for every row: equation 4."""
        return self._f(X, self.y * self.alpha)

    def kkt(self) -> float:
        """Largest violation of equation 3 (weak inequalities) on V."""
        v = violations(self.alpha, self.C_i, self.g)
        return float(np.max(v, where=self.V, initial=0.0))

    def objective(self) -> float:
        """P(w) of equation 7 over the stored examples."""
        loss = np.clip(self.g, 0.0, 1.0 - self.s)
        norm2 = np.sum(self.alpha * (1.0 - self.g))  # |w|^2 = alpha' Q alpha = sum alpha_i z_i
        return float(norm2 / 2.0 + np.sum(self.C_i * loss))


class OneVsRest:
    """Several classes: one machine per class against the rest; two classes need one machine."""

    def __init__(self, classes: Iterable[Hashable], machine: Callable[[], Ramp]) -> None:
        self.classes = list(classes)
        self.positive = self.classes[1:] if len(self.classes) == 2 else self.classes
        self.machines = [machine() for _ in self.positive]

    def learn(self, x: ArrayLike, y: Hashable, weight: float = 1.0) -> None:
        for label, machine in zip(self.positive, self.machines, strict=True):
            machine.learn(x, 1.0 if y == label else -1.0, weight)

    def score(self, X: ArrayLike) -> Array:
        """One column per machine."""
        return np.column_stack([machine.score(X) for machine in self.machines])
