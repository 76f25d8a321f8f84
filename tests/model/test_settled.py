"""What was settled on rows that are removed is named: by a warning, a certificate and `verify`."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import onlinesvm
from onlinesvm import (
    LASVC,
    CalibratedOnline,
    Certificate,
    CertificateError,
    DriftAware,
    IncrementalSVC,
    OnlineHashing,
    OnlineImputer,
    OnlineOneHot,
    OnlineScaler,
    PokerSVR,
    RampSVC,
    SettledWarning,
    SmoSVC,
    make_online_pipeline,
    verify,
)
from onlinesvm.unlearn.settled import IdRuns, explained

RNG = np.random.default_rng(0)
X = RNG.normal(size=(400, 3))
Y = np.where(X[:, 0] * X[:, 1] + RNG.normal(0, 0.3, 400) > 0, "in", "out")
X[:5] *= 100  # one customer, in other units
quiet = pytest.mark.filterwarnings("ignore::onlinesvm.SettledWarning")


def streamed(**more: Any) -> IncrementalSVC:
    return IncrementalSVC(C=3, classes=["in", "out"], **more).partial_fit(X, Y)


def fitted(**more: Any) -> IncrementalSVC:
    return IncrementalSVC(C=3, **more).fit(X, Y)


def apart(model: Any, other: Any, rows: Any = X) -> float:
    return float(np.abs(model.decision_function(rows) - other.decision_function(rows)).max())


# ---- gamma ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("learned", [streamed, fitted])
def test_gamma_that_removed_rows_settled_is_named(learned, tmp_path):
    model = learned()
    gamma = model.gamma_
    with pytest.warns(SettledWarning, match=f"gamma = {gamma:.3g}, which was settled") as told:
        proof = model.unlearn(range(5), certificate=True)
    assert told[0].filename == __file__
    assert not proof.complete
    assert proof.settled == {"gamma": gamma}
    assert f"for gamma = {gamma:.3g}, which was settled on rows that include rem" in proof.statement
    never, at_gamma = (IncrementalSVC(C=3, gamma=g).fit(X[5:], Y[5:]) for g in ("scale", gamma))
    bound = proof.distance + proof.bias_distance
    assert apart(model, never) > 1e3 * bound, "else there is nothing to name"
    assert apart(model, at_gamma) <= bound + 1e-6
    model.save(tmp_path / "model")
    proof.save(tmp_path / "proof.json")
    for said in (
        verify(proof, model),
        verify(str(tmp_path / "proof.json"), tmp_path / "model"),
    ):
        assert bool(said)
        assert not said.complete
        assert said.settled == {"gamma": gamma}
        assert f"but for gamma = {gamma:.3g}" in str(said)


@pytest.mark.parametrize("learned", [streamed, fitted])
def test_it_stays_named_and_is_said_once(learned, tmp_path):
    model = learned()
    with pytest.warns(SettledWarning):
        model.unlearn([0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.unlearn([1])
        model.save(tmp_path / "model")
        later = onlinesvm.load(tmp_path / "model").unlearn([399], certificate=True)
        assert later.settled == model.unlearn([399], certificate=True).settled
    assert list(later.settled) == ["gamma"]
    assert model.fit(X, Y).unlearn([], certificate=True).complete


def test_rows_that_came_later_settled_nothing():
    model = streamed()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        proof = model.unlearn([256, 399], certificate=True)
    assert proof.complete
    assert "decides as one trained without what was removed" in verify(proof, model).sentence
    with pytest.warns(SettledWarning, match="gamma"):
        model.unlearn([255])


def test_a_number_and_a_number_of_features_are_settled_by_no_row():
    for gamma in (0.5, "auto"):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert streamed(gamma=gamma).unlearn([0], certificate=True).complete
    linear = streamed(kernel="linear").unlearn([0], certificate=True)
    assert linear.complete


@pytest.mark.filterwarnings("ignore:.*the rows so far would give")
def test_gamma_is_settled_anew_by_the_first_rows_that_are_left():
    model = IncrementalSVC(C=3, classes=["in", "out"]).partial_fit(X[:100], Y[:100])
    assert list(model.unlearn(range(5), certificate=True).settled) == ["gamma"]
    model.partial_fit(X[100:], Y[100:])
    proof = model.unlearn([], certificate=True)
    assert proof.complete
    never = IncrementalSVC(C=3, classes=["in", "out"]).partial_fit(X[5:], Y[5:])
    assert model.gamma_ == never.gamma_
    assert apart(model, never) <= proof.distance + proof.bias_distance + 1e-6


@quiet
def test_a_file_of_before_knows_no_rows_and_names_gamma(tmp_path):
    model = streamed()
    model._settled_by = None
    model.save(tmp_path / "model")
    assert list(onlinesvm.load(tmp_path / "model").unlearn([399], certificate=True).settled)


# ---- what else is settled ------------------------------------------------------------------------


@quiet
def test_class_weights_are_named():
    for model in (streamed(gamma=0.5, class_weight="balanced"), SmoSVC(gamma=0.5)):
        if isinstance(model, SmoSVC):
            model.set_params(class_weight="balanced").fit(X, Y)
        proof = model.unlearn([300], certificate=True)
        assert proof.settled == {"class_weight": "balanced"}
    given = streamed(gamma=0.5, class_weight={"in": 2.0}).unlearn([300], certificate=True)
    assert given.complete


def test_a_class_without_an_example_is_named_unless_it_was_given():
    y = np.array(["a", "b", "c"] + ["a", "b"] * 20)
    for model in (
        IncrementalSVC(gamma=0.5).fit(X[:43], y),
        IncrementalSVC(gamma=0.5, classes="open").fit(X[:43], y),
        IncrementalSVC(gamma=0.5, classes="open").partial_fit(X[:43], y),
    ):
        proof = model.unlearn([2], certificate=True)
        assert proof.settled == {"classes": "c"}
        assert verify(proof, model)
    given = IncrementalSVC(gamma=0.5, classes=["a", "b", "c"]).partial_fit(X[:43], y)
    assert given.unlearn([2], certificate=True).complete


def test_names_of_features_that_only_removed_rows_bore_are_named():
    rows = [{"u": u, "v": v} for u, v in X[5:60, :2].tolist()] + [{"u": 1.0, "rare": 2.0}]
    model = IncrementalSVC(gamma=0.5, classes="open").partial_fit(rows, Y[5:61])
    assert model.unlearn([3], certificate=True).complete
    assert model.unlearn([55], certificate=True).settled == {"features": "rare"}


@quiet
def test_steps_of_a_pipeline_are_named(tmp_path):
    model = make_online_pipeline(
        OnlineImputer(strategy="constant"),
        OnlineScaler(),
        IncrementalSVC(gamma=0.5, classes="open"),
    )
    model.partial_fit(X[:300], Y[:300]).partial_fit(X[300:], Y[300:])
    later = model.unlearn([300], certificate=True)
    assert later.complete
    assert verify(later, model)
    with pytest.warns(SettledWarning, match="step 'onlinescaler'"):
        proof = model.unlearn([3], certificate=True)
    assert proof.settled == {"step 'onlinescaler'": "OnlineScaler"}
    assert not model._settled_by.meet(np.array([3])), "no file keeps a removed id"
    model.save(tmp_path / "model")
    again = onlinesvm.load(tmp_path / "model")
    assert verify(proof, again).settled == proof.settled
    assert again.unlearn([399], certificate=True).settled == proof.settled


@quiet
def test_a_step_that_never_ends_learning_is_settled_by_every_row():
    words = np.array([["red", "blue"][i % 2] for i in range(50)], dtype=object)[:, None]
    for step, named in ((OnlineOneHot(), ["step 'onlineonehot'"]), (OnlineHashing(16), [])):
        model = make_online_pipeline(step, IncrementalSVC(gamma=0.5, classes="open"))
        proof = model.partial_fit(words, Y[5:55]).unlearn([49], certificate=True)
        assert list(proof.settled) == named


@quiet
def test_what_wraps_a_model_is_named():
    for wrapper, named in ((CalibratedOnline, "calibration"), (DriftAware, "new beginnings")):
        model = wrapper(IncrementalSVC(gamma=0.5, classes=["in", "out"])).partial_fit(X[5:], Y[5:])
        proof = model.unlearn([300], certificate=True)
        assert proof.settled == {named: wrapper.__name__}
        assert verify(proof, model)
        assert verify(proof, model.model_)


@quiet
def test_other_methods_warn_and_certify_the_same():
    with pytest.warns(SettledWarning, match="gamma"):
        LASVC(classes=["in", "out"]).partial_fit(X, Y).unlearn([0])
    assert list(PokerSVR().fit(X, X[:, 0]).unlearn([0], certificate=True).settled) == ["gamma"]
    ramp = RampSVC(classes=["in", "out"]).partial_fit(X, Y)
    proof = ramp.unlearn([399], certificate=True)
    assert (proof.complete, proof.settled) == (False, {})
    assert "may find another solution" in verify(proof, ramp).sentence


# ---- forged and foreign --------------------------------------------------------------------------


@quiet
def test_a_certificate_that_keeps_silent_is_told():
    model = streamed()
    proof = model.unlearn([0], certificate=True)
    silent = replace(proof, settled={}, complete=True).sealed()
    with pytest.raises(CertificateError, match=r"gamma = .* and the certificate does not say so"):
        verify(silent, model)
    pipeline = make_online_pipeline(OnlineScaler(), IncrementalSVC(gamma=0.5, classes="open"))
    of_the_last = pipeline.partial_fit(X, Y)[-1].unlearn([0], certificate=True)
    assert of_the_last.complete  # for rows as they are prepared
    assert verify(of_the_last, pipeline[-1]).complete
    with pytest.raises(CertificateError, match="step 'onlinescaler'"):
        verify(of_the_last, pipeline)


def test_what_is_no_certificate_is_refused_in_one_line(tmp_path):
    path = tmp_path / "proof.json"
    for content, why in (
        (b"\xff\xfe", "no text, but bytes"),
        (b"nothing", "no JSON"),
        (b"[]", "must have the fields"),
        (b'{"seal": "", "method": "x"}', "an earlier version, which does not say .*settled"),
    ):
        path.write_bytes(content)
        with pytest.raises(ValueError, match=f"^{path} is .*{why.removeprefix('is ')}"):
            verify(path, streamed(gamma=0.5))
    with pytest.raises(ValueError, match="certificate must be a Certificate or the path of one"):
        verify(3, streamed(gamma=0.5))
    with pytest.raises(ValueError, match="model must be an estimator of this library"):
        verify(streamed(gamma=0.5).unlearn([], certificate=True), 3)


@quiet
def test_a_forged_file_is_refused(tmp_path):
    model = streamed()
    for runs in ([[3, 1]], [[0, 5], [4, 9]], [[-1, 4]], [[1, 2, 3]]):
        model._settled_by = IdRuns(np.array(runs, dtype=np.int64))
        model.save(tmp_path / "model")
        with pytest.raises(ValueError, match="the rows that settled it"):
            onlinesvm.load(tmp_path / "model")


def test_runs_of_ids():
    ids = np.array([9, 3, 4, 5, 100, 4])
    runs = IdRuns.of(ids)
    assert runs.runs.tolist() == [[3, 6], [9, 10], [100, 101]]
    for i in range(103):
        assert runs.meet(np.array([i])) == (i in ids)
    assert not IdRuns.of(np.zeros(0, np.int64)).meet(ids)
    assert not runs.meet(np.zeros(0, np.int64))
    assert IdRuns.first(3).runs.tolist() == [[0, 3]]
    assert IdRuns.first(6).without(np.array([0, 3, 5, 9])).runs.tolist() == [[1, 3], [4, 5]]
    assert IdRuns.of(ids).without(ids).runs.tolist() == []
    assert explained({"gamma": 0.5, "a": "b"}).startswith("gamma = 0.5 and a (b), which were")


def test_certificates_keep_what_they_name(tmp_path):
    with pytest.warns(SettledWarning):
        proof = streamed().unlearn([0], certificate=True)
    proof.save(tmp_path / "proof.json")
    assert Certificate.load(tmp_path / "proof.json") == proof


# ---- scope="all" ---------------------------------------------------------------------------------


@pytest.mark.parametrize("learned", [streamed, fitted])
@pytest.mark.parametrize("weights", [None, "balanced", {"in": 2.0}])
def test_scope_of_all_leaves_the_model_that_never_saw_them(learned, weights, tmp_path):
    model = learned(class_weight=weights)
    proof = model.unlearn(range(5), certificate=True, scope="all")
    assert proof.complete
    assert not proof.settled
    assert proof.settled_anew["gamma"] == model.gamma_
    assert ("class_weight" in proof.settled_anew) == (weights == "balanced")
    assert proof.relearned == proof.n_examples == 395
    assert "for that 395 examples were learned again" in proof.statement
    never = IncrementalSVC(C=3, classes=["in", "out"], class_weight=weights)
    (never.fit if learned is fitted else never.partial_fit)(X[5:], Y[5:])
    assert model.gamma_ == never.gamma_
    assert apart(model, never) <= proof.distance + proof.bias_distance + 1e-6
    assert model.n_seen_ == 400
    model.save(tmp_path / "model")
    model = onlinesvm.load(tmp_path / "model")
    said = verify(proof, model)
    assert said.complete
    assert said.settled_anew == proof.settled_anew
    assert "Settled anew" in said.sentence
    with pytest.warns(SettledWarning):
        later = model.unlearn([7], certificate=True)  # which had a part in gamma as it is now
    assert not later.complete
    assert model.unlearn([8], certificate=True, scope="all").complete


def test_scope_of_all_trains_again_only_where_something_was_settled():
    model = IncrementalSVC(C=3, gamma=0.5).fit(X, Y)
    proof = model.unlearn([3], certificate=True, scope="all")
    assert proof.complete
    assert proof.relearned == 0
    assert proof.settled_anew == {}
    late = streamed()
    assert late.unlearn([300], certificate=True, scope="all").relearned == 0  # gamma: the first 256


def test_an_id_given_again_leaves_something_again():
    model = streamed(class_weight="balanced")
    model.unlearn([3], scope="all")
    model.partial_fit(X[3:4], Y[3:4], ids=[3])
    again = model.unlearn([3], certificate=True, scope="all")
    assert list(again.settled_anew) == ["class_weight"]
    model.partial_fit(X[3:4], Y[3:4], ids=[3])
    with pytest.warns(SettledWarning, match="class_weight"):
        proof = model.unlearn([3], certificate=True)
    assert "class_weight" in proof.settled
    assert "class_weight" in verify(proof, model).settled


@quiet
def test_scope_of_all_mends_what_was_left_before():
    model = streamed()
    assert not model.unlearn([0, 1, 2, 3, 4], certificate=True).complete
    proof = model.unlearn([], certificate=True, scope="all")
    assert proof.complete
    assert model.gamma_ == IncrementalSVC(classes="open").partial_fit(X[5:], Y[5:]).gamma_


def test_scope_of_all_needs_the_rows_of_a_pipeline():
    def learned(**more: Any) -> Any:
        pipeline = make_online_pipeline(OnlineScaler(), IncrementalSVC(classes="open"), **more)
        return pipeline.partial_fit(X, Y, keys=["her"] * 5 + ["us"] * 395)

    model = learned()
    before = model.decision_function(X)
    with pytest.raises(ValueError, match="keep_rows=True") as refusal:
        model.unlearn(keys="her", scope="all")
    assert "step 'onlinescaler' (OnlineScaler) was settled on these rows" in str(refusal.value)
    assert np.array_equal(model.decision_function(X), before)
    kept = learned(keep_rows=True)
    proof = kept.unlearn(keys="her", certificate=True, scope="all")
    assert verify(proof, kept).complete
    assert set(proof.settled_anew) == {"step 'onlinescaler'", "gamma"}
    never = make_online_pipeline(OnlineScaler(), IncrementalSVC(classes="open"))
    assert apart(kept, never.partial_fit(X[5:], Y[5:])) <= proof.distance + proof.bias_distance
    assert len(kept.ids_of("us")) == 395
    assert kept.keys_held() == ["us"]


@quiet
def test_rows_kept_go_with_those_that_were_unlearned_before():
    def learned(**more: Any) -> Any:
        return make_online_pipeline(OnlineScaler(), IncrementalSVC(classes="open"), **more)

    model = learned(keep_rows=True).partial_fit(X, Y)
    model.unlearn([0, 1])
    assert sum(map(len, model._kept)) == 398
    model[-1].unlearn([2])  # behind the back of the pipeline
    proof = model.unlearn([3, 4], certificate=True, scope="all")
    never = learned().partial_fit(X[5:], Y[5:])
    assert apart(model, never) <= proof.distance + proof.bias_distance
    assert verify(proof, model).complete


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (RampSVC(classes="open"), "examples that it does not keep"),
        (CalibratedOnline(IncrementalSVC(classes="open")), "its calibration came from rows"),
        (DriftAware(IncrementalSVC(classes="open")), "its new beginnings came from rows"),
    ],
)
def test_scope_of_all_is_refused_where_something_would_be_left(model, message):
    model.partial_fit(X[:60], Y[:60])
    before = model.decision_function(X)
    with pytest.raises(NotImplementedError, match=message):
        model.unlearn([3], scope="all")
    assert np.array_equal(model.decision_function(X), before)


def test_scope_of_all_refuses_what_no_model_can_be_trained_of():
    model = fitted()
    with pytest.raises(ValueError, match="one class only"):
        model.unlearn(np.flatnonzero(Y == "in"), scope="all")
    with pytest.raises(ValueError, match="would leave no example"):
        model.unlearn(np.arange(400), scope="all")
    with pytest.raises(ValueError, match="scope must be"):
        model.unlearn([0], scope="everything")
    heavy = IncrementalSVC(class_weight="balanced").fit(X, Y, sample_weight=np.full(400, 2.0))
    with pytest.raises(NotImplementedError, match="sample weights are not kept"):
        heavy.unlearn([0], scope="all")
    assert model.n_seen_ == len(model._core.labels()[0]) == 400


@quiet
def test_verify_says_which_file_is_meant(tmp_path):
    model = streamed()
    proof = model.unlearn([3], certificate=True)
    proof.save(tmp_path / "proof.json")
    model.save(tmp_path / "model.onlinesvm")
    with pytest.raises(ValueError, match="takes the certificate first and then the model"):
        verify(tmp_path / "model.onlinesvm", tmp_path / "proof.json")
    with pytest.raises(ValueError, match="is a folder; of a run, name the file in it"):
        verify(tmp_path / "proof.json", tmp_path)
