"""Constructor parameters, each declared once, as a field of its class.

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
from typing import Any, ClassVar, Required, TypedDict, Unpack, dataclass_transform

from ..params import (
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
    redeclared: bool = False

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
        return replace(base, redeclared=True, **changes)


# --- the class --------------------------------------------------------------------------------


@dataclass_transform(
    kw_only_default=True,
    eq_default=False,
    field_specifiers=(number, count, flag, word, special, inherit),
)
class Parametrised:
    """A class whose constructor, docstring and checks come from the parameters it declares."""

    _parameters: ClassVar[Mapping[str, Parameter]] = {}
    _declared: ClassVar[Mapping[str, Parameter]] = {}
    _attributes: ClassVar[Mapping[str, str]] = {}  # what a class adds to the section Attributes

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls._declared = _own_declarations(cls)
        cls._parameters = _collected(cls)
        if cls.__init__ is object.__init__ or hasattr(cls.__init__, "is_generated"):
            cls.__init__ = _constructor(cls)  # type: ignore[method-assign]
        if cls.__dict__.get("__doc__"):
            cls.__doc__ = _documented(cls)

    def _core_params(self, n_features: int) -> dict[str, Any]:
        """The parameters as the core takes them; a bad one is a ValueError.

        ``n_features`` counts those of the first example.
        """
        settings: dict[str, Any] = {}
        for name, parameter in self._parameters.items():
            value = parameter.value(name, getattr(self, name))
            if parameter.core is not None:
                *groups, key = (parameter.core or name).split(".")
                place = settings
                for group in groups:
                    place = place.setdefault(group, {})
                place[key] = value
        return settings


def _own_declarations(cls: type) -> dict[str, Parameter]:
    """The parameters that the class itself declares; they are taken off it: values are its own."""
    declared = {}
    for name, given in list(vars(cls).items()):
        if isinstance(given, _Inherited):
            bases = (vars(base).get("_declared", {}) for base in cls.__mro__[1:])
            given = given.resolved(next(base[name] for base in bases if name in base))
        if isinstance(given, Parameter):
            declared[name] = given
            delattr(cls, name)
    return declared


def _collected(cls: type) -> dict[str, Parameter]:
    """All parameters: positional ones, what everybody sets, those of the class, of its bases.

    One that is only redeclared stays where its base class has it; one that a class has a plain
    value for is no parameter of that class.
    """
    nearest: dict[str, Parameter] = {}
    ordered: dict[str, Parameter] = {}
    for base in cls.__mro__:
        for name, parameter in vars(base).get("_declared", {}).items():
            nearest.setdefault(name, parameter)
            if not parameter.redeclared and not hasattr(cls, name):
                ordered.setdefault(name, nearest[name])
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


def _constructor(cls: type[Parametrised]) -> Callable[..., None]:
    """An ``__init__`` that assigns and does nothing else, as scikit-learn wants it."""
    types = {
        name: annotation
        for base in reversed(cls.__mro__)
        for name, annotation in inspect.get_annotations(base).items()
    }
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


def _documented(cls: type[Parametrised]) -> str:
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
    for base in cls.__mro__:
        for names, text in vars(base).get("_attributes", {}).items():
            if not re.search(rf"(^|, ){names.split(',')[0]}\b.* : ", own, re.MULTILINE):
                inherited.setdefault(names, text)
    parameters = "\n".join(parameter.entry(name) for name, parameter in cls._parameters.items())
    attributes = own + "\n".join(f"{names} : {text}" for names, text in inherited.items())
    text = f"Parameters\n----------\n{parameters}\n\nAttributes\n----------\n{attributes}\n\n"
    return doc[:at] + textwrap.indent(text, indent) + rest
