"""Our estimators pass river's own checks and live in river's pipelines."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any
from unittest import mock

import pytest

pytest.importorskip("river")

from river import anomaly, checks, datasets, ensemble, evaluate, metrics, preprocessing
from sklearn.base import clone

import onlinesvm
from onlinesvm.checks import fingerprint
from onlinesvm.interop.river import RiverClassifier, to_river

STREAMING = [
    model
    for model in (cls() for cls in onlinesvm.all_estimators())
    if hasattr(model, "partial_fit")
]


class OddOnes:
    """What river's checks of detectors learn, in place of a file that they would download."""

    def take(self, n: int) -> Iterator[tuple[dict[str, float], bool]]:
        rng = random.Random(n)
        for _ in range(n):
            odd = rng.random() < 0.05
            yield {name: rng.gauss(3.0 * odd, 1.0) for name in "abcdef"}, odd


@pytest.fixture(autouse=True)
def odd_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(datasets, "CreditCard", OddOnes)


def cases() -> list[Any]:
    with mock.patch.object(datasets, "CreditCard", OddOnes):
        return _cases()


def _cases() -> list[Any]:
    return [
        pytest.param(model, check, id=f"{type(model).__name__}-{check.__name__}-{k}")
        for model in STREAMING
        for k, check in enumerate(checks.yield_checks(to_river(model)))
        if affordable(model, check) and promised(model, check)
    ]


def affordable(model: Any, check: Any) -> bool:
    """Thousands of rows one by one, each call solved as a whole, are minutes that teach nothing."""
    return model._any_cut_gives == "bits" or check.__name__ != "check_bounded_memory_growth"


def promised(model: Any, check: Any) -> bool:
    """Names have their random frequencies in order of arrival, which the first dict decides."""
    mixture = isinstance(model, onlinesvm.MultiKernelClassifier | onlinesvm.MultiKernelRegressor)
    return not (mixture and check.__name__ == "check_shuffle_features_no_impact")


@pytest.mark.parametrize(("model", "check"), cases())
def test_rivers_checks(model: Any, check: Any) -> None:
    random.seed(0)  # river shuffles features; float32 sums in another order may flip a near tie
    if isinstance(model, onlinesvm.LASVC):
        # A step leaves two equal gradients, and rounding says whose turn is next: with a kernel as
        # narrow as this, either way leads to the same predictions.
        model = clone(model).set_params(gamma=1.0)
    if isinstance(model, onlinesvm.RampSVC):
        # Many at once are what one at a time gives where the model settles after each example. Sums
        # in another order end elsewhere within tol, which decides near ties.
        model = clone(model).set_params(settle="example", tol=1e-4)
    if isinstance(model, onlinesvm.NormaOneClassSVM):
        # Sums of float32 in another order differ in the sixth digit, which river looks at.
        model = clone(model).set_params(dtype="float64")
    check(to_river(model))


@pytest.mark.parametrize("cls", [onlinesvm.FourierFeatures, onlinesvm.NystroemFeatures])
def test_kernel_features(cls: type) -> None:
    for check in checks.yield_checks(to_river(cls(gamma=1.0))):
        # Frequencies are those of a column, and names get their columns in order of arrival.
        if cls is onlinesvm.NystroemFeatures or "shuffle_features" not in check.__name__:
            check(to_river(cls(gamma=1.0)))
    model = (
        preprocessing.StandardScaler()
        | to_river(cls(gamma=0.1))
        | to_river(onlinesvm.PegasosSVC(1e-3))
    )
    score = evaluate.progressive_val_score(datasets.Phishing(), model, metrics.Accuracy())
    assert score.get() > 0.8


def test_our_scaler_in_a_river_pipeline() -> None:
    for check in checks.yield_checks(to_river(onlinesvm.OnlineScaler())):
        check(to_river(onlinesvm.OnlineScaler()))
    ours = onlinesvm.OnlineScaler()
    model = to_river(ours) | to_river(onlinesvm.PegasosSVC(1e-3))
    score = evaluate.progressive_val_score(datasets.Phishing(), model, metrics.Accuracy())
    assert score.get() > 0.8


PIPED = [
    onlinesvm.PassiveAggressiveClassifier(),
    onlinesvm.PassiveAggressiveRegressor(),
]


@pytest.mark.parametrize("last", PIPED, ids=lambda model: type(model).__name__)
def test_our_pipelines_pass_rivers_checks(last: Any) -> None:
    model = onlinesvm.make_online_pipeline(onlinesvm.OnlineScaler(warm_up=20), last)
    for check in checks.yield_checks(to_river(model)):
        if check.__name__ != "check_bounded_memory_growth":  # thousands of dicts, each held a while
            random.seed(0)
            check(to_river(model))


def test_our_pipeline_under_rivers_evaluation() -> None:
    ours = onlinesvm.make_online_pipeline(onlinesvm.OnlineScaler(), onlinesvm.PegasosSVC(1e-3))
    model = to_river(ours)
    score = evaluate.progressive_val_score(datasets.Phishing(), model, metrics.Accuracy())
    assert score.get() > 0.8
    assert not ours.__sklearn_is_fitted__()
    assert ours[-1].classes is None


def test_progressive_validation_in_a_pipeline() -> None:
    model = preprocessing.StandardScaler() | RiverClassifier(
        onlinesvm.PassiveAggressiveClassifier(C=0.01)
    )
    score = evaluate.progressive_val_score(datasets.Phishing(), model, metrics.Accuracy())
    assert score.get() > 0.85


def test_the_wrapped_model_stays_unlearned() -> None:
    ours = onlinesvm.PassiveAggressiveClassifier()
    model = to_river(ours)
    model.learn_one({"a": 1.0}, True)
    assert not ours.__sklearn_is_fitted__()
    assert ours.classes is None


def test_what_was_learned_goes_along_and_a_clone_begins_anew() -> None:
    ours = onlinesvm.PassiveAggressiveClassifier(classes=[False, True])
    for x, y in datasets.Phishing().take(200):
        ours.learn_one(x, y)
    before = fingerprint(ours)
    model = to_river(ours)
    rows = [x for x, _ in datasets.Phishing().take(50)]
    assert [model.predict_one(x) for x in rows] == [ours.predict_one(x) for x in rows]
    model.learn_one(rows[0], True)
    assert fingerprint(ours) == before
    fresh = model.clone()
    assert not fresh._learner.__sklearn_is_fitted__()


def test_a_detector_finds_what_is_unusual() -> None:
    rng = random.Random(0)
    model = to_river(onlinesvm.NormaOneClassSVM(gamma=0.5))
    assert model.score_one({"a": 0.0, "b": 0.0}) == 0.5
    for _ in range(500):
        model.learn_one({"a": rng.gauss(0, 1), "b": rng.gauss(0, 1)})
    assert model.score_one({"a": 8.0, "b": -8.0}) > 0.5 > model.score_one({"a": 0.1, "b": 0.0})
    auc = metrics.ROCAUC()
    for _ in range(200):
        odd = rng.random() < 0.2
        x = {"a": rng.gauss(4 * odd, 1), "b": rng.gauss(-4 * odd, 1)}
        auc.update(odd, model.score_one(x))
    assert auc.get() > 0.95
    guarded = anomaly.ThresholdFilter(model, threshold=0.5)
    assert guarded.classify(guarded.score_one({"a": 9.0, "b": 9.0}))


def test_a_pipeline_that_ends_with_a_detector() -> None:
    last = onlinesvm.NormaOneClassSVM(gamma=0.5)
    model = to_river(onlinesvm.make_online_pipeline(onlinesvm.OnlineScaler(warm_up=50), last))
    rng = random.Random(1)
    for _ in range(300):
        model.learn_one({"a": rng.gauss(100, 5), "b": rng.gauss(0, 0.01)})
    assert model.score_one({"a": 100.0, "b": 0.5}) > model.score_one({"a": 100.0, "b": 0.0})


def test_without_probabilities_rivers_metrics_are_told_what_to_do() -> None:
    model = to_river(onlinesvm.SGDSVC())
    with pytest.raises(NotImplementedError, match=r"to_river\(CalibratedOnline\(SGDSVC"):
        evaluate.progressive_val_score(datasets.Phishing().take(3), model, metrics.ROCAUC())


def test_probabilities_for_rivers_metrics_and_ensembles() -> None:
    calibrated = onlinesvm.CalibratedOnline(onlinesvm.SGDSVC())
    bag = ensemble.ADWINBaggingClassifier(to_river(calibrated), n_models=3, seed=1)
    for model in (to_river(calibrated), bag):
        loss, auc = metrics.LogLoss(), metrics.ROCAUC()
        evaluate.progressive_val_score(datasets.Phishing().take(600), model, loss + auc)
        assert loss.get() < 0.5  # a coin has 0.69
        assert auc.get() > 0.85


def test_learn_many_is_learn_one() -> None:
    pd = pytest.importorskip("pandas")
    X, y = zip(*datasets.Phishing().take(100), strict=True)
    one, many = (to_river(onlinesvm.PassiveAggressiveClassifier()) for _ in range(2))
    for x, label in zip(X, y, strict=True):
        one.learn_one(x, label)
    many.learn_many(pd.DataFrame(X[:40]), pd.Series(y[:40]))
    many.learn_many(pd.DataFrame(X[40:]), pd.Series(y[40:]))
    assert fingerprint(one._learner) == fingerprint(many._learner)
    predicted = many.predict_many(pd.DataFrame(X, index=range(7, 107)))
    assert predicted.index[0] == 7
    assert predicted.tolist() == [one.predict_one(x) for x in X]


def test_polars_in_polars_out() -> None:
    pl = pytest.importorskip("polars")
    model = to_river(onlinesvm.PassiveAggressiveRegressor())
    frame = pl.DataFrame({"a": [1.0, 2.0, 3.0]})
    assert model.predict_many(frame).to_list() == [0.0, 0.0, 0.0]
    model.learn_many(frame, pl.Series([1.0, 2.0, 3.0]))
    assert isinstance(model.predict_many(frame), pl.Series)
