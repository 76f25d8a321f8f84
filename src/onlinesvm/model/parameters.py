"""Constructor parameters, declared once, as fields. long: declarations, and what they make.

    alpha: float = number(default=1e-4, above=0, doc="Regularisation, > 0: lambda of the paper.")

The declaration gives the constructor's argument, its entry in the docstring, the check that is made
when learning begins, the value that the core receives and the values that the tests expect to be
refused. Type checkers read the same line: it is a field in the sense of PEP 681.
"""

from __future__ import annotations

import inspect
import math
import re
import textwrap
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Required, TypedDict, Unpack, dataclass_transform

from ..data.arguments import (
    check_bytes,
    check_count,
    check_flag,
    check_number,
    check_word,
    suggestion,
)

_WIDTH = 100  # of a line of the docstring
_REFUSED: Any = object()  # None is no value of this parameter
_NO_WORDS: Mapping[str, Any] = {}
_KEPT: Any = object()  # as the base class has it
_SECTION = re.compile(r"^( *)(Attributes|References|Examples)\n\1---", re.MULTILINE)


@dataclass(frozen=True)
class Parameter:
    """What is declared of one parameter."""

    default: Any
    doc: str
    type: str = ""  # in words, besides the words allowed and None
    check: Callable[[str, Any], Any] | None = None  # gives the value; None: checked elsewhere
    core: str | None = ""  # its name in the core, "kernel.x" for a member; "": the same; None: none
    words: Mapping[str, Any] = field(default_factory=dict)  # allowed, with the core's values
    none: Any = _REFUSED  # the core's value for None
    bad: Sequence[Any] = ()  # some values that are refused
    shown: str = ""  # the default in the docstring, where its value reads badly
    kw_only: bool = True

    def value(self, name: str, given: Any) -> Any:
        """A value given by the user as the core takes it; a bad one is a ValueError."""
        if given is None and self.none is not _REFUSED:
            return self.none
        if self.words and (isinstance(given, str) or self.check is None):
            return self.words[check_word(name, given, self.words)]
        return given if self.check is None else self.check(name, given)

    def entry(self, name: str) -> str:
        """Its entry in the docstring."""
        kinds = [kind for kind in (self._word_list(), self.type) if kind]
        if self.none is not _REFUSED:
            kinds.append("None")
        *first, last = kinds
        kind = f"{', '.join(first)} or {last}" if first else last
        text = textwrap.fill(
            " ".join(self.doc.split()),
            _WIDTH - 8,
            break_long_words=False,
            break_on_hyphens=False,
        )
        default = self.shown or _literal(self.default)
        return f"{name} : {kind}, default={default}\n{textwrap.indent(text, '    ')}"

    def _word_list(self) -> str:
        words = sorted(self.words, key=lambda word: word != self.default)  # the default first
        quoted = [f'"{word}"' for word in words]
        return quoted[0] if len(quoted) == 1 else f"{{{', '.join(quoted)}}}" if quoted else ""


def _literal(value: Any) -> str:
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, float) and 0 < abs(value) <= 1e-3:
        return re.sub(r"e-0*", "e-", f"{value:.0e}")
    return repr(value)


# --- declarations -----------------------------------------------------------------------------


class _Common(TypedDict, total=False):
    """What any declaration may say; see :class:`Parameter`."""

    default: Required[Any]
    doc: Required[str]
    core: str | None
    none: Any
    shown: str
    kw_only: bool


def number(
    *,
    above: float = -math.inf,
    at_least: float = -math.inf,
    below: float = math.inf,
    also: float | None = None,
    words: Mapping[str, Any] = _NO_WORDS,
    **common: Unpack[_Common],
) -> Any:
    """A real number inside its range, or ``also``, or one of ``words``, or None."""
    check = partial(check_number, above=above, at_least=at_least, below=below, also=also)
    bounds = (bound for bound in (above, at_least - 1, below) if math.isfinite(bound))
    beyond = [bound for bound in bounds if bound != also]
    bad = [*beyond, math.nan, True, "no such word", *_unless_none_is(common)]
    return Parameter(type="float", check=check, words=words, bad=bad, **common)


def count(
    *, at_least: int = 0, words: Mapping[str, Any] = _NO_WORDS, **common: Unpack[_Common]
) -> Any:
    """An integer of at least ``at_least``, or one of ``words``, or None."""
    check = partial(check_count, at_least=at_least)
    bad = [at_least - 1, at_least + 0.5, True, "no such word", *_unless_none_is(common)]
    return Parameter(type="int", check=check, words=words, bad=bad, **common)


def size(**common: Unpack[_Common]) -> Any:
    """A number of bytes, or a size such as ``"64MB"``."""
    bad = [-1, 0.5, True, "no such word", *_unless_none_is(common)]
    return Parameter(type="int or str", check=check_bytes, bad=bad, **common)


def flag(**common: Unpack[_Common]) -> Any:
    """True or False."""
    return Parameter(type="bool", check=check_flag, bad=[2, "no such word", None], **common)


def word(*, words: Collection[str], **common: Unpack[_Common]) -> Any:
    """One of ``words``; a mapping gives the core's value for each."""
    values = words if isinstance(words, Mapping) else {name: name for name in words}
    return Parameter(words=values, bad=["no such word", 3, *_unless_none_is(common)], **common)


def special(
    *,
    type: str,
    words: Sequence[str] = (),
    check: Callable[[str, Any], Any] | None = None,
    bad: Sequence[Any] = (),
    **common: Unpack[_Common],
) -> Any:
    """A parameter with a check of its own, which the class itself brings to the core."""
    values = {name: name for name in words}
    own: _Common = {"core": None, **common}
    return Parameter(type=type, check=check, words=values, bad=bad, **own)


def _unless_none_is(common: _Common) -> list[None]:
    """None as a bad value, unless it has a meaning."""
    return [] if "none" in common else [None]


def inherit(
    *, default: Any, doc: str = _KEPT, core: str | None = _KEPT, kw_only: bool = True
) -> Any:
    """The parameter of the base class, with another default, another text or another use."""
    changes = {"default": default, "doc": doc, "core": core, "kw_only": kw_only}
    return _Inherited({name: value for name, value in changes.items() if value is not _KEPT})


@dataclass(frozen=True)
class _Inherited:
    changes: Mapping[str, Any]

    def resolved(self, base: Parameter) -> Parameter:
        changes = dict(self.changes)
        if changes["default"] != base.default:
            changes["shown"] = ""
        return replace(base, **changes)


# --- groups of parameters ---------------------------------------------------------------------


class Group:
    """Parameters that a class lists in its header: data, and in no MRO.

    Written as a class whose fields type checkers see below every class that lists it:

        @group
        class SoftMargin(StoresExamples):
            C: float = number(default=1.0, above=0, doc="Weight of an error, > 0.")

    A group may list others, describe attributes (``_attributes``), bring verbs, fix parameters of
    the estimator (``_fixed``), and correct the settings of the core (``_adjust``), which it is
    given as they are so far.
    """

    def __init__(self, cls: type) -> None:
        self.__name__, self.__doc__ = cls.__name__, cls.__doc__
        self.declared = _own_declarations(cls)
        self.annotations = inspect.get_annotations(cls)
        self.attributes: Mapping[str, str] = vars(cls).get("_attributes", {})
        self.brings = {
            name: given
            for name, given in vars(cls).items()
            if name[0] != "_" and not isinstance(given, Parameter | _Inherited)
        } | vars(cls).get("_fixed", {})
        self.adjust: Callable[[Any, dict[str, Any], int], None] | None = vars(cls).get("_adjust")
        self.order = (self, *_linear(cls)[1:])

    def __mro_entries__(self, bases: Any) -> tuple[()]:
        return ()

    def __repr__(self) -> str:
        return self.__name__


def group(cls: Any) -> Any:
    """The :class:`Group` that a class describes."""
    return Group(cls)


def lists(cls: type, group: Any) -> bool:
    """Whether a class, or one it derives from, lists a group in its header."""
    return group in cls._order  # type: ignore[attr-defined]


# --- the class --------------------------------------------------------------------------------


def declare(cls: Any) -> None:
    """Give a class the constructor, the docstring and the checks of its parameters.

    They are those that it declares, and those of its bases and of the groups they list.
    """
    cls._declared = _own_declarations(cls)
    cls._order = tuple(_linear(cls))
    for each in cls._order:
        for name, brought in each.brings.items() if isinstance(each, Group) else ():
            if not hasattr(cls, name):
                setattr(cls, name, brought)
    cls._parameters = _collected(cls)
    cls._adjustments = tuple(g.adjust for g in reversed(cls._order) if getattr(g, "adjust", None))
    if cls.__init__ is object.__init__ or hasattr(cls.__init__, "is_generated"):
        cls.__init__ = _constructor(cls)
    if cls.__dict__.get("__doc__"):
        cls.__doc__ = _documented(cls)


def core_params(model: Any, n_features: int) -> dict[str, Any]:
    """The parameters as the core takes them; a bad one is a ValueError.

    ``n_features`` counts those of the first example.
    """
    settings: dict[str, Any] = {}
    for name, parameter in model._parameters.items():
        value = parameter.value(name, getattr(model, name))
        if parameter.core is not None:
            *groups, key = (parameter.core or name).split(".")
            place = settings
            for part in groups:
                place = place.setdefault(part, {})
            place[key] = value
    for adjust in model._adjustments:
        adjust(model, settings, n_features)
    return settings


def _linear(cls: type) -> list[Any]:
    """The class, its bases and the groups it lists, each before those that it derives from."""
    found: list[Any] = [cls]
    for base in vars(cls).get("__orig_bases__", cls.__bases__):
        found += base.order if isinstance(base, Group) else _linear(base)
    last = {id(each): i for i, each in enumerate(found)}
    return [each for i, each in enumerate(found) if last[id(each)] == i]


def _declared_by(each: Any) -> Mapping[str, Any]:
    return each.declared if isinstance(each, Group) else vars(each).get("_declared", {})


def _own_declarations(cls: type) -> dict[str, Any]:
    """The parameters that the class itself declares; they are taken off it: values are its own."""
    declared = {
        name: given
        for name, given in vars(cls).items()
        if isinstance(given, Parameter | _Inherited)
    }
    for name in declared:
        delattr(cls, name)
    return declared


def _collected(cls: Any) -> dict[str, Parameter]:
    """All parameters: positional ones, what everybody sets, those of the class, of its bases.

    One that is only redeclared stays where its base class has it; one that a class has a plain
    value for is no parameter of that class.
    """
    changes: dict[str, list[_Inherited]] = {}
    ordered: dict[str, Parameter] = {}
    for each in cls._order:
        for name, given in _declared_by(each).items():
            if isinstance(given, _Inherited):
                changes.setdefault(name, []).append(given)
            elif name not in ordered and not hasattr(cls, name):
                for change in reversed(changes.get(name, [])):
                    given = change.resolved(given)
                ordered[name] = given
    return dict(sorted(ordered.items(), key=lambda item: (item[1].kw_only, _rank(item[0]))))


# What people set first, in the order of scikit-learn's SVC.
_FIRST = ("C", "alpha", "nu", "kernel", "gamma", "degree", "coef0", "budget")


def _rank(name: str) -> int:
    return _FIRST.index(name) if name in _FIRST else len(_FIRST)


# What users of scikit-learn's SVC pass, and where it is here.
_OF_SVC = {
    "decision_function_shape": "scores are those of 'ovr'; for 'ovo' ask "
    "pairwise_decision_function, with multiclass='one-vs-one'",
    "probability": "CalibratedOnline(model) has predict_proba",
}


def _constructor(cls: Any) -> Callable[..., None]:
    """An ``__init__`` that assigns and does nothing else, as scikit-learn wants it."""
    types: dict[str, Any] = {}
    for base in reversed(cls._order):
        types |= _annotations_of(base)
    signature = inspect.Signature(
        [
            inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD),
            *(
                inspect.Parameter(
                    name,
                    inspect.Parameter.KEYWORD_ONLY
                    if parameter.kw_only
                    else inspect.Parameter.POSITIONAL_OR_KEYWORD,
                    default=parameter.default,
                    annotation=types[name],
                )
                for name, parameter in cls._parameters.items()
            ),
        ],
        return_annotation="None",
    )

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        try:
            given = signature.bind(self, *args, **kwargs)
        except TypeError as error:
            hints = [f"; {hint}" for name, hint in _OF_SVC.items() if name in kwargs]
            unknown = next((name for name in kwargs if name not in cls._parameters), "")
            hints = hints or [suggestion(unknown, cls._parameters)]
            raise TypeError(f"{cls.__name__}() {error}{''.join(hints)}") from None
        given.apply_defaults()
        del given.arguments["self"]
        for name, value in given.arguments.items():
            setattr(self, name, value)

    __init__.__signature__ = signature  # type: ignore[attr-defined]
    __init__.__qualname__, __init__.__module__ = f"{cls.__qualname__}.__init__", cls.__module__
    __init__.is_generated = True  # type: ignore[attr-defined]
    return __init__


def _annotations_of(each: Any) -> Mapping[str, Any]:
    return each.annotations if isinstance(each, Group) else inspect.get_annotations(each)


def _documented(cls: Any) -> str:
    """The docstring with all parameters and attributes, where numpydoc wants them.

    Its own section Attributes has only what the base classes do not bring.
    """
    doc = str(cls.__doc__)
    section = _SECTION.search(doc)
    at, indent = (section.start(), section[1]) if section else (len(doc), "    ")
    own, rest = "", doc[at:]
    if section and section[2] == "Attributes":
        own, _, rest = rest.partition("\n\n")
        own = textwrap.dedent(own.rstrip()).split("\n", 2)[2] + "\n"
    inherited: dict[str, str] = {}
    for base in cls._order:
        described = base.attributes if isinstance(base, Group) else vars(base)
        if not isinstance(base, Group):
            described = described.get("_attributes", {})
        for names, text in described.items():
            if not re.search(rf"(^|, ){names.split(',')[0]}\b.* : ", own, re.MULTILINE):
                inherited.setdefault(names, text)
    parameters = "\n".join(parameter.entry(name) for name, parameter in cls._parameters.items())
    attributes = own + "\n".join(f"{names} : {text}" for names, text in inherited.items())
    text = f"Parameters\n----------\n{parameters}\n\nAttributes\n----------\n{attributes}\n\n"
    return doc[:at] + textwrap.indent(text, indent) + rest


if TYPE_CHECKING:

    @dataclass_transform(
        kw_only_default=True,
        eq_default=False,
        field_specifiers=(number, count, flag, word, special, inherit),
    )
    class Parameters:
        """A class whose fields are parameters."""

        def __getattr__(self, name: str) -> Any: ...

else:

    @group
    class Parameters:
        """No parameters: what every group begins with."""
