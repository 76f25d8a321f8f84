"""Which test belongs to which tier: said here, and nowhere else.

``quick`` is what `make test` runs: every test function, on a set of its cases that covers them. A
case of the contract is a check and an estimator; the set has each check with each family, with both
types of numbers, with each kind of multiclass, each variant once, and the checks of ``CORE`` with
every class. Elsewhere, a function with one or two lists of cases meets every value once, with three
lists or more every pair of values; an estimator stands for its family. Property tests draw a fifth
of their examples.

``rest`` is what `make test-all` adds: all other cases, those marked ``slow``, property tests with
all their examples, and Spark. ``all`` is both; pytest runs it where nothing is asked for.
"""

from __future__ import annotations

import inspect
from collections.abc import Hashable
from itertools import combinations, product
from typing import Any

TIERS = ("quick", "rest", "all")

#: Checks that `make test` runs on every class.
CORE = {
    "check_bad_calls_change_nothing",
    "check_bad_parameters",
    "check_chunks_give_the_same_bits",
    "check_copies_go_their_own_way",
    "check_inputs_are_neither_changed_nor_kept",
    "check_learn_one_is_partial_fit",
    "check_open_classes",
    "check_predicting_changes_nothing",
    "check_save_load_go_on",
    "check_size_is_reported",
    "check_sparse_chunks_give_the_same_bits",
    "check_unlearning_leaves_an_optimum",
    "check_weight_zero_is_skipped",
}

#: Folders that need what `make test` does not install.
CLUSTERS = ("tests/cluster/spark/", "src/onlinesvm/cluster/spark/")

#: Of so many cases of a function, `make test` runs all.
FEW = 4

chosen = "all"


def examples(n: int) -> int:
    """How many examples a property test draws, of ``n`` in `make test-all`."""
    return max(5, n // 5) if chosen == "quick" else n


def split(items: list[Any], tier: str) -> tuple[list[Any], list[Any]]:
    """The tests of a tier, and those that it leaves out, in their order."""
    if tier == "all":
        return items, []
    quick = {id(item) for item in quick_ones(items)}

    def here(item: Any) -> bool:
        if tier == "quick":
            return id(item) in quick
        return id(item) not in quick or is_property(item)

    kept, left = [], []
    for item in items:
        (kept if here(item) else left).append(item)
    return kept, left


def quick_ones(items: list[Any]) -> list[Any]:
    """The covering set, function by function."""
    functions: dict[str, list[Any]] = {}
    for item in items:
        if not item.get_closest_marker("slow") and not item.nodeid.startswith(CLUSTERS):
            functions.setdefault(item.nodeid.partition("[")[0], []).append(item)
    return [
        item
        for cases in functions.values()
        for item in (cases if len(cases) <= FEW else cover(facts_by_name(cases)))
    ]


def facts_by_name(cases: list[Any]) -> dict[Any, set[Hashable]]:
    """In one order whatever the tests run in, so that the same cases are chosen each time."""
    return {item: facts(item) for item in sorted(cases, key=lambda item: str(item.nodeid))}


def cover(cases: dict[Any, set[Hashable]]) -> list[Any]:
    """Few cases that have every fact: always the one with the most that are new."""
    missing = set().union(*cases.values())
    taken = []
    gains = {case: len(facts) for case, facts in cases.items()}
    while missing:
        best, gain = None, 0
        for case, bound in gains.items():  # what a case adds never grows
            if bound > gain:
                gains[case] = bound = len(cases[case] & missing)
                if bound > gain:
                    best, gain = case, bound
        taken.append(best)
        missing -= cases[best]
        del gains[best]
    return taken


def facts(item: Any) -> set[Hashable]:
    """What a case shows that another may not."""
    values = item.callspec.params
    lists = [traits(arguments, values) for arguments in lists_of(item)]
    singles = {trait for traits in lists for trait in traits}
    estimators = [value for value in values.values() if is_estimator(value)]
    if {"estimator", "check"} <= values.keys() and estimators:
        return singles | of_contract(estimators[0], values["check"])
    if len(lists) < 3 and not estimators:
        return singles
    return singles | {pair for a, b in combinations(lists, 2) for pair in product(a, b)}


def of_contract(estimator: Any, check: Any) -> set[Hashable]:
    """What a case of the contract shows besides."""
    found: set[Hashable] = {("variant", repr(estimator))}
    if key(check) in CORE:
        found.add((key(check), type(estimator)))
    return found


def lists_of(item: Any) -> list[tuple[str, ...]]:
    """The arguments of a function, as its decorators have them: together or crossed."""
    together = []
    for mark in item.iter_markers("parametrize"):
        names = mark.args[0] if mark.args else mark.kwargs["argnames"]
        names = names.split(",") if isinstance(names, str) else names
        together.append(tuple(name.strip() for name in names))
    known = {name for names in together for name in names}
    return together + [(name,) for name in item.callspec.params if name not in known]


def traits(arguments: tuple[str, ...], values: dict[str, Any]) -> list[Hashable]:
    """What stands for one entry of a list of cases: with an estimator, one trait for each kind."""
    entry = [values[name] for name in arguments if name in values]
    others = (*arguments, *(key(value) for value in entry if not is_estimator(value)))
    of = [kind for value in entry if is_estimator(value) for kind in kinds(value)]
    return [(*others, *kind) for kind in of] or [others]


def key(value: Any) -> Hashable:
    """The same for equal values of every process."""
    if callable(value):
        return getattr(getattr(value, "func", value), "__name__", id(value))
    return repr(value) if isinstance(value, str | int | float | bool | None) else id(value)


def kinds(estimator: Any) -> list[tuple[Hashable, ...]]:
    """Family, type of numbers, kind of multiclass."""
    cls = estimator if inspect.isclass(estimator) else type(estimator)
    found: list[tuple[Hashable, ...]] = [("family", cls.__module__.split(".")[-2])]
    for name in ("dtype", "multiclass"):
        value = getattr(estimator, name, None)
        if isinstance(value, str):
            found.append((name, value))
    return found


def is_estimator(value: Any) -> bool:
    cls = value if inspect.isclass(value) else type(value)
    return hasattr(cls, "get_params") and cls.__module__.startswith("onlinesvm.")


def is_property(item: Any) -> bool:
    return bool(getattr(getattr(item, "obj", None), "is_hypothesis_test", False))
