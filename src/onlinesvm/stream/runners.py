"""Whoever is on the stream, model or baseline, with marks and a stopwatch."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onlinesvm.stream import plain
from onlinesvm.stream.baselines import Baseline
from onlinesvm.stream.containers import count_rows
from onlinesvm.stream.drift import Drift, DriftWatch
from onlinesvm.stream.lesson import Lesson
from onlinesvm.stream.metrics import UNUSUAL, USUAL
from onlinesvm.stream.scorecard import Scorecard
from onlinesvm.stream.snapshot import Snapshot
from onlinesvm.stream.students import Answers, Kind, enrol
from onlinesvm.stream.tallies import Codec

__all__ = ["BaselineRunner", "Exam", "ModelRunner", "Runner"]

_UNKNOWN = float("nan")


class Exam:
    """A lesson as a question, with what is needed to mark the answers; labels are coded."""

    def __init__(self, lesson: Lesson, kind: Kind, codec: Codec) -> None:
        self.X, self.y, self.truth = lesson
        self.count = count_rows(self.X)
        if self.y is None and kind != "detector":
            raise ValueError(f"y is missing from a lesson; a {kind} needs a label for each row")
        if kind == "detector":
            self._check_detector_labels()
        heard = [None] * self.count if self.y is None else self.y.tolist()
        self.heard = codec.encode(heard)
        self.right = self.heard if self.truth is None else codec.encode(self.truth.tolist())
        self.before = self.heard[:0]
        self.seen = 0

    def begin(self, before: Baseline, seen: int) -> None:
        """Let no-change say what it has to say of each row; `seen` counts them, too."""
        self.before, self.seen = before.answers(self.heard), seen

    def _check_detector_labels(self) -> None:
        for name, labels in (("y", self.y), ("truth", self.truth)):
            if labels is not None and not {UNUSUAL, USUAL}.issuperset(labels.tolist()):
                raise ValueError(f"{name} of a detector must be 1 (usual) or -1 (unusual)")


class _Tally:
    """Right answers out of answers given, over all and since the last look."""

    def __init__(self) -> None:
        self.right = self.asked = 0
        self._right_then = self._asked_then = 0

    def mark(self, guesses: NDArray[Any], labels: NDArray[Any]) -> None:
        self.right += int(np.count_nonzero(guesses == labels))
        self.asked += len(guesses)

    def state(self) -> list[int]:
        return [self.right, self.asked, self._right_then, self._asked_then]

    def load(self, state: Any) -> None:
        if not isinstance(state, list) or len(state) != 4:
            raise ValueError("a saved share must be right and asked, now and then")
        right, asked, right_then, asked_then = plain.counts(*state)
        if right > asked or right_then > right or asked_then > asked:
            raise ValueError("a saved share has more right answers than answers")
        self.right, self.asked = right, asked
        self._right_then, self._asked_then = right_then, asked_then

    @property
    def share(self) -> float:
        return self.right / self.asked if self.asked else float("nan")

    @property
    def recent_share(self) -> float:
        """Share of this stretch."""
        right, asked = self.right - self._right_then, self.asked - self._asked_then
        return right / asked if asked else float("nan")

    def begin_stretch(self) -> None:
        self._right_then, self._asked_then = self.right, self.asked


class Runner:
    """Somebody on the stream, with marks."""

    def __init__(self, kind: Kind, card: Scorecard, codec: Codec) -> None:
        self.kind, self.card, self.codec = kind, card, codec
        self.labels = _Tally()
        self.truths: _Tally | None = None

    def ask(self, X: Any) -> Answers | None:
        """What it says of these rows, if it looks at them; nothing changes."""
        return None

    def sit(self, exam: Exam, answers: Answers | None, *, counts: bool) -> Drift | None:
        """Mark what it said, or says without a look at the rows, if that counts."""
        raise NotImplementedError

    def train(self, lesson: Lesson, keys: list[Any] | None = None, weights: Any = None) -> None:
        """Teach; `keys` say whose the examples are, `weights` how much each of them counts."""

    def snapshot(self, seen: int) -> Snapshot:
        """How it stands now; the next stretch of `recent_accuracy` begins."""
        shot = self.glance(seen)
        for tally in (self.labels, self.truths):
            if tally is not None:
                tally.begin_stretch()
        return shot

    def glance(self, seen: int) -> Snapshot:
        """How it stands now; nothing begins."""
        raise NotImplementedError

    def state(self) -> dict[str, Any]:
        """Its marks as plain values; a model saves itself."""
        truths = None if self.truths is None else self.truths.state()
        marks = {"labels": self.labels.state(), "truths": truths, "card": self.card.state()}
        return marks | {"own": self._own_state()}

    def load(self, state: Any) -> None:
        """Go on where `state` left it; marks that cannot have been given are refused."""
        labels, truths, card, own = plain.members(state, ("labels", "truths", "card", "own"))
        self.labels.load(labels)
        self.truths = None if truths is None else _Tally()
        if self.truths is not None:
            self.truths.load(truths)
        self.card.load(card)
        self._load_own(own)

    def _own_state(self) -> Any:
        raise NotImplementedError

    def _load_own(self, own: Any) -> None:
        raise NotImplementedError

    def _mark(self, exam: Exam, guess: NDArray[Any], answers: Answers | None = None) -> None:
        if self.kind != "regressor":
            self.labels.mark(guess, exam.heard)
            if exam.truth is not None:
                self.truths = self.truths or _Tally()
                self.truths.mark(guess, exam.right)
        columns = {"truth": exam.right, "guess": guess, "before": exam.before}
        score = None if answers is None else answers.score
        if "score" in self.card.needs:
            columns["score"] = np.array(score or [_UNKNOWN] * exam.count, np.float64)
        if "likelihood" in self.card.needs:
            columns["likelihood"] = self._likelihoods(exam.right, answers)
        self.card.mark(columns)

    def _likelihoods(self, right: NDArray[Any], answers: Answers | None) -> NDArray[np.float64]:
        """What each row of chances gave to its truth; nothing for a label it does not know."""
        if answers is None or not answers.chances:
            return np.full(len(right), _UNKNOWN)
        given = zip(self.codec.decode(right), answers.chances, strict=True)
        return np.array([row.get(label, 0.0) for label, row in given], np.float64)

    def _marks_so_far(self) -> dict[str, Any]:
        marked = self.labels if self.truths is None else self.truths
        return {
            "accuracy": self.labels.share,
            "clean_accuracy": None if self.truths is None else self.truths.share,
            "recent_accuracy": marked.recent_share,
            "metrics": self.card.overall(),
            "window": self.card.windowed(),
        }


class ModelRunner(Runner):
    """One model on the stream, with its marks and its stopwatch."""

    def __init__(
        self,
        name: str,
        model: Any,
        kind: Kind,
        classes: NDArray[Any] | None,
        card: Scorecard,
        codec: Codec,
    ) -> None:
        super().__init__(kind, card, codec)
        self.name = name
        self.student = enrol(name, model, classes, card.needs)
        self.watch = DriftWatch()
        self.seconds = 0.0
        self.learnt = 0

    def ask(self, X: Any) -> Answers:
        with self._working("was tested"):
            return self.student.answer(X)

    def sit(self, exam: Exam, answers: Answers | None, *, counts: bool) -> Drift | None:
        if not counts or answers is None:
            return None
        guess = self.codec.encode(answers.guess)
        self._mark(exam, guess, answers)
        if self.kind == "regressor" or exam.y is None:
            return None
        return self.watch.hear(exam.seen, guess != exam.heard)

    def train(self, lesson: Lesson, keys: list[Any] | None = None, weights: Any = None) -> None:
        with self._working("learnt"):
            self.student.learn(lesson.X, lesson.y, keys, weights)
        self.learnt += count_rows(lesson.X)

    def glance(self, seen: int) -> Snapshot:
        model = self.student.last_step
        support = getattr(model, "support_", None)
        used = 0 if self.kind == "detector" else int(getattr(model, "labels_used_", self.learnt))
        return Snapshot(
            seen=seen,
            support_vectors=len(support) if support is not None else None,
            labels_used=used,
            seconds=self.seconds,
            nbytes=getattr(model, "nbytes_", None),
            **self._marks_so_far(),
        )

    def _own_state(self) -> dict[str, Any]:
        return {"learnt": self.learnt, "seconds": self.seconds, "watch": self.watch.state()}

    def _load_own(self, own: Any) -> None:
        learnt, seconds, watch = plain.members(own, ("learnt", "seconds", "watch"))
        self.watch.load(watch)
        (self.learnt,), self.seconds = plain.counts(learnt), plain.number(seconds)
        if self.learnt:
            self.student.go_on()

    @contextmanager
    def _working(self, verb: str) -> Iterator[None]:
        start = perf_counter()
        try:
            yield
        except Exception as error:
            error.add_note(f"while {self.name!r} {verb} after {self.learnt:,} examples")
            raise
        finally:
            self.seconds += perf_counter() - start


class BaselineRunner(Runner):
    """A baseline, which hears all labels and takes no time worth telling."""

    def __init__(self, baseline: Baseline, kind: Kind, card: Scorecard, codec: Codec) -> None:
        super().__init__(kind, card, codec)
        self.baseline = baseline

    def sit(self, exam: Exam, answers: Answers | None, *, counts: bool) -> Drift | None:
        given = self.baseline.answers(exam.heard)
        if counts:
            self._mark(exam, given)
        return None

    def glance(self, seen: int) -> Snapshot:
        return Snapshot(
            seen=seen,
            support_vectors=None,
            labels_used=seen,
            seconds=0.0,
            role="baseline",
            **self._marks_so_far(),
        )

    def _own_state(self) -> dict[str, Any]:
        return self.baseline.state()

    def _load_own(self, own: Any) -> None:
        self.baseline.load(own)
