"""kkt_residual() and objective() against conditions written down here, in double."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from oracles import blobs
from sklearn.exceptions import ConvergenceWarning

from onlinesvm import (
    LASVC,
    CoreVectorSVC,
    HullerSVC,
    IncrementalSVC,
    OfflineRampSVC,
    PokerSVC,
    RampSVC,
    SmoSVC,
)
from onlinesvm.core import create

Array = NDArray[np.float64]
N = 60
BOXED = [IncrementalSVC, PokerSVC, SmoSVC, LASVC, RampSVC, OfflineRampSVC]
SQUARED = [CoreVectorSVC, HullerSVC]


def kernel(name: str, A: Array, B: Array) -> Array:
    if name == "linear":
        return A @ B.T
    return np.asarray(np.exp(-0.5 * ((A[:, None] - B[None]) ** 2).sum(axis=-1)))


def fitted(cls: Any, name: str, C: float, scale: float = 1.0, **more: Any) -> tuple[Any, ...]:
    """A model of float32 rows with those it holds: rows, labels, alpha and f in double."""
    stream = blobs(3, N)
    X = (scale * stream.X).astype(np.float32).astype(np.float64)
    if cls in (RampSVC, OfflineRampSVC):
        more = {"gain_tol": 0.0} | more
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = cls(C=C, kernel=name, gamma=0.5, dtype="float32", **more).fit(X, stream.y)
    held = np.sort(np.asarray(model._core.labels()[0]))
    s = np.zeros(N)
    s[model.support_] = model.dual_coef_[0]
    f = kernel(name, X, X) @ s + model.intercept_[0]
    return model, stream.y[held], np.abs(s[held]), f[held]


@pytest.mark.parametrize("C", [1.0, 1e4])
@pytest.mark.parametrize("name", ["linear", "rbf"])
@pytest.mark.parametrize("cls", BOXED, ids=lambda cls: cls.__name__)
def test_of_a_box_it_is_what_the_definition_says(cls, name, C):
    model, y, alpha, f = fitted(cls, name, C)
    g = 1 - y * f
    off = np.where(alpha == 0, np.maximum(g, 0), np.where(alpha == C, np.maximum(-g, 0), np.abs(g)))
    if cls in (RampSVC, OfflineRampSVC):
        off[(alpha == 0) & (g > 2)] = 0  # beyond the ramp
        off = np.maximum(off, np.where(alpha > 0, g - 2, 0))
        balance = 0.0
    else:
        balance = abs(float(y @ alpha))
    want = max(off.max(), balance)
    assert model.kkt_residual() == pytest.approx(want, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("C", [1.0, 1e4])
@pytest.mark.parametrize("name", ["linear", "rbf"])
@pytest.mark.parametrize("cls", SQUARED, ids=lambda cls: cls.__name__)
def test_of_squared_slacks_too(cls, name, C):
    model, y, alpha, f = fitted(cls, name, C)
    g = 1 - y * f - alpha / C
    off = np.where(alpha == 0, np.maximum(g, 0), np.abs(g))
    assert model.kkt_residual() == pytest.approx(off.max(), rel=1e-6, abs=1e-9)


def test_the_dual_value_is_in_double_as_well():
    for cls in (SmoSVC, LASVC):
        model, y, alpha, f = fitted(cls, "linear", 1e4)
        dual = alpha.sum() - 0.5 * (y * alpha) @ (f - model.intercept_[0])
        assert model.objective() == pytest.approx(dual, rel=1e-9)


def test_an_example_on_the_wrong_side_of_the_ramp_is_seen():
    stream = blobs(1, 200, noise=0.3)
    model = RampSVC(C=5.0, gamma=2.0, gain_tol=0.0, dtype="float64", tol=1e-6)
    model.fit(stream.X, stream.y)
    assert model.kkt_residual() <= 1e-6
    g = 1 - stream.y * model.decision_function(stream.X)
    beyond, inside = np.flatnonzero(g > 2), np.flatnonzero(g < 0)
    state = model._core.state()
    by_id = np.argsort(state["rows.ids"])

    def residual_with(example: int, bound: float) -> float:
        altered = {name: np.array(array) for name, array in state.items()}
        slot, y = by_id[example], stream.y[example]
        altered["box0.lo"][slot] = min(0.0, y * bound)
        altered["box0.hi"][slot] = max(0.0, y * bound)
        other = create(model._core_name, model._core_settings)
        other.load(altered)
        return float(other.kkt_residual())

    assert len(beyond)
    assert len(inside)
    assert residual_with(beyond[0], 5.0) >= g[beyond[0]] - 2 - 1e-9  # in V, though beyond
    assert residual_with(inside[0], 0.0) >= 2 - g[inside[0]] - 1e-9  # outside, though inside


@pytest.mark.parametrize("worse", [0, 1, 2])
def test_of_several_outputs_it_is_the_worst_of_them(worse):
    """A coefficient of one output is spoilt; the residual is that of this output, by hand."""
    X, C = np.random.default_rng(1).normal(size=(N, 2)), 2.0
    y = np.digitize(X[:, 0] + 0.3 * X[:, 1], [-0.5, 0.5])
    model = IncrementalSVC(C=C, gamma=0.5, multiclass="one-vs-rest").fit(X, y)
    state = model._core.state()
    s = state[f"box{worse}.s"].copy()
    spoilt = int(np.flatnonzero((np.abs(s) > 0.1) & (np.abs(s) < C - 0.1))[0])
    s[spoilt] *= 1.05
    model._core.load({**state, f"box{worse}.s": s})
    signs = np.where(y == worse, 1.0, -1.0)
    coef = np.zeros(N)
    coef[model.support_] = model.dual_coef_[worse]
    alpha, f = np.abs(coef), kernel("rbf", X, X) @ coef + model.intercept_[worse]
    g = 1 - signs * f
    off = np.where(alpha == 0, np.maximum(g, 0), np.where(alpha == C, np.maximum(-g, 0), np.abs(g)))
    want = max(float(off.max()), abs(float(coef.sum())))
    assert want > 1e-3
    assert model.kkt_residual() == pytest.approx(want, rel=1e-6)


@pytest.mark.parametrize("scale", [1.0, 1000.0])
@pytest.mark.parametrize("name", ["linear", "rbf"])
@pytest.mark.parametrize("cls", [*BOXED, *SQUARED], ids=lambda cls: cls.__name__)
def test_who_misses_tol_says_so_and_nobody_else_does(cls, name, scale):
    """Long rows under a linear kernel are beyond float32; ordinary data warn of nothing."""
    stream = blobs(3, 40)
    for C in (1.0, 1e4):
        if scale > 1 and cls in (LASVC, SmoSVC, HullerSVC, OfflineRampSVC) and name == "linear":
            continue  # steps without end, which a cap reports
        more = {"gain_tol": 0.0} if cls in (RampSVC, OfflineRampSVC) else {}
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            model = cls(C=C, kernel=name, **more).fit(scale * stream.X, stream.y)
            if hasattr(model, "finish"):
                model.finish()
        told = any(issubclass(w.category, ConvergenceWarning) for w in said)
        assert told == (model.kkt_residual() > model.tol), f"C = {C}: {model.kkt_residual()}"


def test_the_warning_names_the_remedy():
    stream = blobs(3, 40)
    model = IncrementalSVC(dtype="float32")
    with pytest.warns(ConvergenceWarning, match=r"tol=1e-08; use dtype='float64', scale the"):
        model.fit(stream.X, stream.y)


def test_a_stream_is_checked_as_it_grows():
    """Once for each quarter more, and never for every small call."""
    stream = blobs(3, 400)
    model, checks = IncrementalSVC(classes=[-1.0, 1.0]), 0
    for i in range(400):
        model.partial_fit(stream.X[i : i + 1], stream.y[i : i + 1])
        checks += model._state.unchecked == 0
    assert 15 <= checks <= 40
