"""All who learn from one stream, lesson by lesson: first the exam, then the teaching."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from onlinesvm.stream import plain
from onlinesvm.stream.baselines import LastLabel
from onlinesvm.stream.drift import Drift
from onlinesvm.stream.lesson import Lesson
from onlinesvm.stream.runners import Exam, Runner
from onlinesvm.stream.snapshot import Snapshot
from onlinesvm.stream.students import Answers, Kind
from onlinesvm.stream.tallies import Codec

__all__ = ["Course"]


class Course:
    """Models and baselines on one stream, and how far it has come.

    Attributes
    ----------
    seen : int
        Examples that were tested.
    started : bool
        Whether anybody has learned anything yet.
    """

    def __init__(
        self, runners: Mapping[str, Runner], kind: Kind, codec: Codec, delay: int = 0
    ) -> None:
        self._runners, self._kind, self._codec = runners, kind, codec
        self._before = LastLabel(codec, delay)
        self.started = False
        self.seen = 0

    def test(self, lesson: Lesson) -> None:
        """Let everybody answer; what they say before they have learned anything does not count."""
        self._mark(Exam(lesson, self._kind, self._codec), self._ask(lesson), counts=self.started)

    def train(self, lesson: Lesson, keys: list[Any] | None = None, weights: Any = None) -> None:
        """Teach everybody."""
        for runner in self._runners.values():
            runner.train(lesson, keys, weights)
        self.started = True

    def attend(
        self, lesson: Lesson, keys: list[Any] | None = None, weights: Any = None
    ) -> list[Drift]:
        """Test and train; if a model refuses the lesson, nothing has changed.

        Marks are given last, for what was said first, and count each example once. Gives the drifts
        that they show.
        """
        return self.attend_by(lesson, lambda: self.train(lesson, keys, weights))

    def attend_by(self, lesson: Lesson, teach: Callable[[], None]) -> list[Drift]:
        """Test, and let others teach; if they raise, nothing has changed here."""
        exam, answers, counts = (
            Exam(lesson, self._kind, self._codec),
            self._ask(lesson),
            self.started,
        )
        teach()
        self.started = True
        return self._mark(exam, answers, counts=counts)

    def _ask(self, lesson: Lesson) -> dict[str, Answers | None]:
        if not self.started:
            return dict.fromkeys(self._runners)
        return {name: runner.ask(lesson.X) for name, runner in self._runners.items()}

    def _mark(
        self, exam: Exam, answers: Mapping[str, Answers | None], *, counts: bool
    ) -> list[Drift]:
        self.seen += exam.count
        exam.begin(self._before, self.seen)
        told = [runner.sit(exam, answers[n], counts=counts) for n, runner in self._runners.items()]
        return [drift for drift in told if drift is not None]

    def snapshots(self) -> dict[str, Snapshot]:
        """How everybody stands now; the next stretch begins."""
        return {name: runner.snapshot(self.seen) for name, runner in self._runners.items()}

    def glance(self) -> dict[str, Snapshot]:
        """How everybody stands now; nothing begins."""
        return {name: runner.glance(self.seen) for name, runner in self._runners.items()}

    def state(self) -> dict[str, Any]:
        """Everybody's marks as plain values, exact to the bit; models save themselves."""
        return {
            "seen": self.seen,
            "started": self.started,
            "before": self._before.state(),
            "runners": {name: runner.state() for name, runner in self._runners.items()},
        }

    def load(self, state: Any) -> None:
        """Go on where `state` left it; one that cannot be is refused."""
        seen, started, before, runners = plain.members(
            state, ("seen", "started", "before", "runners")
        )
        saved = plain.members(runners, list(self._runners))
        if not isinstance(started, bool):
            raise ValueError("a saved course must have started or not")
        self._before.load(before)
        for runner, marks in zip(self._runners.values(), saved, strict=True):
            runner.load(marks)
        (self.seen,) = plain.counts(seen)
        self.started = started
