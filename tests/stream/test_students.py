"""Whoever learns from a stream can be tested on one: ours, scikit-learn's, river's, in any rows."""

import math

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from river import anomaly, compose, linear_model, metrics, naive_bayes, preprocessing, utils
from sklearn import metrics as sk
from sklearn.linear_model import SGDClassifier, SGDOneClassSVM, SGDRegressor
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, PowerTransformer, StandardScaler
from sklearn.svm import SVC

from onlinesvm import (
    NormaOneClassSVM,
    NystroemFeatures,
    PassiveAggressiveClassifier,
    PassiveAggressiveOneClass,
    PassiveAggressiveRegressor,
)
from onlinesvm.interop.river import to_river
from onlinesvm.stream import evaluate, lessons, prequential
from onlinesvm.stream.students import kind_of

rng = np.random.default_rng(5)
N = 240
X = rng.normal(size=(N, 3))
LABELS = np.where(X @ [1.0, -1.0, 0.5] + 0.3 * rng.normal(size=N) > 0, "yes", "no")
TARGETS = X @ [1.0, -1.0, 0.5] + 2
UNUSUAL = np.where(rng.random(N) < 0.1, -1, 1)
SCATTERED = np.where(UNUSUAL[:, None] < 0, 4.0, 0.5) * X + 3
NAMES = ["a", "b", "c"]
CONTAINERS = {
    "array": X,
    "csr": sp.csr_array(X),
    "pandas": pd.DataFrame(X, columns=NAMES),
    "polars": pl.DataFrame(X, schema=NAMES),
    "dicts": [dict(zip(NAMES, row, strict=True)) for row in X.tolist()],
}


def last(model, stream, **options):
    return evaluate({"m": model}, stream, **options).last["m"]


# --- every container ------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1, 16])
@pytest.mark.parametrize("kind", CONTAINERS)
def test_classifiers_take_every_container(kind, size):
    model = PassiveAggressiveClassifier(C=0.1)
    shot = last(model, lessons(CONTAINERS[kind], LABELS, size=size), classes=["no", "yes"])
    plain = PassiveAggressiveClassifier(C=0.1)
    same = last(plain, lessons(X, LABELS, size=size), classes=["no", "yes"])
    assert shot.metrics == pytest.approx(same.metrics, abs=1e-12)
    assert shot.window["auc"] == pytest.approx(same.window["auc"], abs=1e-12)
    assert shot.window["auc"] > 0.8


@pytest.mark.parametrize("size", [1, 16])
@pytest.mark.parametrize("kind", CONTAINERS)
def test_regressors_and_detectors_take_every_container(kind, size):
    shot = last(PassiveAggressiveRegressor(), lessons(CONTAINERS[kind], TARGETS, size=size))
    assert shot.window["r2"] > 0.5
    assert math.isnan(shot.accuracy)
    shot = last(PassiveAggressiveOneClass(), lessons(CONTAINERS[kind], size=size))
    assert 0 <= shot.metrics["alarms"] <= 1
    assert math.isnan(shot.metrics["false_alarms"])
    assert shot.labels_used == 0


@pytest.mark.parametrize("kind", CONTAINERS)
def test_river_takes_every_container(kind):
    model = linear_model.LogisticRegression()
    shot = last(model, lessons(CONTAINERS[kind], LABELS == "yes", size=8), classes=[False, True])
    assert shot.metrics["accuracy"] > 0.75
    assert shot.window["auc"] > 0.8
    assert shot.metrics["log_loss"] < 0.7


# --- by hand --------------------------------------------------------------------------------------


def by_hand(model, Z, y, size, delay=0, **first):
    """Test-then-train as a plain loop: predictions and the rows they are for."""
    rows, guesses, scores, known = [], [], [], 0
    for start in range(0, N, size):
        stop = min(N, start + size)
        if known:
            rows += range(start, stop)
            guesses += model.predict(Z[start:stop]).tolist()
            if hasattr(model, "decision_function"):
                scores += model.decision_function(Z[start:stop]).tolist()
        due = max(0, stop - delay)
        while known < due:  # a lesson, or what is due of it
            end = min(due, known - known % size + size)
            options = {} if known else first
            model.partial_fit(Z[known:end], y[known:end], **options)
            known = end
    return np.array(rows), guesses, scores


@pytest.mark.filterwarnings("ignore::RuntimeWarning:sklearn")  # bayes, with a variance of 0
@pytest.mark.parametrize(("size", "delay"), [(1, 0), (1, 7), (16, 0), (16, 5), (16, 40), (7, 300)])
@pytest.mark.parametrize(
    "make",
    [
        lambda: PassiveAggressiveClassifier(),
        lambda: SGDClassifier(random_state=0),
        lambda: GaussianNB(),
    ],
    ids=["ours", "sgd", "bayes"],
)
def test_marks_of_a_classifier_are_those_of_a_plain_loop(make, size, delay):
    rows, guess, scores = by_hand(make(), X, LABELS, size, delay, classes=["no", "yes"])
    options = {"classes": ["no", "yes"], "window": 50, "delay": delay}
    result = evaluate({"m": make()}, lessons(X, LABELS, size=size), **options)
    shot = result.last["m"]
    if not len(rows):
        assert math.isnan(shot.accuracy)
        return
    y = LABELS[rows]
    assert shot.metrics["accuracy"] == shot.accuracy == sk.accuracy_score(y, guess)
    assert shot.metrics["kappa"] == pytest.approx(sk.cohen_kappa_score(y, guess), abs=1e-12)
    assert shot.metrics["f1"] == pytest.approx(sk.f1_score(y, guess, pos_label="yes"), abs=1e-12)
    recent, recently = y[-50:], guess[-50:]
    assert shot.window["balanced_accuracy"] == pytest.approx(
        sk.balanced_accuracy_score(recent, recently), abs=1e-12
    )
    if scores:
        auc = sk.roc_auc_score(recent == "yes", scores[-50:])
        assert shot.window["auc"] == pytest.approx(auc, abs=1e-12)
    no_change = LABELS[rows - 1 - delay]
    p, q = np.mean(y == guess), np.mean(y == no_change)
    assert shot.metrics["kappa_temporal"] == pytest.approx((p - q) / (1 - q), abs=1e-12)
    assert result.last["no-change"].accuracy == q
    p, q = np.mean(recent == recently), np.mean(recent == no_change[-50:])
    assert shot.window["kappa_temporal"] == pytest.approx((p - q) / (1 - q), abs=1e-12)


@pytest.mark.parametrize(("size", "delay"), [(1, 0), (16, 5)])
def test_marks_of_a_regressor_are_those_of_a_plain_loop(size, delay):
    rows, guess, _ = by_hand(SGDRegressor(random_state=0), X, TARGETS, size, delay)
    model = SGDRegressor(random_state=0)
    result = evaluate({"m": model}, lessons(X, TARGETS, size=size), delay=delay)
    shot, y = result.last["m"], TARGETS[rows]
    assert shot.metrics["mae"] == pytest.approx(sk.mean_absolute_error(y, guess), rel=1e-12)
    assert shot.metrics["rmse"] == pytest.approx(sk.root_mean_squared_error(y, guess), rel=1e-12)
    assert shot.metrics["r2"] == pytest.approx(sk.r2_score(y, guess), rel=1e-12)
    earlier = TARGETS[rows - 1 - delay]
    assert result.last["last value"].metrics["mae"] == pytest.approx(np.abs(y - earlier).mean())
    means = pd.Series(TARGETS).expanding().mean().to_numpy()[rows - 1 - delay]
    assert result.last["running mean"].metrics["rmse"] == pytest.approx(
        sk.root_mean_squared_error(y, means)
    )


@pytest.mark.parametrize("size", [1, 16])
@pytest.mark.parametrize(
    "make", [lambda: SGDOneClassSVM(random_state=0), lambda: NormaOneClassSVM(gamma=0.1)]
)
def test_marks_of_a_detector_are_those_of_a_plain_loop(make, size):
    rows, guess, scores = by_hand(make(), SCATTERED, UNUSUAL, size)
    shot = last(make(), lessons(SCATTERED, UNUSUAL, size=size))
    y, guess = UNUSUAL[rows], np.array(guess)
    assert shot.metrics["alarms"] == np.mean(guess == -1)
    assert shot.metrics["false_alarms"] == np.mean(guess[y == 1] == -1)
    assert shot.metrics["detections"] == np.mean(guess[y == -1] == -1)
    assert shot.window["auc"] == pytest.approx(sk.roc_auc_score(y, scores), abs=1e-12)


@pytest.mark.parametrize("delay", [0, 7, 1000])
def test_every_label_is_learnt_in_the_end(delay):
    model = PassiveAggressiveRegressor()
    evaluate({"m": model}, lessons(X, TARGETS, size=16), delay=delay)
    assert model.n_seen_ == N


def test_f1_by_name_is_of_the_second_class_or_of_what_is_unusual():
    shot = last(GaussianNB(), lessons(X, LABELS, size=16), classes=["no", "yes"], metrics=["f1"])
    rows, guess, _ = by_hand(GaussianNB(), X, LABELS, 16, classes=["no", "yes"])
    assert shot.metrics["f1"] == pytest.approx(sk.f1_score(LABELS[rows], guess, pos_label="yes"))
    shot = last(NormaOneClassSVM(gamma=0.1), lessons(SCATTERED, UNUSUAL, size=16), metrics=["f1"])
    rows, guess, _ = by_hand(NormaOneClassSVM(gamma=0.1), SCATTERED, UNUSUAL, 16)
    assert shot.metrics["f1"] == pytest.approx(sk.f1_score(UNUSUAL[rows], guess, pos_label=-1))


# --- pipelines ------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1, 16])
def test_a_pipeline_of_scikit_learn_learns_in_all_its_steps(size):
    model = make_pipeline(
        FunctionTransformer(),
        StandardScaler(),
        NystroemFeatures(n_components=20, gamma=0.3),
        PassiveAggressiveClassifier(),
    )
    Z = 1000 * X + 5
    shot = last(model, lessons(Z, LABELS, size=size), classes=["no", "yes"])
    assert shot.window["auc"] > 0.8
    scaler = model[1]
    assert scaler.n_samples_seen_ == N
    assert scaler.mean_ == pytest.approx(Z.mean(axis=0))
    assert shot.nbytes == model[-1].nbytes_


def test_pipelines_of_regressors_and_detectors_are_known_for_what_they_are():
    assert kind_of(make_pipeline(StandardScaler(), PassiveAggressiveRegressor())) == "regressor"
    assert kind_of(make_pipeline(StandardScaler(), SGDOneClassSVM())) == "detector"
    assert kind_of(preprocessing.StandardScaler() | linear_model.PARegressor()) == "regressor"
    assert kind_of(preprocessing.StandardScaler() | anomaly.HalfSpaceTrees()) == "detector"
    assert kind_of(to_river(PassiveAggressiveRegressor())) == "regressor"
    assert kind_of(compose.Pipeline(naive_bayes.GaussianNB())) == "classifier"


def test_a_step_fitted_beforehand_stays_as_it_is():
    power = PowerTransformer().fit(X)
    before = power.lambdas_.copy()
    model = make_pipeline(power, PassiveAggressiveRegressor())
    assert last(model, lessons(X, TARGETS, size=16)).window["r2"] > 0.5
    assert power.lambdas_ == pytest.approx(before, abs=0)


class SelfTaught(Pipeline):
    """A pipeline that knows how to go on learning, as a whole."""

    calls = 0

    def partial_fit(self, X, y, classes=None):
        self.calls += 1
        self[0].partial_fit(X)
        self[-1].partial_fit(self[0].transform(X), y, classes=classes)
        return self


def test_a_pipeline_with_partial_fit_is_left_to_itself():
    model = SelfTaught([("scale", StandardScaler()), ("pa", PassiveAggressiveClassifier())])
    assert last(model, lessons(X, LABELS, size=16), classes=["no", "yes"]).window["auc"] > 0.8
    assert model.calls == 15
    assert model[0].n_samples_seen_ == N


# --- river ----------------------------------------------------------------------------------------


def test_a_stream_of_river_and_a_model_of_river_agree_with_ours():
    stream = list(zip(CONTAINERS["dicts"], (LABELS == "yes").tolist(), strict=True))
    models = {
        "ours": PassiveAggressiveClassifier(classes="open"),
        "wrapped": to_river(PassiveAggressiveClassifier()),
        "river": preprocessing.StandardScaler() | linear_model.PAClassifier(),
    }
    ends = evaluate(models, stream).last
    assert ends["ours"].metrics["kappa"] == ends["wrapped"].metrics["kappa"]
    assert list(ends) == ["ours", "wrapped", "river", "no-change", "majority"]


@pytest.mark.parametrize("delay", [0, 13])
def test_river_itself_counts_the_same(delay):
    """The same model and stream, with river's loop for late labels and river's metrics."""
    stream = list(zip(CONTAINERS["dicts"], LABELS.tolist(), strict=True))
    end = evaluate({"m": naive_bayes.GaussianNB()}, stream, delay=delay, window=40).last["m"]
    model = naive_bayes.GaussianNB()
    overall = [metrics.Accuracy(), metrics.CohenKappa(), metrics.MacroF1()]
    window = [utils.Rolling(kind, 40) for kind in (metrics.Accuracy, metrics.CohenKappa)]
    given = []
    for k, (x, y) in enumerate(stream):
        if k > delay:
            guess, chances = model.predict_one(x), model.predict_proba_one(x)
            for metric in (*overall, *window):
                metric.update(y, guess)
            given.append(chances.get(y, 0.0))
        if k >= delay:
            model.learn_one(*stream[k - delay])
    found = [end.metrics[name] for name in ("accuracy", "kappa", "f1_macro")]
    assert found == pytest.approx([metric.get() for metric in overall], rel=1e-12)
    surprise = -np.log(np.clip(given, np.finfo(float).eps, 1)).mean()  # river clips at 1e-15
    assert end.metrics["log_loss"] == pytest.approx(surprise, rel=1e-12)
    found = [end.window[name] for name in ("accuracy", "kappa")]
    assert found == pytest.approx([metric.get() for metric in window], rel=1e-12)


def test_detectors_of_river():
    trees = anomaly.HalfSpaceTrees(seed=0, window_size=30)
    filtered = anomaly.QuantileFilter(trees.clone(), q=0.9)
    stream = lessons(SCATTERED, UNUSUAL)
    shot = last(preprocessing.MinMaxScaler() | filtered, stream)
    assert 0 < shot.metrics["alarms"] < 0.5
    scored = last(preprocessing.MinMaxScaler() | trees, lessons(SCATTERED, UNUSUAL))
    assert scored.metrics["alarms"] == 0  # a score without a threshold raises none
    assert scored.window["auc"] > 0.6


# --- refusals -------------------------------------------------------------------------------------


def test_models_that_cannot_are_refused_before_the_stream_is_touched():
    def untouched():
        raise AssertionError("the stream was read")
        yield

    with pytest.raises(ValueError, match=r"models has 'm', which has neither partial_fit"):
        prequential({"m": SVC()}, untouched())
    with pytest.raises(ValueError, match=r"whose step 'powertransformer' has no partial_fit"):
        prequential({"m": make_pipeline(PowerTransformer(), SGDClassifier())}, untouched())
    with pytest.raises(ValueError, match=r"whose step 'svc' has no partial_fit"):
        prequential({"m": make_pipeline(StandardScaler(), SVC())}, untouched())
    with pytest.raises(ValueError, match=r"models must be of one kind: 'a' is a classifier, 'b'"):
        prequential({"a": SGDClassifier(), "b": SGDRegressor()}, untouched())
    with pytest.raises(ValueError, match=r"baselines must be one of 'no-change', 'majority', got"):
        prequential(SGDClassifier(), untouched(), baselines=["mean"])
    with pytest.raises(ValueError, match=r"models has the name of a baseline, 'majority'"):
        prequential({"majority": SGDClassifier()}, untouched(), baselines=["majority"])
    with pytest.raises(
        ValueError, match=r"metrics has 'mae', not for a classifier; choose from acc"
    ):
        prequential(SGDClassifier(), untouched(), metrics=["mae"])
    with pytest.raises(
        ValueError, match=r"metrics has 'kappa', not for a regressor; .* mae, rmse, r2"
    ):
        prequential(SGDRegressor(), untouched(), metrics=["kappa"])
    for classes in (None, list("abc")):
        with pytest.raises(ValueError, match=r"metrics has 'f1', which is of one class; name two"):
            prequential(SGDClassifier(), untouched(), metrics=["f1"], classes=classes)
    for name in ("window", "delay"):
        with pytest.raises(ValueError, match=rf"{name} must be an integer"):
            prequential(SGDClassifier(), untouched(), **{name: -1})


def test_a_failing_lesson_names_the_model_and_leaves_it_as_it_was():
    bad = X.copy()
    bad[100] = np.nan
    model = PassiveAggressiveRegressor()
    with pytest.raises(ValueError, match="NaN") as caught:
        list(prequential({"pa": model}, lessons(bad, TARGETS, size=10)))
    assert caught.value.__notes__ == ["while 'pa' was tested after 100 examples"]
    assert model.n_seen_ == 100


def test_labels_that_do_not_fit_the_kind():
    with pytest.raises(ValueError, match="y is missing from a lesson; a regressor needs"):
        list(prequential(SGDRegressor(), lessons(X)))
    with pytest.raises(ValueError, match=r"y of a detector must be 1 \(usual\) or -1"):
        list(prequential(SGDOneClassSVM(), lessons(X, LABELS)))
