"""The shape of the house: how many classes stand above a method, how many calls a row takes."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

import onlinesvm

sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))
import shape

MANY = [
    onlinesvm.RampSVC(gamma=0.5),
    onlinesvm.LASVC(gamma=0.5),
    onlinesvm.SGDSVC(),
    onlinesvm.PassiveAggressiveRegressor(),
    onlinesvm.NormaOneClassSVM(gamma=0.5),
]


@pytest.mark.parametrize("cls", shape.public_classes(), ids=lambda cls: cls.__name__)
def test_few_classes_stand_above_a_public_one(cls: type) -> None:
    assert shape.depth(cls) <= 10, cls.__mro__


def test_few_classes_are_only_there_to_derive_from() -> None:
    assert len(shape.towers()) <= 25, shape.towers()


def test_a_model_is_its_lock_its_state_and_its_door() -> None:
    model = onlinesvm.RampSVC().fit(shape.X, shape.Y).learn_one(shape.X[0], 1)
    assert shape.hidden(model) == ["_door", "_register", "_state"]


@pytest.mark.parametrize("model", MANY, ids=lambda model: type(model).__name__)
def test_one_row_takes_few_calls(model: Any) -> None:
    called = shape.of_one_row(model)
    assert len(called) <= 45, called


def test_one_row_through_a_pipeline_takes_few_calls() -> None:
    model = onlinesvm.make_online_pipeline(onlinesvm.OnlineScaler(), onlinesvm.SGDSVC())
    assert len(shape.of_one_row(model)) <= 70
