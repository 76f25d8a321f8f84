"""Queries are values, and choose the labels the papers say."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from onlinesvm import LabelDesk, RampSVC, queries, reference
from onlinesvm.compose.labelling.looks import own
from onlinesvm.queries import (
    All,
    ClosestToPlane,
    Committee,
    Greedy,
    Margin,
    MostViolating,
    ObjectiveGain,
)


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
    latest = Greedy(h=3, latest=True)
    assert latest.mask(scores).tolist() == [True, True, False, False, True, False, False]
    assert Greedy(h=1, latest=True).mask(scores).all()
    assert repr(latest) == "Greedy(h=3, latest=True)"


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


# --- what ranks say -------------------------------------------------------------------------------


def look(scores: object, own: object = None, C: float | None = None) -> queries.Look:
    f = np.atleast_2d(np.asarray(scores, dtype=float))
    ones = np.ones(len(f)) if own is None else np.asarray(own, dtype=float)
    return queries.Look(f, np.arange(1, len(f) + 1), np.zeros((len(f), 1), int), lambda: ones, C)


def test_two_classes_rank_by_distance() -> None:
    f = np.random.default_rng(0).normal(0, 2, (200, 1))
    nearest = np.argsort(np.abs(f[:, 0]))
    for query in (Greedy(), ClosestToPlane(), MostViolating()):
        assert np.array_equal(np.argsort(-query.worth(look(f)), kind="stable"), nearest)
    inside = f[np.abs(f[:, 0]) < 1]
    gain = ObjectiveGain().worth(look(inside, C=3.0))
    assert np.array_equal(np.argsort(-gain), np.argsort(np.abs(inside[:, 0])))
    smaller, larger = ObjectiveGain().worth(look([[0.3], [0.3]], own=[0.5, 2.0], C=3.0))
    assert smaller > larger


@pytest.mark.parametrize("classes", [2, 3, 5])
def test_belief_follows_the_scores_and_expects_what_it_says(classes: int) -> None:
    rng = np.random.default_rng(1)
    f = rng.normal(0, 1.5, (50, 1 if classes == 2 else classes))
    P = queries.belief(f)
    assert np.allclose(P.sum(axis=1), 1)
    best = (f[:, 0] > 0).astype(int) if classes == 2 else f.argmax(axis=1)
    assert np.array_equal(P.argmax(axis=1), best)
    # The expected violation, label by label.
    for i, row in enumerate(f):
        total = 0.0
        for label in range(classes):
            outputs = [(1.0 if label else -1.0)] if classes == 2 else 2 * np.eye(classes)[label] - 1
            total += P[i, label] * np.maximum(0, 1 - outputs * row).sum()
        assert np.isclose(MostViolating().worth(look(row))[0], total)


@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly"])
@pytest.mark.parametrize("C", [0.1, 10.0])
def test_the_gain_is_what_one_step_gains(kernel: str, C: float) -> None:
    """Against the dual of the hinge loss, with the best step found on a grid."""
    rng = np.random.default_rng(2)
    X, x = rng.normal(size=(30, 2)), rng.normal(size=2)
    y = np.where(X[:, 0] + X[:, 1] ** 2 > 0.5, 1, -1)
    shape = {"kernel": kernel, "gamma": 0.7, "coef0": 1.0}
    model = RampSVC(C=C, **shape, bias="none", s=-np.inf, dtype="float64")
    model.partial_fit(X, y, classes=[-1, 1])
    kernel_of = reference.Kernel(kernel, gamma=0.7, coef0=1.0)
    k = kernel_of(x, x)[0, 0]
    f = float(model.decision_function(x[None])[0])
    assert np.allclose(own(model, x[None]), k)
    expected = 0.0
    for sign, likely in zip((-1, 1), queries.belief(np.array([[f]]))[0], strict=True):
        steps = np.linspace(0, C, 200_001)
        expected += likely * ((1 - sign * f) * steps - k * steps**2 / 2).max()
    worth = ObjectiveGain().worth(look(f, own=[k], C=C))[0]
    assert np.isclose(worth, expected, rtol=1e-6, atol=1e-9)


def test_votes_that_differ_are_worth_more() -> None:
    votes = np.array([[0, 0, 0], [0, 0, 1], [0, 1, 2]])
    worth = Committee().worth(
        queries.Look(np.zeros((3, 1)), np.arange(3), votes, lambda: np.ones(3))
    )
    shares = [[1.0], [2 / 3, 1 / 3], [1 / 3] * 3]
    assert np.allclose(worth, [-sum(p * np.log(p) for p in row) for row in shares])


def test_greedy_over_the_latest_is_for_a_model() -> None:
    assert Greedy(4, latest=True).core_params()["query"] == "latest"
    with pytest.raises(ValueError, match=r"query\.latest must be True or False"):
        Greedy(4, latest=3).core_params()  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"a desk decides about each row at once; take Greedy"):
        LabelDesk(RampSVC(classes=[0, 1]), Greedy(4, latest=True))
