"""What a declared parameter gives: constructor, docstring, check, the core's value, and types."""

from __future__ import annotations

import copy
import inspect
import pickle
import re
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest
from sklearn.base import clone

import onlinesvm
from onlinesvm import PegasosSVC, PokerSVR
from onlinesvm.model.parameters import (
    Parameters,
    core_params,
    count,
    declare,
    flag,
    group,
    inherit,
    number,
    word,
)

X = np.random.default_rng(0).normal(size=(12, 3))
Y = np.arange(12) % 2

every_class = pytest.mark.parametrize("cls", onlinesvm.all_estimators(), ids=lambda c: c.__name__)

BAD = [
    pytest.param(cls, name, value, id=f"{cls.__name__}-{name}-{value!r}")
    for cls in onlinesvm.all_estimators()
    for name, parameter in cls._parameters.items()
    for value in parameter.bad
]


@pytest.mark.parametrize(("cls", "name", "value"), BAD)
def test_a_bad_value_is_refused_by_name_when_learning_begins(cls: Any, name: str, value: Any):
    model = cls(**{name: value})  # the constructor only assigns
    with pytest.raises(ValueError, match=rf"^{name} must be .*, got "):
        model.fit(X, Y)
    assert not model.__sklearn_is_fitted__()


@every_class
def test_every_parameter_is_in_the_signature_and_in_the_docstring(cls: Any) -> None:
    signature = inspect.signature(cls)
    assert list(signature.parameters) == list(cls._parameters)
    section = re.search(r"\nParameters\n-+\n(.*?)\n\nAttributes\n", inspect.getdoc(cls), re.DOTALL)
    entries = re.findall(r"^(\w+) : .*, default=.*\n    \S", section[1], re.MULTILINE)
    assert entries == list(cls._parameters)
    for name, shown in signature.parameters.items():
        assert shown.default == cls._parameters[name].default
        assert shown.annotation != inspect.Parameter.empty


@every_class
def test_the_constructor_assigns_and_does_nothing_else(cls: Any) -> None:
    values = {name: object() for name in cls._parameters}
    model = cls(**values)
    assert vars(model) == values == model.get_params(deep=False)
    assert not any(hasattr(cls, name) for name in values), "values belong to instances"
    with pytest.raises(TypeError, match=rf"{cls.__name__}.*unexpected keyword argument 'depth'"):
        cls(depth=3)


def test_scikit_learn_clones_and_shows_them() -> None:
    model = PegasosSVC(1e-3, block=4)
    assert repr(model) == "PegasosSVC(alpha=0.001, block=4)"
    assert "alpha" in model._repr_html_()
    for twin in (clone(model), copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert twin.get_params() == model.get_params()
    with pytest.raises(TypeError, match="positional"):
        PegasosSVC(1e-3, 4)
    assert PokerSVR(2.0, 0.3).epsilon == 0.3


@group
class Listed(Parameters):
    """A group of parameters."""

    rate: float = number(default=0.5, above=0, below=1, words={"auto": -1.0}, doc="How fast.")
    keep: int | None = count(default=None, none=0, core="most", doc="How many.")
    depth: int = count(default=256 << 20, shown="256 MiB", core="tree.depth", doc="How deep.")

    def _adjust(self, settings: dict[str, Any], n_features: int) -> None:
        settings["wide"] = n_features


class Declared:
    """Where subclasses are declared, as below an estimator."""

    def __init_subclass__(cls) -> None:
        declare(cls)


class Face(Declared, Listed):
    """A class.

    Attributes
    ----------
    none_ : nothing
    """

    mode: Literal["a", "b"] = word(
        default="a", words={"a": 1, "b": 2}, kw_only=False, doc=f"Which. {'long ' * 30}"
    )
    rate: float = inherit(default=1e-4, doc="Slowly.")
    quiet: bool = flag(default=True, core=None, doc="Whether.")


class Own(Face):
    """A class with a constructor of its own, which stays."""

    def __init__(self, rate: float = 0.25) -> None:
        super().__init__(rate=rate)


class Below(Own):
    """And below it."""


def test_a_class_adds_to_the_groups_it_lists() -> None:
    assert Listed not in Face.__mro__
    signature = str(inspect.signature(Face))
    assert signature.startswith("(mode: \"Literal['a', 'b']\" = 'a', *, quiet: 'bool' = True, ")
    assert list(inspect.signature(Face).parameters) == ["mode", "quiet", "rate", "keep", "depth"]
    assert core_params(Face("b", rate="auto"), 3) == {
        "mode": 2,
        "rate": -1.0,
        "most": 0,
        "tree": {"depth": 256 << 20},
        "wide": 3,
    }
    doc = inspect.getdoc(Face)
    assert doc.startswith(
        'A class.\n\nParameters\n----------\nmode : {"a", "b"}, default="a"\n    Which'
    )
    assert 'rate : "auto" or float, default=1e-4\n    Slowly.\n' in doc
    assert "keep : int or None, default=None\n    How many.\n" in doc
    assert "depth : int, default=256 MiB\n    How deep.\n\nAttributes\n" in doc
    assert max(map(len, doc.splitlines())) <= 100
    assert Below().rate == Own().rate == 0.25


MISTAKES = {
    'PegasosSVC(alpha="x")': "arg-type",
    "PegasosSVC(speed=1.0)": "call-arg",
    "PegasosSVC(1e-3, 2)": "call-arg",
    'RampSVC(stopping="never")': "arg-type",
    "RampSVC(_altered=True)": "call-arg",
    "PokerSVR(1.0, epsilon=None)": "arg-type",
}
FINE = ["PegasosSVC(1e-3, block=2)", "RampSVC(kernel=lambda x, X: X @ x)", "PokerSVR(1.0, 0.2)"]


@pytest.mark.slow
def test_type_checkers_know_the_constructors(tmp_path: Path, monkeypatch: Any) -> None:
    api = pytest.importorskip("mypy.api")
    program = tmp_path / "program.py"
    lines = ["from onlinesvm import PegasosSVC, PokerSVR, RampSVC", *FINE, *MISTAKES]
    program.write_text("\n".join(lines))
    monkeypatch.setenv("MYPYPATH", str(Path(onlinesvm.__file__).parents[1]))
    found, _, _ = api.run(["--strict", "--ignore-missing-imports", str(program)])
    errors = re.findall(r"program.py:(\d+): error: .*\[([\w-]+)\]", found)
    first = 2 + len(FINE)
    assert {(int(line), code) for line, code in errors} >= {
        (first + i, code) for i, code in enumerate(MISTAKES.values())
    }, found
    assert min(int(line) for line, _ in errors) == first, found


@pytest.mark.parametrize(
    ("name", "hint"),
    [("decision_function_shape", "pairwise_decision"), ("probability", "CalibratedOnline")],
)
def test_words_of_scikit_learns_svc_are_answered(name: str, hint: str) -> None:
    with pytest.raises(TypeError, match=rf"argument '{name}'; .*{hint}"):
        onlinesvm.RampSVC(**{name: "ovo"})
