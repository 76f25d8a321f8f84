"""LASVC against scikit-learn's SVC, against its readable twin, and against its own promises."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from contract import Contract, inner
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from oracles import (
    KINDS,
    Stream,
    blobs,
    contradictory,
    nasty_streams,
    ncheckerboard,
    one_class_first,
    sorted_labels,
    streams,
)
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import SVC
from tiers import examples

import onlinesvm
from onlinesvm import LASVC
from onlinesvm.reference import LASVM, Kernel

# Settings under which a class behaves differently, and checks it is known to fail, with the reason.
CONTRACT = {
    "LASVC": Contract(
        variants=[
            {"classes": "open", "reprocess": "auto", "dtype": "float64", "seed_per_class": 2},
            {"kernel": "poly", "degree": 2, "coef0": 1.0, "query": "margin"},
            {"query": "greedy", "pool": 3, "class_weight": {"ash": 2.0}, "dtype": "float64"},
            {"query": "gradient", "pool": 3, "kernel": inner},
            {"kernel": "chi2", "reprocess": 50},
            {"multiclass": "one-vs-one", "classes": "open", "dtype": "float64"},
        ],
    ),
}

Array = NDArray[np.float64]

TIGHT: dict[str, Any] = {"tol": 1e-8, "dtype": "float64"}
KERNELS = {"rbf": Kernel("rbf", gamma=2.0), "linear": Kernel("linear")}
SIGNS = [-1.0, 1.0]


def machine(kernel: str = "rbf", **params: Any) -> LASVC:
    return LASVC(**{"kernel": kernel, "gamma": 2.0, "classes": SIGNS, **params})


def signed(model: LASVC, n: int) -> Array:
    """Coefficients s = y alpha by id, one row per output."""
    s = np.zeros((len(model.dual_coef_), n))
    s[:, model.support_] = model.dual_coef_
    return s


def check_feasible(model: LASVC, y: Array, C: Any) -> None:
    s = signed(model, len(y))[0]
    assert abs(s.sum()) <= 1e-10 * max(1.0, np.abs(s).max()), "sum s is not 0"
    assert (y * s >= 0).all(), "a coefficient has the wrong sign"
    assert (np.abs(s) <= np.broadcast_to(C, len(y))).all(), "a coefficient is above its bound"


def dual(kernel: Kernel, stream: Stream, s: Array) -> float:
    return float(stream.y @ s - s @ kernel(stream.X, stream.X) @ s / 2)


def kkt(y: Array, s: Array, f: Array, C: float) -> float:
    """Largest violation of the conditions of the SVM, over all examples."""
    alpha, g = np.abs(s), 1 - y * f
    v = np.where(alpha == 0, np.maximum(g, 0), np.where(alpha == C, np.maximum(-g, 0), np.abs(g)))
    return float(v.max())


# ---- the optimum ---------------------------------------------------------------------------------


@pytest.mark.parametrize("C", [0.1, 1.0, 50.0])
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_epochs_and_finish_give_the_svm(kind, kernel, C):
    stream = kind(3, 40, d=2 if kernel == "rbf" else 5)
    model = machine(kernel, C=C, max_iter=20, **TIGHT).fit(stream.X, stream.y).finish()
    check_feasible(model, stream.y, C)
    s, f = signed(model, 40)[0], model.decision_function(stream.X)
    assert kkt(stream.y, s, f, C) <= 1e-6, "not optimal over all examples"
    exact = SVC(kernel=kernel, C=C, gamma=2.0, tol=1e-10).fit(stream.X, stream.y)
    atol = 1e-5 * max(1.0, C)  # SVC is the looser one: under C = 50 its dual is the lower
    np.testing.assert_allclose(f, exact.decision_function(stream.X), rtol=0, atol=atol)


def test_several_classes_give_one_svm_each():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 4, 80)
    X = rng.normal(size=(80, 2)) + 1.5 * np.array([[0, 0], [1, 1], [1, -1], [-1, 1]])[y]
    model = (
        LASVC(C=2.0, gamma=1.0, max_iter=20, multiclass="one-vs-rest", **TIGHT).fit(X, y).finish()
    )
    exact = OneVsRestClassifier(SVC(C=2.0, gamma=1.0, tol=1e-10)).fit(X, y)
    np.testing.assert_allclose(model.decision_function(X), exact.decision_function(X), atol=1e-5)
    assert model.intercept_.shape == (4,)


def test_one_pass_comes_close():
    board, clean = ncheckerboard(1, 1500, flips=0.0)
    model = LASVC(C=10.0, gamma=4.0, dtype="float64", classes=SIGNS)
    model.partial_fit(board.X, board.y)
    exact = SVC(C=10.0, gamma=4.0, tol=1e-6).fit(board.X, board.y)
    s = np.zeros(1500)
    s[exact.support_] = exact.dual_coef_[0]
    best = dual(Kernel("rbf", gamma=4.0), board, s)
    assert model.objective() >= 0.89 * best
    assert model.score(clean.X, clean.y) >= exact.score(clean.X, clean.y) - 0.01
    assert model.finish().objective() <= best + 1e-6


@pytest.mark.parametrize(
    ("x", "y", "kernel", "C", "f"),
    [
        ([1, -1], [1, -1], "linear", 10.0, lambda x: x),
        ([0, 2], [1, -1], "linear", 10.0, lambda x: 1 - x),
        ([-1, 0, 1, 3], [-1, 1, -1, 1], "linear", 1.0, lambda x: 0.5 * x - 0.5),
        ([1, 1], [1, -1], "linear", 1.0, lambda x: 0 * x),
    ],
)
def test_micro_cases(x, y, kernel, C, f):
    X, labels = np.array(x, dtype=float)[:, None], np.array(y, dtype=float)
    model = machine(kernel, C=C, max_iter=20, **TIGHT).fit(X, labels).finish()
    grid = np.linspace(-3, 3, 7)
    np.testing.assert_allclose(model.decision_function(grid[:, None]), f(grid), atol=1e-6)


def test_micro_case_without_a_free_support_vector():
    X, y = np.array([[-1.0], [0.0], [1.0], [3.0]]), np.array([-1.0, 1.0, -1.0, 1.0])
    model = machine(C=1.0, gamma=1.0, max_iter=20, **TIGHT).fit(X, y).finish()
    np.testing.assert_array_equal(signed(model, 4)[0], y)
    assert model.intercept_[0] == pytest.approx(-0.165686, abs=1e-6)


# ---- invariants ----------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
@pytest.mark.parametrize("stream", nasty_streams(40), ids=lambda stream: stream.name)
def test_feasible_and_the_dual_never_falls(stream, kernel):
    model, last = machine(kernel, C=3.0, dtype="float64"), 0.0
    scale = max(1.0, float(np.abs(KERNELS[kernel](stream.X, stream.X)).max()))
    for t in range(len(stream.y)):
        model.partial_fit(stream.X[t : t + 1], stream.y[t : t + 1])
        check_feasible(model, stream.y, 3.0)
        now = dual(KERNELS[kernel], stream, signed(model, len(stream.y))[0])
        assert now >= last - 1e-12 * scale * len(stream.y), f"example {t}: {last} fell to {now}"
        assert model.objective() == pytest.approx(now, rel=1e-6, abs=1e-6)
        last = now


@settings(max_examples=examples(60))
@given(streams(max_size=20), st.sampled_from([0.3, 1.0, 20.0]), st.sampled_from(["rbf", "linear"]))
def test_any_stream(stream, C, kernel):
    model = machine(kernel, C=C, **TIGHT).partial_fit(stream.X, stream.y)
    check_feasible(model, stream.y, C)
    assert model.finish().kkt_residual() <= 1e-6
    check_feasible(model, stream.y, C)


def test_memory_is_the_expansion():
    stream = blobs(9, 400, noise=0.02)
    model = machine(C=1.0).partial_fit(stream.X, stream.y)
    # Rounding decides how many wait without a coefficient for the step that drops them.
    assert model._core.held <= 1.25 * len(model.support_) < 300


# ---- the twin ------------------------------------------------------------------------------------


class EitherTwin(LASVM):
    """The twin with a say in ties: a step makes the gradients of its pair equal, so who of the two
    is the next extreme is up to rounding."""

    ties: Iterator[int] = iter(())

    def _up(self) -> int:
        return self._one_of(np.where(self.s < self.hi, self.g, -np.inf))

    def _down(self) -> int:
        return self._one_of(np.where(self.s > self.lo, -self.g, -np.inf))

    def _one_of(self, g: Array) -> int:
        best = np.flatnonzero(g >= g.max() - 1e-9)
        return int(best[next(self.ties, 0) % len(best)] if len(best) > 1 else best[0])

    def close_to(self, model: LASVC, X: Array) -> bool:
        held = np.array_equal(np.sort(model._core.state()["rows.ids"]), np.sort(self.ids))
        return held and np.allclose(model.decision_function(X), self.score(X), rtol=0, atol=1e-8)

    def outcomes(self, x: Array, y: float) -> Iterator[EitherTwin]:
        """What may be after this example, for every way to break ties."""
        for ways in itertools.product(range(3), repeat=4):
            twin = copy.deepcopy(self)
            twin.ties = iter(ways)
            twin.learn(x, y)
            yield twin


@pytest.mark.parametrize("reprocess", [0, 1, 2])
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
@pytest.mark.parametrize("kind", [blobs, one_class_first, sorted_labels], ids=lambda k: k.__name__)
def test_equals_its_twin_after_every_example(kind, kernel, reprocess):
    stream = kind(21, 60, d=3)
    model = machine(kernel, C=2.0, reprocess=reprocess, **TIGHT)
    twin = EitherTwin(KERNELS[kernel], C=2.0, reprocess=reprocess, tau=1e-8)
    for t, (x, y) in enumerate(zip(stream.X, stream.y, strict=True)):
        model.learn_one(x, y)
        outcomes = twin.outcomes(x, y)
        twin = next((one for one in outcomes if one.close_to(model, stream.X)), twin)
        assert twin.close_to(model, stream.X), f"{stream}, example {t}"
        assert model.objective() == pytest.approx(twin.dual(), abs=1e-8)
        assert model.intercept_[0] == pytest.approx(twin.b, abs=1e-8)
    model.finish()
    twin.finish()
    np.testing.assert_allclose(model.decision_function(stream.X), twin.score(stream.X), atol=1e-6)
    gone = np.sort(twin.ids)[::3]
    model.unlearn(gone)
    twin.unlearn(*gone)
    np.testing.assert_allclose(model.decision_function(stream.X), twin.score(stream.X), atol=1e-6)


def test_passes_equal_the_twin_learning_again():
    stream = blobs(2, 50)
    model = machine(C=5.0, random_state=3, **TIGHT).fit(stream.X, stream.y)
    assert model.n_iter_ > 1
    twin = LASVM(KERNELS["rbf"], C=5.0, tau=1e-8)
    for number in range(1, model.n_iter_ + 1):
        for i in np.random.default_rng([3, number]).permutation(50):
            twin.learn(stream.X[i], stream.y[i], id=int(i))
        twin.finish()
    f = model.decision_function(stream.X)
    np.testing.assert_allclose(f, twin.score(stream.X), atol=1e-6)
    assert model.n_seen_ == 50, "a pass brings no new example"
    assert model.partial_fit(stream.X, stream.y).n_seen_ == 100


@pytest.mark.parametrize(
    ("name", "params"),
    [
        ("laplacian", {"gamma": 0.7}),
        ("chi2", {"gamma": 0.7}),
        ("poly", {"gamma": 0.5, "coef0": 1.0, "degree": 2}),
    ],
)
def test_equals_its_twin_under_every_kernel(name, params):
    stream = blobs(5, 60)
    X = np.abs(stream.X)
    model = LASVC(kernel=name, max_iter=10, **params, **TIGHT).fit(X, stream.y).finish()
    twin = LASVM(Kernel(name, **params), tau=1e-8)
    for i in np.tile(np.arange(60), 10):
        twin.learn(X[i], stream.y[i], id=int(i))
    twin.finish()
    np.testing.assert_allclose(model.decision_function(X), twin.score(X), atol=1e-5)


# ---- unlearning ----------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_unlearning_gives_the_svm_of_the_rest_held(kind, kernel):
    stream = kind(4, 40, d=2 if kernel == "rbf" else 5)
    model = machine(kernel, C=3.0, max_iter=20, **TIGHT).fit(stream.X, stream.y)
    gone = [0, 3, 4, 5, 17, 22, 31]
    model.unlearn(gone)
    assert not np.isin(gone, model.support_).any()
    assert model.kkt_residual() <= 1e-6
    check_feasible(model, stream.y, 3.0)
    kept = np.sort(model._core.state()["rows.ids"])
    exact = SVC(kernel=kernel, C=3.0, gamma=2.0, tol=1e-10).fit(stream.X[kept], stream.y[kept])
    np.testing.assert_allclose(
        model.decision_function(stream.X), exact.decision_function(stream.X), atol=5e-5
    )


# ---- queries -------------------------------------------------------------------------------------


def test_the_margin_saves_labels_and_little_else():
    board, clean = ncheckerboard(2, 1500, flips=0.0)
    every = LASVC(C=10.0, gamma=4.0).fit(board.X, board.y)
    picky = LASVC(C=10.0, gamma=4.0, query="margin").fit(board.X, board.y)
    assert every.labels_used_ == 1500
    assert picky.labels_used_ < 1200
    assert picky.score(clean.X, clean.y) > every.score(clean.X, clean.y) - 0.03


def test_the_margin_asks_by_the_rule():
    """A label is asked for where |f(x)| < 1 + delta / 2, and nowhere else."""
    stream = blobs(2, 300, noise=0.0)
    model = machine(C=20.0, query="margin", dtype="float64")
    asked = {True: 0, False: 0}
    for t, (x, y) in enumerate(zip(stream.X, stream.y, strict=True)):
        used = model.labels_used_ if t else 0
        doubtful = t == 0 or abs(model.decide_one(x)) < 1 + delta_of(model, stream, 20.0) / 2
        model.learn_one(x, y)
        assert model.labels_used_ == used + doubtful, f"example {t}"
        asked[doubtful] += 1
    assert min(asked.values()) >= 20, "a stream on which the rule is not tried"


def delta_of(model: LASVC, stream: Stream, C: float) -> float:
    """By definition: the largest g that may rise less the smallest that may fall, of those held."""
    held = model._core.state()["rows.ids"]
    y, s = stream.y[held], signed(model, len(stream.y))[0, held]
    g = y - KERNELS["rbf"](stream.X[held], stream.X[held]) @ s
    up, down = g[s < np.where(y > 0, C, 0.0)], g[s > np.where(y > 0, 0.0, -C)]
    return float(up.max() - down.min()) if len(up) and len(down) else np.inf


@pytest.mark.parametrize("query", ["greedy", "gradient"])
def test_a_pool_gives_one_example(query):
    stream = blobs(2, 103)
    model = machine(query=query, pool=10).partial_fit(stream.X, stream.y)
    assert model.labels_used_ == 10
    one = machine(query=query, pool=1).partial_fit(stream.X, stream.y)
    every = machine().partial_fit(stream.X, stream.y)
    np.testing.assert_array_equal(one.dual_coef_, every.dual_coef_)


def test_autoactive_stops_when_five_are_near():
    """The nearest of at most ``pool`` examples, or of fewer once five are within 1 + delta / 2."""
    stream = blobs(4, 400, noise=0.02)
    model = machine(C=20.0, query="autoactive", pool=12, dtype="float64")
    window, near, lengths = [], 0, []
    for t, (x, y) in enumerate(zip(stream.X, stream.y, strict=True)):
        distance = abs(model.decide_one(x)) if t else 0.0
        width = 1 + delta_of(model, stream, 20.0) / 2 if lengths else np.inf
        window.append((distance, t))
        near += distance < width
        held = set(model._core.state()["rows.ids"].tolist()) if t else set()
        model.learn_one(x, y)
        ends = near == 5 or len(window) == 12
        assert model.labels_used_ == len(lengths) + ends, f"example {t}"
        if ends:
            new = set(model._core.state()["rows.ids"].tolist()) - held
            assert new <= {min(window)[1]}
            lengths.append(len(window))
            window, near = [], 0
    assert 5 in lengths
    assert 12 in lengths
    assert min(lengths) == 5


def test_autoactive_does_not_care_how_the_stream_is_cut(tmp_path):
    stream = blobs(5, 203)
    whole = machine(query="autoactive", pool=9).partial_fit(stream.X, stream.y)
    parts = machine(query="autoactive", pool=9)
    for start in range(0, 203, 7):
        parts.partial_fit(stream.X[start : start + 7], stream.y[start : start + 7])
        if start == 98:
            parts.save(tmp_path / "model")
            parts = onlinesvm.load(tmp_path / "model")
    np.testing.assert_array_equal(whole.dual_coef_, parts.dual_coef_)
    assert whole.labels_used_ == parts.labels_used_ < 203 // 5 + 1


def test_gradient_takes_the_worst_of_the_pool():
    stream = blobs(3, 60)
    model = machine(query="gradient", pool=5, dtype="float64")
    model.partial_fit(stream.X[:20], stream.y[:20])
    before = set(model.support_.tolist())
    z = stream.y[20:25] * model.decision_function(stream.X[20:25])
    model.partial_fit(stream.X[20:25], stream.y[20:25])
    assert set(model.support_.tolist()) - before <= {20 + int(np.argmin(z))}


def test_wants_label_goes_by_the_query():
    stream = blobs(2, 60)
    asked = {
        query: machine(query=query, pool=10).fit(stream.X, stream.y).wants_label(stream.X).sum()
        for query in ("all", "margin", "greedy", "gradient", "autoactive")
    }
    assert asked["all"] == asked["gradient"] == 60
    assert asked["margin"] < 60
    assert asked["greedy"] == 6
    assert 6 <= asked["autoactive"] <= 12


# ---- parameters ----------------------------------------------------------------------------------


def worst_violation(stream: Stream, reprocess: Any) -> float:
    model = machine(C=10.0, reprocess=reprocess, dtype="float64")
    worst = []
    for x, y in zip(stream.X, stream.y, strict=True):
        worst.append(model.learn_one(x, y).violation_)
    return float(max(worst))


@pytest.mark.parametrize("kind", [blobs, contradictory], ids=lambda kind: kind.__name__)
def test_auto_reprocess_leaves_no_gross_violation(kind):
    """Half the margin, after every example; one step a time leaves several times that."""
    stream = kind(1, 300)
    assert worst_violation(stream, "auto") <= 1.0
    assert worst_violation(stream, 1) > 2.0
