"""Text and hashes: scikit-learn's numbers, growth that changes nothing, the pipeline, files."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer, TfidfVectorizer

import onlinesvm
from onlinesvm import OnlineHashing, OnlineText, PegasosSVC, make_online_pipeline
from onlinesvm.checks.streams import fingerprint
from onlinesvm.files import persistence

RNG = np.random.default_rng(0)
GOOD, BAD, BOTH = ["fine", "lovely", "superb"], ["awful", "boring", "sad"], ["the", "film", "was"]


def texts(n: int) -> tuple[list[str], np.ndarray]:
    y = RNG.integers(0, 2, n)
    some = [[*RNG.choice(GOOD if label else BAD, 2), *RNG.choice(BOTH, 4)] for label in y]
    return [" ".join(words) for words in some], y


TEXTS, LABELS = texts(400)


def in_their_order(ours: OnlineText, theirs: Any) -> list[int]:
    names = ours.get_feature_names_out().tolist()
    return [names.index(word) for word in theirs.get_feature_names_out()]


@pytest.mark.parametrize(
    ("weighting", "theirs"), [("counts", CountVectorizer), ("tfidf", TfidfVectorizer)]
)
def test_growing_is_scikit_learns(weighting: Any, theirs: Any) -> None:
    ours, oracle = OnlineText(weighting=weighting, n_components=20, warm_up=400), theirs()
    features = ours.fit(TEXTS).transform(TEXTS).toarray()
    expected = oracle.fit_transform(TEXTS).toarray()
    assert np.allclose(features[:, in_their_order(ours, oracle)], expected)
    assert not features[:, len(GOOD + BAD + BOTH) :].any()


def test_hashing_is_scikit_learns() -> None:
    ours = OnlineText(vocabulary="hashing", weighting="counts", n_components=64).fit(TEXTS)
    oracle = HashingVectorizer(n_features=64, alternate_sign=False, norm=None)
    assert np.array_equal(ours.transform(TEXTS).toarray(), oracle.transform(TEXTS).toarray())


@pytest.mark.parametrize("vocabulary", ["growing", "hashing"])
@pytest.mark.parametrize("after", ["freeze", "move"])
def test_any_cut_gives_the_same_bits(vocabulary: Any, after: Any) -> None:
    params: dict[str, Any] = {"vocabulary": vocabulary, "after": after, "n_components": 32}
    whole = OnlineText(**params, warm_up=100).partial_fit(TEXTS)
    for size in (1, 7, 99, 101, 300):
        parts = OnlineText(**params, warm_up=100)
        for start in range(0, 400, size):
            parts.partial_fit(TEXTS[start : start + size])
        assert fingerprint(parts) == fingerprint(whole)
    assert whole._core.known.texts == (100 if after == "freeze" else 400)


def test_the_rarity_is_that_of_the_warm_up() -> None:
    ours = OnlineText(n_components=20, warm_up=50).partial_fit(TEXTS)
    oracle = TfidfVectorizer().fit(TEXTS[:50])
    features = ours.transform(TEXTS).toarray()[:, in_their_order(ours, oracle)]
    assert np.allclose(features, oracle.transform(TEXTS).toarray())


def test_a_full_vocabulary_takes_no_more() -> None:
    ours = OnlineText(weighting="counts", n_components=2).partial_fit(["one two", "three"])
    assert ours.transform(["three two one two"]).toarray().tolist() == [[1.0, 2.0]]


def test_gaps_tables_and_dicts() -> None:
    ours = OnlineText(weighting="counts", n_components=4)
    ours.partial_fit([{"title": "big news", "body": None}, {"body": "news"}])
    assert ours.transform([{"title": None, "body": "big big"}]).toarray().tolist() == [[2, 0, 0, 0]]
    assert ours.transform_one({"title": "news"}) == {"news": 1.0}
    with pytest.raises(ValueError, match="2-D"):
        OnlineText().fit([1.0, 2.0])


def test_a_pipeline_of_texts_learns_and_is_saved(tmp_path: Any) -> None:
    rows = np.array(TEXTS, dtype=object).reshape(-1, 1)
    model = make_online_pipeline(OnlineText(warm_up=60), PegasosSVC(1e-3, classes=[0, 1]))
    model.partial_fit(rows[:40], LABELS[:40]).save(tmp_path / "model")
    again = onlinesvm.load(tmp_path / "model").partial_fit(rows[40:300], LABELS[40:300])
    assert fingerprint(model.partial_fit(rows[40:300], LABELS[40:300])) == fingerprint(again)
    assert again.score(rows[300:], LABELS[300:]) > 0.97


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("vocabulary", np.frombuffer(b'["a","a"]', np.uint8)),
        ("vocabulary", np.frombuffer(b"[1]", np.uint8)),
        ("vocabulary", np.frombuffer(b'{"a":1}', np.uint8)),
        ("vocabulary", np.frombuffer(b"[", np.uint8)),
        ("found", np.full(3, -1)),
        ("found", np.full(3, 99)),
        ("found", np.zeros(1000, np.int64)),
        ("texts", np.asarray(-1)),
    ],
)
def test_forged_files_are_refused(name: str, value: Any, tmp_path: Any) -> None:
    path = tmp_path / "model"
    OnlineText(n_components=20).fit(TEXTS[:9]).save(path)
    kind, arrays = persistence._unpack(path.read_bytes())
    path.write_bytes(persistence._pack(kind, arrays | {f"state.{name}": value}))
    with pytest.raises(ValueError, match="is not a model this version can load"):
        onlinesvm.load(path)


def test_hashes_tell_columns_apart_and_need_no_memory() -> None:
    rows = [["a", "b"], ["b", "a"], ["c", None]]
    model = OnlineHashing(n_components=256).partial_fit(rows)
    features = model.transform(rows).toarray()
    assert not np.array_equal(features[0], features[1])
    size = model.nbytes_
    model.partial_fit([[f"new{i}", i] for i in range(500)])
    assert model.nbytes_ == size
    assert np.array_equal(model.transform(rows).toarray(), features)
