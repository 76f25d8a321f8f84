"""A bank is a dict of single models, to the bit, whatever happens in between."""

import copy
import pickle
import threading

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone, is_classifier, is_regressor

import onlinesvm
from onlinesvm import ModelBank, _core
from onlinesvm.compose.bank.bank import _demand_bankable

PA, SGD = onlinesvm.PassiveAggressiveClassifier, onlinesvm.SGDSVC


def holdable(cls, **params):
    """A model of the class as a bank can hold it."""
    known = cls._parameters
    if "kernel" in known and not cls.__name__.startswith("MultiKernel"):  # has no linear one
        params.setdefault("kernel", "linear")
    if "classes" in known:
        params.setdefault("classes", [0, 1])
    if "lookahead" in known:
        params.setdefault("lookahead", 1)
    return cls(**params)


def can_be_held(cls):
    try:
        _demand_bankable(holdable(cls))
    except NotImplementedError:
        return False
    return True


HELD = [cls for cls in onlinesvm.all_estimators() if can_be_held(cls)]


def stream(model, n=240, d=4, keys=17, seed=0, classes=2):
    rng = np.random.default_rng(seed)
    names = rng.integers(keys, size=n)
    X = np.abs(rng.normal(size=(n, d))) + 0.1  # Winnow wants no negative ones
    tastes = rng.normal(size=(keys, d))
    margins = (X * tastes[names]).sum(axis=1)
    if is_regressor(model):
        return names, X, margins
    if not is_classifier(model):
        return names, X, None
    cuts = np.quantile(margins, np.linspace(0, 1, classes + 1)[1:-1])
    return names, X, np.digitize(margins, cuts)


def rows_of(y, chosen):
    return None if y is None else y[chosen]


def loop(model, keys, X, y, weights=None):
    """The oracle: a dict of single models, row by row."""
    singles = {}
    for i, key in enumerate(keys):
        one = singles.setdefault(key, clone(model))
        kwargs = {} if y is None else {"y": y[i : i + 1]}
        w = None if weights is None else weights[i : i + 1]
        one.partial_fit(X[i : i + 1], **kwargs, sample_weight=w)
    return singles


def state_of(model):
    return {name: array.tobytes() for name, array in model._core.state().items()}


def demand_same(bank, singles):
    assert len(bank) == len(singles)
    assert set(bank.keys()) == set(singles)
    for key, single in singles.items():
        twin = bank.model(key)
        assert state_of(twin) == state_of(single), key
        assert twin.n_seen_ == single.n_seen_
        assert twin.get_params() == single.get_params()


def test_every_method_that_keeps_weights_can_be_held():
    names = {cls.__name__ for cls in HELD}
    assert names >= {
        "PassiveAggressiveClassifier",
        "PassiveAggressiveRegressor",
        "PegasosSVC",
        "SGDSVC",
        "KernelPerceptron",
        "StreamSVC",
    }
    assert not names & {"RampSVC", "LASVC", "BudgetedSVC", "IncrementalSVC"}


@pytest.mark.parametrize("cls", HELD, ids=lambda cls: cls.__name__)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_bank_is_a_loop_over_single_models(cls, dtype):
    model = holdable(cls, dtype=dtype)
    keys, X, y = stream(model)
    singles = loop(model, keys.tolist(), X, y)
    bank = ModelBank(model).learn_many(keys, X, y)
    demand_same(bank, singles)
    assert bank.n_seen_ == len(X)

    cut = ModelBank(model)
    for start in range(0, len(X), 31):
        part = slice(start, start + 31)
        cut.learn_many(keys[part], X[part], rows_of(y, part))
    assert cut.to_bytes() == bank.to_bytes()

    expected = np.array([singles[key].predict(X[i : i + 1])[0] for i, key in enumerate(keys)])
    assert np.array_equal(bank.predict(keys, X), expected)


@pytest.mark.parametrize("cls", [PA, onlinesvm.StreamSVC, onlinesvm.PegasosSVC, SGD])
@pytest.mark.parametrize("form", ["dense", "sparse"])
def test_of_three_classes_and_in_any_form(cls, form):
    model = holdable(cls, classes=["a", "b", "c"])
    keys, X, y = stream(model, classes=3)
    y = np.array(["a", "b", "c"])[y]
    if form == "sparse":
        X = sp.csr_array(np.where(X > 0.7, X, 0.0))
    singles = loop(model, keys.tolist(), X, y)
    bank = ModelBank(model).learn_many(keys, X, y)
    demand_same(bank, singles)
    scores = bank.decision_function(keys, X)
    for i in range(0, len(keys), 7):
        assert np.array_equal(scores[i], singles[keys[i]].decision_function(X[i : i + 1])[0])


def test_weights_and_class_weights_count_as_they_do_alone():
    model = PA(classes=[0, 1], class_weight={0: 1.0, 1: 2.5})
    keys, X, y = stream(model)
    weights = np.random.default_rng(1).choice([0.0, 0.5, 1.0, 3.0], len(X))
    weights[keys == 3] = 0.0  # a model that has seen rows and learned none
    bank = ModelBank(model).learn_many(keys, X, y, weights)
    demand_same(bank, loop(model, keys.tolist(), X, y, weights))
    assert bank.model(3).n_seen_ == (keys == 3).sum()
    again = ModelBank.from_bytes(bank.to_bytes())
    assert not again.decision_function([3], X[:1]).any()


KEYS = st.one_of(
    st.integers(-(2**127), 2**127),
    st.integers(0, 3),
    st.text(max_size=3),
    st.tuples(st.integers(0, 2), st.text(max_size=2)),
)


@given(
    keys=st.lists(st.sampled_from(range(6)), min_size=1, max_size=60),
    names=st.lists(KEYS, min_size=6, max_size=6, unique=True),
    cuts=st.lists(st.integers(1, 12), max_size=12),
    pauses=st.sets(st.integers(0, 11)),
    gone=st.sets(st.integers(0, 5), max_size=3),
    cls=st.sampled_from([PA, SGD, onlinesvm.StreamSVC, onlinesvm.KernelPerceptron]),
    seed=st.integers(0, 9),
)
def test_any_stream_in_any_cut(keys, names, cuts, pauses, gone, cls, seed):
    """Calls of any length, saved and loaded between some; some keys forgotten at the end."""
    model = holdable(cls)
    rng = np.random.default_rng(seed)
    X = rng.choice([-1e3, -1.0, 0.0, 1e-3, 1.0, 2.0], (len(keys), 3))
    y = rng.integers(2, size=len(keys))
    keys = [names[key] for key in keys]
    bank, start, call = ModelBank(model), 0, 0
    while start < len(keys):
        stop = start + (cuts[call % len(cuts)] if cuts else len(keys))
        if stop - start == 1:
            bank.learn_one(keys[start], X[start], y[start])
        else:
            bank.learn_many(keys[start:stop], X[start:stop], y[start:stop])
        if call in pauses:
            bank = ModelBank.from_bytes(bank.to_bytes())
        start, call = stop, call + 1
    demand_same(bank, loop(model, keys, X, y))
    assert bank.keys() == list(dict.fromkeys(keys))

    gone = [names[i] for i in gone if names[i] in bank]
    left = [i for i, key in enumerate(keys) if key not in gone]
    bank.forget(gone)
    never = ModelBank(model)
    if left:
        never.learn_many([keys[i] for i in left], X[left], y[left])
    assert bank.to_bytes() == never.to_bytes()


def test_one_by_one_in_any_type():
    model = PA(classes=["no", "yes"])
    keys, X, y = stream(model, n=80)
    names = np.array(["no", "yes"])[y]
    bank = ModelBank(model)
    for i, key in enumerate(keys.tolist()):
        x = [X[i], X[i].astype(np.float32).astype(float), X[i].tolist(), X[i][::1].copy()][i % 4]
        bank.learn_one(key if i % 2 else np.int64(key), x, names[i])
    rows = np.array([X[i].astype(np.float32) if i % 4 == 1 else X[i] for i in range(80)], float)
    demand_same(bank, loop(model, keys.tolist(), rows, names))


def test_before_any_data_a_score_is_zero():
    bank = ModelBank(PA(classes=[3, 5]))
    assert bank.decision_function(["a"], [[1.0, 2.0]]).tolist() == [0.0]
    assert bank.predict(["a"], [[1.0, 2.0]]).tolist() == [3]
    assert len(bank) == 0
    assert bank.keys() == []
    assert "a" not in bank
    bank.learn_one("a", np.array([1.0, 2.0]), 5)
    assert bank.decision_function(["a", "b"], [[1.0, 2.0]] * 2)[1] == 0.0
    three = ModelBank(PA(classes=[3, 5, 7]))
    assert three.decision_function(["a"], [[1.0]]).shape == (1, 3)
    assert three.predict(["a"], [[1.0]]).tolist() == [3]
    assert ModelBank(onlinesvm.PassiveAggressiveRegressor()).predict([1], [[1.0]]).tolist() == [0.0]


# --- all or nothing -----------------------------------------------------------------------------


def begun():
    model = PA(classes=[0, 1])
    keys, X, y = stream(model)
    return ModelBank(model).learn_many(keys, X, y), keys, X, y


@pytest.mark.parametrize(
    ("what", "says"),
    [
        ("nan", "NaN"),
        ("label", "unknown label"),
        ("key", "no key"),
        ("none", "no key"),
        ("few keys", "one for each row"),
        ("width", "features"),
        ("weight", "negative"),
        ("long", "kernel value"),
    ],
)
def test_bad_input_leaves_the_bank_as_it_was(what, says):
    bank, keys, X, y = begun()
    before, X, y, keys, w = bank.to_bytes(), X.copy(), y.copy(), [*keys.tolist()], None
    keys[5] = "a newcomer"
    if what == "nan":
        X[-1, 2] = np.nan
    elif what == "long":
        X[-1], keys[-1] = 1e200, "another"  # it is wrong about it, and wants to know how long it is
    elif what == "label":
        y[-1] = 7
    elif what == "key":
        keys[-1] = 1.5
    elif what == "none":
        keys[-1] = None
    elif what == "few keys":
        keys.pop()
    elif what == "width":
        X = X[:, :3]
    else:
        w = np.full(len(X), -1.0)
    with pytest.raises(ValueError, match=says) as caught:
        bank.learn_many(keys, X, y, w)
    assert "\n" not in str(caught.value)
    assert bank.to_bytes() == before
    if what == "label":
        with pytest.raises(ValueError, match=says):
            bank.learn_one(1, X[0], 7)
        assert bank.to_bytes() == before


def test_the_first_call_may_fail_too():
    bank = ModelBank(PA(classes=[0, 1]))
    empty = bank.to_bytes()
    with pytest.raises(ValueError, match="NaN"):
        bank.learn_many([1, 2], [[1.0], [np.nan]], [0, 1])
    assert bank.to_bytes() == empty
    bank.learn_many([1, 2], [[1.0, 2.0], [1.0, 3.0]], [0, 1])  # of another width than was tried


def test_ctrl_c_leaves_the_bank_as_it_was():
    bank, keys, X, y = begun()
    before = bank.to_bytes()
    for polls in (1, 7, 100):
        _core.interrupt_after(polls)
        with pytest.raises(KeyboardInterrupt):
            bank.learn_many(np.append(keys[:-1], 4711), X, y)
        assert bank.to_bytes() == before
    assert _core.interrupt_after(0) == 0


def test_what_cannot_be_held_is_refused_in_one_sentence():
    for model in (PA(classes=[0, 1], kernel="rbf"), onlinesvm.RampSVC(classes=[0, 1])):
        with pytest.raises(NotImplementedError, match="cannot be held in a bank"):
            ModelBank(model)
    for model in (
        onlinesvm.PegasosSVC(classes=[0, 1], block=5),
        onlinesvm.StreamSVC(classes=[0, 1], lookahead=6),
    ):
        with pytest.raises(NotImplementedError, match="cannot be held"):
            ModelBank(model)
    with pytest.raises(NotImplementedError, match="balanced"):
        ModelBank(PA(classes=[0, 1], class_weight="balanced"))
    for classes in (None, "open"):
        with pytest.raises(ValueError, match="name its classes"):
            ModelBank(PA(classes=classes))
    with pytest.raises(ValueError, match="must be one of the methods"):
        ModelBank(3)
    with pytest.raises(ValueError, match="dicts"):
        ModelBank(PA(classes=[0, 1])).learn_many(["a"], [{"x": 1.0}], [1])
    with pytest.raises(ValueError, match="has no model here"):
        ModelBank(PA(classes=[0, 1])).model("a")
    with pytest.raises(ValueError, match="has no model here"):
        ModelBank(PA(classes=[0, 1])).forget("a")


# --- keys ---------------------------------------------------------------------------------------


def test_keys_of_every_kind_are_told_apart():
    keys = [1, "1", (1,), ("1",), (1, "1"), -1, 2**63, -(2**63), 2**127, "", "\udc80", "é", "[1]"]
    X = np.arange(1.0, len(keys) + 1).reshape(-1, 1)
    bank = ModelBank(PA(classes=[0, 1])).learn_many(keys, X, [1] * len(keys))
    assert bank.keys() == keys
    again = ModelBank.from_bytes(bank.to_bytes())
    assert again.keys() == keys
    assert [type(key) for key in again] == [type(key) for key in keys]
    for key in keys:
        assert key in again
    scores = again.decision_function(keys, X)
    assert np.array_equal(
        scores, [again.model(k).decide_one(x) for k, x in zip(keys, X, strict=True)]
    )
    again.forget([(1,), 2**127])
    assert again.keys() == [key for key in keys if key not in ((1,), 2**127)]


@pytest.mark.parametrize("dtype", [np.int64, np.int32, np.uint8, np.uint64, object, str])
def test_arrays_of_keys(dtype):
    keys, X, y = stream(PA(classes=[0, 1]))
    bank = ModelBank(PA(classes=[0, 1])).learn_many(keys.astype(dtype), X, y)
    names = keys.astype(dtype).tolist()
    assert set(bank.keys()) == set(names)
    assert bank.to_bytes() == ModelBank(PA(classes=[0, 1])).learn_many(names, X, y).to_bytes()
    with pytest.raises(ValueError, match="one for each row"):
        bank.learn_many(keys[:-1], X, y)
    with pytest.raises(ValueError, match="one for each row"):
        bank.learn_many(keys.reshape(-1, 1), X, y)


# --- merging, copying, saving -------------------------------------------------------------------


def test_parts_merge_to_the_whole():
    whole, keys, X, y = begun()
    model = PA(classes=[0, 1])
    left, right = ModelBank(model), ModelBank(clone(model).set_params(n_jobs=2))
    left.learn_many(keys[keys < 9], X[keys < 9], y[keys < 9])
    right.learn_many(keys[keys >= 9], X[keys >= 9], y[keys >= 9])
    theirs = right.to_bytes()
    merged = ModelBank(model).merge(left).merge(right).merge(ModelBank(model))
    assert right.to_bytes() == theirs
    assert merged.n_seen_ == whole.n_seen_
    for key in whole:
        assert state_of(merged.model(key)) == state_of(whole.model(key))
    before = merged.to_bytes()
    for other, says in [
        (right, "as this bank has"),
        (merged, "as this bank has"),
        (ModelBank(PA(classes=[0, 1], C=2.0)), "another model"),
        (ModelBank(PA(classes=[0, 2])), "another model"),
        (ModelBank(model).learn_many(["x"], [[1.0]], [1]), "other features"),
        (3, "must be a ModelBank"),
    ]:
        with pytest.raises(ValueError, match=says):
            merged.merge(other)
        assert merged.to_bytes() == before


def test_saved_copied_and_pickled_it_goes_on(tmp_path):
    bank, keys, X, y = begun()
    bank.save(tmp_path / "bank")
    copies = [
        onlinesvm.load(tmp_path / "bank"),
        ModelBank.from_bytes(bank.to_bytes()),
        copy.deepcopy(bank),
        pickle.loads(pickle.dumps(bank)),
    ]
    bank.learn_many(keys[::-1], X, y)
    for twin in copies:
        assert isinstance(twin, ModelBank)
        assert twin.learn_many(keys[::-1], X, y).to_bytes() == bank.to_bytes()
    empty = ModelBank(PA(classes=[0, 1]))
    assert len(ModelBank.from_bytes(empty.to_bytes())) == 0
    assert len(pickle.loads(pickle.dumps(empty))) == 0


def test_data_frames_keep_their_names():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"a": [1.0, 2.0], "b": [3.0, 4.0]})
    bank = ModelBank(PA(classes=[0, 1])).learn_many(pd.Series(["x", "y"]), frame, pd.Series([0, 1]))
    assert bank.feature_names_in_.tolist() == ["a", "b"]
    with pytest.raises(ValueError, match="feature names"):
        bank.predict(["x", "y"], frame[["b", "a"]])
    again = ModelBank.from_bytes(bank.to_bytes())
    assert again.model("x").feature_names_in_.tolist() == ["a", "b"]


def test_a_number_that_is_none_is_refused_by_its_key():
    bank = ModelBank(onlinesvm.KernelPerceptron(classes=[0, 1], kernel="linear", dtype="float64"))
    for y in (1, 0) * 4:
        bank.learn_many(["far", "near"], [[1.5e308, 1.0], [1.0, 1.0]], [y, y])
    with pytest.raises(ValueError, match=r"'far'.*forget"):
        bank.to_bytes()
    assert len(ModelBank.from_bytes(bank.forget("far").to_bytes())) == 1


def test_memory_is_what_it_says():
    keys = np.arange(100_000)
    X, y = np.random.default_rng(0).normal(size=(len(keys), 10)), keys % 2
    before = _resident()
    bank = ModelBank(PA(classes=[0, 1])).learn_many(keys, X, y)
    grown = _resident() - before
    assert abs(bank.nbytes_ - grown) < 0.25 * grown
    assert bank.nbytes_ < 100_000 * 8 * (2 * 16 + 30)


def _resident():
    import gc

    import psutil

    gc.collect()
    return psutil.Process().memory_info().rss


def test_several_threads_and_jobs_give_the_same_models():
    model = PA(classes=[0, 1])
    keys, X, y = stream(model, n=2000, keys=600)
    alone = ModelBank(model).learn_many(keys, X, y)
    jobs = ModelBank(clone(model).set_params(n_jobs=3)).learn_many(keys, X, y)
    assert [state_of(jobs.model(k)) for k in range(0, 600, 50) if k in jobs] == [
        state_of(alone.model(k)) for k in range(0, 600, 50) if k in alone
    ]
    assert np.array_equal(jobs.decision_function(keys, X), alone.decision_function(keys, X))

    shared, failures = ModelBank(model), []

    def teach(part):
        try:
            for start in range(0, len(X), 100):
                some = slice(start, start + 100)
                mine = np.flatnonzero(keys[some] % 3 == part) + start
                shared.learn_many(keys[mine], X[mine], y[mine])
                shared.predict(keys[mine], X[mine])
        except Exception as failure:
            failures.append(failure)

    threads = [threading.Thread(target=teach, args=(part,)) for part in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert len(shared) == len(alone)
    for key in alone.keys()[::29]:
        assert state_of(shared.model(key)) == state_of(alone.model(key))


@pytest.mark.parametrize(
    "keys", [[b"eve"], ["ann", b"eve"], [b'["a",1]'], np.array([b"x", b"yy"]), [1, np.bytes_(b"q")]]
)
def test_bytes_are_no_keys(keys):
    X, y = np.eye(2, 3), [0, 1]
    bank = ModelBank(PA(classes=[0, 1])).learn_many([("a", 1), "b"], X, y)
    before = bank.to_bytes()
    n = len(keys)
    for verb in (
        lambda: bank.learn_many(keys, X[:n], y[:n]),
        lambda: bank.learn_one(keys[-1], X[0], 1),
        lambda: bank.decision_function(keys, X[:n]),
        lambda: bank.forget(list(keys)),
        lambda: bank.model(keys[-1]),
        lambda: keys[-1] in bank,
    ):
        with pytest.raises(ValueError, match="is no key; use an integer, a string"):
            verb()
    assert bank.to_bytes() == before
