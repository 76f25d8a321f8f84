"""Finite data never kills, hangs or gives scores that are no numbers."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

import onlinesvm
from onlinesvm import LASVC, HullerSVC, PassiveAggressiveClassifier, RampSVC

rng = np.random.default_rng(0)
X = rng.normal(size=(30, 3))
y = (X[:, 0] > 0).astype(int)

KERNEL_CLASSES = [
    cls
    for cls in onlinesvm.all_estimators()
    if "kernel" in cls().get_params() and not cls.__name__.startswith("MultiKernel")  # no poly
]


def target(cls: type) -> np.ndarray:
    return X[:, 0] if cls.__name__.endswith(("SVR", "Regressor")) else y


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("kernel", ["rbf", "poly", "laplacian"])
@pytest.mark.parametrize("cls", KERNEL_CLASSES, ids=lambda cls: cls.__name__)
def test_a_row_whose_own_kernel_value_overflows_is_refused(cls, kernel, form):
    huge = np.full((1, 3), 1e200 if cls().get_params().get("dtype") == "float64" else 1e25)
    t = target(cls)
    model = cls(kernel=kernel).fit(form(X), t)
    before = model.predict(form(X))
    with pytest.raises(ValueError, match="scale the features"):
        model.predict(form(huge))
    if hasattr(model, "partial_fit"):
        with pytest.raises(ValueError, match="scale the features"):
            model.partial_fit(form(huge), t[:1])
    np.testing.assert_array_equal(model.predict(form(X)), before)


def test_a_kernel_of_the_user_that_overflows_dtype_is_refused():
    grows = [1.0]

    def kernel(x, Z):
        return grows[0] * (Z @ x)

    model = RampSVC(kernel=kernel).fit(X, y)
    grows[0] = 1e200
    with pytest.raises(ValueError, match="too large for dtype"):
        model.predict(X)


def test_scores_that_overflow_are_refused():
    model = PassiveAggressiveClassifier(C=1e3, dtype="float64").fit(1e-2 * X, y)
    longest = 1.7e308 * np.sign(model.coef_)
    assert np.abs(model.coef_).sum() > 1.1
    with pytest.raises(ValueError, match="scale the features"):
        model.decision_function(longest)
    with pytest.raises(ValueError, match="scale the features"):
        model.decide_one(longest[0])


def test_the_huller_survives_rows_as_long_as_numbers_go():
    model = HullerSVC(C=10.0, kernel="linear")
    rows = [[-8.6e24, -1.2e25], [1.0e25, 5.2e24], [-6.8e24, 2.4e24], [-6.1e24, 1.9e24]]
    with pytest.raises(ValueError, match="scale the features"):
        model.partial_fit(rows, [0, 1, 0, 1], classes=[0, 1])
    small = 1e-7 * np.array(rows)
    model = HullerSVC(C=10.0, kernel="linear").partial_fit(small, [0, 1, 0, 1], classes=[0, 1])
    model.unlearn([3]).partial_fit(small[3:], [1])
    assert np.isfinite(model.decision_function(small)).all()


@pytest.mark.parametrize("seed", range(12))
def test_the_huller_unlearns_within_its_bound_however_short_the_slacks(seed):
    draw = np.random.default_rng(seed)
    rows = draw.normal(size=(20, 2))
    labels = draw.permutation([0, 1] * 10)
    C = 10.0 ** draw.integers(1, 7)
    model = HullerSVC(C=C, kernel="linear", dtype="float64").fit(rows, labels)
    model.unlearn(model.support_[:1])  # pair steps alone: millions, and not there
    assert not model._core.capped
    assert model.kkt_residual() <= 2e-3


def test_lasvm_unlearns_contradictions_at_any_price():
    rows = np.repeat(np.random.default_rng(1).normal(size=(4, 3)), 50, axis=0)
    labels = np.random.default_rng(0).integers(0, 2, 200)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = LASVC(C=1e12).fit(rows, labels)
        model.unlearn([0, 1, 2, 5])
    assert np.isfinite(model.decision_function(rows)).all()


HUGE = 10**400  # of which float() raises an OverflowError
ROWS, LABELS = np.eye(3)[[0, 1, 2, 0]], [0, 1, 0, 1]


def dicts(model):
    return model.partial_fit([{"a": 1}, {"b": 2}], [0, 1], classes=[0, 1])


BEYOND = {
    "X": lambda model: model.partial_fit([[HUGE, 1, 1]], [1]),
    "learn_one": lambda model: model.learn_one([HUGE, 1, 1], 1),
    "weights": lambda model: model.partial_fit(ROWS, LABELS, sample_weight=[HUGE] * 4),
    "w": lambda model: model.learn_one(ROWS[0], 1, HUGE),
    "label": lambda model: model.learn_one(ROWS[0], HUGE),
    "predict_one": lambda model: model.predict_one([HUGE, 1, 1]),
    "params": lambda model: model.set_params(C=HUGE).partial_fit(ROWS, LABELS),
    "class_weight": lambda model: model.set_params(class_weight={0: HUGE}).fit(ROWS, LABELS),
    "mixed": lambda model: onlinesvm.LASVC().fit([{"a": 1}, [1]], [0, 1]),
    "mixed pipeline": lambda model: pipeline().partial_fit([{"a": 1}, [1]], [0, 1]),
    "mixed calibration": lambda model: calibrated().partial_fit([{"a": 1}, None], [0, 1]),
    "dicts": lambda model: onlinesvm.LASVC().fit([{"a": HUGE}, {"a": 1}], [0, 1]),
    "pipeline": lambda model: pipeline().partial_fit([{"a": HUGE}], [0]),
    "calibration": lambda model: calibrated().partial_fit([{"a": HUGE}], [0]),
    "columns": lambda model: columns().partial_fit([{"a": HUGE}], [0]),
    "budget": lambda model: onlinesvm.BudgetedSVC(budget=HUGE).fit(ROWS, LABELS),
    "bank": lambda model: bank().learn_one("a", ROWS[0], 1, HUGE),
    "target": lambda model: onlinesvm.NormaSVR().fit(ROWS, [HUGE] * 4),
    "next target": lambda model: onlinesvm.NormaSVR().fit(ROWS, [1.0] * 4).learn_one(ROWS[0], HUGE),
    "reweight": lambda model: onlinesvm.IncrementalSVC().fit(ROWS, LABELS).reweight([0], [HUGE]),
}


def calibrated():
    return onlinesvm.CalibratedOnline(onlinesvm.SGDSVC(classes=[0, 1]))


def pipeline():
    return onlinesvm.make_online_pipeline(onlinesvm.OnlineScaler(), onlinesvm.LASVC(classes=[0, 1]))


def columns():
    numbers = onlinesvm.OnlineColumns([("n", onlinesvm.OnlineScaler(), "numbers")])
    return onlinesvm.make_online_pipeline(numbers, onlinesvm.LASVC(classes=[0, 1]))


def bank():
    return onlinesvm.ModelBank(onlinesvm.SGDSVC(classes=[0, 1]))


@pytest.mark.parametrize("where", BEYOND)
def test_integers_beyond_all_floats_are_refused_in_one_line(where):
    model = onlinesvm.LASVC().fit(ROWS, LABELS)
    before = model.decision_function(ROWS)
    with pytest.raises(ValueError) as told:
        BEYOND[where](model)
    assert "\n" not in str(told.value)
    assert len(str(told.value)) < 600
    assert np.array_equal(model.decision_function(ROWS), before)


@pytest.mark.parametrize("learned", [0, 1])
def test_a_dict_with_an_integer_beyond_all_floats_is_refused(learned):
    model = dicts(onlinesvm.PassiveAggressiveClassifier())
    if learned:  # the short way is open
        model.learn_one({"a": 1}, 1)
    before = model.decision_function([{"a": 1}])
    for verb in (
        lambda: model.learn_one({"a": HUGE}, 1),
        lambda: model.learn_one({"new": HUGE}, 1),
        lambda: model.predict_one({"a": HUGE}),
        lambda: model.decide_one({"a": HUGE}),
    ):
        with pytest.raises(ValueError, match="too large"):
            verb()
    assert np.array_equal(model.decision_function([{"a": 1}]), before)
    assert model.n_features_in_ == 2


@pytest.mark.parametrize("gamma", ["scale", 1.0])
def test_sparse_rows_are_refused_as_dense_ones_are(gamma):
    X = sp.csr_array(np.ones((4, 3)) * 1e155)
    for rows in (X, X.toarray()):
        with pytest.raises(ValueError, match="scale the features"):
            onlinesvm.LASVC(gamma=gamma, dtype="float64").fit(rows, LABELS)


def test_a_tiny_alpha_is_no_error():
    model = onlinesvm.NormaSVC(alpha=1e-300).fit(ROWS, LABELS)
    assert np.isfinite(model.decision_function(ROWS)).all()


FAR = [
    ("IndependentSVC", {"kernel": "poly"}, 1e8, 1.0),
    ("IndependentSVC", {"kernel": "linear", "dtype": "float32"}, 1e15, 1.0),
    ("IndependentSVR", {"kernel": "rbf"}, 1e8, 1e30),
    ("BudgetedSVC", {"kernel": "poly", "dtype": "float64"}, 1e8, 1e300),
    ("KernelPerceptron", {"kernel": "linear", "dtype": "float64"}, 1e308, 1.0),
    ("NormaSVR", {"kernel": "linear", "dtype": "float64"}, 1e200, 1.0),
    ("NormaOneClassSVM", {"kernel": "linear"}, 1e15, 1e300),
    ("PokerSVR", {"kernel": "poly", "dtype": "float64"}, 1e8, 1e300),
    ("SGDSVC", {}, 1e8, 1e300),
]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(("name", "params", "value", "weight"), FAR)
def test_no_row_is_learned_after_which_every_prediction_raises(name, params, value, weight):
    cls = getattr(onlinesvm, name)
    model, targets = cls(**params), target(cls)
    known = {"classes": [0, 1]} if name.endswith(("SVC", "Perceptron")) else {}
    model.partial_fit(X, targets, **known)
    before = scores(model)
    for rows, labels in ([[]], []), (X[:2], targets[:2]):  # alone, and among others
        far = [*np.asarray(rows).reshape(-1, 3), [value, -value / 3, value]]
        weights = [*np.ones(len(labels)), weight]
        try:
            model.partial_fit(far, [*labels, 0], sample_weight=weights)
            refusal = ""
        except ValueError as error:
            refusal = str(error)
        if refusal:
            assert "scale the features" in refusal
            assert np.array_equal(scores(model), before)
        else:
            before = scores(model)
            assert np.isfinite(before).all()


def scores(model):
    return model.decision_function(X) if hasattr(model, "decision_function") else model.predict(X)
