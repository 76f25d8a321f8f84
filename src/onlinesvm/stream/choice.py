"""Which metrics a model gets: those asked for, or all that it can have."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from numpy.typing import NDArray

from onlinesvm.stream.metrics import F1, METRICS, UNUSUAL, Metric, resolve
from onlinesvm.stream.students import Kind

__all__ = ["chosen_metrics", "usual_metrics"]


def chosen_metrics(
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


def usual_metrics(kind: Kind, classes: NDArray[Any] | None, model: Any) -> list[Metric]:
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
