"""Baselines against pandas: what was last, most frequent, the mean so far."""

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onlinesvm.stream.baselines import LastLabel, Majority, RunningMean
from onlinesvm.stream.tallies import Codec, Targets


def said(kind, codec, delay, *parts):
    """What a baseline answers to labels that come in parts."""
    baseline = kind(codec, delay)
    return [a for part in parts for a in codec.decode(baseline.answers(codec.encode(part)))]


LABELS = st.lists(st.sampled_from("abc"), max_size=30)


@given(LABELS, st.integers(0, 5), st.integers(0, 30))
def test_property_the_last_label_known(labels, delay, cut):
    answers = said(LastLabel, Codec(), delay, labels[:cut], labels[cut:])
    expected = pd.Series(labels, dtype=object).shift(1 + delay)
    assert answers == [None if pd.isna(x) else x for x in expected]


@given(LABELS, st.integers(0, 5))
def test_property_a_majority_of_what_is_known(labels, delay):
    for k, answer in enumerate(said(Majority, Codec(), delay, labels)):
        known = labels[: max(0, k - delay)]
        assert (answer is None) == (not known)
        if known:
            assert known.count(answer) == pd.Series(known).value_counts().iloc[0]


def test_of_equals_the_first_there_stays():
    assert said(Majority, Codec(), 0, list("abbaa")) == [None, "a", "a", "b", "b"]


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=30), st.integers(0, 3))
def test_property_the_mean_of_what_is_known(targets, delay):
    found = said(RunningMean, Targets(), delay, targets)
    expected = pd.Series(targets).expanding().mean().shift(1 + delay)
    assert found == pytest.approx(expected.to_numpy(), nan_ok=True, rel=1e-9, abs=1e-6)
