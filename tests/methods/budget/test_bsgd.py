"""BSGD: mergers by hand, every step against the twin, the budget, the ramp and its leak."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from contract import Contract, weights_are_not_copies
from oracles import NASTY, ONE_PASS, blobs

from onlinesvm import BudgetedRampSVC, BudgetedSVC, BudgetedSVR, PegasosSVC
from onlinesvm.reference import Kernel
from onlinesvm.reference.bsgd import Bsgd, ramp
from onlinesvm.reference.function import tube

not_copies = weights_are_not_copies("an example of weight 2 takes one longer step, not two steps")
CONTRACT = {
    "BudgetedSVC": Contract(
        variants=[
            {"maintenance": "project", "kernel": "poly", "budget": 10, "classes": "open"},
            {"maintenance": "remove", "t0": "scale", "budget": 10, "dtype": "float64"},
            {"budget": 10, "bias": "kernel", "class_weight": {"ash": 2.0}},
            {"kernel": "linear"},
        ],
        expected_failures=not_copies,
    ),
    "BudgetedRampSVC": Contract(
        variants=[{"budget": 10, "leak": 0.0}], expected_failures=not_copies
    ),
    "BudgetedSVR": Contract(
        variants=[{"budget": 10, "maintenance": "project"}], expected_failures=not_copies
    ),
}

RULES = ["merge", "project", "remove"]
rules = pytest.mark.parametrize("rule", RULES)
LABELS = [-1.0, 1.0]


def small(cls: Any = BudgetedSVC, **options: Any) -> Any:
    """A model to be compared with the twin: float64, and few examples."""
    given = {"budget": 8, "alpha": 0.05, "gamma": 0.7, "dtype": "float64"}
    labels = {} if cls is BudgetedSVR else {"classes": LABELS}
    return cls(**given | labels | ONE_PASS | options)


def twin_of(model: Any, outputs: int = 1) -> Bsgd:
    task, level = tube, getattr(model, "epsilon", 0.0)
    if not isinstance(model, BudgetedSVR):
        task, level = ramp(getattr(model, "s", -math.inf), getattr(model, "leak", 1.0)), 1.0
    kernel = Kernel(model.kernel, gamma=model.gamma, offset=float(model.bias == "kernel"))
    rule = "merge" if model.maintenance == "auto" else model.maintenance
    return Bsgd(
        kernel,
        lam=model.alpha,
        t0=model.t0,
        budget=model.budget,
        rule=rule,
        task=task,
        level=level,
        outputs=outputs,
    )


# ---- a merger ------------------------------------------------------------------------------------


def test_a_merger_by_hand():
    """s = (1, 1/2) and k = 0.8: h = .68473, s_z = 1.42840, and .0096814 of |f|^2 is lost."""
    twin = Bsgd(Kernel("rbf", gamma=1.0))
    twin.X, twin.s = np.array([[0.0], [math.sqrt(-math.log(0.8))]]), np.array([[1.0, 0.5]])
    loss, z, s_z = twin.merger(0, 1)
    assert loss == pytest.approx(0.0096814, rel=1e-4)
    assert s_z[0] == pytest.approx(1.42840, rel=1e-5)
    assert 1 - z[0] / twin.X[1, 0] == pytest.approx(0.68473, rel=1e-4)


def state_of(model: Any) -> tuple[np.ndarray, np.ndarray]:
    return model.support_vectors_, np.atleast_2d(model.dual_coef_)


@pytest.mark.parametrize("bias", ["none", "kernel"])
@pytest.mark.parametrize("classes", [2, 4])
def test_every_merger_is_one_of_the_best(bias, classes):
    """Taken apart after every example: who went, where z lies, and what others would have lost."""
    X, y = np.random.default_rng(1).normal(size=(150, 3)), np.arange(150) * 7 % classes
    y[::9] = 0
    names = LABELS if classes == 2 else list(range(classes))
    model = small(bias=bias, classes=names, gamma=0.3)
    outputs = 1 if classes == 2 else classes
    mergers = 0
    for x, label in zip(X, y, strict=True):
        twin = twin_of(model, outputs)
        if hasattr(model, "classes_"):
            twin.X, twin.s = (part.copy() for part in state_of(model))
            twin.past = [twin.s] * (model.n_seen_ + 1)
        twin.budget += 1  # the step alone, without its upkeep
        twin.learn(x, names[label] if outputs == 1 else label)
        model.learn_one(x, names[label])
        after, s = state_of(model)
        if len(twin.X) <= model.budget:
            np.testing.assert_allclose(s, twin.s, rtol=1e-9)
            continue
        mergers += 1
        lengths = (twin.s**2).sum(axis=0)
        gone = [i for i, row in enumerate(twin.X) if not (np.abs(after - row) < 1e-12).all(1).any()]
        new = [row for row in after if not (np.abs(twin.X - row) < 1e-12).all(1).any()]
        assert (len(gone), len(new)) == (2, 1)
        p, q = sorted(gone, key=lambda i: (round(lengths[i], 8), -i))
        loss = twin.merger(p, q)[0]  # h may be one of two that are equally good
        points, coef = np.r_[twin.X, after], np.c_[twin.s, -s]
        change = np.einsum("ri,ij,rj", coef, twin.kernel(points, points), coef)
        assert change == pytest.approx(loss, rel=1e-6, abs=1e-10)
        mates = (twin.s.T @ twin.s[:, p] > 0) & (np.arange(len(lengths)) != p)
        assert mates[q]
        losses = [twin.merger(p, int(i))[0] for i in np.flatnonzero(mates)]
        assert loss <= min(losses) / 0.99 + 1e-12
        shorter = np.flatnonzero(lengths < lengths[p] * (1 - 1e-9))
        for i in shorter:  # they have nobody on their side
            assert ((twin.s.T @ twin.s[:, i] > 0).sum()) == 1
    assert mergers > 30


# ---- whole streams -------------------------------------------------------------------------------


@pytest.mark.parametrize("rule", ["project", "remove"])
@pytest.mark.parametrize("kernel", ["rbf", "linear", "laplacian"])
@pytest.mark.parametrize("cls", [BudgetedSVC, BudgetedRampSVC, BudgetedSVR])
def test_equals_the_twin_after_every_example(rule, kernel, cls):
    stream = blobs(2, 60, 4, noise=0.1)
    weights = np.random.default_rng(3).choice([0.0, 0.5, 1.0, 3.0], size=60)
    model = small(cls, maintenance=rule, kernel=kernel, bias="kernel", budget=6)
    if kernel == "linear":
        model.set_params(budget=1000)  # weights need no budget
    twin = twin_of(model)
    for x, y, weight in zip(stream.X, stream.y, weights, strict=True):
        model.learn_one(x, y, weight)
        twin.learn(x, y, weight)
        expected = np.array([twin.score(row)[0] for row in stream.X[:8]])
        got = (
            model.predict(stream.X[:8])
            if cls is BudgetedSVR
            else model.decision_function(stream.X[:8])
        )
        np.testing.assert_allclose(got, expected, atol=1e-6 * (1 + np.abs(expected).max()))


def test_a_budget_that_is_never_reached_is_pegasos():
    stream = blobs(4, 80, 3)
    model = small(budget=1000, bias="kernel").partial_fit(stream.X, stream.y)
    pegasos = PegasosSVC(
        0.05, kernel="rbf", gamma=0.7, t0=0.0, project=False, average=False, classes=LABELS
    ).partial_fit(stream.X, stream.y)
    np.testing.assert_allclose(
        model.decision_function(stream.X), pegasos.decision_function(stream.X), atol=1e-9
    )


@rules
@pytest.mark.parametrize("kind", NASTY, ids=lambda kind: kind.__name__)
def test_the_budget_holds_after_every_call(rule, kind):
    stream = kind(5, 60)
    model = small(maintenance=rule, budget=5)
    for x, y in zip(stream.X, stream.y, strict=True):
        model.learn_one(x, y)
        assert len(model.support_) <= 5
        assert np.isfinite(model.decision_function(stream.X)).all()


@pytest.mark.parametrize("rule", ["merge", "remove"])
def test_a_rare_class_is_not_crowded_out(rule):
    """The budget is full of one class when the first of the other comes."""
    rng = np.random.default_rng(6)
    X = np.r_[rng.normal(size=(300, 2)), rng.normal(5, 1, size=(3, 2)), rng.normal(size=(300, 2))]
    y = np.r_[np.full(300, -1.0), np.ones(3), np.full(300, -1.0)]
    model = small(maintenance=rule, budget=4, alpha=1e-3).partial_fit(X, y)
    assert (model.dual_coef_ > 0).any()
    assert (model.dual_coef_ < 0).any()
    assert model.predict([[5.0, 5.0]]) == [1.0]


@rules
@pytest.mark.parametrize("form", ["dense", "sparse"])
def test_a_budget_in_bytes(rule, form):
    """The memory is never more, little of it lies idle, and any cut gives the same."""
    from scipy.sparse import csr_array

    rng = np.random.default_rng(7)
    X = rng.normal(size=(1500, 40)) * (rng.random((1500, 40)) < (0.2 if form == "sparse" else 1))
    y = np.where(np.abs(X[:, :2]).sum(axis=1) > 1, 1.0, -1.0)
    X = csr_array(X) if form == "sparse" else X
    model = small(maintenance=rule, budget="200kB", dtype="float32")
    for start in range(0, 1500, 60):
        model.partial_fit(X[start : start + 60], y[start : start + 60])
        assert model.nbytes_ <= 200_000
    # A matrix grows by steps, and changes that wait beside it have their room.
    assert model.nbytes_ > (45_000 if rule == "project" else 100_000)
    whole = small(maintenance=rule, budget="200kB", dtype="float32").partial_fit(X, y)
    assert (whole.decision_function(X) == model.decision_function(X)).all()
    kept = len(model.support_)
    assert (model.support_ < 0).any() == (rule == "merge" and form == "dense")
    more = small(maintenance=rule, budget="400kB", dtype="float32").partial_fit(X, y)
    assert len(more.support_) > 1.2 * kept


def test_an_endless_vocabulary_does_not_fill_the_memory():
    """Sparse rows that bring ever new features: those that no example has are forgotten."""
    from scipy.sparse import csr_array

    rng = np.random.default_rng(8)
    model = BudgetedSVC(budget="1MB", gamma=0.5, classes=[0, 1])
    sizes = []
    for part in range(30):
        where = rng.integers(part * 3000, part * 3000 + 6000, size=(300, 30))
        X = csr_array(
            (rng.normal(size=9000), where.ravel(), np.arange(0, 9001, 30)), shape=(300, 100_000)
        )
        X.sum_duplicates()
        model.partial_fit(X, rng.integers(0, 2, 300))
        sizes.append(model.nbytes_)
    assert max(sizes) <= 1e6
    assert sizes[-1] <= 1.3 * sizes[10]


def test_too_few_bytes_are_refused_and_nothing_is_lost():
    model = small(budget="1kB", dtype="float32")
    with pytest.raises(ValueError, match=r"^budget: too few bytes for two examples"):
        model.partial_fit(np.eye(3), [1.0, -1.0, 1.0])
    assert not hasattr(model, "classes_") or model.n_seen_ == 0


def test_merging_needs_the_gaussian_kernel():
    with pytest.raises(ValueError, match=r"maintenance='merge' needs kernel='rbf'"):
        small(kernel="poly", maintenance="merge").learn_one([1.0, 2.0], 1.0)
    assert small(kernel="poly").learn_one([1.0, 2.0], 1.0) is not None


# ---- what it is for ------------------------------------------------------------------------------


def board(seed: int, n: int, flips: float) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.uniform(0, 4, size=(n, 2))
    y = np.where(np.floor(X).sum(axis=1) % 2, 1.0, -1.0)
    return X, np.where(rng.random(n) < flips, -y, y)


@pytest.mark.parametrize("alpha", [1e-3, 1e-4])
def test_the_ramp_bears_wrong_labels(alpha):
    (X, y), (clean, truth) = board(8, 40_000, 0.15), board(9, 5_000, 0.0)
    common = {"budget": 100, "alpha": alpha, "gamma": 2.0, "classes": LABELS}
    hinge = BudgetedSVC(t0="scale", **common).partial_fit(X, y).score(clean, truth)
    robust = BudgetedRampSVC(**common).partial_fit(X, y).score(clean, truth)
    assert robust > max(hinge, 0.94)


def test_without_a_leak_what_was_learned_wrongly_stays():
    """All labels turn over: the leak is what comes back from that."""
    (X, y), (clean, truth) = board(10, 20_000, 0.0), board(11, 2_000, 0.0)
    common = {"budget": 100, "alpha": 1e-4, "gamma": 2.0, "classes": LABELS}
    stuck = BudgetedRampSVC(leak=0.0, **common).partial_fit(X, y).partial_fit(X, -y)
    free = BudgetedRampSVC(**common).partial_fit(X, y).partial_fit(X, -y)
    assert free.score(clean, -truth) > 0.9 > 0.6 > stuck.score(clean, -truth)
