"""Every core has the verbs that the estimators call, and by the kind they are called."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from onlinesvm import _core, all_estimators, all_transformers
from onlinesvm.core import REDUCED, Core, Numbering, OptionalVerbs, offers

STEMS = sorted({cls._stem for cls in all_estimators()})


def members(protocol: type) -> dict[str, bool]:
    """The public members of a protocol, and whether each is called."""
    declared = dict.fromkeys(vars(protocol).get("__annotations__", {}), False)
    written = {name: callable(member) for name, member in vars(protocol).items()}
    return {name: kind for name, kind in (declared | written).items() if name[0] != "_"}


def kinds(cls: Any, names: Any) -> dict[str, bool]:
    return {name: callable(getattr(cls, name)) for name in names if hasattr(cls, name)}


def test_the_protocols_say_something() -> None:
    assert members(Core)["learn_dense"]
    assert members(Core)["threads"] is False
    assert members(OptionalVerbs)["capped"] is False
    assert not members(Core).keys() & members(OptionalVerbs).keys()


def test_every_core_has_what_all_have() -> None:
    wanted = {name: kind for name, kind in members(Core).items() if name != "support"}
    assert kinds(_core.Model, wanted) == wanted


@pytest.mark.parametrize("cls", all_estimators(), ids=lambda cls: cls.__name__)
def test_the_rest_is_spelled_alike(cls: Any) -> None:
    model = cls()
    X = np.random.default_rng(0).uniform(0.1, 1.0, size=(20, 2))
    core = model.fit(X, np.arange(20) % 2)._core
    found = {name for name in members(OptionalVerbs) if offers(cls._stem, name)}
    assert found == {name for name in members(OptionalVerbs) if hasattr(core, name)}
    assert kinds(core, found).items() <= members(OptionalVerbs).items()


def test_what_some_cores_do_is_done_by_some() -> None:
    offered = {name for stem in STEMS for name in members(OptionalVerbs) if offers(stem, name)}
    assert offered == set(members(OptionalVerbs))


def test_every_class_names_a_method_and_every_method_has_a_class() -> None:
    assert set(STEMS) <= set(_core.methods)
    others = {"EllipsoidSVM", REDUCED, "ReducedPairs"} | {f"{stem}Pairs" for stem in STEMS}
    others |= {cls._stem for cls in all_transformers()}
    assert set(_core.methods) <= set(STEMS) | others


def test_the_numbering() -> None:
    assert kinds(_core.Register, members(Numbering)) == members(Numbering)
