"""Spark: the same models over DataFrames, predicted, learned and unlearned on a cluster.

Needs the extra `spark` here and on every executor, and Java from the system.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from onlinesvm.cluster.spark.by_key import BankModel as BankModel
    from onlinesvm.cluster.spark.by_key import ForgottenKeys as ForgottenKeys
    from onlinesvm.cluster.spark.by_key import fit_by_key as fit_by_key
    from onlinesvm.cluster.spark.by_key import learn_by_key as learn_by_key
    from onlinesvm.cluster.spark.estimator import SparkEstimator as SparkEstimator
    from onlinesvm.cluster.spark.estimator import SparkModel as SparkModel
    from onlinesvm.cluster.spark.local import local_session as local_session
    from onlinesvm.cluster.spark.parts import SparkParts as SparkParts
    from onlinesvm.cluster.spark.predicting import predict_udf as predict_udf
    from onlinesvm.cluster.spark.predicting import transform as transform
    from onlinesvm.cluster.spark.rows import Columns as Columns
    from onlinesvm.cluster.spark.streaming import StreamDesk as StreamDesk
    from onlinesvm.cluster.spark.streaming import StreamLearner as StreamLearner
    from onlinesvm.cluster.spark.streaming import read_stream as read_stream

# Imported when asked for: rows are read on executors without starting anything of Spark's.
_HOME = {
    "BankModel": "by_key",
    "Columns": "rows",
    "ForgottenKeys": "by_key",
    "SparkEstimator": "estimator",
    "SparkModel": "estimator",
    "SparkParts": "parts",
    "StreamDesk": "streaming",
    "StreamLearner": "streaming",
    "fit_by_key": "by_key",
    "learn_by_key": "by_key",
    "local_session": "local",
    "predict_udf": "predicting",
    "read_stream": "streaming",
    "transform": "predicting",
}

__all__ = [
    "BankModel",
    "Columns",
    "ForgottenKeys",
    "SparkEstimator",
    "SparkModel",
    "SparkParts",
    "StreamDesk",
    "StreamLearner",
    "fit_by_key",
    "learn_by_key",
    "local_session",
    "predict_udf",
    "read_stream",
    "transform",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'onlinesvm.cluster.spark' has no attribute {name!r}")
    try:
        return getattr(importlib.import_module(f"onlinesvm.cluster.spark.{_HOME[name]}"), name)
    except ModuleNotFoundError as missing:
        if missing.name not in ("pyspark", "pyarrow"):
            raise
        raise ImportError(
            f"onlinesvm.cluster.spark needs {missing.name}: in a checkout, pip install '.[spark]'"
        ) from None


def __dir__() -> list[str]:
    return sorted(__all__)
