"""The readable OnlineSVM-R against an independent QP, hand-made cases, and its own promises."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import (
    NASTY,
    Stream,
    assert_ramp_stationary,
    blobs,
    box_qp,
    nasty_streams,
    ramp_objective,
    signed_gram,
    streams,
)

from onlinesvm.reference import Greedy, Kernel, Margin, OneVsRest, Ramp

TIGHT = {"tol_kkt": 1e-9, "tol_gain": 0.0}
LINEAR = Kernel("linear")
RBF = Kernel("rbf", gamma=2.0)


def replay(model: Ramp, stream: Stream) -> Ramp:
    for x, y in zip(stream.X, stream.y, strict=True):
        model.learn(x, y)
    return model


def check_invariants(model: Ramp, where: str) -> None:
    """Section by section what Ramp promises about its state, whatever the tolerances."""
    Q = signed_gram(model.kernel, model.X, model.y)
    size = 1.0 + np.abs(Q).max(initial=0) * model.alpha.max(initial=0)
    np.testing.assert_allclose(
        model.g, 1 - Q @ model.alpha, atol=1e-8 * size, err_msg=f"{where}: g is not e - Q alpha"
    )
    edge = 1 - model.s
    assert (model.g[model.V] <= edge + model.tol_kkt).all(), f"{where}: a member of V is out"
    assert (model.g[~model.V] > edge).all(), f"{where}: V misses an example inside the ramp"
    assert (model.alpha[~model.V] == 0).all(), f"{where}: alpha > 0 outside V"
    assert ((model.alpha >= 0) & (model.alpha <= model.C_i)).all(), f"{where}: alpha left the box"
    best = np.max(model._gain(model._best_alpha()), where=model.V, initial=0.0)
    assert model.kkt() <= model.tol_kkt or best <= model.tol_gain, (
        f"{where}: not optimal, KKT residual {model.kkt():.3g} and a gain of {best:.3g} left"
    )
    assert model.objective() == pytest.approx(
        ramp_objective(Q, model.alpha, model.C_i, model.s), abs=1e-7 * size
    )


# ---- against the QP ------------------------------------------------------------------------------


@pytest.mark.parametrize("C", [0.1, 1.0, 10.0])
@pytest.mark.parametrize("kernel", [RBF, LINEAR], ids=["rbf", "linear"])
@pytest.mark.parametrize("kind", [blobs, *NASTY[:4]], ids=lambda kind: kind.__name__)
def test_solves_the_qp_on_v_after_every_example(kind, kernel, C):
    stream = kind(int(10 * C), 20, d=2 if kernel is RBF else 30)
    model = Ramp(kernel, C=C, **TIGHT)
    regular = 0
    for t, (x, y) in enumerate(zip(stream.X, stream.y, strict=True)):
        model.learn(x, y)
        Q = signed_gram(kernel, model.X, model.y)
        where = f"{stream}, example {t}"
        regular += assert_ramp_stationary(Q, model.alpha, C, -1.0, atol=1e-6, where=where)
    assert regular > 0, "alpha itself was never compared"


# Conditions of 1e12 are left out: one-variable steps to 1e-9 would take for ever there.
ILL = {("huge-0", LINEAR), ("tiny-0", RBF)}


@pytest.mark.parametrize(
    ("stream", "kernel"),
    [
        pytest.param(stream, kernel, id=f"{stream.name}-{kernel.name}")
        for stream in nasty_streams(24)
        for kernel in (RBF, LINEAR)
        if (stream.name, kernel) not in ILL
    ],
)
def test_without_a_ramp_it_is_the_zero_bias_svm(stream, kernel):
    model = replay(Ramp(kernel, s=-np.inf, **TIGHT), stream)
    Q = signed_gram(kernel, stream.X, stream.y)
    assert model.V.all()
    np.testing.assert_allclose(Q @ model.alpha, Q @ box_qp(Q, 1.0), atol=1e-6)


@given(streams(max_size=14), st.sampled_from([0.3, 1.0, 5.0]), st.sampled_from([-1.0, -0.3, 0.0]))
def test_any_stream_leaves_a_stationary_point(stream, C, s):
    model = replay(Ramp(RBF, C=C, s=s, tol_kkt=1e-8, tol_gain=0.0), stream)
    check_invariants(model, repr(stream))
    Q = signed_gram(RBF, model.X, model.y)
    assert_ramp_stationary(Q, model.alpha, C, s, atol=1e-5, kkt=1e-6)


# ---- invariants at the default tolerances --------------------------------------------------------


@pytest.mark.parametrize("kernel", [RBF, LINEAR], ids=["rbf", "linear"])
@pytest.mark.parametrize("stream", [blobs(7, 50), *nasty_streams(25, seed=3)], ids=repr)
def test_every_step_keeps_the_invariants(stream, kernel):
    model = Ramp(kernel, C=5.0)
    for t, (x, y) in enumerate(zip(stream.X, stream.y, strict=True)):
        model.learn(x, y)
        check_invariants(model, f"{stream}, example {t}")


def test_the_dual_never_falls_inside_the_inner_loop(monkeypatch):
    """Every one-variable step on a fixed V raises e'a - a'Qa/2 by its announced gain."""
    model = replay(Ramp(RBF, C=5.0), blobs(1, 20))
    inner, steps = Ramp._optimise, []

    def watched(self: Ramp) -> None:
        before = None

        def move(i: int, alpha_new: float) -> None:
            nonlocal before
            promised = self._gain(self._best_alpha())[i]
            before = dual(self)
            Ramp._move(self, i, alpha_new)
            steps.append((dual(self) - before, promised))

        self._move = move
        inner(self)
        del self._move

    def dual(self: Ramp) -> float:
        return float(self.alpha.sum() - self.alpha @ (1 - self.g) / 2)

    monkeypatch.setattr(Ramp, "_optimise", watched)
    replay(model, blobs(2, 20))
    rise, promised = np.array(steps).T
    assert len(rise) > 50
    np.testing.assert_allclose(rise, promised, atol=1e-10)
    assert (promised > 0).all()


# ---- micro cases ---------------------------------------------------------------------------------


def shout() -> Stream:
    return Stream(
        "shout",
        np.array([[1.0], [1.2], [1.4], [-1.0], [-1.2], [3.0]]),
        np.array([1.0, 1.0, 1.0, -1.0, -1.0, -1.0]),
    )


def test_ramp_ignores_what_the_hinge_obeys():
    hinge = replay(Ramp(LINEAR, s=-np.inf, **TIGHT), shout())
    ramp = replay(Ramp(LINEAR, **TIGHT), shout())
    assert hinge.score([1.0])[0] == pytest.approx(1 / 1.2, abs=1e-8)  # w = .8333
    assert ramp.score([1.0])[0] == pytest.approx(1.0, abs=1e-8)
    assert not ramp.V[-1]
    assert ramp.g[-1] == pytest.approx(4.0, abs=1e-8)
    assert ramp.alpha[-1] == 0.0


def test_first_example_gets_one_step():
    for C, k in [(1.0, 4.0), (0.1, 4.0)]:
        model = Ramp(LINEAR, C=C)
        model.learn([np.sqrt(k)], 1.0)
        assert model.alpha[0] == pytest.approx(min(C, 1 / k))


def test_symmetric_pair_agrees_on_w_alone():
    model = replay(
        Ramp(LINEAR, **TIGHT), Stream("pair", np.array([[1.0], [-1.0]]), np.array([1.0, -1.0]))
    )
    assert model.score([1.0])[0] == pytest.approx(1.0)
    assert model.alpha.sum() == pytest.approx(1.0)


def test_contradictory_pair_cancels_without_a_ramp():
    pair = Stream("pair", np.ones((2, 1)), np.array([1.0, -1.0]))
    model = replay(Ramp(LINEAR, s=-np.inf, **TIGHT), pair)
    assert model.alpha.tolist() == [1.0, 1.0]
    assert model.score([1.0])[0] == 0.0


def test_zero_vector_takes_all_of_c_and_moves_nothing():
    model = Ramp(LINEAR, C=2.0)
    model.learn([0.0], 1.0)
    assert model.alpha[0] == 2.0
    assert model.g[0] == 1.0
    assert model.kkt() == 0.0


def test_offset_is_a_bias():
    """Under a linear kernel k + 1 equals a constant feature of one."""
    stream = blobs(5, 30)
    with_offset = replay(Ramp(Kernel("linear", offset=1.0), **TIGHT), stream)
    augmented = Stream("augmented", np.column_stack([stream.X, np.ones(30)]), stream.y)
    by_hand = replay(Ramp(LINEAR, **TIGHT), augmented)
    np.testing.assert_allclose(with_offset.alpha, by_hand.alpha, atol=1e-9)


def test_score_is_zero_before_any_data():
    assert Ramp().score(np.ones((3, 2))).tolist() == [0.0, 0.0, 0.0]


# ---- weights, removal, unlearning, queries, classes ----------------------------------------------


def test_weight_two_is_two_copies():
    stream = blobs(8, 25)
    heavy, twice = (Ramp(RBF, s=-np.inf, **TIGHT) for _ in range(2))
    for t, (x, y) in enumerate(zip(stream.X, stream.y, strict=True)):
        heavy.learn(x, y, 2.0 if t % 3 == 0 else 1.0)
        for _ in range(2 if t % 3 == 0 else 1):
            twice.learn(x, y)
    np.testing.assert_allclose(heavy.score(stream.X), twice.score(stream.X), atol=1e-7)


def test_weight_zero_is_never_stored():
    model = replay(Ramp(RBF), blobs(1, 10))
    model.learn([0.0, 0.0], 1.0, 0.0)
    assert len(model.y) == 10
    assert model.n_seen == 11


@pytest.mark.parametrize("m", [0, 3, 10])
def test_removal_keeps_the_nearest_non_support_vectors(m):
    model, everyone = Ramp(RBF, C=10.0, m=m), blobs(9, 80)
    for x, y in zip(everyone.X, everyone.y, strict=True):
        model.learn(x, y)
        assert (model.alpha == 0).sum() <= m
    assert (model.alpha > 0).any()


def test_removal_takes_the_farthest_and_then_the_oldest():
    model = Ramp(LINEAR, C=1.0, m=2)
    for x in [1.0, 3.0, 2.0, 3.0, 2.0]:  # x = 1 carries w = 1; the others are far and equal pairs
        model.learn([x], 1.0)
    assert model.ids.tolist() == [0, 2, 4]


@pytest.mark.parametrize("kind", [blobs, *NASTY[:4]], ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("forget", [[0], [3, 4, 5, 17], list(range(12)), list(range(24))], ids=len)
def test_unlearning_leaves_a_stationary_point_of_the_rest(kind, forget):
    stream = kind(4, 24)
    model = replay(Ramp(RBF, C=3.0, **TIGHT), stream)
    model.unlearn(*forget)
    assert model.ids.tolist() == [i for i in range(24) if i not in forget]
    Q = signed_gram(RBF, model.X, model.y)
    assert_ramp_stationary(Q, model.alpha, 3.0, -1.0, atol=1e-6, where=repr(stream))


def test_unlearning_without_a_ramp_is_never_having_seen():
    stream = blobs(11, 25)
    model = replay(Ramp(RBF, s=-np.inf, **TIGHT), stream)
    model.unlearn(3, 8, 20)
    rest = np.delete(np.arange(25), [3, 8, 20])
    fresh = replay(Ramp(RBF, s=-np.inf, **TIGHT), Stream("rest", stream.X[rest], stream.y[rest]))
    np.testing.assert_allclose(model.alpha, fresh.alpha, atol=1e-6)


def test_an_excluded_example_comes_back_when_its_opponents_are_unlearned():
    model = replay(Ramp(LINEAR, **TIGHT), shout())
    assert not model.V[-1]
    model.unlearn(0, 1, 2, 3, 4)
    assert model.V.tolist() == [True]
    assert model.score([1.0])[0] == pytest.approx(-1 / 3)


def test_unlearning_a_stranger_changes_nothing():
    model = replay(Ramp(RBF), blobs(1, 15))
    before = model.score(model.X)
    model.unlearn(99)
    np.testing.assert_array_equal(model.score(model.X), before)


def test_margin_query_asks_only_inside_the_margin():
    model, stream = Ramp(RBF, C=10.0, query=Margin()), blobs(2, 80)
    for x, y in zip(stream.X, stream.y, strict=True):
        inside, used = abs(model.score(x)[0]) <= 1.0, model.labels_used
        model.learn(x, y)
        assert model.labels_used - used == inside
    assert 0 < model.labels_used < 80
    assert model.n_seen == 80
    assert len(model.y) == model.labels_used


def test_greedy_query_labels_one_of_h():
    model = replay(Ramp(RBF, query=Greedy(5)), blobs(2, 43))
    assert model.labels_used == len(model.y) == 8
    assert (np.diff(model.ids // 5) == 1).all()


def test_greedy_of_one_asks_for_all():
    stream = blobs(3, 30)
    one, every = replay(Ramp(RBF, query=Greedy(1)), stream), replay(Ramp(RBF), stream)
    np.testing.assert_array_equal(one.alpha, every.alpha)
    assert one.labels_used == 30


def test_one_vs_rest_is_a_machine_per_class():
    rng = np.random.default_rng(0)
    X, labels = rng.normal(size=(30, 2)), rng.choice(["a", "b", "c"], 30)
    many = OneVsRest("abc", lambda: Ramp(RBF))
    two = OneVsRest("ab", lambda: Ramp(RBF))
    for x, label in zip(X, labels, strict=True):
        many.learn(x, label)
        two.learn(x, label)
    assert many.score(X).shape == (30, 3)
    assert two.score(X).shape == (30, 1)
    b_alone = replay(Ramp(RBF), Stream("b", X, np.where(labels == "b", 1.0, -1.0)))
    np.testing.assert_array_equal(many.score(X)[:, 1], b_alone.score(X))
    np.testing.assert_array_equal(two.score(X)[:, 0], b_alone.score(X))
