"""Independent truth for the exact family: box-QP solver, KKT residual, objectives, nasty streams.

Nothing here is shared with the library, so that the two can disagree.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st
from numpy.typing import NDArray

Array = NDArray[np.float64]

#: fit as a stream is learned: once, in order.
ONE_PASS = {"max_iter": 1, "shuffle": False}


# ---- the box QP: max e'a - a'Qa/2 with 0 <= a <= C -----------------------------------------------


def box_qp(Q: Array, C: Array | float) -> Array:
    """Solve the zero-bias dual: an interior point comes close, an active set finishes exactly.

    Q may be singular: then a is one of many solutions, and only Q a (hence f) is unique.
    """
    C = np.broadcast_to(np.asarray(C, dtype=np.float64), len(Q))
    # In units a = C t the box is the unit cube, so very unequal weights cost no accuracy.
    P, q = Q * np.outer(C, C), C.copy()
    scale = np.max([1.0, np.abs(P).max(initial=0), q.max(initial=0)])
    t = _interior_point(P / scale, q / scale)
    return C * _active_set(P / scale, q / scale, t)


def _interior_point(P: Array, q: Array) -> Array:
    """min t'Pt/2 - q't over 0 <= t <= 1 by a plain primal-dual path, to about six digits."""
    t, u, v = np.full_like(q, 0.5), np.ones_like(q), np.ones_like(q)  # u: t >= 0, v: t <= 1
    for mu in 0.2 ** np.arange(1, 18):
        dual = P @ t - q - u + v
        H = P + np.diag(u / t + v / (1 - t))
        dt = np.linalg.solve(H, -dual + mu / t - u - mu / (1 - t) + v)
        du, dv = mu / t - u - u * dt / t, mu / (1 - t) - v + v * dt / (1 - t)
        values, changes = np.r_[t, 1 - t, u, v], np.r_[dt, -dt, du, dv]
        falling = changes < 0
        step = min(1.0, 0.95 * np.min(-values[falling] / changes[falling], initial=np.inf))
        t, u, v = t + step * dt, u + step * du, v + step * dv
    return t


def _active_set(P: Array, q: Array, t: Array) -> Array:
    """Walk from t to the exact solution: free variables to their optimum, bounds as they bite."""
    t = np.where(t < 1e-5, 0.0, np.where(t > 1 - 1e-5, 1.0, t))
    free = (t > 0) & (t < 1)
    best, least = t, np.inf
    for _ in range(20 * len(q)):
        G = q - P @ t
        if (residual := box_kkt(P, q, t, 1.0)) < least:
            best, least = t.copy(), residual
        if residual <= 1e-15:
            break
        push = np.where(free, 0.0, np.where(t == 0, G, -G))
        if np.abs(G[free]).max(initial=0.0) <= 1e-15 + 0.1 * push.max(initial=0.0):
            free[np.argmax(push)] = True  # the free ones rest: release the bound that pulls most
            continue
        block = P[np.ix_(free, free)]
        d = np.zeros_like(t)
        d[free] = np.linalg.lstsq(block, G[free], rcond=1e-14)[0]
        stuck = G[free] - block @ d[free]  # a direction without curvature: follow it to the wall
        if np.abs(stuck).max() > 1e-9 * np.abs(G[free]).max():
            d[free] = stuck / np.abs(stuck).max() * 2.0
        room = np.full_like(t, np.inf)
        np.divide(np.where(d > 0, 1 - t, -t), d, out=room, where=d != 0)
        step = min(1.0, room.min(initial=np.inf))
        t = np.clip(t + step * d, 0, 1)
        hit = free & (room <= step)
        t[hit] = np.where(d[hit] > 0, 1.0, 0.0)
        free &= ~hit
    return best


def balanced_qp(Q: Array, y: Array, C: Array | float) -> Array:
    """Solve the dual with a free bias, y'a = 0, by a plain primal-dual path, to about eight digits.

    Only Q a is sure to be unique, and f up to its bias with it.
    """
    C = np.broadcast_to(np.asarray(C, dtype=np.float64), len(Q))
    P, q, e = Q * np.outer(C, C), C.copy(), y * C
    scale = np.max([1.0, np.abs(P).max(initial=0), q.max(initial=0)])
    P, q, e = P / scale, q / scale, e / np.abs(e).max(initial=1e-300)
    n = len(q)
    t, u, v, nu = np.full(n, 0.5), np.ones(n), np.ones(n), 0.0
    for mu in 0.4 ** np.arange(1, 40):
        for _ in range(2):
            force = q - P @ t - nu * e + mu / t - mu / (1 - t)
            H = np.zeros((n + 1, n + 1))
            H[:n, :n] = P + np.diag(u / t + v / (1 - t))
            H[:n, n] = H[n, :n] = e
            *dt, dnu = np.linalg.lstsq(H, np.append(force, -e @ t), rcond=None)[0]
            dt = np.asarray(dt)
            du, dv = mu / t - u - u * dt / t, mu / (1 - t) - v + v * dt / (1 - t)
            values, changes = np.r_[t, 1 - t, u, v], np.r_[dt, -dt, du, dv]
            falling = changes < 0
            step = min(1.0, 0.95 * np.min(-values[falling] / changes[falling], initial=np.inf))
            t, u, v, nu = t + step * dt, u + step * du, v + step * dv, nu + step * dnu
    return C * t


def box_kkt(Q: Array, q: Array | float, a: Array, C: Array | float) -> float:
    """Largest violation of the weak KKT conditions; "at a bound" means exactly there."""
    G = q - Q @ a
    C = np.broadcast_to(C, len(a))
    violation = np.where(a == 0, np.maximum(G, 0), np.where(a == C, np.maximum(-G, 0), np.abs(G)))
    return float(np.max(violation, initial=0.0))


def ramp_kkt(Q: Array, a: Array, C: Array | float, s: float) -> float:
    """Largest violation of a stationary point of the ramp, whoever is taken to be in V.

    Inside V an example keeps its KKT condition and its side of the end of the ramp, 1 - s; with
    a = 0 it may as well be outside, and is judged by the better of the two.
    """
    g, C = 1 - Q @ a, np.broadcast_to(C, len(a))
    inside = np.where(a == 0, np.maximum(g, 0), np.where(a == C, np.maximum(-g, 0), np.abs(g)))
    inside = np.maximum(inside, g - (1 - s))
    outside = np.where(a == 0, np.maximum(1 - s - g, 0), np.inf)
    return float(np.max(np.minimum(inside, outside), initial=0.0))


def signed_gram(kernel: Callable[[Array, Array], Array], X: Array, y: Array) -> Array:
    """Q_ij = y_i y_j k(x_i, x_j)."""
    return kernel(X, X) * np.outer(y, y)


def ramp_loss(z: Array, s: float) -> Array:
    return np.minimum(1 - s, np.maximum(0, 1 - z))


def ramp_objective(Q: Array, a: Array, C: Array | float, s: float = -1.0) -> float:
    """|w|^2 / 2 + sum C_i R_s(z_i), everything from scratch."""
    z = Q @ a
    return float(a @ z / 2 + np.sum(C * ramp_loss(z, s)))


def alphas(model: Any, n: int) -> Array:
    """Multipliers of a fitted model by id, one row per output, from its signed coefficients."""
    alpha = np.zeros((len(model.dual_coef_), n))
    alpha[:, model.support_] = np.abs(model.dual_coef_)
    return alpha


def svm_kkt(
    model: Any,
    kernel: Callable[[Array, Array], Array],
    X: Array,
    y: Array,
    C: Array | float,
    held: Any = slice(None),
) -> float:
    """The KKT residual of an SVM over the ids held, from its coefficients and its bias alone.

    Where the bias is free, the balance y'a = 0 is one of the conditions.
    """
    alpha, X, y = alphas(model, len(y))[0][held], X[held], y[held]
    violation = box_kkt(signed_gram(kernel, X, y), 1.0 - y * model.intercept_[0], alpha, C)
    free = getattr(model, "bias", "free") == "free"
    return max(violation, abs(float(y @ alpha)) if free else 0.0)


def best_gain(Q: Array, a: Array, C: Array | float) -> float:
    """Best rise of the dual by one variable, times max(1, K_ii): the same scale for all kernels."""
    G, K = 1 - Q @ a, np.diag(Q)
    step = np.divide(G, K, out=np.full_like(G, np.inf), where=K > 0)
    d = np.clip(a + step, 0, C) - a
    return float(np.max((G * d - K * d**2 / 2) * np.maximum(1, K), initial=0.0))


def inside_ramp(Q: Array, alpha: Array, s: float, edge: float) -> NDArray[np.bool_]:
    """V = {z >= s}; within ``edge`` of z = s, where rounding decides, the model's alpha says."""
    g = 1 - Q @ alpha
    return (g <= 1 - s - edge) | ((g <= 1 - s + edge) & (alpha > 0))


def assert_ramp_stationary(
    Q: Array,
    alpha: Array,
    C: Array | float,
    s: float,
    atol: float,
    kkt: float = 1e-8,
    where: str = "",
) -> bool:
    """alpha solves the box QP on its own V = {z >= s}, and is zero outside.

    Returns whether alpha was compared too, not only f: that needs a Q on V far from singular.
    """
    g = 1 - Q @ alpha
    V = inside_ramp(Q, alpha, s, edge=1e-6)
    outside = np.flatnonzero(~V & (alpha > 0))
    assert not len(outside), f"{where}: alpha > 0 below the ramp at {outside}, g = {g[outside]}"
    Q_V, alpha_V = Q[np.ix_(V, V)], alpha[V]
    C_V = np.broadcast_to(C, len(alpha))[V]
    exact = box_qp(Q_V, C_V)
    certificate = box_kkt(Q_V, 1.0, exact, C_V)
    assert certificate <= 1e-8 * max(1.0, np.abs(Q_V).max(initial=0)), f"oracle: KKT {certificate}"
    distance = np.abs(Q_V @ (alpha_V - exact)).max(initial=0.0)
    assert distance <= atol, f"{where}: f is off the QP on V by {distance:.3g}"
    residual = box_kkt(Q_V, 1.0, alpha_V, C_V)
    assert residual <= kkt, f"{where}: KKT residual {residual:.3g} on V, want <= {kkt:.3g}"
    regular = len(Q_V) == 0 or bool(np.linalg.eigvalsh(Q_V)[0] >= 1e-3)
    if regular:
        distance = np.abs(alpha_V - exact).max(initial=0.0)
        assert distance <= atol, f"{where}: alpha is off the QP on V by {distance:.3g}"
    return regular


# ---- streams -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Stream:
    """Rows in order of arrival with labels -1 and +1."""

    name: str
    X: Array
    y: Array

    def __repr__(self) -> str:
        return f"{self.name}[{len(self.y)}]"


def blobs(seed: int, n: int = 30, d: int = 2, noise: float = 0.15) -> Stream:
    """Two overlapping clouds with some labels flipped: the plain case."""
    rng = np.random.default_rng(seed)
    y = rng.choice([-1.0, 1.0], n)
    X = rng.normal(size=(n, d)) + 0.8 * y[:, None]
    y = np.where(rng.random(n) < noise, -y, y)
    return Stream(f"blobs-{seed}", X, y)


def separable(seed: int, n: int, margin: float, d: int = 3) -> tuple[Array, Array, Array]:
    """Rows of length one that a known u separates with all margins at least 1; |u| = 1 / margin."""
    rng = np.random.default_rng(seed)
    direction = rng.normal(size=d)
    direction /= np.linalg.norm(direction)
    X = rng.normal(size=(20 * n, d))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    X = X[np.abs(X @ direction) >= margin][:n]
    return X, np.sign(X @ direction), direction / margin


def duplicates(seed: int, n: int = 30, d: int = 2) -> Stream:
    """Every row arrives about three times, with the same label."""
    base = blobs(seed, max(1, n // 3), d)
    pick = np.random.default_rng(seed + 1).integers(len(base.y), size=n)
    return Stream(f"duplicates-{seed}", base.X[pick], base.y[pick])


def contradictory(seed: int, n: int = 30, d: int = 2) -> Stream:
    """Rows arrive again, often with the opposite label."""
    base = duplicates(seed, n, d)
    flip = np.random.default_rng(seed + 2).random(n) < 0.4
    return Stream(f"contradictory-{seed}", base.X, np.where(flip, -base.y, base.y))


def one_class_first(seed: int, n: int = 30, d: int = 2) -> Stream:
    """Half the stream passes before the second class shows up."""
    base = blobs(seed, 2 * n, d)
    first = np.flatnonzero(base.y > 0)[: n // 2]
    rest = np.setdiff1d(np.arange(2 * n), first)[: n - len(first)]
    order = np.concatenate([first, rest])
    return Stream(f"one-class-first-{seed}", base.X[order], base.y[order])


def sorted_labels(seed: int, n: int = 30, d: int = 2) -> Stream:
    """All of one class, then all of the other."""
    base = blobs(seed, n, d)
    order = np.argsort(base.y, kind="stable")
    return Stream(f"sorted-{seed}", base.X[order], base.y[order])


def constant_features(seed: int, n: int = 30, d: int = 2) -> Stream:
    """One column never changes, one is always zero."""
    base = blobs(seed, n, d)
    X = np.column_stack([base.X, np.full(n, 3.0), np.zeros(n)])
    return Stream(f"constant-{seed}", X, base.y)


def huge(seed: int, n: int = 30, d: int = 2) -> Stream:
    """Values around a million: RBF kernels become the identity, linear ones enormous."""
    base = blobs(seed, n, d)
    return Stream(f"huge-{seed}", 1e6 * base.X, base.y)


def tiny(seed: int, n: int = 30, d: int = 2) -> Stream:
    """Values around a millionth: RBF kernels become all ones, linear ones vanish."""
    base = blobs(seed, n, d)
    return Stream(f"tiny-{seed}", 1e-6 * base.X, base.y)


def zeros(seed: int, n: int = 30, d: int = 2) -> Stream:
    """Every third row is x = 0, where a linear kernel has K_ii = 0."""
    base = blobs(seed, n, d)
    X = base.X.copy()
    X[::3] = 0.0
    return Stream(f"zeros-{seed}", X, base.y)


def ncheckerboard(seed: int, n: int, flips: float = 0.15) -> tuple[Stream, Stream]:
    """A 4 x 4 board with lying labels to learn from, and a clean one to test on."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(0, 4, size=(2 * n, 2))
    y = np.where(np.floor(X).sum(axis=1) % 2 == 0, 1.0, -1.0)
    X = (X - X[:n].mean(axis=0)) / X[:n].std(axis=0)
    noisy = np.where(rng.random(n) < flips, -y[:n], y[:n])
    return Stream(f"board-{seed}", X[:n], noisy), Stream(f"clean-{seed}", X[n:], y[n:])


NASTY = (
    duplicates,
    contradictory,
    one_class_first,
    sorted_labels,
    constant_features,
    huge,
    tiny,
    zeros,
)

#: What any SVM should solve to the last digit, whatever its kernel.
KINDS = (blobs, duplicates, contradictory, one_class_first, sorted_labels)


def crossed(kinds: Iterable[Any], kernels: Iterable[str], costs: Iterable[float]) -> list[Any]:
    """Every kind of stream with every kernel and every C, as parameters of a test."""
    return [
        pytest.param(kind, kernel, C, id=f"{kind.__name__}-{kernel}-{C}")
        for kind, kernel, C in product(kinds, kernels, costs)
    ]


def nasty_streams(n: int = 24, seed: int = 0) -> list[Stream]:
    """One of each kind of trouble."""
    return [kind(seed, n) for kind in NASTY]


@st.composite
def streams(draw: st.DrawFn, max_size: int = 16, max_width: int = 3) -> Stream:
    """Short streams over a few distinct points, so that repeats and contradictions are common."""
    d = draw(st.integers(1, max_width))
    n = draw(st.integers(1, max_size))
    coordinate = st.one_of(
        st.sampled_from([0.0, 1.0, -1.0, 0.5]),
        st.floats(-3, 3, allow_nan=False).map(lambda v: round(v, 2)),
    )
    pool = draw(st.lists(st.tuples(*[coordinate] * d), min_size=1, max_size=8))
    rows = draw(st.lists(st.sampled_from(pool), min_size=n, max_size=n))
    labels = draw(st.lists(st.sampled_from([-1.0, 1.0]), min_size=n, max_size=n))
    return Stream("drawn", np.array(rows, dtype=np.float64), np.array(labels))


# ---- in extended precision -----------------------------------------------------------------------


def fine_kernel(kernel: Any, A: Array, B: Array) -> NDArray[np.longdouble]:
    """Kernel values in extended precision; ``kernel`` has name, gamma, degree and coef0."""
    A, B = np.asarray(A, dtype=np.longdouble), np.asarray(B, dtype=np.longdouble)
    gamma, coef0 = np.longdouble(kernel.gamma), np.longdouble(kernel.coef0)
    if kernel.name == "rbf":
        return np.asarray(np.exp(-gamma * ((A[:, None] - B[None]) ** 2).sum(axis=-1)))
    dots = (A[:, None] * B[None]).sum(axis=-1)
    return np.asarray(dots if kernel.name == "linear" else (gamma * dots + coef0) ** kernel.degree)


@dataclass(frozen=True)
class Fine:
    """A solution in extended precision, and by how much it still violates its conditions."""

    s: NDArray[np.longdouble]
    b: np.longdouble
    residual: float


def fine_solution(
    K: Any, base: Any, lo: Array, hi: Array, near: Array, target: float | None = 0.0
) -> Fine:
    """max base's - s'Ks/2, lo <= s <= hi, sum s = target (None: no bias), in extended precision.

    An active set walks from ``near``; where it starts does not matter, since the conditions of
    what is returned are checked anew.
    """
    s, base = np.asarray(near, dtype=np.longdouble), np.asarray(base, dtype=np.longdouble)
    free, b = (s > lo) & (s < hi), np.longdouble(0)
    best = Fine(s, b, np.inf)
    for _ in range(20 * len(s) + 20):
        s, b, blocked = _fine_step(K, base, lo, hi, s, b, free, target)
        if blocked:
            continue
        if target is not None and not free.any():
            b += _middle(base - K @ s - b, lo, hi, s)
        h = base - K @ s - b
        pull = np.where(h > 0, np.where(s < hi, h, 0), np.where(s > lo, -h, 0))
        balance = 0 if target is None else abs(s.sum() - target)
        residual = float(max(pull.max(initial=0), balance))
        if residual < best.residual:
            best = Fine(s.copy(), b, residual)
        outside = np.where(free, 0, pull)
        if outside.max(initial=0) <= 1e-17 * (1 + np.abs(K @ s).max(initial=0)):
            break
        free[np.argmax(outside)] = True
    return best


def _fine_step(
    K: Any, base: Any, lo: Array, hi: Array, s: Any, b: Any, free: Any, target: float | None
) -> tuple[Any, Any, bool]:
    """One Newton step of the free variables, refined until extended precision is used up."""
    F, bias = np.flatnonzero(free), int(target is not None)
    if not len(F):
        return s, b, False
    A = np.zeros((len(F) + bias, len(F) + bias), dtype=np.longdouble)
    A[: len(F), : len(F)] = K[np.ix_(F, F)]
    rest = (base - K @ s - b)[F]
    if target is not None:
        A[len(F), : len(F)] = A[: len(F), len(F)] = 1
        rest = np.append(rest, target - s.sum())
    x = np.zeros(len(rest), dtype=np.longdouble)
    inverse = np.linalg.pinv(A.astype(np.float64), rcond=1e-13)
    for _ in range(8):
        x += inverse @ (rest - A @ x).astype(np.float64)
    stuck, most = rest - A @ x, np.longdouble(1)
    if np.abs(stuck).max() > 1e-9 * np.abs(rest).max():  # no curvature there: to the wall
        x, most = stuck, np.longdouble(np.inf)
    d = x[: len(F)]
    with np.errstate(divide="ignore", invalid="ignore"):
        room = np.where(d > 0, (hi[F] - s[F]) / d, np.where(d < 0, (lo[F] - s[F]) / d, np.inf))
    t = min(most, room.min())
    s = s.copy()
    s[F] += t * d
    hit = room <= t
    s[F[hit]] = np.where(d[hit] > 0, hi[F[hit]], lo[F[hit]])
    free[F[hit]] = False
    return s, b + t * x[-1] * bias, bool(hit.any() and t < most)


def _middle(h: Any, lo: Array, hi: Array, s: Any) -> Any:
    low, high = h[s < hi].max(initial=-np.inf), h[s > lo].min(initial=np.inf)
    if np.isinf(low) or np.isinf(high):
        return high if np.isinf(low) else low
    return (low + high) / 2
