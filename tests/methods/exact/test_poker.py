"""PokerSVC, PokerSVR and PokerOneClassSVM against batch solvers, their twin, and their promises."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import oracles
import pytest
from contract import Contract, inner
from family_kernels import EXACT as KERNELS
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from oracles import (
    Stream,
    alphas,
    balanced_qp,
    blobs,
    box_kkt,
    box_qp,
    crossed,
    nasty_streams,
    signed_gram,
    streams,
    svm_kkt,
    zeros,
)
from scipy.optimize import minimize
from sklearn.base import clone
from sklearn.svm import SVC, SVR, OneClassSVM
from tiers import examples

from onlinesvm import (
    LASVC,
    IncrementalSVC,
    PassiveAggressiveClassifier,
    PokerOneClassSVM,
    PokerSVC,
    PokerSVR,
    RampSVC,
    SmoSVC,
    load,
)
from onlinesvm.reference import Kernel, Poker

# Settings under which a class behaves differently, and checks it is known to fail, with the reason.
CONTRACT = {
    "PokerOneClassSVM": Contract(
        variants=[{"nu": 0.1}, {"nu": 0.3, "kernel": "poly", "boundary": "ball"}],
    ),
    "PokerSVC": Contract(
        variants=[
            {"classes": "open", "dtype": "float32", "tol": 1e-3, "C": 50.0, "bias": "none"},
            {
                "kernel": "linear",
                "class_weight": {"ash": 2.0},
                "select": "maxslk+dobj",
                "per_round": 3,
            },
            {"kernel": inner},
        ],
    ),
    "PokerSVR": Contract(
        variants=[
            {"kernel": "linear", "bias": "none", "C": 50.0, "dtype": "float32", "tol": 1e-3},
            {"kernel": inner, "epsilon": 0.0},
        ],
    ),
}

Array = NDArray[np.float64]

SIGNS = [-1.0, 1.0]
CHUNKS = (1, 7, 30)


def params(kernel: str) -> dict[str, Any]:
    k = KERNELS[kernel]
    return {"kernel": kernel, "gamma": k.gamma, "degree": int(k.degree), "coef0": k.coef0}


def machine(kernel: str = "rbf", **more: Any) -> PokerSVC:
    return PokerSVC(classes=SIGNS, **params(kernel), **more)


def feed(model: Any, X: Array, y: Array, chunk: int) -> Any:
    for i in range(0, len(y), chunk):
        model.partial_fit(X[i : i + chunk], y[i : i + chunk])
    return model


def kkt_by_hand(model: PokerSVC, kernel: str, stream: Stream, held: Any, C: Array | float) -> float:
    return svm_kkt(model, KERNELS[kernel], stream.X, stream.y, C, held)


# ---- exactness -----------------------------------------------------------------------------------

KINDS = (*oracles.KINDS, zeros)
FIFTY_FOUR = crossed(KINDS, KERNELS, (0.1, 1.0, 50.0))


@pytest.mark.parametrize(("kind", "kernel", "C"), FIFTY_FOUR)
def test_is_the_batch_solution_after_every_chunk(kind, kernel, C):
    stream = kind(1 + int(10 * C), 30)
    exact = {}
    for stop in (7, 14, 30):
        X, y = stream.X[:stop], stream.y[:stop]
        alpha = balanced_qp(signed_gram(KERNELS[kernel], X, y), y, C)
        exact[stop] = KERNELS[kernel](stream.X, X) @ (y * alpha)  # b is in the KKT conditions
    finals = []
    for chunk in CHUNKS:
        model = machine(kernel, C=C)
        for start in range(0, 30, chunk):
            stop = min(30, start + chunk)
            X, y = stream.X[:stop], stream.y[:stop]
            model.partial_fit(X[start:], y[start:])
            where = f"{stream}, chunks of {chunk}, example {stop}"
            kkt = kkt_by_hand(model, kernel, stream, np.arange(stop), C)
            assert kkt <= 1e-6, f"{where}: KKT residual {kkt:.3g}"
            if stop in exact:
                f = model.decision_function(stream.X) - model.intercept_[0]
                np.testing.assert_allclose(f, exact[stop], rtol=0, atol=1e-5, err_msg=where)
        assert model.kkt_residual() <= 1e-6
        finals.append(model.decision_function(stream.X))
    np.testing.assert_allclose(finals, [finals[0]] * 3, rtol=0, atol=1e-6)


@pytest.mark.parametrize("C", [0.1, 1.0, 50.0])
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_agrees_with_libsvm(kind, C):
    stream = kind(2, 40)
    svc = SVC(C=C, kernel="precomputed", tol=1e-10).fit(
        KERNELS["rbf"](stream.X, stream.X), stream.y
    )
    theirs = svc.decision_function(KERNELS["rbf"](stream.X, stream.X))
    for chunk in (7, 40):
        ours = feed(machine(C=C), stream.X, stream.y, chunk).decision_function(stream.X)
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-5)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_order_of_arrival_does_not_matter(kind, kernel):
    stream = kind(3, 40)
    f = []
    for seed, chunk in enumerate((1, 7, 30, 40)):
        order = np.random.default_rng(seed).permutation(40)
        model = feed(machine(kernel, C=2.0), stream.X[order], stream.y[order], chunk)
        f.append(model.decision_function(stream.X))
    np.testing.assert_allclose(f, np.broadcast_to(f[0], (4, 40)), rtol=0, atol=1e-6)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_without_bias_it_is_the_zero_bias_problem(kind, kernel):
    stream = kind(4, 40)
    Q = signed_gram(KERNELS[kernel], stream.X, stream.y)
    exact = KERNELS[kernel](stream.X, stream.X) @ (stream.y * box_qp(Q, 2.0))
    for chunk in CHUNKS:
        model = feed(machine(kernel, C=2.0, bias="none"), stream.X, stream.y, chunk)
        assert kkt_by_hand(model, kernel, stream, np.arange(40), 2.0) <= 1e-6
        np.testing.assert_allclose(model.decision_function(stream.X), exact, rtol=0, atol=1e-5)
        assert model.intercept_ == [0.0]


@pytest.mark.parametrize("C", [1e3, 1e4])
@pytest.mark.parametrize(
    "kind", [oracles.sorted_labels, oracles.one_class_first, blobs], ids=lambda k: k.__name__
)
def test_from_scratch_without_bias_it_reaches_the_tolerance(kind, C):
    """All rows start alike, at f = 0; the problem of many chunks is the same one."""
    stream = kind(1, 200)
    options = {"kernel": "rbf", "gamma": 0.5, "C": C, "bias": "none", "classes": [-1.0, 1.0]}
    model = PokerSVC(**options).fit(stream.X, stream.y)  # a warning is an error here
    assert model.kkt_residual() <= 1e-8
    chunks = PokerSVC(**options)
    for i in range(0, 200, 10):
        chunks.partial_fit(stream.X[i : i + 10], stream.y[i : i + 10])
    assert model.objective() == pytest.approx(chunks.objective(), rel=1e-9)


def test_is_incremental_svc():
    stream = blobs(5, 200, d=3)
    other = IncrementalSVC(C=3.0, gamma=2.0).fit(stream.X, stream.y)
    model = feed(machine(C=3.0), stream.X, stream.y, 50)
    np.testing.assert_allclose(
        model.decision_function(stream.X), other.decision_function(stream.X), rtol=0, atol=1e-6
    )
    assert model.objective() == pytest.approx(other.objective(), rel=1e-9)


@pytest.mark.parametrize(
    "stream", [s for s in nasty_streams(21) if not s.name.startswith(("huge", "tiny"))], ids=str
)
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
@pytest.mark.parametrize("bias", ["free", "none"])
def test_equals_its_twin_after_every_chunk(stream, kernel, bias):
    model, twin = machine(kernel, C=2.0, bias=bias), Poker(KERNELS[kernel], C=2.0, bias=bias)
    for start in range(0, 21, 7):
        X, y = stream.X[start : start + 7], stream.y[start : start + 7]
        model.partial_fit(X, y)
        twin.learn(X, y)
        assert twin.kkt() <= 1e-7
        np.testing.assert_allclose(
            model.decision_function(stream.X), twin.score(stream.X), atol=1e-6, err_msg=str(start)
        )
    gone = np.arange(0, 21, 2)
    model.unlearn(gone)
    twin.unlearn(gone)
    assert twin.kkt() <= 1e-7
    np.testing.assert_allclose(model.decision_function(stream.X), twin.score(stream.X), atol=1e-6)


@pytest.mark.slow
@settings(max_examples=examples(2000), deadline=None)
@given(
    streams(max_size=24),
    st.sampled_from([0.1, 1.0, 50.0]),
    st.sampled_from(sorted(KERNELS)),
    st.sampled_from(["free", "none"]),
    st.integers(1, 24),
    st.data(),
)
def test_any_stream_and_any_removal_leave_the_optimum(stream, C, kernel, bias, chunk, data):
    n = len(stream.y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # no cap strikes
        model = feed(machine(kernel, C=C, bias=bias), stream.X, stream.y, chunk)
        assert kkt_by_hand(model, kernel, stream, np.arange(n), C) <= 1e-6
        gone = data.draw(st.lists(st.integers(0, n - 1), unique=True), label="gone")
        model.unlearn(np.array(gone, dtype=int))
    ids = np.arange(n)
    held = np.setdiff1d(ids, gone)
    assert kkt_by_hand(model, kernel, stream, held, C) <= 1e-6
    fresh = machine(kernel, C=C, bias=bias)
    fresh.partial_fit(stream.X, stream.y, sample_weight=np.isin(ids, held))
    np.testing.assert_allclose(
        model.decision_function(stream.X), fresh.decision_function(stream.X), rtol=0, atol=1e-6
    )


@pytest.mark.parametrize(
    ("x", "positive", "gone", "chunk"),
    [
        ([1] * 14 + [-3, 1, 1, -3], [15, 16, 17], [*range(13), 15], 1),
        # Here those with the large kernel values are gone, and their rounding errors are not.
        (
            [0, 0, 0, 0, -3, 0, 0, 0, 1, 0, 0, 2, 2, 1, 0, 0, 0, 1],
            [4, 9, 12, 16, 17],
            [*range(9), 10, 11, 12, 14, 16],
            13,
        ),
    ],
)
def test_a_multiplier_a_rounding_error_from_its_bound_is_at_it(x, positive, gone, chunk):
    """1e-12 off a bound of 50 leaves nobody on the margin: b is the middle of its interval."""
    X, y = np.array(x, float)[:, None], np.full(len(x), -1.0)
    y[positive] = 1.0
    model = feed(machine("poly", C=50.0), X, y, chunk).unlearn(gone)
    fresh = machine("poly", C=50.0).partial_fit(np.delete(X, gone, 0), np.delete(y, gone))
    np.testing.assert_allclose(model.intercept_, fresh.intercept_, rtol=0, atol=1e-9)


@pytest.mark.parametrize("scale", [1e-7, 1e-5, 1e-3, 1e3, 1e5])
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
# Linear values of 1e10 are rounded more coarsely than tol; the model says so, as it should.
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_any_scale_of_the_features(kernel, scale):
    """Far below 1 an RBF kernel is singular to working precision: the fallback's case."""
    stream = blobs(7, 40)
    X = scale * stream.X
    model = PokerSVC(kernel=kernel, gamma=0.5, C=1.0, classes=SIGNS)
    feed(model, X, stream.y, 13)
    noise = 1e-14 * np.abs(alphas(model, 40)).sum() * (scale**2 if kernel == "linear" else 1.0)
    assert model.kkt_residual() <= 1e-6 + 10 * noise


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_single_precision_comes_close():
    stream = blobs(5, 80)
    exact = machine(C=5.0).partial_fit(stream.X, stream.y)
    single = machine(C=5.0, dtype="float32").partial_fit(stream.X, stream.y)
    np.testing.assert_allclose(
        single.decision_function(stream.X), exact.decision_function(stream.X), atol=1e-4
    )


# ---- micro cases ---------------------------------------------------------------------------------


def test_no_bias_and_no_unique_alpha():
    model = PokerSVC(kernel="linear", C=10.0, bias="none", classes=SIGNS)
    model.partial_fit(np.array([[1.0], [-1.0]]), np.array([1.0, -1.0]))
    assert alphas(model, 2).sum() == pytest.approx(1.0)
    np.testing.assert_allclose(model.decision_function([[1.0]]), [1.0], atol=1e-12)


def test_contradictory_pair_without_a_bias():
    model = PokerSVC(kernel="linear", C=3.0, bias="none", classes=SIGNS)
    model.partial_fit(np.ones((2, 1)), np.array([1.0, -1.0]))
    assert (alphas(model, 2) == 3.0).all()
    np.testing.assert_allclose(model.decision_function([[1.0], [5.0]]), 0.0, atol=1e-12)


def test_the_path_ends_at_the_optimum():
    model = PokerSVC(kernel="linear", C=1.0, classes=SIGNS)
    model.partial_fit(np.array([[-1.0], [0], [1], [3]]), np.array([-1.0, 1, -1, 1]))
    assert model.path_["dual"][-1] == pytest.approx(2.625)


# ---- unlearning ----------------------------------------------------------------------------------


@pytest.mark.parametrize("bias", ["free", "none"])
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_learn_then_unlearn_restores_f(kind, kernel, bias):
    stream, extra = kind(4, 30), blobs(9, 12)
    model = machine(kernel, C=5.0, bias=bias).partial_fit(stream.X, stream.y)
    before = model.decision_function(stream.X)
    model.partial_fit(extra.X, extra.y)
    model.unlearn(np.arange(30, 38))
    for i in range(38, 42):
        model.unlearn(i)
    np.testing.assert_allclose(model.decision_function(stream.X), before, rtol=0, atol=1e-6)


def test_unlearning_a_hundred_of_a_thousand_is_retraining():
    stream = blobs(6, 1000, d=3)
    gone = np.random.default_rng(0).choice(1000, 100, replace=False)
    rest = np.setdiff1d(np.arange(1000), gone)
    model = machine(C=2.0).partial_fit(stream.X, stream.y).unlearn(gone)
    fresh = machine(C=2.0).partial_fit(stream.X[rest], stream.y[rest])
    assert not np.isin(model.support_, gone).any()
    np.testing.assert_allclose(
        model.decision_function(stream.X), fresh.decision_function(stream.X), rtol=0, atol=1e-6
    )


@pytest.mark.parametrize("kernel", KERNELS)
def test_a_class_emptied_leaves_the_other_and_can_come_back(kernel):
    stream = blobs(2, 30)
    model = machine(kernel, C=5.0).partial_fit(stream.X, stream.y)
    full = model.decision_function(stream.X)
    positive = np.flatnonzero(stream.y > 0)
    model.unlearn(positive)
    assert model.kkt_residual() <= 1e-6
    np.testing.assert_allclose(model.decision_function(stream.X), -1.0, atol=1e-12)
    assert len(model.support_) == 0
    model.partial_fit(stream.X[positive], stream.y[positive])
    np.testing.assert_allclose(model.decision_function(stream.X), full, rtol=0, atol=1e-6)


# ---- the path ------------------------------------------------------------------------------------


def test_the_path_tells_what_happened():
    stream = blobs(1, 60)
    model = machine(C=2.0).fit(stream.X, stream.y)
    path = model.path_
    assert model.n_iter_ == len(path)
    assert (path["S"] + path["E"] + path["O"] == 60).all()
    alpha = alphas(model, 60)[0]
    assert path[["S", "E", "O"]][-1].tolist() == (
        ((alpha > 0) & (alpha < 2.0)).sum(),
        (alpha == 2.0).sum(),
        (alpha == 0.0).sum(),
    )
    assert path["event"][-1] == "end"
    assert (np.diff(path["u"]) >= 0).all() or (np.diff(path["u"]) <= 0).all()  # t goes one way
    assert path["u"][-1] == pytest.approx(-model.intercept_[0])
    assert path["dual"][-1] == pytest.approx(model.objective())
    entered = path["id"][np.isin(path["event"], ["O->S", "E->S"])]
    assert set(entered) >= set(model.support_[np.abs(model.dual_coef_[0]) < 2.0])


def test_the_dual_rises_along_a_fixed_bias_run():
    stream = blobs(2, 80)
    model = machine(C=2.0, bias="none").fit(stream.X, stream.y)
    dual = model.path_["dual"]
    assert (np.diff(dual) >= -1e-12 * np.abs(dual).max()).all()
    assert dual[-1] == pytest.approx(model.objective())


def test_larger_chunks_need_fewer_breakpoints():
    stream = blobs(3, 240)
    total = {}
    for chunk in (1, 20, 120):
        model, total[chunk] = machine(C=2.0), 0
        for i in range(0, 240, chunk):
            model.partial_fit(stream.X[i : i + chunk], stream.y[i : i + chunk])
            total[chunk] += model.n_iter_
    assert total[1] > total[20] > total[120]


def test_loading_goes_on_and_forgets_the_path(tmp_path):
    stream, more = blobs(7, 40), blobs(11, 20)
    model = machine(C=3.0).partial_fit(stream.X, stream.y)
    model.save(tmp_path / "model")
    again = load(tmp_path / "model")
    assert again.n_iter_ == model.n_iter_
    assert len(again.path_) == 0
    for m in (model, again):
        m.partial_fit(more.X, more.y)
    np.testing.assert_array_equal(
        model.decision_function(stream.X), again.decision_function(stream.X)
    )


# ---- selective sampling --------------------------------------------------------------------------

RULES = ["cls2w", "maxslk", "cls2w+dobj", "maxslk+dobj"]


@pytest.mark.parametrize("bias", ["free", "none"])
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_selection_ends_at_the_solution_of_all(kind, rule, bias):
    stream = kind(3, 40)
    plain = machine(C=2.0, bias=bias).fit(stream.X, stream.y)
    chosen = machine(C=2.0, bias=bias, select=rule).fit(stream.X, stream.y)
    assert chosen.kkt_residual() <= 1e-6
    np.testing.assert_allclose(
        chosen.decision_function(stream.X), plain.decision_function(stream.X), rtol=0, atol=1e-6
    )
    assert chosen.n_seen_ == 40
    chosen.unlearn([0, 1]).partial_fit(stream.X[:2], stream.y[:2])
    np.testing.assert_allclose(
        chosen.decision_function(stream.X), plain.decision_function(stream.X), rtol=0, atol=1e-6
    )


def test_selection_leaves_most_of_an_easy_pool_outside():
    rng = np.random.default_rng(0)
    X = np.r_[rng.normal(-3, 0.5, (200, 2)), rng.normal(3, 0.5, (200, 2))]
    y = np.repeat(SIGNS, 200)
    path = machine(C=1.0, select="maxslk").fit(X, y).path_
    assert len(np.unique(path["id"][path["id"] >= 0])) < 100


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("per_round", [4, 100])
def test_several_at_a_time_end_there_in_fewer_rounds(rule, per_round):
    stream = blobs(3, 60)
    one = machine(C=2.0, select=rule).fit(stream.X, stream.y)
    some = machine(C=2.0, select=rule, per_round=per_round).fit(stream.X, stream.y)
    assert some.kkt_residual() <= 1e-6
    np.testing.assert_allclose(
        some.decision_function(stream.X), one.decision_function(stream.X), rtol=0, atol=1e-6
    )
    ends = [(model.path_["event"] == "end").sum() for model in (one, some)]
    assert ends[1] < ends[0]


# ---- a bias that is given, moved, or taken from another solver -----------------------------------


@pytest.mark.parametrize("b", [-0.6, 0.3])
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_a_given_bias_has_the_solution_of_its_own_problem(kind, kernel, b):
    """max (e - b y)'a - a'Qa / 2 in the box, after every chunk and after unlearning."""
    stream = kind(2, 30)
    Q, q = signed_gram(KERNELS[kernel], stream.X, stream.y), 1 - b * stream.y
    for chunk in CHUNKS:
        model = feed(machine(kernel, C=2.0, bias=b), stream.X, stream.y, chunk)
        assert model.intercept_.tolist() == [b]
        assert box_kkt(Q, q, alphas(model, 30)[0], 2.0) <= 1e-6
        assert model.kkt_residual() <= 1e-6
    model.unlearn(np.arange(10))
    assert box_kkt(Q[10:, 10:], q[10:], alphas(model, 30)[0][10:], 2.0) <= 1e-6


def test_a_given_bias_is_that_of_every_class(tmp_path):
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(60, 2)), np.arange(60) % 3
    model = PokerSVC(C=2.0, gamma=1.0, bias=0.25, classes="open")
    model.partial_fit(X[y < 2], y[y < 2]).partial_fit(X[y == 2], y[y == 2])
    assert model.intercept_.tolist() == [0.25] * 3
    for c in range(3):
        one = PokerSVC(C=2.0, gamma=1.0, bias=0.25).fit(X, np.where(y == c, 1, -1))
        np.testing.assert_allclose(
            model.decision_function(X)[:, c], one.decision_function(X), atol=1e-7
        )
    model.save(tmp_path / "model")
    again = load(tmp_path / "model").unlearn(np.arange(30))
    model.unlearn(np.arange(30))
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))
    assert model.intercept_.tolist() == [0.25] * 3


def test_a_given_bias_of_regression_is_a_shift_of_the_target():
    X, y = waves(3, 40)
    given = PokerSVR(C=2.0, gamma=0.5, bias=0.7).fit(X, y)
    shifted = PokerSVR(C=2.0, gamma=0.5, bias="none").fit(X, y - 0.7)
    np.testing.assert_allclose(given.predict(X), 0.7 + shifted.predict(X), atol=1e-8)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize(("old", "new"), [("none", "free"), (0.4, -0.2), ("free", 0.3)])
def test_the_bias_moves_when_it_is_set(old, new, classes):
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(60, 2)), rng.integers(0, classes, 60)
    model = PokerSVC(C=2.0, gamma=1.0, bias=old).fit(X[:40], y[:40]).set_params(bias=new)
    model.partial_fit(X[40:], y[40:])
    fresh = PokerSVC(C=2.0, gamma=1.0, bias=new).fit(X, y)
    np.testing.assert_allclose(model.decision_function(X), fresh.decision_function(X), atol=1e-7)
    assert model.kkt_residual() <= 1e-8


@pytest.mark.parametrize("bias", ["free", 0.2])
@pytest.mark.parametrize(
    "begun",
    [
        SmoSVC(multiclass="one-vs-rest", bias="none", dtype="float64"),
        RampSVC(multiclass="one-vs-rest", s=-np.inf, bias="none", dtype="float64"),
        LASVC(multiclass="one-vs-rest", dtype="float64"),
        IncrementalSVC(multiclass="one-vs-rest"),
    ],
    ids=lambda model: type(model).__name__,
)
@pytest.mark.parametrize("classes", [2, 3])
def test_another_solvers_solution_is_a_start(begun, classes, bias):
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(80, 2)), rng.integers(0, classes, 80)
    weight = rng.choice([0.5, 1.0, 2.0], 80)
    other = clone(begun).set_params(C=2.0, gamma=1.0).fit(X, y, sample_weight=weight)
    model = PokerSVC(C=2.0, gamma=1.0, bias=bias).start_from(other)
    held = other._core.state()["rows.ids"]
    fresh = PokerSVC(C=2.0, gamma=1.0, bias=bias).fit(X[held], y[held], weight[held])
    np.testing.assert_allclose(model.decision_function(X), fresh.decision_function(X), atol=1e-7)
    model.unlearn(held[:5]).partial_fit(X[held[:5]], y[held[:5]], sample_weight=weight[held[:5]])
    np.testing.assert_allclose(model.decision_function(X), fresh.decision_function(X), atol=1e-7)
    assert other.n_seen_ == 80


@pytest.mark.parametrize(
    ("other", "complaint"),
    [
        (SmoSVC(C=2.0, dtype="float64"), "same C: it has 2.0, this PokerSVC has 1.0"),
        (SmoSVC(), "same dtype"),
        (SmoSVC(kernel="linear", dtype="float64"), "same kernel"),
        (RampSVC(dtype="float64"), "bias in its kernel"),
        (SmoSVC(multiclass="one-vs-one", dtype="float64"), "multiclass='one-vs-rest'"),
        (PassiveAggressiveClassifier(), "keeps its examples"),
        (PokerSVR(), "must be a classifier"),
    ],
)
def test_what_is_no_start_is_refused_and_nothing_changes(other, complaint):
    stream = blobs(3, 40)
    model = machine().fit(stream.X, stream.y)
    before = model.decision_function(stream.X)
    y = np.arange(40) % 3 if isinstance(other, SmoSVC) else stream.y
    with pytest.raises(ValueError, match=complaint):
        PokerSVC().start_from(other.fit(stream.X, y))
    with pytest.raises(ValueError, match="same"):
        model.start_from(PokerSVC(C=3.0).fit(stream.X, stream.y))
    np.testing.assert_array_equal(model.decision_function(stream.X), before)


# ---- weights, several classes, sparse ------------------------------------------------------------


def test_weights_are_bounds_of_their_own():
    stream, rng = blobs(8, 40), np.random.default_rng(0)
    weight = rng.choice([0.0, 0.1, 1.0, 7.0], 40)
    model = machine(C=2.0).partial_fit(stream.X, stream.y, sample_weight=weight)
    held = weight > 0
    assert kkt_by_hand(model, "rbf", stream, held, 2.0 * weight[held]) <= 1e-6


def test_three_classes_are_three_problems():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(90, 2)), rng.integers(0, 3, 90)
    model = PokerSVC(C=2.0, gamma=1.0, classes=[0, 1, 2])
    feed(model, X, y, 25)
    for c in range(3):
        one = PokerSVC(C=2.0, gamma=1.0).fit(X, np.where(y == c, 1, -1))
        np.testing.assert_allclose(
            model.decision_function(X)[:, c], one.decision_function(X), atol=1e-7
        )
    assert set(model.path_["output"]) <= {0, 1, 2}


# ---- regression ----------------------------------------------------------------------------------


def waves(seed: int, n: int) -> tuple[Array, Array]:
    """Noisy values of a sine, a tenth of them repeated, a tenth contradicted."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-3, 3, size=(n, 2))
    X[: n // 5] = X[n // 5 : 2 * (n // 5)]
    y = np.sin(X[:, 0]) + 0.3 * X[:, 1] + rng.normal(0, 0.2, n)
    y[: n // 10] = y[n // 5 : n // 5 + n // 10]
    return X, y


@pytest.mark.parametrize("epsilon", [0.0, 0.1, 0.5])
@pytest.mark.parametrize("C", [0.1, 1.0, 50.0])
@pytest.mark.parametrize("kernel", KERNELS)
def test_regression_is_libsvms_batch_and_incremental(kernel, C, epsilon):
    X, y = waves(1, 50)
    K = KERNELS[kernel](X, X)
    for chunk in (1, 7, 50):
        model = feed(PokerSVR(C=C, epsilon=epsilon, **params(kernel)), X, y, chunk)
        assert model.kkt_residual() <= 1e-6
        if kernel == "rbf" and epsilon > 0:  # elsewhere LIBSVM does not come near
            svr = SVR(C=C, epsilon=epsilon, kernel="precomputed", tol=1e-10).fit(K, y)
            np.testing.assert_allclose(model.predict(X), svr.predict(K), rtol=0, atol=2e-5)
    back = model.predict(X)
    more = waves(5, 20)
    model.partial_fit(*more).unlearn(np.arange(50, 70))
    np.testing.assert_allclose(model.predict(X), back, rtol=0, atol=1e-6)


@pytest.mark.parametrize("chunk", [5, 30])
@pytest.mark.parametrize("bias", ["free", "none"])
def test_regression_equals_its_twin(chunk, bias):
    X, y = waves(2, 30)
    model = PokerSVR(C=2.0, gamma=2.0, bias=bias)
    twin = Poker(KERNELS["rbf"], C=2.0, task="regress", epsilon=0.1, bias=bias)
    for i in range(0, 30, chunk):
        model.partial_fit(X[i : i + chunk], y[i : i + chunk])
        twin.learn(X[i : i + chunk], y[i : i + chunk])
        np.testing.assert_allclose(model.predict(X), twin.score(X), atol=1e-7)
    model.unlearn([3, 4, 5])
    twin.unlearn([3, 4, 5])
    np.testing.assert_allclose(model.predict(X), twin.score(X), atol=1e-7)


def test_one_target_is_predicted_everywhere():
    model = PokerSVR().fit([[1.0], [2.0]], [3.0, 3.0])
    np.testing.assert_allclose(model.predict([[0.0], [9.0]]), 3.0)


# ---- one class -----------------------------------------------------------------------------------


@pytest.mark.parametrize("nu", [0.05, 0.3, 0.9])
@pytest.mark.parametrize("chunk", [1, 7, 60])
def test_one_class_is_libsvms_batch_and_incremental(nu, chunk):
    X, _ = waves(3, 60)
    model = feed(PokerOneClassSVM(nu=nu, gamma=0.5), X, np.zeros(60), chunk)
    theirs = OneClassSVM(nu=nu, gamma=0.5, tol=1e-10).fit(X)
    assert model.kkt_residual() <= 1e-6
    np.testing.assert_allclose(
        model.decision_function(X), theirs.decision_function(X), rtol=0, atol=1e-5
    )
    assert model.offset_ == pytest.approx(theirs.offset_[0], abs=1e-5)
    twin = Poker(Kernel("rbf", gamma=0.5), task="detect", nu=nu)
    twin.learn(X)
    np.testing.assert_allclose(model.decision_function(X), twin.score(X), atol=1e-7)
    assert (model.decision_function(X) < -1e-9).mean() <= nu


@pytest.mark.parametrize("seed", range(5))
def test_examples_on_the_boundary_are_usual_by_every_verb(seed):
    X = blobs(seed, 60).X
    model = PokerOneClassSVM(nu=0.3, gamma=0.5).fit(X)
    f = model.decision_function(X)
    assert (f == 0.0).any()
    np.testing.assert_array_equal(model.predict(X), np.where(f >= 0, 1, -1))
    np.testing.assert_allclose(model.score_samples(X) - model.offset_, f, atol=1e-12)
    assert [model.decide_one(x) for x in X] == f.tolist()
    assert [model.predict_one(x) for x in X] == model.predict(X).tolist()


def test_one_class_unlearns():
    X, _ = waves(4, 60)
    model = PokerOneClassSVM(nu=0.2, gamma=0.5).fit(X).unlearn(np.arange(20))
    fresh = PokerOneClassSVM(nu=0.2, gamma=0.5).fit(X[20:])
    np.testing.assert_allclose(model.decision_function(X), fresh.decision_function(X), atol=1e-7)
    model.unlearn(np.arange(60))
    assert not model.decision_function(X).any()


# ---- a ball --------------------------------------------------------------------------------------


def svdd(K: Array, nu: float) -> tuple[Array, float]:
    """max sum a_i K_ii - a'Ka, sum a = 1, 0 <= a <= 1 / (nu n), by a general solver: a and R^2."""
    n, scale = len(K), K.max()
    K = K / scale
    limits = {"type": "eq", "fun": lambda a: a.sum() - 1.0, "jac": lambda a: np.ones(n)}
    best = minimize(
        lambda a: a @ K @ a - a @ K.diagonal(),
        np.full(n, 1.0 / n),
        jac=lambda a: 2 * K @ a - K.diagonal(),
        bounds=[(0.0, 1 / (nu * n))] * n,
        constraints=limits,
        method="SLSQP",
        options={"ftol": 1e-15, "maxiter": 2000},
    )
    a = best.x
    far = K.diagonal() - 2 * K @ a + a @ K @ a
    rim = (a > 1e-5 / n) & (a < (1 - 1e-5) / (nu * n))
    return a, scale * float(far[rim].mean())


@pytest.mark.parametrize("nu", [0.11, 0.37])
@pytest.mark.parametrize("kernel", KERNELS)
def test_the_ball_is_that_of_a_general_solver(kernel, nu):
    X = np.random.default_rng(4).normal([2.0, -1.0], [1.0, 0.5], size=(40, 2))
    K = KERNELS[kernel](X, X)
    a, R2 = svdd(K, nu)
    inside = R2 - (K.diagonal() - 2 * K @ a + a @ K @ a)
    for chunk in CHUNKS:
        model = feed(
            PokerOneClassSVM(nu=nu, boundary="ball", **params(kernel)), X, np.zeros(40), chunk
        )
        assert model.kkt_residual() <= 1e-6
        scale = 40 * nu / 2
        np.testing.assert_allclose(
            model.decision_function(X) / scale, inside, rtol=0, atol=2e-5 * K.max()
        )
    more = np.random.default_rng(5).normal(size=(15, 2))
    back = model.partial_fit(more).unlearn(np.arange(40, 55)).decision_function(X)
    np.testing.assert_allclose(back / scale, inside, rtol=0, atol=2e-5 * K.max())


def test_a_ball_of_rbf_is_the_plane():
    X, _ = waves(3, 60)
    ball, plane = (
        feed(PokerOneClassSVM(nu=0.2, gamma=0.5, boundary=b), X, np.zeros(60), 7)
        for b in ("ball", "plane")
    )
    np.testing.assert_allclose(ball.decision_function(X), plane.decision_function(X), atol=1e-9)
    assert [ball.decide_one(x) for x in X[:9]] == ball.decision_function(X[:9]).tolist()


def test_a_linear_ball_knows_what_a_linear_plane_cannot():
    """A cloud far from the origin: an outlier beyond it, away from the origin."""
    X = np.random.default_rng(0).normal(10.0, 1.0, size=(200, 2))
    ball = PokerOneClassSVM(nu=0.05, kernel="linear", boundary="ball").fit(X)
    plane = PokerOneClassSVM(nu=0.05, kernel="linear").fit(X)
    assert ball.predict([[10.0, 10.0], [30.0, 30.0]]).tolist() == [1, -1]
    assert plane.predict([[10.0, 10.0], [30.0, 30.0]]).tolist() == [1, 1]


# ---- bad arguments -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "argument"),
    [
        (PokerSVC(C=0), "C"),
        (PokerSVC(bias="kernel"), "bias"),
        (PokerSVC(select="best"), "select"),
        (PokerSVC(tol=-1), "tol"),
        (PokerSVR(epsilon=-0.1), "epsilon"),
        (PokerOneClassSVM(nu=0), "nu"),
        (PokerOneClassSVM(nu=1), "nu"),
    ],
)
def test_bad_arguments_are_named(model, argument):
    with pytest.raises(ValueError, match=rf"\b{argument}\b"):
        model.fit([[0.0], [1.0]], [0, 1])
