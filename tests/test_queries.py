"""Queries are values, and choose the labels the papers say."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from onlinesvm import All, Greedy, Margin, RampSVC, queries


def test_queries_are_values() -> None:
    assert Greedy() == Greedy(h=5)
    assert Greedy(3) != Greedy(4)
    assert len({All(), All(), Margin(), Greedy(3), Greedy(3)}) == 3
    assert repr(Greedy(h=3)) == "Greedy(h=3)"
    assert pickle.loads(pickle.dumps(Greedy(h=3))) == Greedy(h=3)
    with pytest.raises(AttributeError):
        Greedy().h = 7  # type: ignore[misc]


@pytest.mark.parametrize(("word", "query"), [("all", All()), ("margin", Margin())])
def test_words_mean_objects(word: str, query: queries.Query) -> None:
    assert queries.resolve(word) == query
    assert queries.resolve(query) is query


@pytest.mark.parametrize("odd", ["sometimes", None, 3, Greedy, [All()]])
def test_other_words_are_refused(odd: object) -> None:
    with pytest.raises(ValueError, match="query must be 'all', 'margin', 'greedy'"):
        queries.resolve(odd)  # type: ignore[arg-type]


@pytest.mark.parametrize("h", [0, -1, 2.5, "x"])
def test_a_block_has_at_least_one_example(h: object) -> None:
    with pytest.raises(ValueError, match=r"query\.h must be an integer >= 1"):
        Greedy(h=h).core_params()  # type: ignore[arg-type]


def test_margin_asks_inside_the_margin_of_any_class() -> None:
    scores = np.array([[2.0], [-1.0], [0.3], [-1.1]])
    assert Margin().mask(scores).tolist() == [False, True, True, False]
    assert Margin().mask(np.array([[2.0, -0.5], [2.0, -3.0]])).tolist() == [True, False]


def test_greedy_asks_once_per_block() -> None:
    scores = np.array([[3.0], [1.0], [-2.0], [5.0], [-0.1], [9.0], [4.0]])
    assert Greedy(h=3).mask(scores).tolist() == [False, True, False, False, True, False, True]
    assert Greedy(h=1).mask(scores).all()


def test_wants_label_is_what_learning_uses() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 2))
    y = (X[:, 0] > 0).astype(int)
    model = RampSVC(C=10, gamma=0.5, query="margin").partial_fit(X[:200], y[:200], classes=[0, 1])
    for x, label in zip(X[200:], y[200:], strict=True):
        before = model.labels_used_
        wanted = model.wants_label(x[None])[0]
        model.learn_one(x, label)
        assert model.labels_used_ - before == wanted
    assert model.labels_used_ < 200


def test_greedy_learns_one_in_h() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 2))
    model = RampSVC(query=Greedy(h=8)).fit(X, X[:, 0] > 0)
    assert model.labels_used_ == 50


def test_an_example_waiting_in_a_block_can_be_unlearned() -> None:
    X = np.array([[1.0], [2.0], [3.0], [4.0]])
    model = RampSVC(gamma=1.0, query=Greedy(h=4), classes=[0, 1]).partial_fit(X[:2], [0, 1])
    model.unlearn([0, 1]).partial_fit(X[2:], [0, 1])
    assert model.labels_used_ == 1
    assert model.support_.tolist() in ([2], [3])
