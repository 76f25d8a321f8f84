"""Every compiled class has the verbs that the estimators call, and by the kind they are called."""

from __future__ import annotations

from typing import Any

import pytest

from onlinesvm import _core, all_estimators
from onlinesvm.base.core import Core, Numbering, OptionalVerbs

CORES = [getattr(_core, f"{cls._stem}{bits}") for cls in all_estimators() for bits in (32, 64)]


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


@pytest.mark.parametrize("core", CORES, ids=lambda core: core.__name__)
def test_every_core_has_what_all_have_and_spells_the_rest_alike(core: type) -> None:
    assert kinds(core, members(Core)) == members(Core)
    assert kinds(core, members(OptionalVerbs)).items() <= members(OptionalVerbs).items()


def test_what_some_cores_do_is_done_by_some() -> None:
    offered = {name for core in CORES for name in members(OptionalVerbs) if hasattr(core, name)}
    assert offered == set(members(OptionalVerbs))


def test_the_numbering() -> None:
    assert kinds(_core.Register, members(Numbering)) == members(Numbering)
