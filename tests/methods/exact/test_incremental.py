"""IncrementalSVC against batch solvers, against its readable twin, and against its own promises."""

from __future__ import annotations

import pickle
import warnings
from typing import Any

import numpy as np
import oracles
import pytest
import scipy.sparse as sp
from contract import Contract, inner
from family_kernels import EXACT as KERNELS
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from oracles import (
    NASTY,
    Stream,
    alphas,
    balanced_qp,
    blobs,
    contradictory,
    crossed,
    nasty_streams,
    signed_gram,
    streams,
    svm_kkt,
    zeros,
)
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC
from tiers import examples

from onlinesvm import IncrementalSVC, load, verify
from onlinesvm.reference import Incremental, Kernel
from onlinesvm.unlearn.certificate import Evidence

# Settings under which a class behaves differently, and checks it is known to fail, with the reason.
CONTRACT = {
    "IncrementalSVC": Contract(
        variants=[
            {"classes": "open", "dtype": "float32", "tol": 1e-3, "C": 50.0},
            {"kernel": "linear", "class_weight": {"ash": 2.0}},
            {"kernel": inner},
            {"settle": "example"},
            {"multiclass": "one-vs-one", "classes": "open"},
        ],
    ),
}

Array = NDArray[np.float64]

SIGNS = [-1.0, 1.0]


def machine(kernel: str = "rbf", **params: Any) -> IncrementalSVC:
    k = KERNELS[kernel]
    same = {"gamma": k.gamma, "degree": int(k.degree), "coef0": k.coef0, "settle": "example"}
    return IncrementalSVC(**({"kernel": kernel, "classes": SIGNS} | same | params))


def batch_f(
    kernel: str, X: Array, y: Array, C: float, at: Array, weight: Array | None = None
) -> Array:
    """f of a model trained on these rows alone: by LIBSVM, or by a dense QP.

    LIBSVM does not come near the solution where the kernel is singular. With nobody on the margin
    the bias is the middle of what the conditions leave open.
    """
    if len(np.unique(y)) < 2:
        return np.full(len(at), y[0] if len(y) else 0.0)
    if kernel == "rbf":
        svc = SVC(C=C, kernel="precomputed", tol=1e-10, cache_size=1)
        svc.fit(KERNELS[kernel](X, X), y, sample_weight=weight)
        return np.asarray(svc.decision_function(KERNELS[kernel](at, X)))
    cost = C * (np.ones(len(y)) if weight is None else weight)
    alpha = balanced_qp(signed_gram(KERNELS[kernel], X, y), y, cost)
    pull = y - KERNELS[kernel](X, X) @ (y * alpha)
    above, below = (
        alpha > 1e-6 * cost,
        alpha < (1 - 1e-6) * cost,
    )  # its lower bound, its upper bound
    least = pull[np.where(y > 0, below, above)].max()
    most = pull[np.where(y > 0, above, below)].min()
    return np.asarray(KERNELS[kernel](at, X) @ (y * alpha) + 0.5 * (least + most))


def kkt_by_hand(
    model: IncrementalSVC, kernel: str, stream: Stream, held: Any, C: Array | float
) -> float:
    return svm_kkt(model, KERNELS[kernel], stream.X, stream.y, C, held)


# ---- exactness -----------------------------------------------------------------------------------

KINDS = (*oracles.KINDS, zeros)
FIFTY_FOUR = crossed(KINDS, KERNELS, (0.1, 1.0, 50.0))


@pytest.mark.parametrize(("kind", "kernel", "C"), FIFTY_FOUR)
def test_is_the_batch_solution_after_every_example(kind, kernel, C):
    stream = kind(1 + int(10 * C), 30)
    model = machine(kernel, C=C)
    for t in range(1, len(stream.y) + 1):
        model.partial_fit(stream.X[t - 1 : t], stream.y[t - 1 : t])
        where = f"{stream}, example {t - 1}"
        kkt = kkt_by_hand(model, kernel, stream, np.arange(t), C)
        assert kkt <= 1e-6, f"{where}: KKT residual {kkt:.3g}"
        f = model.decision_function(stream.X)
        X, y = stream.X[:t], stream.y[:t]
        if kernel == "rbf":
            np.testing.assert_allclose(
                f, batch_f(kernel, X, y, C, stream.X), rtol=0, atol=1e-5, err_msg=where
            )
        if t in (7, 15, 30):
            alpha = balanced_qp(signed_gram(KERNELS[kernel], X, y), y, C)
            exact = KERNELS[kernel](stream.X, X) @ (y * alpha)  # b is in the KKT conditions above
            np.testing.assert_allclose(
                f - model.intercept_[0], exact, rtol=0, atol=1e-5, err_msg=where
            )
    assert model.kkt_residual() <= 1e-6


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_order_of_arrival_does_not_matter(kind, kernel):
    stream = kind(3, 40)
    f = []
    for seed in range(4):
        order = np.random.default_rng(seed).permutation(40)
        model = machine(kernel, C=2.0).partial_fit(stream.X[order], stream.y[order])
        f.append(model.decision_function(stream.X))
    np.testing.assert_allclose(f, np.broadcast_to(f[0], (4, 40)), rtol=0, atol=1e-6)


@pytest.mark.parametrize(
    "stream", [s for s in nasty_streams(30) if not s.name.startswith(("huge", "tiny"))], ids=str
)
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_equals_its_twin_after_every_example(stream, kernel):
    model, twin = machine(kernel, C=2.0), Incremental(KERNELS[kernel], C=2.0)
    for t, (x, y) in enumerate(zip(stream.X, stream.y, strict=True)):
        model.learn_one(x, y)
        twin.learn(x, y)
        np.testing.assert_allclose(
            model.decision_function(stream.X),
            twin.score(stream.X),
            atol=1e-6,
            err_msg=f"{stream}, example {t}",
        )
    for t in range(0, 30, 2):
        model.unlearn(t)
        twin.unlearn(t)
        np.testing.assert_allclose(
            model.decision_function(stream.X),
            twin.score(stream.X),
            atol=1e-6,
            err_msg=f"{stream}, without the even ones to {t}",
        )


@settings(max_examples=examples(150), deadline=None)
@given(
    streams(max_size=24),
    st.sampled_from([0.1, 1.0, 50.0]),
    st.sampled_from(sorted(KERNELS)),
    st.data(),
)
def test_any_stream_and_any_removal_leave_the_optimum(stream, C, kernel, data):
    n = len(stream.y)
    model = machine(kernel, C=C).partial_fit(stream.X, stream.y)
    assert kkt_by_hand(model, kernel, stream, np.arange(n), C) <= 1e-6
    gone = data.draw(st.lists(st.integers(0, n - 1), unique=True), label="gone")
    model.unlearn(np.array(gone, dtype=int))
    ids = np.arange(n)
    held = np.setdiff1d(ids, gone)
    assert kkt_by_hand(model, kernel, stream, held, C) <= 1e-6
    fresh = machine(kernel, C=C).partial_fit(stream.X, stream.y, sample_weight=np.isin(ids, held))
    np.testing.assert_allclose(
        model.decision_function(stream.X), fresh.decision_function(stream.X), rtol=0, atol=1e-6
    )


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_single_precision_comes_close():
    stream = blobs(5, 80)
    exact = machine(C=5.0).partial_fit(stream.X, stream.y)
    single = machine(C=5.0, dtype="float32").partial_fit(stream.X, stream.y)
    np.testing.assert_allclose(
        single.decision_function(stream.X), exact.decision_function(stream.X), atol=1e-4
    )


# ---- a promise for every tol ---------------------------------------------------------------------

TOLS = (1e-3, 1e-6, 1e-9)


@pytest.mark.parametrize("tol", TOLS)
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_is_within_tol_after_every_example_and_every_removal(kind, tol):
    stream = kind(2, 60)
    model = machine(C=5.0, tol=tol)
    for t in range(60):
        model.learn_one(stream.X[t], stream.y[t])
        assert kkt_by_hand(model, "rbf", stream, np.arange(t + 1), 5.0) <= tol, f"example {t}"
    order = np.random.default_rng(1).permutation(60)
    for t, i in enumerate(order):
        model.unlearn(int(i))
        held = np.sort(order[t + 1 :])
        assert kkt_by_hand(model, "rbf", stream, held, 5.0) <= tol, f"removal {t}, of {i}"


@settings(max_examples=examples(60), deadline=None)
@given(streams(max_size=40), st.sampled_from(TOLS), st.sampled_from([0.1, 5.0]), st.data())
def test_any_stream_is_within_tol_in_any_cut(stream, tol, C, data):
    n = len(stream.y)
    cuts = sorted(data.draw(st.sets(st.integers(1, n)), label="cuts") | {n})
    whole, parts = (machine(C=C, tol=tol) for _ in range(2))
    whole.partial_fit(stream.X, stream.y)
    assert kkt_by_hand(whole, "rbf", stream, np.arange(n), C) <= tol
    for start, stop in zip([0, *cuts], cuts, strict=False):
        parts.partial_fit(stream.X[start:stop], stream.y[start:stop])
    for name, array in whole._core.state().items():
        np.testing.assert_array_equal(array, parts._core.state()[name], err_msg=name)


@pytest.mark.parametrize("scale", [1e-6, 1e-3, 1e3, 1e6])
@pytest.mark.parametrize("tol", TOLS)
def test_is_within_tol_at_any_scale_of_the_features(tol, scale):
    """With all rows alike, and with none like another, C and many multipliers at it."""
    stream = blobs(3, 60)
    model = IncrementalSVC(C=2.0, gamma=1.0, tol=tol, classes=SIGNS, settle="example")
    model.partial_fit(scale * stream.X, stream.y)
    assert svm_kkt(model, Kernel("rbf", gamma=1.0), scale * stream.X, stream.y, 2.0) <= tol


def test_a_margin_of_hundreds_is_learned_and_unlearned():
    """Wide enough that changes of the inverse wait for each other, and members rest."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(500, 40))
    y = np.where(X[:, 0] + 0.5 * rng.normal(size=500) > 0, 1.0, -1.0)
    kernel = Kernel("rbf", gamma=0.02)
    model = IncrementalSVC(
        C=3.0, gamma=0.02, tol=1e-9, classes=SIGNS, settle="example"
    ).partial_fit(X, y)
    size = np.abs(model.dual_coef_[0])
    assert np.sum(size < 3.0) > 150
    assert svm_kkt(model, kernel, X, y, 3.0) <= 1e-9
    gone = rng.permutation(500)[:120]
    model.unlearn(gone)
    held = np.setdiff1d(np.arange(500), gone)
    assert svm_kkt(model, kernel, X, y, 3.0, held) <= 1e-9
    model.set_C(0.3)
    assert svm_kkt(model, kernel, X, y, 0.3, held) <= 1e-9


# ---- members that hear of the largest moves only -------------------------------------------------


def noisy_quarters(n: int) -> Stream:
    """Most of these rows are far from the margin, and a few come back to it."""
    rng = np.random.default_rng(11)
    X = rng.uniform(-1, 1, (n, 2))
    y = np.where(X[:, 0] * X[:, 1] > 0, 1.0, -1.0)
    return Stream("quarters", X, np.where(rng.random(n) < 0.1, -y, y))


def many_features(n: int) -> Stream:
    """Every move reaches everybody a little: what is not told adds up."""
    rng = np.random.default_rng(11)
    X = rng.normal(size=(n, 20))
    f = X[:, 0] + 0.5 * X[:, 1] * X[:, 2] + 0.5 * rng.normal(size=n)
    return Stream("many features", X, np.where(f > 0, 1.0, -1.0))


@pytest.mark.parametrize("tol", [1e-3, 1e-9])
@pytest.mark.parametrize(
    "kernel",
    [Kernel("rbf", gamma=0.03), Kernel("poly", gamma=0.05, degree=2, coef0=1.0)],
    ids=["rbf", "poly"],
)
def test_those_far_from_the_margin_keep_their_conditions(kernel, tol, tmp_path):
    stream, n = many_features(700), 700
    shape = {"gamma": kernel.gamma, "degree": int(kernel.degree), "coef0": kernel.coef0}
    one = IncrementalSVC(
        C=1.0, kernel=kernel.name, tol=tol, classes=SIGNS, settle="example", **shape
    )

    def off(held: Any, C: float = 1.0) -> float:
        return svm_kkt(one, kernel, stream.X, stream.y, C, held)

    for start in range(0, n, 10):
        one.partial_fit(stream.X[start : start + 10], stream.y[start : start + 10])
        assert off(np.arange(start + 10)) <= tol, f"example {start + 10}"
        if start == 500:
            one.save(tmp_path / "model")
    other = load(tmp_path / "model").partial_fit(stream.X[510:], stream.y[510:])
    for name, array in one._core.state().items():
        np.testing.assert_array_equal(array, other._core.state()[name], err_msg=name)
    gone = np.random.default_rng(1).permutation(n)[:50]
    for t, i in enumerate(gone):
        one.unlearn(int(i))
        held = np.setdiff1d(np.arange(n), gone[: t + 1])
        assert off(held) <= tol, f"removal {t}, of {i}"
    one.set_C(0.5)
    assert off(held, 0.5) <= tol


def test_left_out_those_without_influence_are_as_they_were():
    stream = noisy_quarters(500)
    model = machine(C=10.0).partial_fit(stream.X, stream.y)
    left = model.leave_one_out()
    idle = np.setdiff1d(np.arange(500), model.support_)
    assert len(idle) > 200
    np.testing.assert_allclose(
        left.scores.ravel()[idle], model.decision_function(stream.X)[idle], atol=1e-8
    )
    for i in model.support_[:10]:
        others = np.arange(500) != i
        at, rest = stream.X[i : i + 1], (stream.X[others], stream.y[others])
        f = batch_f("rbf", *rest, 10.0, at)  # no nearer to the solution than this
        np.testing.assert_allclose(left.scores.ravel()[i], f, atol=1e-5)
        never_seen = machine(C=10.0).partial_fit(*rest).decision_function(at)
        np.testing.assert_allclose(left.scores.ravel()[i], never_seen, atol=1e-8)


# ---- a call as a whole ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tol", "apart"), [(1e-6, 1e-4), (1e-2, 0.1)], ids=["by the path", "by pair steps"]
)
@pytest.mark.parametrize("cut", [1, 7, 300, 1200])
def test_settled_by_call_it_is_optimal_after_every_call(cut, tol, apart):
    n = 1200 if cut > 7 else 150
    stream = noisy_quarters(n)
    model = machine(C=10.0, tol=tol, settle="call")
    for i in range(0, n, cut):
        model.partial_fit(stream.X[i : i + cut], stream.y[i : i + cut])
        held = np.arange(min(n, i + cut))
        assert kkt_by_hand(model, "rbf", stream, held, 10.0) <= tol
    each = machine(C=10.0, tol=tol).partial_fit(stream.X, stream.y)
    np.testing.assert_allclose(
        model.decision_function(stream.X), each.decision_function(stream.X), rtol=0, atol=apart
    )


@pytest.mark.filterwarnings("error::sklearn.exceptions.ConvergenceWarning")
def test_settled_by_call_the_rounds_are_those_of_all_its_changes():
    stream = noisy_quarters(600)
    model = machine(C=10.0, settle="call", max_rounds=4).partial_fit(stream.X, stream.y)
    assert model.kkt_residual() <= model.tol


def test_settled_by_call_it_goes_on_bit_for_bit_after_a_file(tmp_path):
    stream = noisy_quarters(900)
    one = machine(C=5.0, settle="call").partial_fit(stream.X[:600], stream.y[:600])
    one.save(tmp_path / "model")
    two = load(tmp_path / "model")
    for model in (one, two):
        model.partial_fit(stream.X[600:], stream.y[600:]).unlearn([3, 700])
        assert model.kkt_residual() <= model.tol
    np.testing.assert_array_equal(one.decision_function(stream.X), two.decision_function(stream.X))


# ---- unlearning ----------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_learn_then_unlearn_restores_f(kind, kernel):
    stream, extra = kind(4, 30), blobs(9, 12)
    model = machine(kernel, C=5.0).partial_fit(stream.X, stream.y)
    before = model.decision_function(stream.X)
    model.partial_fit(extra.X, extra.y)
    for i in range(30, 42):
        model.unlearn(i)
    np.testing.assert_allclose(model.decision_function(stream.X), before, rtol=0, atol=1e-6)


def test_unlearning_a_hundred_of_a_thousand_is_retraining():
    stream = blobs(6, 1000, d=3)
    gone = np.random.default_rng(0).choice(1000, 100, replace=False)
    rest = np.setdiff1d(np.arange(1000), gone)
    model = machine(C=2.0).partial_fit(stream.X, stream.y).unlearn(gone)
    assert not np.isin(model.support_, gone).any()
    np.testing.assert_allclose(
        model.decision_function(stream.X),
        batch_f("rbf", stream.X[rest], stream.y[rest], 2.0, stream.X),
        rtol=0,
        atol=1e-5,
    )


@pytest.mark.parametrize("kernel", KERNELS)
def test_a_class_emptied_leaves_the_other_and_can_come_back(kernel):
    stream = blobs(2, 30)
    model = machine(kernel, C=5.0).partial_fit(stream.X, stream.y)
    full = model.decision_function(stream.X)
    positive = np.flatnonzero(stream.y > 0)
    for i in positive:
        model.unlearn(int(i))
        assert model.kkt_residual() <= 1e-6
    np.testing.assert_allclose(model.decision_function(stream.X), -1.0, atol=1e-12)
    assert len(model.support_) == 0
    model.partial_fit(stream.X[positive], stream.y[positive])
    np.testing.assert_allclose(model.decision_function(stream.X), full, rtol=0, atol=1e-6)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_leave_one_out_is_retraining(kind, kernel):
    stream = kind(5, 40)
    model = machine(kernel, C=1.0).partial_fit(stream.X, stream.y)
    before = model._core.state()
    left = model.leave_one_out()
    for name, array in model._core.state().items():
        np.testing.assert_array_equal(array, before[name], err_msg="looking changed the model")
    for i in range(40):
        rest = np.arange(40) != i
        f = batch_f(kernel, stream.X[rest], stream.y[rest], 1.0, stream.X[[i]])
        np.testing.assert_allclose(left.scores[i], f, rtol=0, atol=1e-5, err_msg=f"without {i}")
    np.testing.assert_array_equal(left.correct, left.predictions == stream.y)
    assert left.error == np.mean(left.predictions != stream.y)


def test_leave_one_out_of_two_hundred_is_retraining():
    stream = blobs(8, 200)
    left = machine(C=1.0).partial_fit(stream.X, stream.y).leave_one_out()
    f = np.empty(200)
    for i in range(200):
        rest = np.arange(200) != i
        f[i] = batch_f("rbf", stream.X[rest], stream.y[rest], 1.0, stream.X[[i]])[0]
    np.testing.assert_allclose(left.scores[:, 0], f, rtol=0, atol=1e-5)


# ---- within tol along the stream, exact where exactness is asked for -----------------------------


def loose(kernel: str, stream: Stream, C: float = 1.0) -> IncrementalSVC:
    return machine(kernel, C=C, tol=1e-3).partial_fit(stream.X, stream.y)


def nearly(model: IncrementalSVC) -> IncrementalSVC:
    """The same after some examples that violate their conditions, but by less than ``tol``."""
    X = np.random.default_rng(9).uniform(-3.0, 3.0, (100_000, model.n_features_in_))
    f = model.decision_function(X)
    few = np.flatnonzero((np.abs(f) > 1 - 6e-4) & (np.abs(f) < 1 - 2e-4))[:5]
    assert len(few) == 5
    return model.partial_fit(X[few], np.sign(f[few]))


def same_state(one: IncrementalSVC, other: IncrementalSVC) -> None:
    found = other._core.state()
    for name, array in one._core.state().items():
        np.testing.assert_array_equal(array, found[name], err_msg=name)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_a_loose_model_leaves_out_exactly_and_stays_as_it_was(kind, kernel):
    stream = kind(5, 40)
    model = loose(kernel, stream)
    before = model._core.state()
    left = model.leave_one_out()
    for name, array in model._core.state().items():
        np.testing.assert_array_equal(array, before[name], err_msg=name)
    exact = machine(kernel, C=1.0, tol=1e-11).partial_fit(stream.X, stream.y)
    for i in range(40):
        without = pickle.loads(pickle.dumps(exact))
        f = without.unlearn(i).decision_function(stream.X[[i]])
        np.testing.assert_allclose(left.scores[i], f, rtol=0, atol=1e-6, err_msg=f"without {i}")


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_a_loose_model_changes_C_exactly(kind, kernel):
    stream = kind(7, 40)
    model = loose(kernel, stream)
    for C in (0.3, 20.0):
        model.set_C(C)
        assert kkt_by_hand(model, kernel, stream, np.arange(40), C) <= 1e-9 * max(1.0, C)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_a_certificate_of_a_loose_model_is_that_of_the_exact_one(kind):
    stream = kind(6, 60)
    model = loose("rbf", stream, C=5.0)
    proof = model.unlearn([1, 7, 30], certificate=True)
    assert verify(proof, model)
    assert proof.kkt_residual <= 1e-9
    rest = np.setdiff1d(np.arange(60), [1, 7, 30])
    never_seen = machine(C=5.0, tol=1e-11).partial_fit(stream.X[rest], stream.y[rest])
    np.testing.assert_allclose(
        model.decision_function(stream.X), never_seen.decision_function(stream.X), atol=1e-6
    )


def test_what_promises_the_exact_solution_starts_from_a_loose_one():
    stream = blobs(4, 200)
    model = nearly(loose("rbf", stream, C=5.0))
    exact = pickle.loads(pickle.dumps(model)).polish(1e-11)
    apart = np.abs(model.decision_function(stream.X) - exact.decision_function(stream.X)).max()
    assert apart > 1e-6  # or nothing would be shown

    left, right = model.leave_one_out(), exact.leave_one_out()
    np.testing.assert_allclose(left.scores, right.scores, rtol=0, atol=1e-7)
    assert model.kkt_residual() > 1e-4  # looking changed nothing
    wider = [pickle.loads(pickle.dumps(m)).set_C(7.0) for m in (model, exact)]
    assert wider[0].kkt_residual() <= 1e-9
    np.testing.assert_allclose(*(m.decision_function(stream.X) for m in wider), atol=1e-7)
    proof = model.unlearn([3], certificate=True)
    assert proof.kkt_residual <= 1e-9
    np.testing.assert_allclose(
        model.decision_function(stream.X),
        exact.unlearn([3]).decision_function(stream.X),
        atol=1e-7,
    )


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_polishing_is_exact_and_the_stream_goes_on(dtype, tmp_path):
    stream, more = blobs(4, 200), blobs(5, 60)
    model = nearly(machine(C=5.0, tol=1e-3, dtype=dtype).partial_fit(stream.X, stream.y))
    assert model.kkt_residual() > 1e-4  # there is something to polish
    model.polish()
    assert model.kkt_residual() <= (1e-9 if dtype == "float64" else 1e-5)
    model.save(tmp_path / "model")
    again, pieces = load(tmp_path / "model"), load(tmp_path / "model")
    model.partial_fit(more.X, more.y)
    again.partial_fit(more.X, more.y)
    for t in range(60):
        pieces.learn_one(more.X[t], more.y[t])
    same_state(model, again)
    same_state(model, pieces)
    assert model.kkt_residual() <= 1e-3
    with pytest.raises(ValueError, match="tol"):
        model.polish(tol=0.0)


@pytest.mark.parametrize("tol", TOLS)
def test_a_margin_set_that_is_nearly_all_stays_on_the_margin(tol, tmp_path):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(240, 12))
    y = np.where(rng.random(240) < 0.5, -1.0, 1.0)
    k = Kernel("rbf", gamma=0.3)
    model = IncrementalSVC(C=1e3, gamma=0.3, tol=tol, classes=SIGNS, settle="example")
    for start in range(0, 240, 8):
        model.partial_fit(X[start : start + 8], y[start : start + 8])
        held = slice(0, start + 8)
        assert svm_kkt(model, k, X[held], y[held], 1e3) <= tol
    assert np.sum(np.abs(model.dual_coef_) < 1e3) > 200
    model.save(tmp_path / "model")
    again = load(tmp_path / "model")
    for m in (model, again):
        m.unlearn(range(0, 240, 3))
    same_state(model, again)
    rest = np.arange(240) % 3 != 0
    assert svm_kkt(model, k, X, y, 1e3, rest) <= tol


# ---- what remains --------------------------------------------------------------------------------


def traces(model: IncrementalSVC, path: Any, numbers: list[Any]) -> list[Any]:
    """Which of these numbers the model's saved file and its pickle contain, in any usual form."""
    model.save(path)
    written = [path.read_bytes(), pickle.dumps(model)]
    types = {float: ("f4", "f8"), int: ("i4", "i8")}
    forms = {
        n: {np.array(n, dtype).tobytes() for dtype in types[type(n)]} | {str(n).encode()}
        for n in numbers
    }
    return [n for n in numbers if any(form in data for form in forms[n] for data in written)]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("sparse", [False, True])
def test_nothing_of_a_forgotten_example_is_left_in_the_file(sparse, dtype, tmp_path):
    stream, customer = blobs(1, 40), 987_654_321
    X, secret = stream.X.copy(), [1.234567, -7.654321]
    X[7] = secret
    ids = np.arange(40)
    ids[7] = customer
    model = machine(C=3.0, dtype=dtype)
    model.partial_fit(sp.csr_array(X) if sparse else X, stream.y, ids=ids)
    marks = [*secret, customer, customer + 1]
    assert traces(model, tmp_path / "model", marks) == marks
    with pytest.raises(ValueError, match=f"ids has {customer}, which the model still holds"):
        model.forget_ids(customer)
    model.unlearn(customer)
    assert traces(model, tmp_path / "model", marks) == [customer + 1]
    model.forget_ids(customer)
    assert traces(model, tmp_path / "model", marks) == []
    assert model.n_seen_ == 39
    rest = ids != customer
    fresh = machine(C=3.0, dtype=dtype)
    fresh.partial_fit(sp.csr_array(X[rest]) if sparse else X[rest], stream.y[rest], ids=ids[rest])
    assert (model._next_id, model._id_gap) == (fresh._next_id, fresh._id_gap)
    model.learn_one(secret, 1.0)
    assert model.n_seen_ == 40


def test_forgetting_everybody_starts_the_count_anew():
    stream = blobs(1, 10)
    model = machine().partial_fit(stream.X, stream.y).unlearn(np.arange(10))
    assert model.n_seen_ == 10
    assert model.forget_ids(np.arange(10)).n_seen_ == 0
    assert model.partial_fit(stream.X, stream.y).support_.max() < 10


# ---- along the path ------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_set_C_is_refitting(kind, kernel, tmp_path):
    stream = kind(7, 40)
    model = machine(kernel, C=1.0).partial_fit(stream.X, stream.y)
    for C in (0.3, 20.0, 0.05, 1.0):
        model.set_C(C)
        assert model.C == C
        assert kkt_by_hand(model, kernel, stream, np.arange(40), C) <= 1e-6
        np.testing.assert_allclose(
            model.decision_function(stream.X),
            batch_f(kernel, stream.X, stream.y, C, stream.X),
            rtol=0,
            atol=1e-5,
        )
    model.set_C(3.0).save(tmp_path / "model")
    again = load(tmp_path / "model")
    more = blobs(11, 10)
    for m in (model, again):
        m.partial_fit(more.X, more.y)
    np.testing.assert_array_equal(
        model.decision_function(stream.X), again.decision_function(stream.X)
    )


@pytest.mark.parametrize("kernel", KERNELS)
def test_reweighting_is_learning_with_that_weight(kernel):
    stream, rng = blobs(7, 40), np.random.default_rng(1)
    model = machine(kernel, C=2.0).partial_fit(stream.X, stream.y)
    ids, weight = np.arange(0, 40, 2), np.ones(40)
    weight[ids] = rng.choice([0.0, 0.2, 5.0], 20)
    model.reweight(ids, weight[ids])
    held = weight > 0
    np.testing.assert_allclose(
        model.decision_function(stream.X),
        batch_f(kernel, stream.X[held], stream.y[held], 2.0, stream.X, weight[held]),
        rtol=0,
        atol=1e-5,
    )
    model.reweight(np.arange(40), 1.0)
    fresh = machine(kernel, C=2.0).partial_fit(stream.X, stream.y)
    np.testing.assert_allclose(
        model.decision_function(stream.X), fresh.decision_function(stream.X), rtol=0, atol=1e-6
    )


def test_reweighting_keeps_the_class_weight():
    stream, rng = blobs(7, 40), np.random.default_rng(1)
    weighted = {"C": 2.0, "class_weight": {1.0: 4.0, -1.0: 0.5}}
    model = machine(**weighted).partial_fit(stream.X, stream.y)
    ids = rng.permutation(40)[:25]
    weight = np.ones(40)
    weight[ids] = rng.choice([0.2, 5.0], 25)
    model.reweight(ids, weight[ids])
    fresh = machine(**weighted).partial_fit(stream.X, stream.y, sample_weight=weight)
    np.testing.assert_allclose(
        model.decision_function(stream.X), fresh.decision_function(stream.X), rtol=0, atol=1e-6
    )
    with pytest.raises(ValueError, match="ids: no example with id 99 is held"):
        model.reweight([99], 1.0)


@pytest.mark.parametrize(
    ("call", "argument"),
    [
        (lambda m: m.set_C(0.0), "C"),
        (lambda m: m.set_C(np.nan), "C"),
        (lambda m: m.reweight([0, 0], 1.0), "ids"),
        (lambda m: m.reweight([0.5], 1.0), "ids"),
        (lambda m: m.reweight([99], 1.0), "ids"),
        (lambda m: m.reweight([0, 1], [1.0, -1.0]), "weights"),
        (lambda m: m.reweight([0, 1], [1.0, 1.0, 1.0]), "weights"),
        (lambda m: m.unlearn([99], certificate=True), "ids"),
    ],
)
def test_bad_arguments_change_nothing(call, argument):
    stream = blobs(1, 20)
    model = machine().partial_fit(stream.X, stream.y)
    before = Evidence.of(model).solution_hash()
    with pytest.raises(ValueError, match=rf"\b{argument}\b"):
        call(model)
    assert Evidence.of(model).solution_hash() == before


# ---- it ends -------------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", KERNELS)
def test_a_limit_warns_and_leaves_a_valid_model(kernel):
    stream = contradictory(3, 60)
    model = machine(kernel, C=50.0, max_rounds=1)
    with pytest.warns(ConvergenceWarning, match="IncrementalSVC stopped before"):
        model.partial_fit(stream.X, stream.y)
    alpha = alphas(model, 60)[0]
    assert ((alpha >= 0) & (alpha <= 50.0)).all()
    assert np.isfinite(model.decision_function(stream.X)).all()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for i in range(0, 60, 2):
            model.unlearn(i)
        model.set_C(1.0).reweight(np.arange(1, 60, 4), 0.5)
    assert not np.isin(model.support_, np.arange(0, 60, 2)).any()
    assert model.kkt_residual() < np.inf
    alpha = alphas(model, 60)[0]
    assert ((alpha >= 0) & (alpha <= 1.0)).all()


@pytest.mark.slow
@settings(max_examples=examples(2000), deadline=None)
@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from([blobs, *NASTY]),
    st.sampled_from(sorted(KERNELS)),
    st.sampled_from([0.01, 1.0, 100.0]),
)
def test_no_stream_of_changes_loops_or_crashes(seed, kind, kernel, C):
    """Learn, unlearn, another C, other weights, in any order, on trouble of every kind."""
    rng = np.random.default_rng(seed)
    stream = kind(int(seed % 1000), int(rng.integers(1, 16)), int(rng.integers(1, 4)))
    n = len(stream.y)
    model, next_row, weight = machine(kernel, C=C), 0, np.zeros(n)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for change in ["learn", *rng.choice(["learn", "unlearn", "set_C", "reweight"], 6)]:
            held = np.flatnonzero(weight[:next_row] >= 0)
            if change == "learn" and next_row < n:
                stop = min(n, next_row + int(rng.integers(1, n + 1)))
                model.partial_fit(stream.X[next_row:stop], stream.y[next_row:stop])
                weight[next_row:stop], next_row = 1.0, stop
            elif change == "unlearn" and len(held):
                gone = rng.choice(held, int(rng.integers(1, len(held) + 1)), replace=False)
                model.unlearn(gone)
                weight[gone] = -1.0
            elif change == "set_C":
                C = float(10.0 ** rng.integers(-2, 3))
                model.set_C(C)
            elif change == "reweight" and len(held):
                some = rng.choice(held, int(rng.integers(1, len(held) + 1)), replace=False)
                weight[some] = rng.choice([0.0, 0.3, 4.0], len(some))
                model.reweight(some, weight[some])
            alpha = alphas(model, n)[0]
            assert ((alpha >= 0) & (alpha <= C * np.maximum(weight, 0) * (1 + 1e-9))).all()
            assert np.isfinite(model.decision_function(stream.X)).all()
            k = np.array([KERNELS[kernel](x[None], x[None])[0, 0] for x in stream.X])
            scale = max(1.0, float(np.max(alpha * k)))
            snapped = 4e-12 * C * n * float(k.max())  # alpha below 1e-12 C_i counts as 0
            assert model.kkt_residual() <= 1e-6 * scale + snapped, f"{stream} after {change}"


# ---- weights, several classes, sparse ------------------------------------------------------------


def test_weights_are_bounds_of_their_own():
    stream, rng = blobs(8, 40), np.random.default_rng(0)
    weight = rng.choice([0.0, 0.1, 1.0, 7.0], 40)
    model = machine(C=2.0).partial_fit(stream.X, stream.y, sample_weight=weight)
    held = weight > 0
    assert kkt_by_hand(model, "rbf", stream, held, 2.0 * weight[held]) <= 1e-6


def test_one_vs_rest_equals_binary_machines():
    rng = np.random.default_rng(0)
    labels = rng.choice(["ape", "bee", "cow"], 90)
    centre = {"ape": (0.0, 1.2), "bee": (-1.0, -0.6), "cow": (1.0, -0.6)}
    X = rng.normal(size=(90, 2)) * 0.8 + [centre[label] for label in labels]
    together = IncrementalSVC(gamma=2.0, C=3.0, classes="open", settle="example")
    for x, label in zip(X, labels.tolist(), strict=True):
        together.learn_one(x, label)
    together.unlearn(np.arange(0, 90, 4))
    rest = np.arange(90) % 4 != 0
    for k, label in enumerate(together.classes_.tolist()):
        np.testing.assert_allclose(
            together.decision_function(X)[:, k],
            batch_f("rbf", X[rest], np.where(labels[rest] == label, 1.0, -1.0), 3.0, X),
            atol=1e-5,
            err_msg=f"the machine of {label}",
        )
    left = together.leave_one_out()
    assert left.scores.shape == (rest.sum(), 3)
    assert 0.5 < 1 - left.error < 1.0


def test_a_small_cache_changes_nothing():
    stream = blobs(7, 150)
    ample = machine(C=3.0).partial_fit(stream.X, stream.y)
    tight = machine(C=3.0, cache_bytes=1 << 12).partial_fit(stream.X, stream.y)
    np.testing.assert_array_equal(
        ample.decision_function(stream.X), tight.decision_function(stream.X)
    )
