"""Pipelines over parts: each prepares its own rows, and the last step learns as it would alone."""

import numpy as np
import pytest

from onlinesvm import (
    IncrementalSVC,
    OnlineColumns,
    OnlineScaler,
    PegasosSVC,
    SmoSVC,
    load,
    make_online_pipeline,
)
from onlinesvm.cluster import LocalParts, cascade, fit, unlearn, verify

RNG = np.random.default_rng(0)
X = RNG.normal([5.0, -300.0], [1.0, 200.0], size=(600, 2))
Y = (X[:, 0] - 5) * (X[:, 1] + 300) > 0
KEYS = np.arange(600) // 6


def parts(number=3):
    return LocalParts.cut(X, Y, number, keys=KEYS)


def pipeline(last):
    return make_online_pipeline(OnlineScaler(warm_up=100).fit(X[:200]), last)


@pytest.mark.parametrize("last", [SmoSVC(C=5, gamma=1.0), IncrementalSVC(C=5, gamma=1.0)])
def test_it_is_the_last_step_over_prepared_rows(last, tmp_path):
    given = pipeline(last)
    scaled = given.steps[0][1].transform(X)
    learned = fit(parts(), given)
    alone = cascade(LocalParts.cut(scaled, Y, 3, keys=KEYS), last)
    assert learned.certificate.data_hash == alone.certificate.data_hash
    assert learned.certificate.holds
    np.testing.assert_array_equal(
        learned.model.decision_function(X), alone.model.decision_function(scaled)
    )
    assert not given.steps[-1][1].__sklearn_is_fitted__()  # the one given is as it was
    learned.model.save(tmp_path / "model")
    again = load(tmp_path / "model")
    np.testing.assert_array_equal(again.decision_function(X), learned.model.decision_function(X))
    again.partial_fit(X[:5] + 1, Y[:5])
    assert again.n_seen_ == learned.model.n_seen_ + 5


def test_it_forgets_and_its_certificate_is_checked():
    learned = fit(parts(), pipeline(SmoSVC(C=5, gamma=1.0)))
    assert verify(learned.certificate, learned.model, parts())
    left = unlearn(parts(), learned.model, [3, 50])
    assert len(left.certificate.ids_removed) == 12
    assert not {3, 50} & set(left.model.keys_held())
    assert verify(left.certificate, left.model, parts())
    assert {3, 50} & set(learned.model.keys_held())


def test_a_linear_method():
    learned = fit(LocalParts.cut(X, X[:, 0] > 5, 4), pipeline(PegasosSVC()))
    assert learned.model.score(X, X[:, 0] > 5) > 0.95
    assert learned.certificate is None


def test_what_would_depend_on_the_part_is_refused():
    with pytest.raises(ValueError, match="fit it to a sample of all rows first"):
        fit(parts(), make_online_pipeline(OnlineScaler(), SmoSVC()))
    warming = OnlineScaler(warm_up=100).partial_fit(X[:50])
    with pytest.raises(ValueError, match="fit it to a sample of all rows first"):
        fit(parts(), make_online_pipeline(warming, SmoSVC()))
    columns = OnlineColumns([("all", OnlineScaler(), ["a", "b"])])
    with pytest.raises(ValueError, match="wants columns by name"):
        fit(parts(), make_online_pipeline(columns, SmoSVC()))
