"""Test-then-train: every example is first an exam, then a lesson."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onlinesvm.params import check_count, check_word
from onlinesvm.stream.baselines import BASELINES
from onlinesvm.stream.choice import chosen_metrics, usual_metrics
from onlinesvm.stream.course import Course
from onlinesvm.stream.lesson import Late, Lesson, lessons, read_lesson
from onlinesvm.stream.metrics import Metric
from onlinesvm.stream.runners import BaselineRunner, ModelRunner, Runner
from onlinesvm.stream.scorecard import Scorecard
from onlinesvm.stream.snapshot import Snapshot
from onlinesvm.stream.students import Kind, kind_of

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
    given = None if metrics is None else chosen_metrics(metrics, kind, labels)
    offered = BASELINES[kind]
    chosen = {check_word("baselines", name, offered): offered[name] for name in baselines}
    if clash := chosen.keys() & named.keys():
        raise ValueError(f"models has the name of a baseline, {min(clash)!r}; choose another")
    runners: dict[str, Runner] = {}
    for name, model in named.items():
        wanted = usual_metrics(kind, labels, model) if given is None else given
        runners[name] = ModelRunner(name, model, kind, labels, Scorecard(wanted, window))
    for name, baseline in chosen.items():
        wanted = usual_metrics(kind, labels, None) if given is None else given
        runners[name] = BaselineRunner(baseline(delay), kind, Scorecard(wanted, window))
    return _run(runners, stream, kind, every, Late(delay))


def _run(
    runners: Mapping[str, Runner],
    stream: Iterable[Any],
    kind: Kind,
    every: int,
    late: Late,
) -> Iterator[dict[str, Snapshot]]:
    course, due = Course(runners, kind, late.delay), every
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


def _common_kind(models: Mapping[str, Any]) -> Kind:
    kinds = {name: kind_of(model) for name, model in models.items()}
    first = next(iter(kinds))
    for name, kind in kinds.items():
        if kind != kinds[first]:
            raise ValueError(
                f"models must be of one kind: {first!r} is a {kinds[first]}, {name!r} a {kind}"
            )
    return kinds[first]
