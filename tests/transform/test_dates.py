"""Times as features: the calendar is the oracle."""

from __future__ import annotations

import math
from datetime import UTC, datetime

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onlinesvm import OnlineDates, OnlineImputer, OnlineScaler, load

TIMES = st.datetimes(datetime(1900, 1, 1), datetime(2200, 1, 1), timezones=st.just(UTC))


def features(*times: float | None) -> dict[str, list[float]]:
    table = np.array(times, dtype=object).reshape(-1, 1)
    model = OnlineDates().partial_fit(table)
    names = model.get_feature_names_out(["t"]).tolist()
    return dict(zip(names, model.transform(table).T.tolist(), strict=True))


@given(TIMES)
def test_hours_and_weekdays_are_those_of_the_calendar(time: datetime) -> None:
    found = {name: values[0] for name, values in features(time.timestamp()).items()}
    hours = time.hour + time.minute / 60 + time.second / 3600 + time.microsecond / 3.6e9
    weekday = (time.weekday() - 3) % 7 + hours / 24  # 1970 began with a Thursday
    for name, turn in {"day": hours / 24, "week": weekday / 7}.items():
        angle = 2 * math.pi * turn
        assert found[f"t_sin_of_{name}"] == pytest.approx(math.sin(angle), abs=1e-6)
        assert found[f"t_cos_of_{name}"] == pytest.approx(math.cos(angle), abs=1e-6)


def test_a_year_later_the_year_has_come_round() -> None:
    found = features(0.0, 365.2425 * 86400, 0.5 * 365.2425 * 86400)
    assert found["t_cos_of_year"] == pytest.approx([1, 1, -1])
    assert found["t_days"] == pytest.approx([0, 365.2425, 182.62125])


def test_a_gap_is_no_time_at_all() -> None:
    found = features(0.0, None, math.nan)
    assert math.isnan(found["t_days"][1])
    assert math.isnan(found["t_days"][2])
    for name, values in found.items():
        if name != "t_days":
            assert values[1:] == [0, 0]


def test_what_stands_behind_fills_and_scales_it() -> None:
    times = np.random.default_rng(0).uniform(1.7e9, 1.8e9, (300, 2))
    times[::7, 0] = np.nan
    rows = OnlineDates().fit_transform(times)
    rows = OnlineScaler().fit_transform(OnlineImputer().fit_transform(rows))
    assert rows.shape == (300, 14)
    assert np.isfinite(rows).all()
    np.testing.assert_allclose(rows.std(axis=0), 1.0)


def test_words_and_times_beyond_measure_are_refused(tmp_path) -> None:
    model = OnlineDates().partial_fit([[0.0]])
    model.save(tmp_path / "before.safetensors")
    for bad, words in (("noon", "no time"), (1e16, "beyond"), (math.inf, "infinity")):
        with pytest.raises(ValueError, match=words):
            model.partial_fit([[bad]])
        with pytest.raises(ValueError, match=words):
            model.transform([[bad]])
    model.save(tmp_path / "after.safetensors")
    before, after = ((tmp_path / f"{n}.safetensors").read_bytes() for n in ("before", "after"))
    assert before == after
    assert load(tmp_path / "after.safetensors").n_seen_ == 1
