"""`--where COLUMN=VALUE`: whose examples are meant."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

__all__ = ["Request"]

# A value ends at a comma behind which another NAME= begins, unless it is quoted.
_PAIR = re.compile(
    r"""\s*(?P<name>"(?:[^"]|"")*"|[^=",][^=,]*?)\s*=\s*"""
    r"""(?P<value>"(?:[^"]|"")*"|(?!").*?)\s*(?:,(?=[^,=]+=)|\Z)""",
    re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Request:
    """A value for each key column, or for some of them."""

    word: str
    values: dict[str, str]

    @staticmethod
    def read(word: str) -> Request:
        """From ``shop=2,customer=17``; quotes around a name or value take anything.

        >>> Request.read('shop=2,who="Smith, J.,x=1"').values
        {'shop': '2', 'who': 'Smith, J.,x=1'}
        """
        values: dict[str, str] = {}
        at = 0
        while at < len(word) or not values:
            pair = _PAIR.match(word, at)
            name, value = ("", "") if pair is None else map(_unquoted, pair.group("name", "value"))
            if pair is None or not (name and value) or name in values:
                raise ValueError(
                    f"--where {word}: write COLUMN=VALUE, for example --where customer=17, "
                    "or --where shop=2,customer=17 where two columns name an example; "
                    """put "..." around a value with a comma, and "" for a quote within"""
                )
            values[name] = value
            at = pair.end()
        return Request(word, values)

    def keys(self, model: Any, columns: Sequence[str] | None) -> list[Any]:
        """Those it means among the keys that the examples of a model bear; may be none.

        `columns` are the names of the key columns, None where nothing tells them.
        """
        held = model.keys_held()
        wanted: list[str | None]
        if columns is None:
            if len(self.values) > 1 or any(isinstance(key, tuple) for key in held):
                raise ValueError(
                    f"--where {self.word}: the file does not tell the names of its key columns, "
                    "so it is not known which is which; name the folder of the run, or use "
                    "onlinesvm.load(...).unlearn(keys=[...])"
                )
            wanted = [*self.values.values()]
        else:
            self._demand_known(columns)
            wanted = [self.values.get(name) for name in columns]
        return [key for key in held if _means(wanted, key)]

    def _demand_known(self, columns: Sequence[str]) -> None:
        for name in self.values.keys() - set(columns):
            listed = ", ".join(map(repr, columns))
            raise ValueError(
                f"--where {self.word}: no key column {name!r}; the keys are in {listed}"
                + ("" if len(self.values) == 1 else "; is it part of a value? then quote the value")
            )


def _unquoted(text: str) -> str:
    return text[1:-1].replace('""', '"') if text[:1] == '"' else text


def _means(wanted: Sequence[str | None], key: Any) -> bool:
    """Whether a key has the values wanted, where one is; as a number or as text."""
    parts = key if isinstance(key, tuple) else (key,)
    return len(parts) == len(wanted) and all(
        value is None or value == str(part) for value, part in zip(wanted, parts, strict=True)
    )
