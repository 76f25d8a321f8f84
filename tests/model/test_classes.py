"""Open classes: ascending to the world, whatever the order in which they come."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import make_classification
from sklearn.model_selection import cross_val_score

import onlinesvm
from onlinesvm import (
    LASVC,
    SGDSVC,
    HullerSVC,
    IncrementalSVC,
    KernelPerceptron,
    NormaSVC,
    PassiveAggressiveClassifier,
    PegasosSVC,
    PokerSVC,
    RampSVC,
    SmoSVC,
    StreamSVC,
)

MODELS = [
    HullerSVC(C=10.0, gamma=0.5),
    IncrementalSVC(gamma=0.5),
    KernelPerceptron(),
    LASVC(gamma=0.5),
    NormaSVC(gamma=0.5, bias="free"),
    PassiveAggressiveClassifier(),
    PassiveAggressiveClassifier(kernel="rbf", gamma=0.5),
    PegasosSVC(),
    PokerSVC(gamma=0.5),
    RampSVC(gamma=0.5, bias="kernel"),
    SGDSVC(),
    SmoSVC(gamma=0.5),
    StreamSVC(),
    StreamSVC(kernel="rbf", gamma=0.5, balls=2),
]
ascending = pytest.mark.parametrize("model", MODELS, ids=lambda m: " ".join(repr(m).split()))


def stream(classes: int) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Rows and class numbers; each class first comes in the order of the numbers."""
    rng = np.random.default_rng(classes)
    X = rng.normal(size=(60, 4))
    y = np.argmax(X[:, :classes] + rng.normal(0, 0.3, (60, classes)), axis=1)
    firsts = np.unique(y, return_index=True)[1]
    order = np.concatenate([np.sort(firsts), np.setdiff1d(np.arange(60), firsts)])
    numbers = np.empty(classes, dtype=np.intp)
    numbers[y[np.sort(firsts)]] = np.arange(classes)
    return X[order], numbers[y[order]]


def learned(model: Any, X: Any, y: Any) -> Any:
    model = clone(model).set_params(classes="open")
    if getattr(model, "balls", 1) == 1:  # several balls refuse unlike weights
        model.set_params(class_weight={"a": 2.0, "d": 2.0})
    model.partial_fit(X[:7], y[:7])
    for x, label in zip(X[7:30], y[7:30], strict=True):
        model.learn_one(x, label)
    return model.partial_fit(X[30:], y[30:])


@ascending
@pytest.mark.parametrize("classes", [2, 3])
def test_every_verb_speaks_of_ascending_classes(model: Any, classes: int, tmp_path: Path) -> None:
    """The same stream under two names: in one the classes come ascending, in the other not."""
    X, numbers = stream(classes)
    model = clone(model).set_params(dtype="float64")
    straight = learned(model, X, np.array(["a", "b", "c"])[numbers])
    turned = learned(model, X, np.array(["d", "c", "b"])[numbers])
    turned.save(tmp_path / "turned")
    for other in (turned, onlinesvm.load(tmp_path / "turned")):
        assert other.classes_.tolist() == sorted(other.classes_.tolist())
        assert_mirrored(straight, other, X)
    if isinstance(model, SmoSVC):  # of the last call, which a file does not hold
        assert straight.n_iter_[::-1].tolist() == turned.n_iter_.tolist()


def assert_mirrored(straight: Any, turned: Any, X: NDArray[Any]) -> None:
    """What belongs to the n-th class of one belongs to the n-th from behind of the other."""
    two = len(straight.classes_) == 2

    def mirror(values: Any) -> NDArray[Any]:
        return -np.asarray(values) if two else np.asarray(values)[..., ::-1]

    f = turned.decision_function(X)
    assert np.array_equal(mirror(straight.decision_function(X)), f)
    best = (f > 0).astype(int) if two else f.argmax(axis=1)
    assert turned.predict(X).tolist() == turned.classes_[best].tolist()
    for x, value, label in zip(X, f, turned.predict(X), strict=True):
        assert np.allclose(turned.decide_one(x), value, rtol=1e-9)
        assert turned.predict_one(x) == label
    assert np.array_equal(mirror(straight.intercept_), turned.intercept_)
    for name in ("coef_", "dual_coef_"):
        if hasattr(straight, name):
            assert np.array_equal(mirror(getattr(straight, name).T), getattr(turned, name).T)
    for name in ("n_support_", "radius_"):
        if hasattr(straight, name):
            assert getattr(straight, name)[::-1].tolist() == getattr(turned, name).tolist()


def test_leave_one_out_and_reweight_know_the_order() -> None:
    X, numbers = stream(2)
    y = np.where(numbers == 0, "late", "early")
    model = IncrementalSVC(gamma=0.5, classes="open").partial_fit(X, y)
    left = model.leave_one_out()
    assert left.labels.tolist() == y[left.ids].tolist()
    assert left.predictions.tolist() == model.classes_[(left.scores[:, 0] > 0).astype(int)].tolist()
    assert left.error < 0.4
    weighted = IncrementalSVC(gamma=0.5, classes="open", class_weight={"late": 3.0})
    weighted.partial_fit(X, y).reweight(np.arange(60), 1.0)
    for other in (weighted, IncrementalSVC(gamma=0.5, class_weight={"late": 3.0}).fit(X, y)):
        assert np.allclose(weighted.decision_function(X), other.decision_function(X), atol=1e-6)


@pytest.mark.parametrize("cls", [RampSVC, PassiveAggressiveClassifier, SmoSVC, StreamSVC])
def test_scikit_learn_reads_the_sign(cls: Any) -> None:
    X, y = make_classification(200, 5, class_sep=2.0, random_state=0)
    first = int(np.argmax(y == 1))
    X, y = np.roll(X, -first, axis=0), np.roll(y, -first)  # 1 comes before 0
    model = cls(classes="open")
    assert cross_val_score(model, X, y, scoring="roc_auc", cv=3).min() > 0.9
    calibrated = CalibratedClassifierCV(model, cv=3).fit(X, y)
    assert calibrated.score(X, y) > 0.85


@pytest.mark.parametrize("name", ["two", "three"])
def test_files_of_the_old_order_are_refused_by_name(name: str) -> None:
    """0.1.0 kept classes in order of arrival, and gamma by another meaning."""
    old = Path(__file__).parents[1] / "data" / f"{name}-open-classes-0.1.0.onlinesvm"
    with pytest.raises(ValueError, match=r"format 1 of onlinesvm 0\.1\.0"):
        onlinesvm.load(old)


def test_many_classes_one_by_one_and_at_once() -> None:
    X = np.random.default_rng(0).normal(size=(300, 3))
    y = np.random.default_rng(1).permutation(300)
    whole = PassiveAggressiveClassifier(classes="open").partial_fit(X, y)
    single = PassiveAggressiveClassifier(classes="open")
    for x, label in zip(X, y, strict=True):
        single.learn_one(x, int(label))
    assert whole.classes_.tolist() == list(range(300)) == single.classes_.tolist()
    assert np.array_equal(whole.decision_function(X), single.decision_function(X))


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("options", [{}, {"balls": 3}, {"kernel": "rbf", "gamma": 0.5}])
def test_models_that_met_their_classes_in_another_order_merge(
    options: dict[str, Any], classes: int
) -> None:
    X, numbers = stream(classes)
    y = np.array(["c", "a", "b"])[numbers]

    def merged(*orders: str) -> Any:
        parts = []
        for order, half in zip(orders, (slice(30), slice(30, 60)), strict=True):
            names = [name for name in order if name in y]
            model = StreamSVC(classes="open", **options)
            model.partial_fit(np.zeros((len(names), 4)), names, sample_weight=np.zeros(len(names)))
            parts.append(model.partial_fit(X[half], y[half]))
        return parts[0].merge(parts[1])

    straight = merged("abc", "abc")
    for orders in (("cab", "bac"), ("abc", "cba"), ("bca", "bca")):
        other = merged(*orders)
        assert np.allclose(other.decision_function(X), straight.decision_function(X), rtol=1e-9)
        assert np.allclose(other.radius_, straight.radius_)
        assert np.allclose(other.radius_bound_, straight.radius_bound_)
        other.partial_fit(X[:5] * 2, y[:5])
