"""The pipeline: any cut, any file, any order of columns, and nothing half done."""

from __future__ import annotations

import contextlib
import copy
import pickle
import threading
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from contract import scikit_learns_checks, weights_are_not_copies
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from tiers import examples

import onlinesvm
from onlinesvm import (
    SGDSVC,
    FourierFeatures,
    IncrementalSVC,
    NormaOneClassSVM,
    NormaSVC,
    NystroemFeatures,
    OnlineColumns,
    OnlineImputer,
    OnlinePipeline,
    OnlineScaler,
    PassiveAggressiveClassifier,
    PassiveAggressiveRegressor,
    PegasosSVC,
    PokerSVR,
    RampSVC,
    make_online_pipeline,
)
from onlinesvm.checks import parametrize
from onlinesvm.checks.streams import fingerprint
from onlinesvm.files import persistence
from onlinesvm.transform.tables import Held

RNG = np.random.default_rng(0)
X = RNG.normal([0.0, 1e4, -3.0], [1.0, 1e3, 1e-2], size=(400, 3))
Y = np.where((X[:, 0] > 0) ^ (X[:, 1] > 1e4), "in", "out")
LABELS = ["in", "out"]


def scaled(last: Any = None, **params: Any) -> OnlinePipeline:
    last = PassiveAggressiveClassifier(classes=LABELS, kernel="rbf") if last is None else last
    return make_online_pipeline(OnlineScaler(**{"warm_up": 50} | params), last)


def streamed(model: Any, X: Any, y: Any, *cuts: int) -> Any:
    n = X.shape[0] if hasattr(X, "shape") else len(X)
    for start, stop in zip((0, *cuts), (*cuts, n), strict=True):
        if start < stop:
            model.partial_fit(X[start:stop], y[start:stop])
    return model


KINDS = {
    "frozen": scaled(),
    "moving": scaled(after="move"),
    "forgetting": scaled(after="forget"),
    "robust": scaled(method="robust", warm_up=30),
    "landmarks": make_online_pipeline(
        OnlineScaler(warm_up=20),
        NystroemFeatures(n_components=9, gamma=0.5),
        SGDSVC(classes=LABELS),
    ),
    "open": scaled(PegasosSVC(classes="open")),
    "exact": scaled(IncrementalSVC(classes=LABELS, gamma=1.0, settle="example")),
}
every_kind = pytest.mark.parametrize("kind", KINDS)


# --- how a stream is learned --------------------------------------------------------------------


def test_after_the_warm_up_it_is_as_if_the_scale_had_been_known() -> None:
    """The promise that answers how a kernel model lives with a scaler."""
    scaler = OnlineScaler().fit(X[:50])
    alone = PassiveAggressiveClassifier(classes=LABELS, kernel="rbf", gamma=0.3)
    model = streamed(scaled(clone(alone)), X, Y, 7, 90, 260)
    alone.partial_fit(scaler.transform(X), Y)
    assert np.array_equal(model.decision_function(X), alone.decision_function(scaler.transform(X)))
    assert model.settled_


@every_kind
def test_any_cut_gives_the_same_bits(kind: str) -> None:
    whole = clone(KINDS[kind]).partial_fit(X[:140], Y[:140])
    for cuts in [(1,), (1, 2, 3), (49, 51), (50,), tuple(range(1, 140, 13))]:
        parts = streamed(clone(KINDS[kind]), X[:140], Y[:140], *cuts)
        assert fingerprint(parts) == fingerprint(whole), cuts
    one_by_one = clone(KINDS[kind])
    for x, y in zip(X[:140], Y[:140], strict=True):
        one_by_one.learn_one(x, y)
    assert fingerprint(one_by_one) == fingerprint(whole)


@settings(max_examples=examples(25), deadline=None)
@given(
    cuts=st.lists(st.integers(0, 60), max_size=5),
    weights=st.lists(st.sampled_from([0.0, 0.5, 1.0, 2.0]), min_size=60, max_size=60),
    warm_up=st.integers(1, 70),
)
def test_property_weights_and_cuts(cuts: list[int], weights: list[float], warm_up: int) -> None:
    w = np.array(weights)
    whole, parts = (scaled(SGDSVC(classes=LABELS), warm_up=warm_up) for _ in range(2))
    whole.partial_fit(X[:60], Y[:60], sample_weight=w)
    edges = [0, *sorted(cuts), 60]
    for start, stop in pairwise(edges):
        if start < stop:
            parts.partial_fit(X[start:stop], Y[start:stop], sample_weight=w[start:stop])
    assert np.array_equal(parts.decision_function(X), whole.decision_function(X))
    assert parts.n_seen_ == whole.n_seen_ == 60


def test_it_is_ready_from_the_first_example_on() -> None:
    model = scaled()
    assert model.predict_one(X[0]) == "in"
    assert model.decide_one(X[0]) == 0.0
    for n in range(1, 70):
        model.learn_one(X[n], Y[n])
        assert model.predict(X[:5]).shape == (5,)
        assert model.settled_ == (n >= 50)
    assert model.predict_one(X[3]) == model.predict(X[3:4])[0]
    assert model.decide_one(X[3]) == model.decision_function(X[3:4])[0]


def test_all_is_learned_afresh_after_1_2_4_rows_and_at_the_end() -> None:
    for n, used in ((1, 1), (3, 2), (7, 4), (49, 32), (50, 50), (60, 50)):
        model = scaled().partial_fit(X[:n], Y[:n])
        assert np.allclose(model[0].center_, X[:used].mean(axis=0)), n


def test_scaling_is_what_makes_it_learn() -> None:
    model = streamed(scaled(PegasosSVC(1e-3, classes=LABELS, kernel="rbf")), X, Y, 100)
    raw = PegasosSVC(1e-3, classes=LABELS, kernel="rbf", gamma=0.3).partial_fit(X, Y)
    assert model.score(X, Y) > 0.85
    assert raw.score(X, Y) < model.score(X, Y)


def test_fit_fits_each_step() -> None:
    model = scaled().fit(X, Y)
    scaler = OnlineScaler().fit(X)
    alone = clone(model[-1]).fit(scaler.transform(X), Y)
    assert np.array_equal(model.predict(X), alone.predict(scaler.transform(X)))
    assert fingerprint(model.fit(X[:90], Y[:90])) == fingerprint(scaled().fit(X[:90], Y[:90]))
    assert model.partial_fit(X[90:], Y[90:]).n_seen_ == 400


def test_regressors_and_kernel_features() -> None:
    target = X[:, 0] + (X[:, 1] - 1e4) / 1e3
    model = make_online_pipeline(OnlineScaler(), PassiveAggressiveRegressor())
    assert streamed(model, X, target, 10, 300).score(X, target) > 0.9
    waves = make_online_pipeline(OnlineScaler(), FourierFeatures(gamma=1.0), SGDSVC(classes=LABELS))
    assert streamed(waves, X, Y, 10, 300).score(X, Y) > 0.8


def test_classes_are_named_once() -> None:
    model = make_online_pipeline(OnlineScaler(), SGDSVC())
    with pytest.raises(ValueError, match="classes must be passed"):
        model.partial_fit(X, Y)
    assert not model.__sklearn_is_fitted__()
    model.partial_fit(X[:5], Y[:5], classes=LABELS).partial_fit(X[5:], Y[5:])
    assert model.classes_.tolist() == LABELS
    with pytest.raises(ValueError, match="not the same as on the first call"):
        model.partial_fit(X, Y, classes=["other"])


# --- columns ------------------------------------------------------------------------------------


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_columns_are_known_by_name(library: str) -> None:
    frames = pytest.importorskip(library)
    frame = frames.DataFrame(dict(zip("abc", X.T, strict=True)))
    model, plain = scaled().partial_fit(frame, Y), scaled().partial_fit(X, Y)
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]
    expected = plain.decision_function(X)
    assert np.array_equal(model.decision_function(frame), expected)
    assert np.array_equal(model.decision_function(frame[["c", "a", "b"]]), expected)
    more = frames.DataFrame({"extra": X[:, 0], **dict(zip("cab", X.T[[2, 0, 1]], strict=True))})
    assert np.array_equal(model.decision_function(more), expected)
    assert model.predict_one({"c": X[0, 2], "b": X[0, 1], "a": X[0, 0]}) == plain.predict_one(X[0])
    before = fingerprint(model)
    for call in (model.predict, lambda odd: model.partial_fit(odd, Y)):
        with pytest.raises(ValueError, match="X lacks the column 'b'"):
            call(frame[["c", "a"]])
    with pytest.raises(ValueError, match="X lacks the column 'b'"):
        model.predict_one({"a": 1.0, "c": 2.0})
    assert fingerprint(model) == before


def test_dicts_bring_names_at_any_time() -> None:
    model = scaled(PassiveAggressiveClassifier(classes=LABELS), warm_up=8)
    records = [{"abc"[j]: x[j] for j in range(3 if i > 20 else 2)} for i, x in enumerate(X[:60])]
    whole = clone(model).partial_fit(records, Y[:60])
    for record, y in zip(records, Y, strict=False):
        model.learn_one(record, y)
    assert fingerprint(model) == fingerprint(whole)
    assert model.predict_one({"a": 1.0, "never seen": 3.0}) in LABELS
    assert model.n_features_in_ == 3


def test_sparse_rows_stay_sparse() -> None:
    S = sp.csr_array(np.where(X > 0, X, 0))
    model = streamed(scaled(), S, Y, 5, 80)
    scaler = OnlineScaler().fit(S[:50])
    alone = clone(model[-1]).partial_fit(scaler.transform(S), Y)
    assert np.array_equal(model.decision_function(S), alone.decision_function(scaler.transform(S)))


# --- nothing half done --------------------------------------------------------------------------


@every_kind
@pytest.mark.parametrize("n", [20, 90])
def test_a_bad_call_changes_nothing(kind: str, n: int) -> None:
    model = clone(KINDS[kind]).partial_fit(X[:n], Y[:n])
    before = fingerprint(model)
    holes = X.copy()
    holes[-1, 1] = np.nan
    for odd, y, w in [
        (holes, Y, None),
        (X[:, :2], Y, None),
        (X, Y[:-1], None),
        (X[0], Y[:1], None),
        (X[:0], Y[:0], None),
        (X, Y, -np.ones(400)),
        (np.full((5, 3), "text"), Y[:5], None),
    ]:
        with pytest.raises(ValueError) as caught:
            model.partial_fit(odd, y, sample_weight=w)
        assert "\n" not in str(caught.value)
        assert fingerprint(model) == before
    if kind != "open":
        with pytest.raises(ValueError, match="unknown label"):
            model.partial_fit(X, np.where(np.arange(400) < 399, Y, "stranger"))
        assert fingerprint(model) == before


def test_steps_must_be_ours_and_in_order() -> None:
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVC

    for steps, word in [
        ([], "steps is empty"),
        ([OnlineScaler(), SGDSVC()], r"steps must be \(name, estimator\) pairs, got OnlineScaler"),
        ([("s", StandardScaler()), ("m", SGDSVC())], "no transformer of this library"),
        ([("s", OnlineScaler())], "no estimator of this library"),
        ([("s", OnlineScaler()), ("m", SVC())], "no estimator of this library"),
        ([("m", onlinesvm.CalibratedOnline(RampSVC()))], "put the pipeline into it: Calibrated"),
        ([("m", onlinesvm.OfflineRampSVC())], "no partial_fit"),
    ]:
        with pytest.raises(ValueError, match=word):
            OnlinePipeline(steps).partial_fit(X, Y)


def test_parameters_by_name_and_steps_by_number() -> None:
    model = scaled()
    assert model.get_params()["onlinescaler__warm_up"] == 50
    model.set_params(onlinescaler__warm_up=9, passiveaggressiveclassifier__C=0.5)
    assert (model[0].warm_up, model["passiveaggressiveclassifier"].C) == (9, 0.5)
    assert "warm_up=9" in repr(model)
    model.partial_fit(X, Y)
    assert not clone(model).__sklearn_is_fitted__()
    model.set_params(onlinescaler__warm_up=10)
    with pytest.raises(ValueError, match="warm_up=10 differs from warm_up=9"):
        model.partial_fit(X, Y)


# --- forgetting ---------------------------------------------------------------------------------


def test_unlearning_is_the_last_steps() -> None:
    model = streamed(
        scaled(IncrementalSVC(classes=LABELS, gamma=1.0, settle="example")), X[:150], Y[:150], 60
    )
    model.unlearn([3, 70])
    scaler, stay = OnlineScaler().fit(X[:50]), np.setdiff1d(np.arange(150), [3, 70])
    alone = IncrementalSVC(classes=LABELS, gamma=1.0).fit(scaler.transform(X[stay]), Y[stay])
    expected = alone.decision_function(scaler.transform(X))
    assert np.allclose(model.decision_function(X), expected, atol=1e-2)
    with pytest.raises(NotImplementedError, match=r"has no unlearn\(\).*can\.$"):
        scaled(SGDSVC(classes=LABELS)).partial_fit(X, Y).unlearn([0])


def test_what_is_unlearned_during_the_warm_up_is_not_learned_again() -> None:
    model = scaled(IncrementalSVC(classes=LABELS, gamma=1.0, settle="example")).partial_fit(
        X[:30], Y[:30]
    )
    model.unlearn([3])
    model.partial_fit(X[30:90], Y[30:90])
    assert model.settled_
    assert not model[-1]._core.holds(np.array([3]))
    everything = scaled(IncrementalSVC(classes=LABELS, gamma=1.0, settle="example")).partial_fit(
        X[:3], Y[:3]
    )
    everything.unlearn([0, 1, 2])
    assert not copy.deepcopy(everything).decision_function(X).any()
    assert everything.partial_fit(X[3:90], Y[3:90]).settled_


# --- files --------------------------------------------------------------------------------------


@every_kind
@pytest.mark.parametrize("n", [1, 20, 90])
def test_saved_it_goes_on_as_if_it_had_never_stopped(kind: str, n: int, tmp_path: Any) -> None:
    model = clone(KINDS[kind]).partial_fit(X[:n], Y[:n])
    model.save(tmp_path / "model")
    again = onlinesvm.load(tmp_path / "model")
    assert repr(again) == repr(model)
    assert fingerprint(again) == fingerprint(model)
    copies = [again, copy.deepcopy(model), pickle.loads(pickle.dumps(model))]
    model.partial_fit(X[n:120], Y[n:120])
    for other in copies:
        assert fingerprint(other.partial_fit(X[n:120], Y[n:120])) == fingerprint(model)


def test_saved_with_names_with_dicts_sparse_and_unlearned(tmp_path: Any) -> None:
    pandas = pytest.importorskip("pandas")
    records = [dict(zip("abc", x, strict=True)) for x in X.tolist()]
    S = sp.csr_array(np.where(X > 0, X, 0))
    for rows in (pandas.DataFrame(X, columns=list("abc")), records, S):
        for n in (20, 90):
            model = scaled().partial_fit(rows[:n], Y[:n])
            model.save(tmp_path / "model")
            again = onlinesvm.load(tmp_path / "model").partial_fit(rows[n:], Y[n:])
            assert fingerprint(again) == fingerprint(model.partial_fit(rows[n:], Y[n:]))
    scaled().save(tmp_path / "model")
    assert not onlinesvm.load(tmp_path / "model").__sklearn_is_fitted__()


@settings(max_examples=examples(150), deadline=None)
@given(data=st.data())
def test_forged_files_are_refused_or_harmless(data: Any, tmp_path_factory: Any) -> None:
    path = tmp_path_factory.mktemp("saved") / "model"
    scaled().partial_fit(X[:20], Y[:20]).save(path)
    kind, arrays = persistence._unpack(path.read_bytes())
    name = data.draw(st.sampled_from(sorted(arrays)))
    array = np.array(arrays[name])
    if name.endswith("facts") and array.size:
        at = data.draw(st.integers(0, array.size - 1))
        array[at] = data.draw(st.sampled_from([ord(c) for c in '0919-"[]{}naeE. ']))
    elif array.ndim == 1 and data.draw(st.booleans()):
        array = np.resize(array, data.draw(st.integers(0, array.size + 3)))
    elif array.size:
        array.flat[data.draw(st.integers(0, array.size - 1))] = data.draw(st.integers(-2, 99))
    path.write_bytes(persistence._pack(kind, arrays | {name: array}))
    with contextlib.suppress(ValueError):
        model = onlinesvm.load(path)
        model.predict(X)
        model.partial_fit(X[20:], Y[20:])


@pytest.mark.parametrize("last", [PassiveAggressiveClassifier(), PassiveAggressiveRegressor()])
def test_pipelines_are_not_steps_and_arrays_not_orphans(last: Any, tmp_path: Any) -> None:
    path = tmp_path / "model"
    scaled().partial_fit(X, Y).save(path)
    kind, arrays = persistence._unpack(path.read_bytes())
    path.write_bytes(persistence._pack(kind, arrays | {"step9.facts": arrays["facts"]}))
    with pytest.raises(ValueError, match="steps that it does not have"):
        onlinesvm.load(path)
    path.write_bytes(persistence._pack("OnlineScaler", arrays))
    with pytest.raises(ValueError, match="is not a model"):
        onlinesvm.load(path)


# --- scikit-learn's -----------------------------------------------------------------------------


AS_THEIRS = "fitted steps take the place of those given, as in scikit-learn's Pipeline"
EXPECTED = {
    "check_estimators_overwrite_params": AS_THEIRS,
    "check_dont_overwrite_parameters": AS_THEIRS,
    **weights_are_not_copies("of passive-aggressive learning an example of weight 2 is one step"),
}


@scikit_learns_checks(
    [
        make_online_pipeline(OnlineScaler(), PassiveAggressiveClassifier()),
        make_online_pipeline(OnlineScaler(), PassiveAggressiveRegressor()),
    ],
    lambda _: EXPECTED,
)
def test_scikit_learns(estimator: Any, check: Any) -> None:
    check(estimator)


# --- ours ---------------------------------------------------------------------------------------


@parametrize(
    make_online_pipeline(OnlineScaler(warm_up=20), PassiveAggressiveClassifier()),
    make_online_pipeline(OnlineScaler(warm_up=20), IncrementalSVC(C=3.0, settle="example")),
    make_online_pipeline(
        OnlineImputer(warm_up=30),
        OnlineScaler(warm_up=20),
        RampSVC(classes="open", keep_non_support=5, query="margin"),
    ),
    make_online_pipeline(OnlineScaler(after="move"), PokerSVR()),
    make_online_pipeline(OnlineScaler(warm_up=20), NormaOneClassSVM()),
    make_online_pipeline(NystroemFeatures(8, gamma=0.5), SGDSVC()),
    make_online_pipeline(FourierFeatures(8, gamma=0.5), PegasosSVC()),
)
def test_ours(estimator: Any, check: Any) -> None:
    check(estimator)


# --- the short way -------------------------------------------------------------------------------


def the_long_way(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(OnlinePipeline, "_prepared_one", lambda self, x: None)


@pytest.mark.parametrize("kind", KINDS)
def test_one_by_one_is_the_same_by_the_short_way_and_the_long(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    short, long = (clone(KINDS[kind]) for _ in range(2))
    for model in (short, long):
        for i in range(120):
            model.learn_one(X[i], Y[i], *([2.0] if i % 7 == 0 else []))
        said = [model.predict_one(x) for x in X[:9]], [model.decide_one(x) for x in X[:9]]
        if model is short:
            heard = said
            the_long_way(monkeypatch)
    assert fingerprint(short) == fingerprint(long)
    assert heard[0] == said[0]
    assert np.array_equal(heard[1], said[1])


def test_the_short_way_refuses_what_the_long_one_does() -> None:
    model = streamed(scaled(), X[:100], Y[:100])
    before = fingerprint(model)
    odd = X[0].copy()
    odd[1] = np.nan
    for x, y in ((odd, "in"), (X[0][:2], "in"), (X[0], "no such"), (X[0], None), (X[:2], "in")):
        with pytest.raises(ValueError, match=r"^[^\n]+$"):
            model.learn_one(x, y)
    assert fingerprint(model) == before
    model.named_steps["onlinescaler"].set_params(warm_up=7)
    with pytest.raises(ValueError, match="warm_up"):
        model.learn_one(X[0], "in")


def test_a_step_that_was_exchanged_is_noticed() -> None:
    model = streamed(scaled(), X[:100], Y[:100])
    model.steps[0] = ("onlinescaler", OnlineScaler(warm_up=50))  # in place: nobody is told
    with contextlib.suppress(Exception):
        model.learn_one(X[0], Y[0])
    assert model._prepared_one(X[0]) is None or model.steps[0][1].__sklearn_is_fitted__()


def test_copies_of_a_pipeline_go_their_own_way() -> None:
    model = streamed(scaled(), X[:100], Y[:100])
    before = fingerprint(model)
    for other in (copy.copy(model), copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert fingerprint(other) == before
        streamed(other, X[100:], Y[100:])
        other.learn_one(X[0], Y[0])
        assert fingerprint(model) == before


def test_threads_take_turns() -> None:
    """Each thread's rows are learned whole, and none is lost."""
    model = streamed(scaled(IncrementalSVC(classes=LABELS)), X[:60], Y[:60])

    def learn(part: int) -> None:
        for i in range(60 + part, 360, 6):
            model.learn_one(X[i], Y[i], key=part)
        model.partial_fit(X[360:364], Y[360:364], keys=[part] * 4)

    threads = [threading.Thread(target=learn, args=(part,)) for part in range(6)]
    for thread in threads:
        thread.start()
    for _ in range(5):
        assert pickle.loads(pickle.dumps(model)).n_seen_ >= 60
        model.predict(X[:5])
    for thread in threads:
        thread.join()
    assert model.n_seen_ == 360 + 24
    assert [len(model.ids_of(part)) for part in range(6)] == [54] * 6


# --- keys ----------------------------------------------------------------------------------------

OWNERS = [f"customer {i % 11}" if i % 3 else None for i in range(400)]


@pytest.mark.parametrize("upto", [5, 30, 50, 200])
def test_a_customer_is_forgotten_before_and_after_the_warm_up(upto: int, tmp_path: Path) -> None:
    model, other = (scaled(IncrementalSVC(classes=LABELS, settle="example")) for _ in range(2))
    model.partial_fit(X[:upto], Y[:upto], keys=OWNERS[:upto])
    for i in range(upto):
        other.learn_one(X[i], Y[i], key=OWNERS[i])
    assert fingerprint(model) == fingerprint(other)
    hers = [i for i in range(upto) if OWNERS[i] == "customer 2"]
    assert model.ids_of("customer 2").tolist() == hers
    model.save(tmp_path / "model")
    again = onlinesvm.load(tmp_path / "model")
    again.unlearn(keys="customer 2")
    model.unlearn(hers)
    assert fingerprint(again) == fingerprint(model)
    for each in (again, model):
        each.partial_fit(X[upto:], Y[upto:], keys=OWNERS[upto:])  # may learn all of it afresh
        later = [i for i in range(upto, 400) if OWNERS[i] == "customer 2"]
        assert each.ids_of("customer 2").tolist() == later


def test_a_row_held_for_the_warm_up_is_forgotten_though_the_model_dropped_it() -> None:
    model = scaled(NormaSVC(classes=LABELS, gamma=1.0, truncation=3))
    model.partial_fit(X[:40], Y[:40], keys=[f"k{i:02}" for i in range(40)])
    assert model.ids_of("k01").tolist() == [1]
    model.unlearn(keys=["k01", "k02"])
    model.partial_fit(X[40:45], Y[40:45])
    assert not np.isin([1, 2], model._held.ids).any()
    assert b"k01" not in pickle.dumps(model)


def test_keys_of_held_rows_are_looked_at_when_loaded() -> None:
    model = scaled(IncrementalSVC(classes=LABELS)).partial_fit(X[:9], Y[:9], keys=OWNERS[:9])
    for odd in (["a"] * 8, [1.5] * 9, "aaaaaaaaa", [["a"]] * 9, [True] * 9):
        facts = model._held.to_facts() | {"keys": odd}
        with pytest.raises(ValueError, match="key"):
            Held.from_facts(facts)


def test_a_bad_key_changes_nothing() -> None:
    model = scaled(IncrementalSVC(classes=LABELS)).partial_fit(X[:60], Y[:60], keys=OWNERS[:60])
    before = fingerprint(model)
    for keys in (["a"], [1.5] * 9, "a"):
        with pytest.raises(ValueError, match="keys"):
            model.partial_fit(X[:9], Y[:9], keys=keys)
    with pytest.raises(ValueError, match="key is"):
        model.learn_one(X[0], Y[0], key=np.nan)
    with pytest.raises(ValueError, match="ids or keys"):
        model.unlearn([1], keys="a")
    with pytest.raises(ValueError, match="ids or keys"):
        model.unlearn()
    assert fingerprint(model) == before


# --- names for arrays -----------------------------------------------------------------------------


def test_arrays_take_the_names_given_beforehand(tmp_path):
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    y = X[:, 0] > X[:, 1]
    model = make_online_pipeline(OnlineScaler(), PegasosSVC(classes=[False, True]))
    model.name_columns(["a", "b"]).partial_fit(X[:100], y[:100])
    model.save(tmp_path / "model.safetensors")
    model = onlinesvm.load(tmp_path / "model.safetensors").partial_fit(X[100:], y[100:])
    assert model.feature_names_in_.tolist() == ["a", "b"]
    swapped = pd.DataFrame({"b": X[:, 1], "c": 0.0, "a": X[:, 0]})
    assert np.array_equal(model.decision_function(swapped), model.decision_function(X))
    plain = make_online_pipeline(OnlineScaler(), PegasosSVC(classes=[False, True]))
    plain.partial_fit(X, y)
    assert np.array_equal(plain.decision_function(X), model.decision_function(X))


def test_names_are_also_those_of_columns_of_several_kinds():
    columns = OnlineColumns([("number", OnlineScaler(), ["a", "b"])])
    model = make_online_pipeline(columns, PegasosSVC(classes=[0, 1])).name_columns(["b", "a"])
    model.partial_fit(np.eye(2), [0, 1])
    assert model.feature_names_in_.tolist() == ["b", "a"]


def test_names_are_strings_given_once_and_in_time():
    model = make_online_pipeline(OnlineScaler(), PegasosSVC(classes=[0, 1]))
    with pytest.raises(ValueError, match="none comes twice"):
        model.name_columns(["a", "a"])
    with pytest.raises(ValueError, match="none comes twice"):
        model.name_columns(["a", 1])
    model.name_columns(["a", "b", "c"])
    with pytest.raises(ValueError, match="2 features, but preparation is expecting 3"):
        model.partial_fit(np.eye(2), [0, 1])
    model.name_columns(["a", "b"]).partial_fit(np.eye(2), [0, 1])
    with pytest.raises(ValueError, match="before anything is learned"):
        model.name_columns(["a", "b"])


@pytest.mark.parametrize("form", ["array", "dicts", "sparse", "frame"])
def test_rows_held_are_not_the_callers(form: str) -> None:
    """What is learned again at the end of the warm-up is what came, not what became of it."""
    pandas = pytest.importorskip("pandas")
    names = list("abc")

    def rows() -> Any:
        table = np.abs(X[:30]).copy()
        match form:
            case "dicts":
                return [dict(zip(names, row, strict=True)) for row in table.tolist()]
            case "sparse":
                return sp.csr_array(table)
            case "frame":
                return pandas.DataFrame(table, columns=names)
        return table

    left, right = scaled(), scaled()
    mine, labels = rows(), Y[:30].copy()
    left.partial_fit(mine, labels)
    right.partial_fit(rows(), Y[:30])
    labels[:] = "in"
    for row in mine if form == "dicts" else ():
        row["a"] = 1e6
    if form == "sparse":
        mine.data[:] = 1e6
    elif form == "frame":
        mine.loc[:, "a"] = 1e6
    elif form == "array":
        mine[:] = 1e6
    for model in (left, right):
        model.partial_fit(rows(), Y[:30])
    assert fingerprint(left) == fingerprint(right)


def test_numbers_for_examples_end_in_an_error() -> None:
    """A file may say that nearly all were given."""
    for upto in (9, 90):  # in the warm-up and after it
        model = streamed(scaled(), X[:upto], Y[:upto])
        model[-1]._next_id = 2**63 - 3
        before = fingerprint(model)
        with pytest.raises(ValueError, match="ids"):
            model.partial_fit(X[:9], Y[:9])
        assert fingerprint(model) == before


def test_compress_is_that_of_the_model_behind(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(900, 2)) * [1.0, 1e3]
    y = (X[:, 0] ** 2 + (X[:, 1] / 1e3) ** 2) > 1
    model = make_online_pipeline(OnlineScaler(), RampSVC(gamma=1.0, classes=[False, True]))
    model.partial_fit(X[:100], y[:100])
    with pytest.raises(ValueError, match="warm-up is not over"):
        model.compress(0.1)
    model.partial_fit(X[100:], y[100:])
    before = model.decision_function(X)
    for few in (model.compress(0.1), model.compress(0.1, X)):
        assert len(few.steps[-1][1].support_) < len(model.steps[-1][1].support_) / 2
        assert abs(few.decision_function(X) - before).max() <= 0.1
        few.save(tmp_path / "few")
        np.testing.assert_array_equal(onlinesvm.load(tmp_path / "few").predict(X), few.predict(X))
        with pytest.raises(NotImplementedError, match="compressed"):
            few.partial_fit(X[:5], y[:5])
    np.testing.assert_array_equal(model.decision_function(X), before)
    model.partial_fit(X[:5], y[:5])


def warming_columns():
    numbers = ("n", [OnlineImputer(), OnlineScaler()], "numbers")
    return make_online_pipeline(OnlineColumns([numbers]), SGDSVC(classes=[0, 1]))


def warming():
    return make_online_pipeline(OnlineScaler(), SGDSVC(classes=[0, 1]))


@pytest.mark.parametrize(
    ("make", "rows"),
    [
        (warming, [[Decimal("1.5"), 2], [Decimal(2), 1]]),
        (warming, [{"a": Decimal("1.5")}, {"a": Fraction(1, 3)}]),
        (warming, [{"a": np.longdouble(1.5)}, {"a": 2}]),
        (warming_columns, [{"a": 1.0, "b": 2.0}, {"a": pd.NA, "b": 1.0}]),
        (warming_columns, [{"a": 2, "b": np.float32(1)}, {"a": np.longdouble(1.5), "b": None}]),
    ],
)
def test_what_waits_for_the_warm_up_is_saved_whatever_numbers_it_has(make, rows, tmp_path):
    model = make().partial_fit(rows, [0, 1])
    model.save(tmp_path / "model")
    again = onlinesvm.load(tmp_path / "model")
    X = [{"a": float(i % 7), "b": float(i % 5)} for i in range(400)]
    X = X if isinstance(rows[0], dict) else [list(x.values()) for x in X]
    y = [i % 2 for i in range(400)]
    for one in (model, again):
        one.partial_fit(X, y)
    assert np.array_equal(model.decision_function(X), again.decision_function(X))
