"""Test-then-train: every example is first an exam, then a lesson."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from numpy.typing import NDArray

from onlinesvm.stream.course import Course
from onlinesvm.stream.enrolment import enrolled
from onlinesvm.stream.lesson import Late, Lesson, lessons, read_lesson
from onlinesvm.stream.snapshot import Snapshot

__all__ = ["Lesson", "Snapshot", "lessons", "prequential"]


def prequential(
    models: Any,
    stream: Iterable[Lesson | tuple[Any, ...]],
    *,
    classes: Sequence[Any] | NDArray[Any] | None = None,
    every: int = 500,
    metrics: Iterable[str] | None = None,
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
    metrics : list of names, optional
        Of `onlinesvm.stream.metrics.METRICS`. By default all that the models can have: of labels,
        for two `classes` also ``"f1"`` and ``"auc"``, and ``"log_loss"`` where a model has
        probabilities; of targets; of alarms.
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
    if every < 1:
        raise ValueError(f"every must be a positive number of examples, got {every!r}")
    named = models if isinstance(models, Mapping) else {type(models).__name__: models}
    course = enrolled(
        named, classes=classes, metrics=metrics, window=window, delay=delay, baselines=baselines
    )
    return _run(course, stream, every, Late(delay))


def _run(
    course: Course, stream: Iterable[Any], every: int, late: Late
) -> Iterator[dict[str, Snapshot]]:
    due = every
    for item in stream:
        lesson = read_lesson(item)
        course.test(lesson)
        for learnt in late.pass_on(lesson):
            course.train(learnt)
        if course.seen >= due:
            due = course.seen - course.seen % every + every
            yield course.snapshots()
    for learnt in late.rest():
        course.train(learnt)
    if course.seen and course.seen > due - every:
        yield course.snapshots()
