"""Weights averaged over parts: a stream where there is one, near the optimum of all rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from onlinesvm import SGDSVC, PassiveAggressiveClassifier, PegasosSVC, RommaClassifier, load
from onlinesvm.cluster import LocalParts, Part, ProcessParts, average, fit

RNG = np.random.default_rng(0)
X = RNG.normal(size=(3000, 5))
F = X @ [1, -2, 0, 1, 0.5] + 0.4
Y = np.where(F + RNG.normal(0, 0.5, len(X)) > 0, "up", "down")
Y3 = np.digitize(F, [-1.0, 1.0])
MODELS: list[Any] = [
    PegasosSVC(alpha=1e-2),
    PegasosSVC(alpha=1e-2, average=False, bias="none"),
    SGDSVC(alpha=1e-2),
    SGDSVC(alpha=1e-2, average=False, learning_rate="invscaling"),
    PassiveAggressiveClassifier(C=0.01),
    PassiveAggressiveClassifier(C=0.01, average=False),
]


@pytest.mark.parametrize("y", [Y, Y3], ids=["two classes", "three"])
@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_one_part_is_the_stream(model, y):
    """Nothing to average: the model is that of the passes, and goes on as it would."""
    stream = clone(model)
    for _ in range(3):
        stream.partial_fit(X, y, classes=np.unique(y))
    learned = average(LocalParts.cut(X, y, 1), model, rounds=3).model
    for more in (slice(0, 0), slice(0, 500)):
        if more.stop:
            stream.partial_fit(X[more], y[more])
            learned.partial_fit(X[more], y[more])
        np.testing.assert_allclose(
            learned.decision_function(X), stream.decision_function(X), rtol=0, atol=1e-9
        )


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_one_round_is_the_mean_by_rows(model):
    cut = LocalParts.cut(X, Y, [np.arange(500), np.arange(0), np.arange(500, 3000)])
    each = [
        clone(model).partial_fit(X[rows], Y[rows], classes=["down", "up"])
        for rows in (slice(0, 500), slice(500, 3000))
    ]
    mean = sum(share * m.coef_ for share, m in zip((1 / 6, 5 / 6), each, strict=True))
    constant = sum(share * m.intercept_ for share, m in zip((1 / 6, 5 / 6), each, strict=True))
    learned = average(cut, model, rounds=1).model
    np.testing.assert_allclose(learned.coef_, mean, rtol=1e-9)
    np.testing.assert_allclose(learned.intercept_, constant, rtol=1e-9, atol=1e-12)
    assert learned.n_seen_ == len(X)


def objective(w: Any, b: Any, alpha: float) -> float:
    loss = np.maximum(0, 1 - np.where(Y == "up", 1, -1) * (X @ w[0] + b[0])).mean()
    return float(alpha / 2 * (w[0] @ w[0] + b[0] ** 2) + loss)


@pytest.mark.parametrize("model", [PegasosSVC(alpha=1e-2), SGDSVC(alpha=1e-2)], ids=repr)
def test_rounds_lead_to_the_optimum_of_all_rows(model):
    """Where parts differ as much as they can: each has rows of one side alone."""
    best = clone(model).set_params(max_iter=300, tol=None).fit(X, Y)
    optimum = objective(best.coef_, best.intercept_, 1e-2)
    cut = LocalParts.cut(X, Y, np.array_split(np.argsort(X[:, 0]), 4))
    values = []
    for rounds in (1, 10, 100):
        found = average(cut, model, rounds=rounds).model
        values.append(objective(found.coef_, found.intercept_, 1e-2) - optimum)
    assert values[0] > values[1] > values[2]
    assert values[2] < 0.02 * optimum


def test_a_separating_plane_is_found():
    far = np.abs(F) > 1
    cut = LocalParts.cut(X[far], Y3[far], np.array_split(np.argsort(X[far][:, 0]), 5))
    model = PassiveAggressiveClassifier(average=False)
    assert average(cut, model, rounds=30).model.score(X[far], Y3[far]) > 0.97


def test_sparse_weighted_saved_and_over_processes(tmp_path):
    weight = RNG.integers(0, 3, len(X)).astype(float)
    cut = LocalParts.cut(sp.csr_array(X), Y, 3, sample_weight=weight)
    here = average(cut, PegasosSVC(class_weight="balanced"), rounds=2)
    with ProcessParts((cut[i] for i in range(3)), processes=2) as cluster:
        there = average(cluster, PegasosSVC(class_weight="balanced"), rounds=2)
    np.testing.assert_array_equal(here.model.coef_, there.model.coef_)
    assert (here.bytes_down, here.bytes_up) == (there.bytes_down, there.bytes_up)
    here.model.save(tmp_path / "model")
    np.testing.assert_array_equal(load(tmp_path / "model").coef_, here.model.coef_)
    assert fit(cut, PegasosSVC(), rounds=4).rounds == 4


@pytest.mark.parametrize(
    ("model", "error", "says"),
    [
        (RommaClassifier(), TypeError, "not of RommaClassifier"),
        (PegasosSVC(kernel="rbf"), ValueError, "use kernel='linear'"),
        (PegasosSVC(block=4), ValueError, "use block=1"),
    ],
)
def test_what_has_no_mean(model, error, says):
    with pytest.raises(error, match=says):
        average(LocalParts.cut(X, Y, 2), model)


def test_rows_that_do_not_count():
    with pytest.raises(ValueError, match="zero everywhere"):
        average(LocalParts([Part(X[:4], Y[:4], np.zeros(4))]), PegasosSVC())
