from __future__ import annotations

from typing import Any

from onlinesvm import (
    SGDSVC,
    CalibratedOnline,
    IncrementalSVC,
    OnlineScaler,
    PassiveAggressiveClassifier,
    make_online_pipeline,
)
from onlinesvm.checks import parametrize


@parametrize(
    CalibratedOnline(PassiveAggressiveClassifier()),
    CalibratedOnline(SGDSVC(), "venn-abers", window=30),
    CalibratedOnline(IncrementalSVC(C=3.0), "temperature"),
    CalibratedOnline(
        make_online_pipeline(OnlineScaler(warm_up=20), PassiveAggressiveClassifier()), "isotonic"
    ),
)
def test_ours(estimator: Any, check: Any) -> None:
    check(estimator)
