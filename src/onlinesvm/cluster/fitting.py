"""One verb for all methods that can be learned over many machines."""

from __future__ import annotations

from typing import Any

from ..compose.pipeline import OnlinePipeline
from ..methods.ball.stream_svm import StreamSVC
from .averaging import LINEAR, average
from .balls import merge_balls
from .cascade import cascade
from .learned import Learned
from .parts import Parts
from .preparing import Prepared


def fit(parts: Parts, model: Any, *, rounds: int | None = None) -> Learned:
    """Learn all rows of all parts, in the way that suits the class of the model.

    Parameters
    ----------
    parts : Parts
    model : estimator
        ``SmoSVC`` or ``IncrementalSVC``: by :func:`cascade`. ``StreamSVC``: by :func:`merge_balls`.
        ``PegasosSVC``, ``SGDSVC``, ``PassiveAggressiveClassifier``: by :func:`average`. An
        ``OnlinePipeline`` of one of them, whose preparation is fitted: each part prepares its own
        rows. It is not changed.
    rounds : int or None, default=None
        Of averaging, or of a cascade at most; None is their own default. Balls take one.

    Returns
    -------
    Learned
    """
    if isinstance(model, OnlinePipeline):
        prepared = Prepared(parts, model)
        return prepared.behind(fit(prepared, prepared.last, rounds=rounds))
    if isinstance(model, StreamSVC):
        return merge_balls(parts, model)
    if isinstance(model, LINEAR):
        return average(parts, model, **({} if rounds is None else {"rounds": rounds}))
    return cascade(parts, model, **({} if rounds is None else {"max_rounds": rounds}))
