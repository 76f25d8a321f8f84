"""An estimator of pyspark.ml: fitted over all partitions, in pipelines, saved as they are."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Literal, Self

from pyspark.ml import Estimator, Model
from pyspark.ml.param import Param, Params, TypeConverters
from pyspark.ml.param.shared import (
    HasFeaturesCol,
    HasInputCols,
    HasLabelCol,
    HasPredictionCol,
    HasRawPredictionCol,
    HasWeightCol,
)
from pyspark.ml.util import (
    DefaultParamsReader,
    DefaultParamsWriter,
    MLReadable,
    MLReader,
    MLWritable,
    MLWriter,
)
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import NumericType

from ... import cluster
from ...files.persistence import load
from .. import ClusterCertificate, Learned
from .parts import SparkParts
from .predicting import transform
from .rows import Columns, read_keys

__all__ = ["SparkEstimator", "SparkModel"]

_FILE = "model.onlinesvm"
Keep = Literal["persist", "checkpoint"]


class _Settings(
    HasFeaturesCol,
    HasInputCols,
    HasLabelCol,
    HasWeightCol,
    HasPredictionCol,
    HasRawPredictionCol,
):
    """Which columns are what, for estimator and model alike."""

    keyCol: Param[str] = Param(
        Params._dummy(),
        "keyCol",
        "whom a row belongs to, for unlearning",
        typeConverter=TypeConverters.toString,
    )
    idCol: Param[str] = Param(
        Params._dummy(),
        "idCol",
        "what a row is called for ever: whole numbers, distinct over all rows",
        typeConverter=TypeConverters.toString,
    )
    orderCols: Param[list[str]] = Param(
        Params._dummy(),
        "orderCols",
        "by which columns the rows of a partition are sorted, for methods of one pass",
        typeConverter=TypeConverters.toListString,
    )
    keep: Param[str] = Param(
        Params._dummy(),
        "keep",
        "where the parts lie while they are learned: 'persist' or 'checkpoint'",
        typeConverter=TypeConverters.toString,
    )

    def __init__(self) -> None:
        super().__init__()
        self._setDefault(keep="persist", orderCols=[])

    def _known(self, name: str) -> Any:
        param = self.getParam(name)
        return self.getOrDefault(param) if self.isDefined(param) else None

    def _columns(self) -> Columns:
        return Columns(
            self._known("inputCols") or self.getFeaturesCol(),
            self.getLabelCol(),
            self._known("weightCol"),
            self._known("keyCol"),
        )

    def _parts(self, dataset: DataFrame) -> SparkParts:
        return SparkParts(
            dataset,
            self._columns(),
            ids=self._known("idCol"),
            order=self._known("orderCols"),
            keep=self._known("keep"),
        )


class SparkEstimator(_Settings, Estimator["SparkModel"], MLWritable, MLReadable["SparkEstimator"]):
    """Fits a model of this library to a whole DataFrame: what one machine would find.

    Exact kernel machines (`SmoSVC`, `IncrementalSVC`) by a cascade with feedback, whose certificate
    speaks for every row of every partition; `StreamSVC` by merging balls, with a true radius bound;
    linear methods by iterative averaging. See `onlinesvm.cluster`.

    Every partition is one part: ``df.repartition(8)`` makes eight. Rows travel from the partitions
    to Python once per round, as arrays; between rounds only support vectors and weights do.

    Parameters
    ----------
    model : estimator of this library, or an OnlinePipeline that ends with one
        Its parameters; it is not changed. The preparation of a pipeline must be fitted, to a sample
        of the rows, since no partition sees them all; each prepares its own rows by it.

    Other Parameters
    ----------------
    featuresCol : str, default="features"
        A column of vectors or of arrays of numbers.
    inputCols : list of str, optional
        Several columns of numbers instead.
    labelCol : str, default="label"
    weightCol, keyCol, idCol : str, optional
        Weights; whom a row belongs to, for `SparkModel.unlearn`; what it is called for ever.
    orderCols : list of str
        By which the rows of a partition are sorted; by default by a hash of each row.
    predictionCol : str, default="prediction"
        Numbers are doubles, as Spark's evaluators want them; words stay words.
    rawPredictionCol : str, default="rawPrediction"
        The decision value; an empty name leaves it out.
    keep : {"persist", "checkpoint"}
        As for `SparkParts`: ``"checkpoint"`` where the DataFrame might give other rows when it is
        read again.

    Examples
    --------
    ::

        from pyspark.ml import Pipeline
        from pyspark.ml.feature import StandardScaler

        scaler = StandardScaler(inputCol="raw", outputCol="features")
        fitted = Pipeline(stages=[scaler, SparkEstimator(SmoSVC(C=10))]).fit(df)
        fitted.stages[-1].certificate.holds
    """

    def __init__(self, model: Any = None, **params: Any) -> None:
        super().__init__()
        self.model = model
        self._set(**params)

    def setParams(self, **params: Any) -> Self:
        """Set any of the parameters above by name."""
        return self._set(**params)

    def _fit(self, dataset: DataFrame) -> SparkModel:
        with self._parts(dataset) as parts:
            learned = cluster.fit(parts, self.model)
        return self._copyValues(SparkModel.of(learned))

    def write(self) -> MLWriter:
        return _Writer(self)

    @classmethod
    def read(cls) -> MLReader[SparkEstimator]:
        return _Reader(cls)


class SparkModel(_Settings, Model, MLWritable, MLReadable["SparkModel"]):
    """What `SparkEstimator` has learned: an ordinary model that predicts for DataFrames.

    Attributes
    ----------
    model : fitted estimator of this library, to be saved, predicted and learned on with anywhere
    certificate : ClusterCertificate of an exact machine, else None
    rounds : int, how often a model went to the partitions
    """

    def __init__(
        self, model: Any = None, certificate: ClusterCertificate | None = None, rounds: int = 0
    ) -> None:
        super().__init__()
        self.model, self.certificate, self.rounds = model, certificate, rounds

    @classmethod
    def of(cls, learned: Learned) -> SparkModel:
        """From what a cluster has learned."""
        return cls(learned.model, learned.certificate, learned.rounds)

    def _transform(self, dataset: DataFrame) -> DataFrame:
        has_score = hasattr(self.model, "decision_function")
        name = self.getPredictionCol()
        told = transform(
            dataset,
            self.model,
            self._columns().features,
            prediction=name or None,
            decision=(self.getRawPredictionCol() or None) if has_score else None,
        )
        if name and isinstance(told.schema[name].dataType, NumericType):
            told = told.withColumn(name, F.col(f"`{name}`").cast("double"))
        return told

    def unlearn(self, dataset: DataFrame, keys: DataFrame | Sequence[Any]) -> SparkModel:
        """The model without the rows of some keys: as if no partition had ever had them.

        Parameters
        ----------
        dataset : DataFrame
            What the model was learned from, cut into the same partitions, or with an `idCol`. The
            rows to be forgotten are still in it; delete them at their source afterwards.
        keys : DataFrame of one column, or list
            Whose rows, by `keyCol`.

        Returns
        -------
        SparkModel
            A new one. Its certificate is about every row that remains in any partition;
            ``ids_removed`` lists the others.
        """
        if self._known("keyCol") is None:
            raise ValueError("unlearn needs a keyCol: whom each row belongs to")
        with self._parts(dataset) as parts:
            learned = cluster.unlearn(parts, self.model, _listed(keys))
        return self._copyValues(SparkModel.of(learned))

    def verify(self, dataset: DataFrame) -> bool:
        """Let every partition check the certificate anew; a CertificateError says what is wrong."""
        if self.certificate is None:
            raise ValueError(f"a {type(self.model).__name__} has no certificate to check")
        with self._parts(dataset) as parts:
            return cluster.verify(self.certificate, self.model, parts)

    def write(self) -> MLWriter:
        return _Writer(self)

    @classmethod
    def read(cls) -> MLReader[SparkModel]:
        return _Reader(cls)


def _listed(keys: DataFrame | Sequence[Any]) -> list[Any]:
    if not isinstance(keys, DataFrame):
        return list(keys)
    if len(keys.columns) != 1:
        raise ValueError(f"keys must have one column, got {keys.columns}; select the one")
    (name,) = keys.columns
    column = keys.distinct().toArrow().column(name).combine_chunks()
    found: list[Any] = read_keys(column, name).tolist()
    return sorted(found)


# --- files ------------------------------------------------------------------------------------


class _Writer(MLWriter):
    """Parameters as pyspark.ml writes them, and the model in a file of its own."""

    def __init__(self, instance: SparkEstimator | SparkModel) -> None:
        super().__init__()
        self.instance = instance

    def saveImpl(self, path: str) -> None:
        facts: dict[str, Any] = {}
        if isinstance(self.instance, SparkModel):
            certificate = self.instance.certificate
            facts["rounds"] = self.instance.rounds
            facts["certificate"] = None if certificate is None else asdict(certificate)
        data = _file_of(self.instance.model)  # what cannot be saved is refused before all else
        spark = self.sparkSession
        DefaultParamsWriter.saveMetadata(self.instance, path, spark, {"onlinesvm": facts})
        _write_bytes(spark, os.path.join(path, _FILE), data)


class _Reader(MLReader[Any]):
    def __init__(self, cls: type[Any]) -> None:
        super().__init__()
        self._cls = cls

    def load(self, path: str) -> Any:
        spark = self.sparkSession
        metadata = DefaultParamsReader.loadMetadata(path, spark)
        facts = metadata["onlinesvm"]
        instance = self._cls(_model_of(_read_bytes(spark, os.path.join(path, _FILE))))
        instance._resetUid(metadata["uid"])
        DefaultParamsReader.getAndSetParams(instance, metadata)
        if isinstance(instance, SparkModel):
            instance.rounds, certificate = facts["rounds"], facts["certificate"]
            instance.certificate = certificate and ClusterCertificate(**certificate)
        return instance


def _file_of(model: Any) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        model.save(Path(folder) / _FILE)
        return (Path(folder) / _FILE).read_bytes()


def _model_of(data: bytes) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / _FILE).write_bytes(data)
        return load(Path(folder) / _FILE)


def _open(spark: SparkSession, path: str) -> tuple[Any, Any, Any]:
    """Spark's own file systems, whatever they are: HDFS, object stores, this disk."""
    jvm: Any = spark.sparkContext._jvm
    where = jvm.org.apache.hadoop.fs.Path(path)
    return jvm, where.getFileSystem(spark.sparkContext._jsc.hadoopConfiguration()), where


def _write_bytes(spark: SparkSession, path: str, data: bytes) -> None:
    _, files, where = _open(spark, path)
    out = files.create(where, True)
    try:
        out.write(bytearray(data))
    finally:
        out.close()


def _read_bytes(spark: SparkSession, path: str) -> bytes:
    jvm, files, where = _open(spark, path)
    stream = files.open(where)
    try:
        return bytes(jvm.org.apache.commons.io.IOUtils.toByteArray(stream))
    finally:
        stream.close()
