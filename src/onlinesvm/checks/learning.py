"""Learning: the same bits however the stream is cut; weights, classes, ids, unlearning."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.base import clone, is_regressor
from sklearn.exceptions import ConvergenceWarning

from .streams import (
    TREES,
    Stream,
    adjusted,
    all_classes,
    assert_same_bits,
    assert_same_model,
    classifying,
    comparable,
    differences,
    exact,
    fingerprint,
    go_on,
    in_one_pass,
    knowing_classes,
    last_of,
    learned,
    one_by_one,
    parameters,
    passing,
    predicted,
    predicted_one,
    promise,
    refuses,
    scores,
    stream_for,
    streaming,
    transforming,
    weighing,
    with_gamma,
)


@promise(streaming)
def check_chunks_give_the_same_bits(estimator: Any, stream: Stream) -> None:
    model = comparable(estimator)
    whole = learned(model, stream)
    for sizes in [(1,), (7,), (16,), (17, 1, 30), (89, 1)]:
        pieces = learned(model, *stream.pieces(*sizes))
        assert_same_model(whole, pieces, stream.X, f"chunks of {sizes}")


@promise(streaming)
def check_one_pass_of_fit_is_partial_fit(estimator: Any, stream: Stream) -> None:
    """In order, and followed by what ends a stream where a method has such a verb."""
    model = with_gamma(in_one_pass(knowing_classes(estimator)))
    by_fit = clone(model).fit(stream.X, stream.y)
    by_stream = learned(model, stream)
    for verb in {"finish", "flush"} & set(dir(by_stream)):
        getattr(by_stream, verb)()
    # Only fit notes that all its rows may have settled something.
    odd = set(differences(by_fit, by_stream)) - {"by_fit", "settled_by"}
    assert not odd, f"fit against partial_fit: the models differ in {', '.join(sorted(odd))}"


@promise(streaming)
def check_passes_of_fit_leave_the_rows_their_names(estimator: Any, stream: Stream) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = clone(estimator).fit(stream.X, stream.y)
    assert model.n_seen_ == len(stream.X), "a pass of fit counted rows again"
    if not hasattr(model, "support_"):
        return
    ids, vectors = model.support_, model.support_vectors_
    assert ids.size == 0 or -1 <= ids.min() <= ids.max() < len(stream.X)
    rows = ids >= 0  # -1: made of several
    assert np.array_equal(vectors[rows], stream.X[ids[rows]]), "ids name other rows of X"


@promise()
def check_threads_give_the_same_bits(estimator: Any, stream: Stream) -> None:
    if "n_jobs" not in parameters(estimator):
        return
    model = comparable(estimator)
    one, four = (learned(adjusted(model, n_jobs=n), stream) for n in (None, 4))
    many = np.tile(stream.X, (12, 1))  # enough for every thread to have a share
    assert np.array_equal(scores(one, many), scores(four, many)), "n_jobs changes the scores"


@promise()
def check_fit_forgets(estimator: Any, stream: Stream) -> None:
    other = stream_for(estimator, seed=1)
    fresh = clone(estimator).fit(stream.X, stream.y)
    again = clone(estimator).fit(other.X[:, :3], other.y).fit(stream.X, stream.y)
    assert_same_bits(fresh, again, "fit after fit")


@promise(streaming)
def check_learn_one_is_partial_fit(estimator: Any, stream: Stream) -> None:
    estimator = comparable(estimator)
    model = learned(estimator, stream.head(1))
    one_by_one(model, stream.tail(1))
    whole = learned(estimator, stream)
    assert_same_model(model, whole, stream.X, "learn_one against partial_fit")


@promise(streaming)
def check_learn_one_from_nothing(estimator: Any, stream: Stream) -> None:
    model = knowing_classes(comparable(estimator))
    other = learned(model, stream)
    one_by_one(model, stream)
    assert_same_model(model, other, stream.X, "learn_one from the first example on")


@promise()
def check_same_stream_same_bits(estimator: Any, stream: Stream) -> None:
    assert_same_bits(learned(estimator, stream), learned(estimator, stream), "two equal runs")


@promise()
def check_predicting_changes_nothing(estimator: Any, stream: Stream) -> None:
    model = learned(estimator, stream)
    before, names = fingerprint(model), set(vars(model))
    predicted(model, stream.X)
    scores(model, stream.X)
    if hasattr(model, "score"):
        model.score(stream.X, stream.y)
    predicted_one(model, stream.X[0])
    if hasattr(model, "wants_label"):
        model.wants_label(stream.X)
    assert fingerprint(model) == before, "predicting changed the model"
    assert set(vars(model)) == names, "predicting left attributes behind"


@promise()
def check_one_example_methods_agree(estimator: Any, stream: Stream) -> None:
    model = learned(estimator, stream)
    for x, y, f in zip(stream.X, predicted(model, stream.X), scores(model, stream.X), strict=True):
        if transforming(model):
            assert np.array_equal(model.transform_one(x), f), "transform_one is not transform"
        elif is_regressor(model):
            assert np.isclose(model.predict_one(x), y, rtol=1e-5, atol=1e-6)
        else:
            assert model.predict_one(x) == y, "predict_one disagrees with predict"
            assert np.allclose(model.decide_one(x), f, rtol=1e-5, atol=1e-6)


@promise()
def check_silent_before_any_data(estimator: Any, stream: Stream) -> None:
    model = clone(estimator)
    assert not np.any(predicted_one(model, np.zeros(3)))
    assert not model.__sklearn_is_fitted__(), "predict_one started the model"
    if streaming(model):
        weights = np.zeros(len(stream.X))
        model.partial_fit(stream.X, stream.y, sample_weight=weights, **all_classes(model))
        silent = not scores(model, stream.X).any()
        assert silent or passing(model), "the decision is not 0 before any data"


# --- weights ------------------------------------------------------------------------------------


@promise(streaming)
def check_weight_zero_is_skipped(estimator: Any, stream: Stream) -> None:
    keep = np.arange(len(stream.X)) % 3 > 0
    model, other = knowing_classes(estimator), knowing_classes(estimator)
    model.partial_fit(stream.X, stream.y, sample_weight=keep.astype(float))
    other.partial_fit(stream.X[keep], stream.y[keep], ids=np.flatnonzero(keep))
    left, right = fingerprint(model), fingerprint(other)
    odd = [name for name in left if name.startswith("state.") and left[name] != right[name]]
    assert not odd, f"examples of weight 0 changed {odd}"
    assert model.n_seen_ == len(stream.X), "n_seen_ does not count examples of weight 0"


@promise()
def check_weight_one_is_no_weight(estimator: Any, stream: Stream) -> None:
    plain = clone(estimator).fit(stream.X, stream.y)
    ones = clone(estimator).fit(stream.X, stream.y, sample_weight=np.ones(len(stream.X)))
    assert_same_bits(plain, ones, "weights of 1")


@promise(weighing, streaming)
def check_weighted_learn_one_is_partial_fit(estimator: Any, stream: Stream) -> None:
    model = knowing_classes(comparable(estimator))
    w = np.random.default_rng(0).integers(0, 4, len(stream.X)) / 2
    batch = clone(model).partial_fit(stream.X, stream.y, sample_weight=w)
    for x, y, weight in zip(stream.X, stream.y, w, strict=True):
        model.learn_one(x, y, weight)
    assert_same_model(model, batch, stream.X, "weighted learn_one against weighted partial_fit")


@promise(weighing, classifying)
def check_class_weight_is_sample_weight(estimator: Any, stream: Stream) -> None:
    factors = {"ash": 0.01, "cedar": 100.0}
    model = adjusted(estimator, class_weight=factors).fit(stream.X, stream.y)
    w = np.array([factors.get(label, 1.0) for label in stream.y])
    other = adjusted(estimator, class_weight=None)
    other.fit(stream.X, stream.y, sample_weight=w)
    assert np.array_equal(scores(model, stream.X), scores(other, stream.X))


@promise(weighing, streaming, classifying)
def check_balanced_goes_by_running_counts(estimator: Any, stream: Stream) -> None:
    """An example weighs ``n / (k n_c)`` by the examples so far, however the stream is cut."""
    w = np.arange(len(stream.X)) % 4 / 2.0
    counts = dict.fromkeys(TREES, 0)
    factors = np.ones(len(w))
    for i, label in enumerate(stream.y):
        if w[i]:
            counts[label] += 1
            met = sum(count > 0 for count in counts.values())
            factors[i] = sum(counts.values()) / (met * counts[label])
    model = comparable(knowing_classes(adjusted(estimator, class_weight="balanced")))
    plain = comparable(knowing_classes(adjusted(estimator, class_weight=None)))
    plain.partial_fit(stream.X, stream.y, sample_weight=w * factors)
    for sizes in [(len(w),), (17, 1, 30)]:
        pieces, at = clone(model), 0
        for part in stream.pieces(*sizes):
            stop = at + len(part.y)
            pieces.partial_fit(part.X, part.y, sample_weight=w[at:stop])
            at = stop
        left, right = scores(pieces, stream.X), scores(plain, stream.X)
        same = np.allclose(left, right, rtol=1e-4, atol=1e-5)
        exact_bits = last_of(estimator)._any_cut_gives == "bits"
        assert np.array_equal(left, right) if exact_bits else same, f"chunks of {sizes}"


# --- classes ------------------------------------------------------------------------------------


@promise(streaming, classifying, classes=4)
def check_open_classes(estimator: Any, stream: Stream) -> None:
    model = adjusted(comparable(estimator), classes="open")
    whole = learned(model, stream)
    for sizes in [(1,), (5, 20, 3)]:
        pieces = learned(model, *stream.pieces(*sizes))
        assert_same_model(whole, pieces, stream.X, f"open classes in chunks of {sizes}")
    one_by_one(model, stream)
    assert_same_model(whole, model, stream.X, "open classes one by one")
    assert whole.classes_.tolist() == sorted(set(stream.y)), "open classes_ do not ascend"
    assert scores(whole, stream.X).shape == (len(stream.X), 4)


@promise(classifying)
def check_one_class_alone(estimator: Any, stream: Stream) -> None:
    model = adjusted(estimator, classes=None, class_weight=None)
    model.fit(stream.X, np.full(len(stream.X), "only"))
    assert set(model.predict(stream.X)) == {"only"}
    assert model.predict_one(stream.X[0]) == "only"


@promise(classifying, classes=2)
def check_two_classes_share_one_column(estimator: Any, stream: Stream) -> None:
    model = adjusted(estimator, classes=None).fit(stream.X, stream.y)
    f = model.decision_function(stream.X)
    assert f.shape == (len(stream.X),)
    assert np.array_equal(model.predict(stream.X) == model.classes_[1], f > 0)


@promise(streaming, classifying)
def check_wants_label(estimator: Any, stream: Stream) -> None:
    wanted = learned(estimator, stream).wants_label(stream.X)
    assert wanted.shape == (len(stream.X),)
    assert wanted.dtype == bool


# --- ids and unlearning -------------------------------------------------------------------------


@promise(streaming, n=30)
def check_ids(estimator: Any, stream: Stream) -> None:
    ids = np.arange(30)[::-1] * 7 + 3
    model = clone(estimator)
    model.partial_fit(stream.X, stream.y, ids=ids, **all_classes(model))
    assert model.n_seen_ == 30
    if hasattr(model, "support_"):
        given = {-1, *ids.tolist()}  # -1: made of several
        assert set(model.support_.tolist()) <= given, "support_ are not the ids given"
    go_on(model, stream)  # numbers handed out must not collide with ids given
    assert model.n_seen_ == 60
    if hasattr(model, "support_"):
        kept = model.support_[model.support_ >= 0].tolist()
        assert len(set(kept)) == len(kept), "an id appears twice"


@promise(n=30)
def check_verbs_work_or_say_who_can(estimator: Any, stream: Stream) -> None:
    model = learned(estimator, stream)
    for verb, call in {
        "unlearn": lambda: model.unlearn([0]),
        "kkt_residual": model.kkt_residual,
        "objective": model.objective,
    }.items():
        if not model.can(verb):
            complaint = refuses(call, NotImplementedError, verb)
        else:
            try:
                call()
                continue
            except NotImplementedError as refusal:  # not with these parameters
                complaint = str(refusal)
        assert complaint.endswith("can."), f"{verb}: {complaint!r} names no class that can"
        assert "\n" not in complaint
        names = complaint.split("; ")[-1].removesuffix(" can.").split(", ")
        assert len(set(names)) == len(names), f"{verb}: {complaint!r} names a class twice"


@promise(lambda estimator: estimator.can("unlearn") and estimator.can("kkt_residual"))
def check_unlearning_leaves_an_optimum(estimator: Any, stream: Stream) -> None:
    model = learned(exact(estimator), stream)
    rng = np.random.default_rng(0)
    for size in (1, 5, 20):
        gone = rng.choice(len(stream.X), size, replace=False)
        model.unlearn(gone)
        assert model.kkt_residual() < 1e-6, f"unlearning {size} left no optimum"
        left = last_of(model).support_
        assert not set(gone) & set(left.tolist()), "an unlearned example still counts"
        before = fingerprint(model)
        model.unlearn(gone)
        assert fingerprint(model) == before, "unlearning twice is not unlearning once"
    refuses(lambda: model.unlearn(10**6), ValueError, "an id never handed out")
    model.unlearn(np.arange(len(stream.X)))
    bare = getattr(model, "model_", model)  # a calibration keeps what it learned of the scores
    assert not scores(bare, stream.X).any(), "something is left after unlearning everything"


@promise(weighing, classifying)
def check_a_heavier_class_is_predicted_more(estimator: Any, _: Stream) -> None:
    """By fit, over a few streams of two classes that overlap."""
    shares = []
    for weight in (0.1, 1.0, 10.0):
        model = adjusted(estimator, class_weight={TREES[1]: weight})
        named = 0.0
        for seed in range(3):
            stream = stream_for(estimator, 120, seed=seed, classes=2)
            noisy = np.random.default_rng(seed).permutation(120)[:24]
            y = stream.y.copy()
            y[noisy] = np.where(y[noisy] == TREES[0], TREES[1], TREES[0])
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                named += np.mean(clone(model).fit(stream.X, y).predict(stream.X) == TREES[1]) / 3
        shares.append(named)
    message = f"the class of weight 0.1, 1 and 10 is predicted for {shares} of the rows"
    assert shares[0] <= shares[1] <= shares[2], message
    assert shares[0] < shares[2] - 0.05, message
