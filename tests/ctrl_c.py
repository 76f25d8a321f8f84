"""Ctrl-C at every moment at which CPython can raise it, one after the other, without a clock."""

from __future__ import annotations

import dis
import sys
from collections.abc import Iterable
from types import FrameType, ModuleType, TracebackType
from typing import Any

# Behind these and at the entry of a function, the interpreter looks for signals.
_LOOKS = frozenset(
    number
    for name, number in dis.opmap.items()
    if name in ("CALL", "CALL_KW", "CALL_FUNCTION_EX", "JUMP_BACKWARD")
)


class CtrlC:
    """While it lives, the n-th such moment in the code of these modules raises KeyboardInterrupt.

    ``struck`` says whether it came to that; there are fewer than n moments otherwise.
    """

    def __init__(self, n: int, modules: Iterable[ModuleType]) -> None:
        self._left, self.struck = n, False
        self._files = {module.__file__ for module in modules}
        self._before: dict[FrameType, int] = {}

    def __enter__(self) -> CtrlC:
        self._outer = sys.gettrace()
        sys.settrace(self._call)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: Any, trace: TracebackType | None
    ) -> bool:
        sys.settrace(self._outer)
        return kind is KeyboardInterrupt and self.struck

    def _call(self, frame: FrameType, event: str, arg: Any) -> Any:
        if frame.f_code.co_filename not in self._files:
            return None
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        self._moment()
        return self._step

    def _step(self, frame: FrameType, event: str, arg: Any) -> Any:
        if event == "opcode":
            before, self._before[frame] = (
                self._before.get(frame, -1),
                frame.f_code.co_code[frame.f_lasti],
            )
            if before in _LOOKS:
                self._moment()
        elif event == "return":
            self._before.pop(frame, None)
        return self._step

    def _moment(self) -> None:
        self._left -= 1
        if self._left == 0:
            self.struck = True
            raise KeyboardInterrupt
