"""The shape of the house in figures: classes above a method, attributes of a model, calls per row.

    python tools/shape.py

``tests/model/test_shape.py`` holds the bars.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import is_classifier

import onlinesvm

_HERE = str(Path(onlinesvm.__file__).parent)
_RNG = np.random.default_rng(0)
X, Y = _RNG.normal(size=(400, 5)), np.arange(400) % 2


def public_classes() -> list[type]:
    """Every class that the package names."""
    things = (thing for name, thing in vars(onlinesvm).items() if name[0] != "_")
    return [thing for thing in things if isinstance(thing, type)]


def depth(cls: type) -> int:
    """Classes in the MRO of a class, itself, scikit-learn's and ``object`` included."""
    return len(cls.__mro__)


def towers() -> set[type]:
    """Our own classes that public ones derive from, and that are not public."""
    public = set(public_classes())
    above = {base for cls in public for base in cls.__mro__}
    return {base for base in above - public if base.__module__.startswith("onlinesvm")}


def hidden(model: Any) -> list[str]:
    """The attributes of an instance that begin with an underscore."""
    return sorted(name for name in vars(model) if name[0] == "_")


def calls(action: Callable[[], Any]) -> list[str]:
    """Every Python function of ours that an action calls, in order."""
    called: list[str] = []

    def note(frame: Any, event: str, arg: Any) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(_HERE):
            called.append(frame.f_code.co_qualname)

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        action()
    finally:
        sys.setprofile(before)
    return called


def of_one_row(model: Any, verb: str = "partial_fit") -> list[str]:
    """The calls of a verb for one row, by a model that has learned 300."""
    named = {"classes": [0, 1]} if is_classifier(model) else {}
    model.partial_fit(X[:300], Y[:300], **named).partial_fit(X[300:301], Y[300:301])
    if verb == "partial_fit":
        return calls(lambda: model.partial_fit(X[301:302], Y[301:302]))
    return calls(lambda: getattr(model, verb)(X[301:302]))


def figures() -> dict[str, Any]:
    """All of them by name."""
    deepest = max(public_classes(), key=depth)
    scaled = onlinesvm.make_online_pipeline(onlinesvm.OnlineScaler(), onlinesvm.SGDSVC())
    return {
        "longest MRO": f"{depth(deepest)} ({deepest.__name__})",
        "MRO of RampSVC": depth(onlinesvm.RampSVC),
        "tower classes": len(towers()),
        "hidden attributes of RampSVC": len(hidden(onlinesvm.RampSVC().fit(X, Y))),
        "calls of partial_fit, RampSVC": len(of_one_row(onlinesvm.RampSVC(gamma=0.5))),
        "calls of partial_fit, SGDSVC": len(of_one_row(onlinesvm.SGDSVC())),
        "calls of partial_fit, pipeline": len(of_one_row(scaled)),
        "calls of predict, SGDSVC": len(of_one_row(onlinesvm.SGDSVC(), "predict")),
    }


if __name__ == "__main__":
    for name, value in figures().items():
        print(f"{name:34} {value}")
