"""Who takes part in a course: models of one kind, what they are marked by, and baselines."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onlinesvm.data.arguments import check_count, check_word
from onlinesvm.stream.baselines import BASELINES
from onlinesvm.stream.choice import chosen_metrics, positive_class, usual_metrics
from onlinesvm.stream.course import Course
from onlinesvm.stream.runners import BaselineRunner, ModelRunner, Runner
from onlinesvm.stream.scorecard import Scorecard
from onlinesvm.stream.students import Kind, kind_of
from onlinesvm.stream.tallies import Codec, Targets

__all__ = ["enrolled"]


def enrolled(
    models: Mapping[str, Any],
    *,
    classes: Sequence[Any] | NDArray[Any] | None,
    metrics: Iterable[str] | None,
    window: int,
    delay: int = 0,
    baselines: Iterable[str] | None,
) -> Course:
    """A course for these models; `baselines` None: all there are. Parameters as `prequential`'s."""
    metrics = metrics if metrics is None or isinstance(metrics, str) else list(metrics)
    if not models:
        raise ValueError("models is empty: give at least one, as {'name': model}")
    check_count("window", window, at_least=1)
    check_count("delay", delay)
    labels = None if classes is None else _ordered(classes)
    kind = _common_kind(models)
    given = None if metrics is None else chosen_metrics(metrics, kind, labels)
    offered = BASELINES[kind]
    wanted = offered if baselines is None else baselines
    chosen = {check_word("baselines", name, offered): offered[name] for name in wanted}
    if clash := chosen.keys() & models.keys():
        raise ValueError(f"models has the name of a baseline, {min(clash)!r}; choose another")
    codec = Targets() if kind == "regressor" else Codec()
    positive = positive_class(kind, labels)

    def card(model: Any) -> Scorecard:
        names = usual_metrics(kind, labels, model) if given is None else given
        return Scorecard(names, window, codec, positive)

    runners: dict[str, Runner] = {}
    for name, model in models.items():
        runners[name] = ModelRunner(name, model, kind, labels, card(model), codec)
    for name, baseline in chosen.items():
        runners[name] = BaselineRunner(baseline(codec, delay), kind, card(None), codec)
    return Course(runners, kind, codec, delay)


def _ordered(classes: Sequence[Any] | NDArray[Any]) -> NDArray[Any]:
    labels = np.asarray(classes)
    try:
        sorted(labels.tolist())
    except TypeError:
        raise ValueError(f"classes must be labels of one type, got {classes!r:.60}") from None
    return labels


def _common_kind(models: Mapping[str, Any]) -> Kind:
    kinds = {name: kind_of(model) for name, model in models.items()}
    first = next(iter(kinds))
    for name, kind in kinds.items():
        if kind != kinds[first]:
            raise ValueError(
                f"models must be of one kind: {first!r} is a {kinds[first]}, {name!r} a {kind}"
            )
    return kinds[first]
