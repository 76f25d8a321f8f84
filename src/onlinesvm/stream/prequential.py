"""Test-then-train: every example is first an exam, then a lesson."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onlinesvm.params import check_count, check_word
from onlinesvm.stream.baselines import BASELINES, Baseline, LastLabel
from onlinesvm.stream.containers import count_rows
from onlinesvm.stream.lesson import Late, Lesson, lessons, read_lesson
from onlinesvm.stream.metrics import F1, METRICS, UNUSUAL, USUAL, Metric, likelihoods, resolve
from onlinesvm.stream.scorecard import Scorecard
from onlinesvm.stream.snapshot import Snapshot
from onlinesvm.stream.students import Answers, Kind, enrol, kind_of
from onlinesvm.stream.tallies import Marks

__all__ = ["Lesson", "Snapshot", "lessons", "prequential"]


def prequential(
    models: Any,
    stream: Iterable[Lesson | tuple[Any, ...]],
    *,
    classes: Sequence[Any] | NDArray[Any] | None = None,
    every: int = 500,
    metrics: Iterable[str | Metric] | None = None,
    window: int = 1000,
    delay: int = 0,
    baselines: Iterable[str] = (),
) -> Iterator[dict[str, Snapshot]]:
    """Run models side by side over one stream and report how each one fares.

    Each lesson is predicted before it is learnt, so every example is an unseen one and no data
    has to be held back. Lessons of one row go through `predict_one` and `learn_one` where a model
    has them; longer ones through `predict` or `decision_function` and `partial_fit`. The very first
    lesson only trains, because before it no model knows anything.

    Parameters
    ----------
    models : dict of str to model, or one model
        Classifiers, regressors or outlier detectors, all of one kind, fresh or already trained;
        they learn in place. Ours, scikit-learn's with `partial_fit` and its pipelines of such,
        river's.
    stream : iterable of Lesson
        Or of plain tuples ``(X, y)`` and ``(X, y, truth)``; `lessons` makes one from arrays, CSR
        matrices, data frames and lists of dicts. Single examples such as river's ``(dict, label)``
        will do, too.
    classes : sequence, optional
        All labels that may come, for classifiers that have to be told.
    every : int, default=500
        Examples between two snapshots. A last one closes the stream.
    metrics : list of names or metrics, optional
        From `onlinesvm.stream.metrics`. By default all that the models can have: of labels, for two
        `classes` also ``"f1"`` and ``"auc"``, and ``"log_loss"`` where a model has probabilities;
        of targets; of alarms. An object only says what is wanted, and counts nothing itself.
    window : int, default=1000
        Examples over which metrics are taken besides over all.
    delay : int, default=0
        How many more examples come before a label is known. What is still under way when the
        stream ends is learnt then.
    baselines : list of names
        ``"no-change"`` and ``"majority"`` for classifiers, ``"last value"`` and ``"running mean"``
        for regressors, as further entries of each snapshot.

    Yields
    ------
    dict of str to Snapshot
        One for each model, in the order of `models`, then one for each baseline.

    Notes
    -----
    Costs one prediction and one update per model and example, a few microseconds for the marks, and
    a pass over the window for each snapshot. Holds one lesson, the window, and what is delayed.

    Examples
    --------
    >>> from onlinesvm import RampSVC
    >>> from onlinesvm.datasets import make_checkerboard
    >>> from onlinesvm.stream import lessons, prequential
    >>> X, y = make_checkerboard(600, random_state=0)
    >>> *_, last = prequential({"ramp": RampSVC(C=10, gamma=4)}, lessons(X, y), classes=[-1, 1])
    >>> last["ramp"].seen
    600
    >>> sorted(last["ramp"].window)[:3]
    ['accuracy', 'auc', 'balanced_accuracy']
    """
    metrics = metrics if metrics is None or isinstance(metrics, str) else list(metrics)
    named = models if isinstance(models, Mapping) else {type(models).__name__: models}
    if not named:
        raise ValueError("models is empty: give at least one, as {'name': model}")
    if every < 1:
        raise ValueError(f"every must be a positive number of examples, got {every!r}")
    check_count("window", window, at_least=1)
    labels = None if classes is None else np.asarray(classes)
    kind = _common_kind(named)
    given = None if metrics is None else _chosen_metrics(metrics, kind, labels)
    offered = BASELINES[kind]
    chosen = {check_word("baselines", name, offered): offered[name] for name in baselines}
    if clash := chosen.keys() & named.keys():
        raise ValueError(f"models has the name of a baseline, {min(clash)!r}; choose another")
    runners: dict[str, _Runner] = {}
    for name, model in named.items():
        wanted = _usual_metrics(kind, labels, model) if given is None else given
        runners[name] = _ModelRunner(name, model, kind, labels, Scorecard(wanted, window))
    for name, baseline in chosen.items():
        wanted = _usual_metrics(kind, labels, None) if given is None else given
        runners[name] = _BaselineRunner(baseline(delay), kind, Scorecard(wanted, window))
    return _run(runners, stream, kind, every, Late(delay))


def _run(
    runners: Mapping[str, _Runner],
    stream: Iterable[Any],
    kind: Kind,
    every: int,
    late: Late,
) -> Iterator[dict[str, Snapshot]]:
    seen, due = 0, every
    before = LastLabel(late.delay)
    started = False
    for item in stream:
        lesson = read_lesson(item)
        exam = _Exam(lesson, kind, before)
        for runner in runners.values():
            runner.test(exam, counts=started)
        for learnt in late.pass_on(lesson):
            for runner in runners.values():
                runner.train(learnt)
            started = True
        seen += exam.count
        if seen >= due:
            due = seen - seen % every + every
            yield {name: runner.snapshot(seen) for name, runner in runners.items()}
    for learnt in late.rest():
        for runner in runners.values():
            runner.train(learnt)
    if seen and seen > due - every:
        yield {name: runner.snapshot(seen) for name, runner in runners.items()}


def _common_kind(models: Mapping[str, Any]) -> Kind:
    kinds = {name: kind_of(model) for name, model in models.items()}
    first = next(iter(kinds))
    for name, kind in kinds.items():
        if kind != kinds[first]:
            raise ValueError(
                f"models must be of one kind: {first!r} is a {kinds[first]}, {name!r} a {kind}"
            )
    return kinds[first]


def _chosen_metrics(
    metrics: Iterable[str | Metric], kind: Kind, classes: NDArray[Any] | None
) -> list[Metric]:
    """What was asked for; what the models cannot have is refused."""
    chosen = resolve(metrics)
    for metric in chosen:
        if kind not in metric.kinds:
            fit = ", ".join(name for name, other in METRICS.items() if kind in other().kinds)
            raise ValueError(f"metrics has {metric.name!r}, not for a {kind}; choose from {fit}")
    if "f1" not in metrics:
        return chosen
    if kind == "classifier" and (classes is None or len(classes) != 2):
        raise ValueError(
            "metrics has 'f1', which is of one class; name two by classes, or pass "
            "F1('binary', positive=...), or choose 'f1_macro'"
        )
    named = F1("binary", positive=_positive(kind, classes))
    return [named if metric.name == "f1" else metric for metric in chosen]


def _positive(kind: Kind, classes: NDArray[Any] | None) -> Any:
    """The class whose F1 is meant: the second of two, or what a detector looks for."""
    return UNUSUAL if kind == "detector" or classes is None else max(classes.tolist())


def _usual_metrics(kind: Kind, classes: NDArray[Any] | None, model: Any) -> list[Metric]:
    """What can be said of such a model."""
    if kind == "regressor":
        return resolve(["mae", "rmse", "r2"])
    if kind == "detector":
        return resolve(["alarms", "false_alarms", "detections", "auc"])
    usual = resolve(["accuracy", "balanced_accuracy", "kappa", "kappa_temporal", "f1_macro"])
    if classes is not None and len(classes) == 2:
        usual += [F1("binary", positive=_positive(kind, classes)), *resolve(["auc"])]
    if hasattr(model, "predict_proba") or hasattr(model, "predict_proba_one"):
        usual += resolve(["log_loss"])
    return usual


class _Exam:
    """A lesson as a question, with what is needed to mark the answers."""

    def __init__(self, lesson: Lesson, kind: Kind, before: Baseline) -> None:
        self.X, self.y, self.truth = lesson
        self.count = count_rows(self.X)
        if self.y is None and kind != "detector":
            raise ValueError(f"y is missing from a lesson; a {kind} needs a label for each row")
        if kind == "detector":
            self._check_detector_labels()
        self.heard: list[Any] = [None] * self.count if self.y is None else self.y.tolist()
        self.right: list[Any] = self.heard if self.truth is None else self.truth.tolist()
        self.before = before.answers(self.heard)

    def _check_detector_labels(self) -> None:
        for name, labels in (("y", self.y), ("truth", self.truth)):
            if labels is not None and not {UNUSUAL, USUAL}.issuperset(labels.tolist()):
                raise ValueError(f"{name} of a detector must be 1 (usual) or -1 (unusual)")


class _Tally:
    """Right answers out of answers given, over all and since the last look."""

    def __init__(self) -> None:
        self.right = self.asked = 0
        self._right_then = self._asked_then = 0

    def mark(self, guesses: Sequence[Any], labels: Sequence[Any]) -> None:
        self.right += sum(a == b for a, b in zip(guesses, labels, strict=True))
        self.asked += len(guesses)

    @property
    def share(self) -> float:
        return self.right / self.asked if self.asked else float("nan")

    def recent_share(self) -> float:
        """Share since the last call; calling it starts the next stretch."""
        right, asked = self.right - self._right_then, self.asked - self._asked_then
        self._right_then, self._asked_then = self.right, self.asked
        return right / asked if asked else float("nan")


class _Runner:
    """Somebody on the stream, with marks."""

    def __init__(self, kind: Kind, card: Scorecard) -> None:
        self.kind = kind
        self.card = card
        self.labels = _Tally()
        self.truths: _Tally | None = None

    def test(self, exam: _Exam, *, counts: bool) -> None:
        """Ask, and mark the answers if they count."""
        raise NotImplementedError

    def train(self, lesson: Lesson) -> None:
        """Teach."""

    def snapshot(self, seen: int) -> Snapshot:
        """How it stands now."""
        raise NotImplementedError

    def _mark(self, exam: _Exam, answers: Answers) -> None:
        if self.kind != "regressor":
            self.labels.mark(answers.guess, exam.heard)
            if exam.truth is not None:
                self.truths = self.truths or _Tally()
                self.truths.mark(answers.guess, exam.right)
        needs, unknown = self.card.needs, float("nan")
        marks = Marks(exam.right, answers.guess, exam.before)
        if "score" in needs:
            marks.score = answers.score or [unknown] * exam.count
        if "likelihood" in needs:
            chances = answers.chances or [{label: unknown} for label in exam.right]
            marks.likelihood = likelihoods(exam.right, chances)
        self.card.mark(marks)

    def _marks_so_far(self) -> dict[str, Any]:
        marked = self.labels if self.truths is None else self.truths
        return {
            "accuracy": self.labels.share,
            "clean_accuracy": None if self.truths is None else self.truths.share,
            "recent_accuracy": marked.recent_share(),
            "metrics": self.card.overall(),
            "window": self.card.windowed(),
        }


class _ModelRunner(_Runner):
    """One model on the stream, with its marks and its stopwatch."""

    def __init__(
        self, name: str, model: Any, kind: Kind, classes: NDArray[Any] | None, card: Scorecard
    ) -> None:
        super().__init__(kind, card)
        self.name = name
        self.student = enrol(name, model, classes, card.needs)
        self.seconds = 0.0
        self.learnt = 0

    def test(self, exam: _Exam, *, counts: bool) -> None:
        if not counts:
            return
        with self._working("was tested"):
            answers = self.student.answer(exam.X)
        self._mark(exam, answers)

    def train(self, lesson: Lesson) -> None:
        with self._working("learnt"):
            self.student.learn(lesson.X, lesson.y)
        self.learnt += count_rows(lesson.X)

    def snapshot(self, seen: int) -> Snapshot:
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


class _BaselineRunner(_Runner):
    """A baseline, which hears all labels and takes no time worth telling."""

    def __init__(self, baseline: Baseline, kind: Kind, card: Scorecard) -> None:
        super().__init__(kind, card)
        self.baseline = baseline

    def test(self, exam: _Exam, *, counts: bool) -> None:
        answers = self.baseline.answers(exam.heard)
        if counts:
            self._mark(exam, Answers(answers))

    def snapshot(self, seen: int) -> Snapshot:
        return Snapshot(
            seen=seen,
            support_vectors=None,
            labels_used=seen,
            seconds=0.0,
            role="baseline",
            **self._marks_so_far(),
        )
