"""A pool of rows and a person who labels them: at a prompt, at a terminal, in a notebook."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...data.validation import frame_records
from .desk import LabelDesk

__all__ = ["LabelLoop", "label_loop"]

SKIP, UNDO, QUIT = "s", "u", "q"
_COMMANDS = {SKIP: "skip", UNDO: "undo", QUIT: "quit"}


class LabelLoop:
    """Hands out the rows of a pool, the best one first, and takes answers back if need be.

    The rows are known by their number in the pool, which the desk keeps as their key: so a desk
    that was resumed goes on with the same pool where it stopped.

    Parameters
    ----------
    desk : LabelDesk
    pool : array, list of dicts or data frame
    done : numbers of rows that need no label any more
    """

    def __init__(self, desk: LabelDesk, pool: Any, done: Sequence[int] = ()) -> None:
        self.desk, self.pool = desk, pool
        self._shown = [(desk.key(ticket), ticket) for ticket in reversed(desk.tickets)]
        gone = {*done, *(i for i, _ in self._shown)}
        self._left = [i for i in range(_length(pool)) if i not in gone]

    def current(self) -> int | None:
        """The number of the row to be labelled now; None: there is nothing more to ask."""
        if not self._shown and self._left:
            rows = _some(self.pool, self._left)
            chosen = self.desk.choose(rows, 1, keys=self._left)
            self._shown = [(self._left.pop(i), ticket) for i, ticket in chosen]
        return self._shown[-1][0] if self._shown else None

    def answer(self, y: Any) -> None:
        """The label of the row that is shown."""
        self.desk.answer(self._shown[-1][1], y)
        self._shown.pop()

    def skip(self) -> None:
        """Nobody can tell: the row is not shown again."""
        self.desk.withdraw(self._shown[-1][1])
        self._shown.pop()

    def undo(self) -> None:
        """Show the row that was answered last again, whose label is taken back."""
        ticket = self.desk.take_back()
        self._shown.append((self.desk.key(ticket), ticket))


def keys_for(classes: Sequence[Any]) -> dict[str, Any]:
    """What to press for each class: itself where that is one key, else its number from 1.

    >>> keys_for(["a", "b"]), keys_for([0, 1]), keys_for(["spam", "ham"])
    ({'a': 'a', 'b': 'b'}, {'0': 0, '1': 1}, {'1': 'spam', '2': 'ham'})
    """
    names = [str(label) for label in classes]
    if all(len(name) == 1 and name not in _COMMANDS for name in names):
        return dict(zip(names, classes, strict=True))
    return {str(i): label for i, label in enumerate(classes, 1)}


def label_loop(
    desk: LabelDesk,
    pool: Any,
    classes: Sequence[Any],
    *,
    read: Callable[[str], str] = input,
    show: Callable[[int, Any], None] | None = None,
    done: Sequence[int] = (),
) -> int:
    """Let a person label a pool, the most useful row first, until they quit or it is done.

    For a prompt or a notebook: each row is shown, and the answer is a key or a label, ``s`` to
    skip, ``u`` to take the last answer back (of a desk that is kept) or ``q`` to quit. A row that
    was shown and not answered stays open. Each row costs the scores of the pool that is left.

    Parameters
    ----------
    desk : LabelDesk
        One whose query ranks, such as ``LabelDesk(model, ClosestToPlane(), LabelShare(1.0))``.
    pool : array, list of dicts or data frame
    classes : labels to choose from
    read : function, default=input
        Shows a prompt and returns what was typed; EOFError ends.
    show : function of a row's number and the row, optional
        How a row is shown, such as its picture; default: printed.
    done : numbers of rows that need no label any more

    Returns
    -------
    int
        Labels that were learned.

    Examples
    --------
    >>> import numpy as np
    >>> from onlinesvm import LabelDesk, RampSVC
    >>> from onlinesvm.label_budgets import LabelShare
    >>> from onlinesvm.queries import ClosestToPlane
    >>> from onlinesvm.compose.labelling import label_loop
    >>> X = np.array([[0.0], [3.0], [1.4]])
    >>> model = RampSVC(gamma=1.0, classes=["low", "high"])
    >>> desk = LabelDesk(model, ClosestToPlane(), LabelShare(1.0))
    >>> typed = iter(["low", "high", "q"])
    >>> label_loop(desk, X, ["low", "high"], read=lambda prompt: next(typed))
    0: [0.]
    1: [3.]
    2: [1.4]
    2
    >>> desk.model.predict([[2.5]])
    array(['high'], dtype='<U4')
    """
    keys, loop, learned = keys_for(classes), LabelLoop(desk, pool, done), 0
    by_name = {str(label): label for label in classes}
    prompt = ", ".join(f"{key}: {label}" for key, label in keys.items())
    prompt = f"{prompt}; s: skip, u: undo, q: quit > "
    shown = None
    while (i := loop.current()) is not None:
        if i != shown:
            (show or _print_row)(i, row_of(pool, i))
            shown = i
        try:
            typed = read(prompt).strip()
        except EOFError:
            break
        if typed in keys or typed in by_name:
            loop.answer(keys.get(typed, by_name.get(typed)))
            learned += 1
        elif typed == QUIT:
            break
        elif typed == SKIP:
            loop.skip()
        elif typed == UNDO:
            try:
                loop.undo()
                learned -= 1
            except ValueError as error:
                print(error)
        else:
            print(f"{typed!r:.40} is none of these")
    return learned


def row_of(pool: Any, i: int) -> Any:
    """One row, as it is shown."""
    rows = _some(pool, [i])
    return frame_records(rows)[0] if hasattr(rows, "columns") else rows[0]


def _print_row(i: int, row: Any) -> None:
    if not isinstance(row, dict):
        print(f"{i}: {row}")
        return
    width = max(map(len, map(str, row)), default=0)
    print(f"{i}:")
    for name, value in row.items():
        print(f"  {name!s:<{width}}  {value}")


def _length(pool: Any) -> int:
    return int(pool.shape[0]) if hasattr(pool, "shape") else len(pool)


def _some(pool: Any, numbers: Sequence[int]) -> Any:
    if isinstance(pool, list | tuple):
        return [pool[i] for i in numbers]
    return (pool.iloc if hasattr(pool, "iloc") else pool)[np.asarray(numbers, dtype=np.intp)]
