"""skops with the real package: every class comes back to the bit, and asks for no other trust."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone, is_classifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import onlinesvm
from onlinesvm import SGDSVC, CalibratedOnline, DriftAware, OnlineScaler, RampSVC
from onlinesvm.checks import fingerprint
from onlinesvm.interop.skops import trusted_types

sio = pytest.importorskip("skops.io")

RNG = np.random.default_rng(0)
X = np.abs(RNG.normal(size=(60, 3)))
Y = (X[:, 0] > X[:, 1]).astype(int)
MODELS = [
    *(cls() for cls in (*onlinesvm.all_estimators(), *onlinesvm.all_transformers())),
    CalibratedOnline(SGDSVC()),
    DriftAware(SGDSVC()),
    onlinesvm.make_online_pipeline(OnlineScaler(warm_up=10), SGDSVC()),
]


def there_and_back(model: Any) -> Any:
    data = sio.dumps(model)
    assert set(sio.get_untrusted_types(data=data)) <= set(trusted_types())
    return sio.loads(data, trusted=trusted_types())


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_every_class_comes_back_and_goes_on(model: Any) -> None:
    new = there_and_back(clone(model))
    assert type(new) is type(model)
    assert str(new.get_params()) == str(model.get_params())
    words = type(model).__name__ in ("OnlineText", "OnlineHashing")
    rows = X[:, :1].astype(str).astype(object) if words else X
    if type(model).__name__ == "OnlineDates":
        rows = 1e9 + 1e5 * X
    named = {"classes": [0, 1]} if is_classifier(model) else {}
    streams = hasattr(model, "partial_fit")
    learn = clone(model).partial_fit if streams else clone(model).fit
    learned = learn(rows[:40], Y[:40], **(named if streams else {}))
    twin = there_and_back(learned)
    assert fingerprint(twin) == fingerprint(learned)
    if not streams:
        return
    for each in (learned, twin):
        each.partial_fit(rows[40:], Y[40:])
    assert fingerprint(twin) == fingerprint(learned)


def test_inside_a_pipeline_of_scikit_learn() -> None:
    pipeline = make_pipeline(StandardScaler(), RampSVC()).fit(X, Y)
    again = there_and_back(pipeline)
    assert np.array_equal(again.decision_function(X), pipeline.decision_function(X))


def test_what_a_file_cannot_hold_is_refused_in_one_line() -> None:
    def kernel(x: Any, rows: Any) -> Any:
        return rows @ x

    model = RampSVC(kernel=kernel, classes=[0, 1]).partial_fit(X, Y)
    with pytest.raises(ValueError, match="kernel") as refusal:
        sio.dumps(model)
    assert "\n" not in str(refusal.value)


def test_bytes_that_lie_are_refused() -> None:
    saved = SGDSVC(classes=[0, 1]).partial_fit(X, Y).__getstate__()["saved"]
    broken = bytearray(saved)
    broken[len(broken) // 2] ^= 1
    for other in (bytes(broken), saved[:-3], b"nothing"):
        with pytest.raises(ValueError, match="no model that this version can load"):
            SGDSVC.__new__(SGDSVC).__setstate__({"saved": other})
    with pytest.raises(ValueError, match="hold a 'SGDSVC'"):
        RampSVC.__new__(RampSVC).__setstate__({"saved": saved})
