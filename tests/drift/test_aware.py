from __future__ import annotations

from typing import Any

from onlinesvm import (
    DriftAware,
    IncrementalSVC,
    OnlineScaler,
    PassiveAggressiveClassifier,
    PassiveAggressiveRegressor,
    make_online_pipeline,
)
from onlinesvm.checks import parametrize
from onlinesvm.drift import PageHinkley

JUMPY = PageHinkley(threshold=3.0, min_instances=5)


@parametrize(
    DriftAware(PassiveAggressiveClassifier()),
    DriftAware(IncrementalSVC(C=3.0), JUMPY, on="switch"),
    DriftAware(PassiveAggressiveRegressor(), JUMPY),
    DriftAware(
        make_online_pipeline(OnlineScaler(warm_up=20), PassiveAggressiveClassifier()),
        JUMPY,
        on="switch",
        warning=PageHinkley(threshold=1.0, min_instances=5),
    ),
)
def test_ours(estimator: Any, check: Any) -> None:
    check(estimator)
