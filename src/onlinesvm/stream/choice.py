"""Which metrics a model gets: those asked for, or all that it can have."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from numpy.typing import NDArray

from onlinesvm.stream.metrics import METRICS, UNUSUAL, resolve
from onlinesvm.stream.students import Kind

__all__ = ["chosen_metrics", "positive_class", "usual_metrics"]


def chosen_metrics(metrics: Iterable[str], kind: Kind, classes: NDArray[Any] | None) -> list[str]:
    """What was asked for; what the models cannot have is refused."""
    chosen = resolve(metrics)
    for name in chosen:
        if kind not in METRICS[name].kinds:
            fit = ", ".join(other for other, metric in METRICS.items() if kind in metric.kinds)
            raise ValueError(f"metrics has {name!r}, not for a {kind}; choose from {fit}")
    if "f1" in chosen and kind == "classifier" and (classes is None or len(classes) != 2):
        raise ValueError(
            "metrics has 'f1', which is of one class; name two by classes, or choose 'f1_macro'"
        )
    return chosen


def positive_class(kind: Kind, classes: NDArray[Any] | None) -> Any:
    """The class whose F1 is meant: the second of two, or what a detector looks for."""
    named = [] if classes is None or kind == "detector" else classes.tolist()
    return max(named, default=UNUSUAL)


def usual_metrics(kind: Kind, classes: NDArray[Any] | None, model: Any) -> list[str]:
    """What can be said of such a model."""
    if kind == "regressor":
        return ["mae", "rmse", "r2"]
    if kind == "detector":
        return ["alarms", "false_alarms", "detections", "auc"]
    usual = ["accuracy", "balanced_accuracy", "kappa", "kappa_temporal", "f1_macro"]
    if classes is not None and len(classes) == 2:
        usual += ["f1", "auc"]
    if hasattr(model, "predict_proba") or hasattr(model, "predict_proba_one"):
        usual += ["log_loss"]
    return usual
