"""Predictions for a whole DataFrame: vectorised, by a model that travels once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.pandas.functions import arrow_udf
from pyspark.sql.types import (
    ArrayType,
    BooleanType,
    DataType,
    DoubleType,
    LongType,
    StringType,
    StructField,
    StructType,
)
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

from ...data.arguments import check_word
from .rows import Columns
from .shipping import Shipped

__all__ = ["OUTPUTS", "predict_udf", "transform"]

Output = Literal["prediction", "decision", "probability"]
OUTPUTS: tuple[Output, ...] = ("prediction", "decision", "probability")
_VERBS = {"decision": "decision_function", "probability": "predict_proba"}
_BESIDE = "__onlinesvm__"  # the one column of all answers, before they are told apart


def transform(
    df: DataFrame,
    model: Any,
    features: str | Sequence[str],
    *,
    prediction: str | None = "prediction",
    decision: str | None = None,
    probability: str | None = None,
    nulls: Literal["refuse", "keep"] = "refuse",
) -> DataFrame:
    """A DataFrame with what a fitted model says of each row, as further columns.

    The model travels to each machine once, as the bytes of its file, and each Python worker loads
    it once; only the features leave the JVM, in Arrow batches. It costs what the model costs and
    the way there and back. A prediction is read off the decision value where both are wanted;
    probabilities are another pass.

    Parameters
    ----------
    df : DataFrame
        Batch or streaming.
    model : fitted estimator or pipeline of this library
        As it is now: what it learns later is for the next call.
    features : str or list of str
        One column of vectors or arrays, or several columns; as for `Columns`.
    prediction, decision, probability : str, optional
        What the new columns are called; None: not wanted. A prediction is of the type of the
        labels, a decision value is a double, an array for more than two classes, and probabilities
        are an array in the order of ``model.classes_``.
    nulls : {"refuse", "keep"}
        Whether features may be null, for a pipeline that knows what to do with them.

    Examples
    --------
    ::

        scored = transform(df, model, ["price", "stock"], decision="score")
        scored.write.parquet("scored")
    """
    columns = Columns(features, nulls=nulls)
    columns.demand_in(df.columns)
    names = {"prediction": prediction, "decision": decision, "probability": probability}
    wanted: dict[Output, str] = {what: name for what in OUTPUTS if (name := names[what])}
    if not wanted:
        raise ValueError("prediction, decision and probability are all None; name one of them")
    teller = Teller(Shipped(df.sparkSession.sparkContext, model), columns, tuple(wanted))
    answers = _udf(teller.tell_all, _struct(model, tuple(wanted)))
    beside = df.withColumn(_BESIDE, answers(*map(_quoted, columns.feature_names)))
    told = {name: F.col(f"{_BESIDE}.{what}") for what, name in wanted.items()}
    return beside.withColumns(told).drop(_BESIDE)


def predict_udf(
    model: Any,
    *,
    output: Output = "prediction",
    features: Sequence[str] | None = None,
    nulls: Literal["refuse", "keep"] = "refuse",
    spark: SparkSession | None = None,
) -> Callable[..., Column]:
    """A fitted model as a function of columns, for `select`, `withColumn` or SQL.

    Call it with one column of vectors or arrays, or with several columns in the order that the
    model knows. `transform` is cheaper where more than one output is wanted.

    Parameters
    ----------
    model : fitted estimator or pipeline of this library
    output : {"prediction", "decision", "probability"}
    features : list of str, optional
        What the arguments are called, for a pipeline that prepares its columns by their names; by
        default those of the DataFrame the model began with, if there was one.
    nulls : {"refuse", "keep"}
    spark : SparkSession, optional
        By default the active one.

    Examples
    --------
    ::

        score = predict_udf(model, output="decision")
        df.where(score("price", "stock") > 0)
        spark.udf.register("score", score)
    """
    check_word("output", output, OUTPUTS)
    spark = spark or SparkSession.active()
    names = getattr(model, "feature_names_in_", None) if features is None else features
    told = None if names is None else tuple(map(str, names))
    shipped = Shipped(spark.sparkContext, model)
    teller = NamelessTeller(shipped, told, output, nulls)
    return _udf(teller.tell_one, _type_of(model, output))


# --- on the executors -------------------------------------------------------------------------


@dataclass(frozen=True)
class Teller:
    """Answers for batches of known columns, as one struct each."""

    shipped: Shipped
    columns: Columns
    wanted: tuple[Output, ...]

    def tell_all(self, batches: Iterator[tuple[Any, ...]]) -> Iterator[Any]:
        names = self.columns.feature_names
        for arrays in batches:
            batch = _batch(arrays, names)
            told = answers(self.shipped.model, self.columns.read_features(batch), self.wanted)
            yield pa.StructArray.from_arrays(
                [_arrow(told[what]) for what in self.wanted], names=list(self.wanted)
            )


@dataclass(frozen=True)
class NamelessTeller:
    """Answers for batches of columns that are known by their order."""

    shipped: Shipped
    names: tuple[str, ...] | None
    output: Output
    nulls: Literal["refuse", "keep"]

    def tell_one(self, batches: Iterator[tuple[Any, ...]]) -> Iterator[Any]:
        for arrays in batches:
            names = self._names(len(arrays) if isinstance(arrays, tuple) else 1)
            batch = _batch(arrays, names)
            columns = Columns(names if len(names) > 1 else names[0], nulls=self.nulls)
            told = answers(self.shipped.model, columns.read_features(batch), (self.output,))
            yield _arrow(told[self.output])

    def _names(self, count: int) -> tuple[str, ...]:
        known = self.names
        return known if known is not None and len(known) == count else _numbered(count)


def _batch(arrays: Any, names: Sequence[str]) -> Any:
    """Spark gives a tuple of arrays, and of one argument the array alone."""
    several = arrays if isinstance(arrays, tuple) else (arrays,)
    return pa.record_batch(list(several), names=list(names))


def _numbered(count: int) -> tuple[str, ...]:
    return tuple(f"argument {i}" for i in range(1, count + 1))


def answers(model: Any, X: Any, wanted: Sequence[Output]) -> dict[Output, NDArray[Any]]:
    """What a model says of some rows; a label is read off its decision value where that is there.

    >>> import numpy as np
    >>> from onlinesvm import PassiveAggressiveClassifier
    >>> model = PassiveAggressiveClassifier().fit(np.eye(2), ["a", "b"])
    >>> answers(model, np.eye(2), ("prediction",))
    {'prediction': array(['a', 'b'], dtype='<U1')}
    """
    told: dict[Output, NDArray[Any]] = {}
    if X.shape[0] == 0:  # a batch of Spark's may be empty, which no model would take
        return {what: np.empty(0) for what in wanted}
    if "decision" in wanted:
        told["decision"] = np.asarray(model.decision_function(X))
    if "probability" in wanted:
        told["probability"] = np.asarray(model.predict_proba(X))
    if "prediction" in wanted:
        f = told.get("decision")
        if f is None or not is_classifier(model):
            told["prediction"] = np.asarray(model.predict(X))
        else:
            best = (f > 0).astype(np.intp) if f.ndim == 1 else f.argmax(axis=1)
            told["prediction"] = np.asarray(model.classes_)[best]
    return told


def _arrow(values: NDArray[Any]) -> Any:
    if values.ndim == 2:
        flat = pa.array(np.ascontiguousarray(values, dtype=np.float64).ravel())
        ends = np.arange(0, values.size + 1, values.shape[1], dtype=np.int32)
        return pa.ListArray.from_arrays(pa.array(ends), flat)
    return pa.array(values.tolist() if values.dtype.kind in "UO" else values)


# --- types ------------------------------------------------------------------------------------

_LABELS: dict[str, DataType] = {
    "b": BooleanType(),
    "i": LongType(),
    "u": LongType(),
    "f": DoubleType(),
    "U": StringType(),
}


def _struct(model: Any, wanted: Sequence[Output]) -> StructType:
    return StructType([StructField(what, _type_of(model, what)) for what in wanted])


def _type_of(model: Any, output: Output) -> DataType:
    """Of a column of answers; a ValueError if the model has none."""
    check_is_fitted(model)
    verb = _VERBS.get(output)
    if verb is not None and not hasattr(model, verb):
        fix = "; CalibratedOnline(model) has them" if output == "probability" else ""
        raise ValueError(f"{output} is not to be had of {type(model).__name__}{fix}")
    if output == "probability":
        return ArrayType(DoubleType())
    if not is_classifier(model):
        plain = output == "decision" or not hasattr(model, "decision_function")
        return DoubleType() if plain else LongType()
    if output == "decision":
        return ArrayType(DoubleType()) if len(model.classes_) > 2 else DoubleType()
    kind = np.asarray(model.classes_).dtype.kind
    if kind not in _LABELS:
        raise ValueError(
            f"model has labels of numpy's kind {kind!r}; numbers, flags and words can be columns"
        )
    return _LABELS[kind]


def _udf(function: Callable[[Any], Iterator[Any]], kind: DataType) -> Callable[..., Column]:
    """An Arrow function of columns over an iterator of batches."""

    def batches(those: Iterator[tuple[pa.Array, ...]]) -> Iterator[pa.Array]:
        return function(those)

    # Spark reads the kind of function off its annotations, which are words in this module.
    batches.__annotations__ = {
        "those": Iterator[tuple[pa.Array, ...]],
        "return": Iterator[pa.Array],
    }
    made: Callable[..., Column] = arrow_udf(  # type: ignore[call-overload]  # knows no structs
        batches, kind
    )
    return made


def _quoted(name: str) -> Column:
    return F.col("`" + name.replace("`", "``") + "`")
