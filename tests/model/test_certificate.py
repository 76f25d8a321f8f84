"""Certificates: never below the truth in extended precision, and told from false ones."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from family_kernels import EXACT as KERNELS
from numpy.typing import NDArray
from oracles import (
    Fine,
    blobs,
    contradictory,
    duplicates,
    fine_kernel,
    fine_solution,
    one_class_first,
    sorted_labels,
    zeros,
)

import onlinesvm
from onlinesvm import (
    LASVC,
    Certificate,
    CertificateError,
    IncrementalSVC,
    KernelPerceptron,
    PokerOneClassSVM,
    PokerSVC,
    PokerSVR,
    RampSVC,
    SmoSVC,
    verify,
)
from onlinesvm.unlearn.certificate import EXP_UNITS, Evidence, bounds

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
extended = pytest.mark.skipif(
    np.finfo(np.longdouble).eps > 1e-18, reason="no extended precision here"
)

KINDS = [blobs, duplicates, contradictory, one_class_first, sorted_labels, zeros]
N, GONE = 30, 6


def params(kernel: str, **more: Any) -> dict[str, Any]:
    k = KERNELS[kernel]
    return {"kernel": kernel, "gamma": k.gamma, "degree": int(k.degree), "coef0": k.coef0} | more


def coefficients(model: Any) -> NDArray[np.float64]:
    s = np.zeros(N)
    s[model.support_] = model.dual_coef_[0]
    return s


def used(kernel: str, model: Any, proof: Certificate, X: Any, best: Fine, at: Any) -> float:
    """How much of the certified bound the true difference takes, at its worst."""
    k = KERNELS[kernel]
    exact = fine_kernel(k, at, X) @ best.s + best.b
    got = model.predict(at) if isinstance(model, PokerSVR) else model.decision_function(at)
    length = np.sqrt([fine_kernel(k, x[None], x[None])[0, 0] for x in at])
    bound = proof.distance * length + proof.bias_distance
    return float(np.max(np.abs(got - exact) / bound))


def points(seed: int, scale: float, X: Any) -> NDArray[np.float64]:
    return np.vstack([3 * scale * np.random.default_rng(seed).normal(size=(60, 2)), X])


# ---- soundness -----------------------------------------------------------------------------------


@extended
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_no_classifier_is_farther_from_the_exact_one_than_certified(kind, kernel, dtype):
    for seed, C in enumerate((0.1, 1.0, 20.0, 1e3)):
        scale = 30.0 if kernel == "linear" and seed % 2 else 1.0
        stream, rng = kind(seed, N), np.random.default_rng(seed)
        weight = rng.choice([0.5, 1.0, 3.0], N)
        cls = PokerSVC if seed % 2 else IncrementalSVC
        model = cls(C=C, classes=[-1.0, 1.0], **params(kernel, dtype=dtype))
        model.partial_fit(scale * stream.X, stream.y, sample_weight=weight)
        gone = rng.choice(N, GONE, replace=False)
        proof = model.unlearn(gone, certificate=True)
        rest = np.setdiff1d(np.arange(N), gone)
        X = (scale * stream.X[rest]).astype(dtype).astype(float)  # as they are stored
        y, c = stream.y[rest], C * weight[rest]
        lo, hi = np.minimum(0, y * c), np.maximum(0, y * c)
        best = fine_solution(
            fine_kernel(KERNELS[kernel], X, X), y, lo, hi, coefficients(model)[rest]
        )
        where = f"{stream}, C = {C}"
        assert best.residual <= 1e-12 * max(1.0, C * scale**2 / 1e4), f"oracle: {where}"
        share = used(kernel, model, proof, X, best, points(seed, scale, X))
        assert share <= 1, f"{where}: {share:.3g} times what was certified"
        assert verify(proof, model)


@extended
@pytest.mark.parametrize("free", [True, False])
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_any_coefficients_and_any_bias_are_within_their_bound(kind, free):
    """Far from optimal, out of balance: nothing is assumed of a solution but its box."""
    shares = []
    for seed in range(12):
        rng, C, size = np.random.default_rng(seed), (0.5, 5.0)[seed % 2], 10.0 ** -(seed % 5)
        stream = kind(seed, N)
        model = PokerSVC(C=C, bias="free" if free else "none", classes=[-1.0, 1.0], gamma=2.0)
        seen = Evidence.of(model.partial_fit(stream.X, stream.y))
        y, lo, hi = stream.y, np.minimum(0, C * stream.y), np.maximum(0, C * stream.y)
        K = fine_kernel(KERNELS["rbf"], stream.X, stream.X)
        best = fine_solution(K, y, lo, hi, coefficients(model), target=0.0 if free else None)
        assert best.residual <= 1e-12
        # An offset for all breaks the balance, and it alone where the rest stays as it was.
        noise = rng.normal(size=N) if seed % 3 else np.ones(N)
        s = np.clip(coefficients(model) + size * C * noise, lo, hi)
        b = float(best.b + free * size * rng.choice([-1, 0, 1]))
        f = np.asarray(K @ s, dtype=float)
        shown = replace(seen, s=s[None, :, None], f=f[:, None], bias=np.array([b]))
        (bound,) = bounds(shown)
        at = fine_kernel(KERNELS["rbf"], points(seed, 1.0, stream.X), stream.X)
        off = np.abs(at @ (s - best.s) + b - best.b)
        shares.append(float(off.max()) / (bound.distance + bound.bias_distance))
        assert shares[-1] <= 1, f"{stream}: {shares[-1]:.3g} times the bound"
        if free:
            assert abs(b - best.b) <= bound.bias_distance
    assert max(shares) > 0.1, "a bound far from anything that happens says little"


@extended
def test_the_balance_alone_is_missing():
    """Every condition holds for the bias at hand, only the sum does not: it must count."""
    for seed in range(6):
        stream, C = blobs(seed, N), 2.0
        model = PokerSVC(C=C, classes=[-1.0, 1.0], gamma=2.0).partial_fit(stream.X, stream.y)
        y, lo, hi = stream.y, np.minimum(0, C * stream.y), np.maximum(0, C * stream.y)
        K = fine_kernel(KERNELS["rbf"], stream.X, stream.X)
        best = fine_solution(K, y, lo, hi, coefficients(model))
        b = float(best.b) + 0.1
        held = fine_solution(K, y - b, lo, hi, coefficients(model), target=None)
        assert max(best.residual, held.residual) <= 1e-12
        s = np.clip(np.asarray(held.s, dtype=float), lo, hi)
        f = np.asarray(K @ s, dtype=float)
        shown = replace(Evidence.of(model), s=s[None, :, None], f=f[:, None], bias=np.array([b]))
        (bound,) = bounds(shown)
        assert np.sqrt(float((s - best.s) @ K @ (s - best.s))) <= bound.distance
        assert abs(b - best.b) <= bound.bias_distance


@extended
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_exp_is_within_its_allowance(dtype):
    """One example, coefficient 1: f is exp(-|x|), as exactly as the core has it."""
    model = KernelPerceptron("plain", kernel="laplacian", gamma=1.0, dtype=dtype, classes=[0, 1])
    model.learn_one(np.zeros(1), 1)
    largest, unit = (85, 2.0**-24) if dtype == "float32" else (700, 2.0**-53)
    x = np.random.default_rng(0).uniform(0, largest, 200_000).astype(dtype)
    exact = np.exp(-x.astype(np.longdouble))
    off = np.abs(model.decision_function(x[:, None]) - exact) / exact / unit
    assert off.max() <= EXP_UNITS


def test_a_bias_that_nothing_decides_is_the_middle_of_its_interval():
    X, y = [[-1.0], [1.0], [3.0], [-3.0], [0.5]], [-1, 1, 1, -1, 1]
    for cls in (IncrementalSVC, PokerSVC):
        model = cls(C=0.01, kernel="linear").fit(X, y)
        proof = model.unlearn([4], certificate=True)
        assert proof.bias_distance <= 1e-6
        assert verify(proof, model)
        model.unlearn([1, 2])  # one class is left: its label
        assert model.unlearn([3], certificate=True).bias_distance <= 1e-6


@extended
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_long_rows_and_a_large_C_widen_the_bound_and_do_not_break_it(dtype):
    judged = 0
    for seed in range(6):
        stream = blobs(seed, N)
        model = IncrementalSVC(C=1e4, classes=[-1.0, 1.0], **params("linear", dtype=dtype))
        model.partial_fit(1000 * stream.X, stream.y)
        proof = model.unlearn(np.arange(GONE), certificate=True)
        X, y = (1000 * stream.X[GONE:]).astype(dtype).astype(float), stream.y[GONE:]
        near = np.clip(coefficients(model)[GONE:], np.minimum(0, 1e4 * y), np.maximum(0, 1e4 * y))
        lo, hi = np.minimum(0, y * 1e4), np.maximum(0, y * 1e4)
        best = fine_solution(fine_kernel(KERNELS["linear"], X, X), y, lo, hi, near)
        if best.residual > 1e-6:  # beyond what 64 bits tell, too
            continue
        judged += 1
        assert used("linear", model, proof, X, best, points(seed, 1000.0, X)) <= 1
    assert judged >= 3


@extended
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("kernel", KERNELS)
def test_no_regressor_no_novelty_detector_and_no_machine_without_bias_either(kernel, dtype):
    for seed in range(4):
        stream, rng = blobs(seed, N), np.random.default_rng(seed)
        targets = stream.X[:, 0] + 0.3 * rng.normal(size=N)
        k, given, gone = KERNELS[kernel], params(kernel, dtype=dtype), np.arange(GONE)
        X = stream.X[GONE:].astype(dtype).astype(float)
        K, at, n = fine_kernel(k, X, X), points(seed, 1.0, X), N - GONE

        tube = PokerSVR(C=2.0, epsilon=0.1, **given).fit(stream.X, targets)
        proof = tube.unlearn(gone, certificate=True)
        s = coefficients(tube)[GONE:]
        twice = np.repeat(np.arange(n), 2)
        base = (targets[GONE:, None] + [-0.1, 0.1]).ravel()
        lo, hi = np.tile([0.0, -2.0], n), np.tile([2.0, 0.0], n)
        near = np.column_stack([np.maximum(s, 0), np.minimum(s, 0)]).ravel()
        best = fine_solution(K[np.ix_(twice, twice)], base, lo, hi, near)
        assert best.residual <= 1e-12
        net = replace(best, s=best.s[::2] + best.s[1::2])
        assert used(kernel, tube, proof, X, net, at) <= 1

        usual = PokerOneClassSVM(nu=0.3, **given).fit(stream.X)
        proof = usual.unlearn(gone, certificate=True)
        near = coefficients(usual)[GONE:]
        best = fine_solution(K, np.zeros(n), np.zeros(n), np.ones(n), near, target=0.3 * n)
        assert best.residual <= 1e-12
        assert used(kernel, usual, proof, X, best, at) <= 1

        plain = PokerSVC(C=5.0, bias="none", classes=[-1.0, 1.0], **given)
        proof = plain.partial_fit(stream.X, stream.y).unlearn(gone, certificate=True)
        y = stream.y[GONE:]
        lo, hi = np.minimum(0, 5 * y), np.maximum(0, 5 * y)
        best = fine_solution(K, y, lo, hi, coefficients(plain)[GONE:], target=None)
        assert best.residual <= 1e-12
        assert used(kernel, plain, proof, X, best, at) <= 1


@extended
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_a_ramp_is_near_the_exact_solution_of_those_inside_it(dtype):
    for seed in range(8):
        stream = blobs(seed, N, noise=0.3)
        given = params("rbf", dtype=dtype)
        model = RampSVC(C=5.0, gain_tol=0.0, bias="none", classes=[-1.0, 1.0], **given)
        proof = model.partial_fit(stream.X, stream.y).unlearn(np.arange(GONE), certificate=True)
        X, y = stream.X[GONE:].astype(dtype).astype(float), stream.y[GONE:]
        g = 1 - y * model.decision_function(X)
        inside = np.where(g <= 2, 5.0, 0.0)
        assert (np.abs(g - 2) > 1e-6).all(), "an example at the edge: choose another seed"
        best = fine_solution(
            fine_kernel(KERNELS["rbf"], X, X),
            y,
            np.minimum(0, y * inside),
            np.maximum(0, y * inside),
            coefficients(model)[GONE:],
            target=None,
        )
        assert best.residual <= 1e-12
        assert used("rbf", model, proof, X, best, points(seed, 1.0, X)) <= 1
        assert proof.kkt_residual <= model.tol
        assert "not what training without them would find" in proof.statement
        assert verify(proof, model)


def test_sparse_rows_and_many_features_are_covered_too():
    rng = np.random.default_rng(0)
    X = np.where(rng.random((60, 40)) < 0.7, 0.0, rng.normal(size=(60, 40)))
    y = np.where(X[:, 0] + 0.5 * rng.normal(size=60) > 0, 1.0, -1.0)
    exact = IncrementalSVC(C=2.0, gamma=0.05, classes=[-1.0, 1.0]).partial_fit(X[5:], y[5:])
    for dtype in ("float64", "float32"):
        for rows in (X, sp.csr_array(X)):
            model = IncrementalSVC(C=2.0, gamma=0.05, classes=[-1.0, 1.0], dtype=dtype)
            proof = model.partial_fit(rows, y).unlearn(range(5), certificate=True)
            bound = proof.distance + proof.bias_distance
            difference = model.decision_function(rows) - exact.decision_function(X)
            assert np.abs(difference).max() <= bound <= (1e-4 if dtype == "float64" else 0.2)
            assert verify(proof, model)


def test_on_ordinary_data_the_bound_says_something():
    stream = blobs(1, 400, d=5)
    for dtype, most in (("float64", 1e-4), ("float32", 1e-2)):
        model = IncrementalSVC(C=1.0, dtype=dtype).fit(stream.X, stream.y)
        proof = model.unlearn(range(20), certificate=True)
        assert proof.distance + proof.bias_distance <= most


# ---- telling true from false ---------------------------------------------------------------------


@pytest.fixture
def unlearned() -> tuple[IncrementalSVC, Certificate]:
    stream = blobs(1, 60)
    model = IncrementalSVC(C=3.0, gamma=2.0).fit(stream.X, stream.y)
    return model, model.unlearn([5, 6, 7], certificate=True)


def test_what_it_says(unlearned):
    model, proof = unlearned
    assert proof.ids_removed == proof["ids_removed"] == [5, 6, 7]
    assert proof.n_examples == 57
    assert proof.objective == model.objective()
    assert proof.kkt_residual == model.kkt_residual()
    assert proof.hash_before != proof.hash_after
    again = model.unlearn([5, 6, 7], certificate=True)
    assert again.ids_removed == []
    assert again.hash_before == again.hash_after == proof.hash_after
    assert "distance" in str(proof)


def test_it_is_saved_and_read_to_the_bit(unlearned, tmp_path):
    model, proof = unlearned
    proof.save(tmp_path / "proof.json")
    model.save(tmp_path / "model")
    again = Certificate.load(tmp_path / "proof.json")
    assert again == proof
    assert verify(again, onlinesvm.load(tmp_path / "model"))
    for text in ("[]", "{}", '{"method": "IncrementalSVC"}'):
        with pytest.raises(ValueError, match="not a certificate"):
            Certificate.from_json(text)


@pytest.mark.parametrize("name", [f.name for f in fields(Certificate)])
def test_an_altered_certificate_is_told(unlearned, name):
    model, proof = unlearned
    value = proof[name]
    other = {str: "x", list: [5], int: 1, float: 0.0, bool: False, dict: {"gamma": 1.0}}[
        type(value)
    ]
    with pytest.raises(CertificateError, match="altered"):
        verify(replace(proof, **{name: other}), model)


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"distance": 1e-12}, "the bound does not hold"),
        ({"bias_distance": 0.0}, "the bound does not hold"),
        ({"distance": float("nan")}, "the bound does not hold"),
        ({"kkt_residual": 0.0}, "the residual is"),
        ({"ids_removed": [5, 8]}, "example 8 is in the model"),
        ({"method": "RampSVC"}, "about a RampSVC"),
        ({"examples_hash": "0" * 64}, "other examples"),
        ({"hash_after": "0" * 64}, "other coefficients"),
        ({"settled": {"gamma": 1.0}}, "says that it is complete"),
    ],
)
def test_a_false_one_is_told_even_with_a_seal(change, complaint):
    stream = blobs(1, 60)
    model = SmoSVC(C=3.0, gamma=2.0).fit(stream.X, stream.y)
    proof = replace(model.unlearn([5], certificate=True), **change).sealed()
    with pytest.raises(CertificateError, match=complaint):
        verify(proof, model)


def test_another_model_is_told(unlearned):
    model, proof = unlearned
    stream = blobs(1, 60)
    rest = np.setdiff1d(np.arange(60), [5, 6, 7])
    twin = IncrementalSVC(C=3.0, gamma=2.0, classes=[-1.0, 1.0])
    twin.partial_fit(stream.X[rest], stream.y[rest], ids=rest)
    with pytest.raises(CertificateError, match="other coefficients"):  # to the last bit
        verify(proof, twin.reweight([9], [1.0 + 1e-9]).reweight([9], [1.0]).set_C(3.0))
    with pytest.raises(CertificateError, match="about a IncrementalSVC, not a SmoSVC"):
        verify(proof, SmoSVC().fit(stream.X, stream.y))
    other = IncrementalSVC(C=3.0, gamma=2.5, classes=[-1.0, 1.0])
    other.partial_fit(stream.X[rest], stream.y[rest], ids=rest)
    with pytest.raises(CertificateError, match="other examples"):
        verify(proof, other)
    model.learn_one(stream.X[5], stream.y[5])
    with pytest.raises(CertificateError, match="other examples"):
        verify(proof, model)
    back = IncrementalSVC(C=3.0, gamma=2.0).fit(stream.X, stream.y)
    with pytest.raises(CertificateError, match="example 5 is in the model"):
        verify(proof, back)


def test_who_cannot_says_who_can():
    stream = blobs(1, 60)
    model = LASVC().fit(stream.X, stream.y)
    before = model.decision_function(stream.X)
    with pytest.raises(NotImplementedError, match=r"has no certificate: .*IncrementalSVC.* can\.$"):
        model.unlearn([0], certificate=True)
    np.testing.assert_array_equal(model.decision_function(stream.X), before)


@pytest.mark.parametrize("cls", [IncrementalSVC, PokerSVC, RampSVC, SmoSVC])
def test_several_classes_and_nobody_left(cls):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 2)), rng.integers(3, size=60)
    model = cls().fit(X, y)
    assert verify(model.unlearn([0, 1], certificate=True), model)
    proof = model.unlearn(range(60), certificate=True)
    assert proof.n_examples == 0
    assert proof.distance == proof.bias_distance == 0
    assert verify(proof, model)
