"""What a class has not, although its bases have it."""

from __future__ import annotations

from typing import Any


class Without:
    """Something that is not there, for ``hasattr`` too, and why."""

    def __init__(self, reason: str) -> None:
        self._reason = reason

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, model: Any, owner: type) -> Any:
        reason = self._reason.format(owner.__name__)
        raise AttributeError(f"{owner.__name__} has no {self._name}: {reason}")
