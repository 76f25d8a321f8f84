"""A model for each key of a DataFrame: a million small ones, kept and moved as banks.

Keys are dealt into buckets by a hash that is the same everywhere and for ever; the models of a
bucket are one `ModelBank`, one row of a DataFrame. So a model costs bytes, not a Python object or a
state of its own, and each learns exactly the rows of its key, in order: bit for bit as in a loop.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark import StorageLevel
from pyspark.sql import Column, DataFrame, Row
from pyspark.sql import functions as F
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    DataType,
    DoubleType,
    IntegerType,
    IntegralType,
    LongType,
    StringType,
    StructField,
    StructType,
)

from ...compose.bank.bank import ModelBank
from ...data.arguments import check_count
from .predicting import _LABELS, _arrow
from .rows import Columns, read_keys

__all__ = ["BankModel", "ForgottenKeys", "fit_by_key", "learn_by_key"]

_BUCKET = "bucket"
_BUCKETS = 256
_BANKS = StructType(
    [
        StructField(_BUCKET, IntegerType(), False),
        StructField("models", LongType(), False),
        StructField("rows", LongType(), False),
        StructField("bank", BinaryType(), False),
    ]
)
_FORGOTTEN = StructType(
    [
        *_BANKS.fields,
        StructField("before", StringType()),
        StructField("forgotten", StringType()),
        StructField("absent", StringType()),
        StructField("gone", LongType()),
    ]
)


def fit_by_key(
    df: DataFrame,
    key: str,
    model: Any,
    features: str | Sequence[str],
    label: str | None = None,
    *,
    order: str | Sequence[str],
    weight: str | None = None,
    buckets: int = _BUCKETS,
) -> BankModel:
    """Fit a model for each key of a DataFrame, in one pass over its rows.

    The rows travel once, to the bucket of their key; there they are sorted and learned. The rows of
    a bucket lie in memory while it is learned: take so many buckets that they fit. They are dealt
    in turn over ``spark.sql.shuffle.partitions``, or as many as there are buckets, and Spark joins
    none of these: have a few for each core, not hundreds, as each costs a tenth of a second.

    Parameters
    ----------
    df : DataFrame
    key : str
        The column of the keys: whole numbers or words.
    model : estimator that a `ModelBank` can hold
        What every key gets a copy of; a classifier names its ``classes``.
    features : str or list of str
        As for `Columns`.
    label, weight : str, optional
        None for detectors, and where all rows weigh the same.
    order : str or list of str
        By which columns the rows of a key are learned, such as a time. Where two rows of a key are
        alike in them, Spark decides.
    buckets : int

    Returns
    -------
    BankModel

    Examples
    --------
    ::

        model = PassiveAggressiveClassifier(classes=["no", "yes"])
        fitted = fit_by_key(sales, "shop", model, ["price", "stock"], "sold", order="time")
        fitted.transform(tomorrow).write.parquet("expected")
    """
    columns = Columns(features, label, weight, key)
    by = _names(order)
    columns.demand_in(df.columns)
    Columns(by).demand_in(df.columns)
    empty = ModelBank(model).to_bytes()
    teacher = Teacher(columns, by, empty)
    wanted = [_quoted(name) for name in dict.fromkeys((*columns.names, *by))]
    dealt = df.select(_bucket(df, key, check_count("buckets", buckets)), *wanted)
    # Else Spark would join partitions until they are large, or as few as the cores, and learning
    # costs far more than the bytes that it counts. By a hash some would get none of few buckets.
    dealt = dealt.repartitionById(min(buckets, _partitions(df)), _BUCKET)
    banks = dealt.groupBy(_BUCKET).applyInArrow(_of_two(teacher.learn), _BANKS)
    return BankModel(banks.persist(StorageLevel.MEMORY_AND_DISK), columns, empty, buckets)


class BankModel:
    """A model for each key, as a DataFrame of banks: one row for each bucket of keys.

    Parameters
    ----------
    banks : DataFrame of bucket, models, rows, bank
        As `fit_by_key` and `learn_by_key` give it. It may be kept as a table and read again.
    columns : Columns
        Which columns of a DataFrame are the features, the label and the key.
    empty : bytes
        A bank without models, of the model that every key gets a copy of.
    buckets : int
        Into how many the keys are dealt.

    Attributes
    ----------
    banks, columns, buckets
    """

    def __init__(self, banks: DataFrame, columns: Columns, empty: bytes, buckets: int) -> None:
        self.banks, self.columns, self.buckets = banks, columns, buckets
        self._empty = empty

    def __repr__(self) -> str:
        return f"BankModel({ModelBank.from_bytes(self._empty)._model!r}, {self.buckets} buckets)"

    def transform(
        self,
        df: DataFrame,
        *,
        prediction: str | None = "prediction",
        decision: str | None = None,
    ) -> DataFrame:
        """A DataFrame with what the model of its key says of each row, as further columns.

        The rows travel to the bucket of their key, so their order is not kept. A key without a
        model gets what a score of 0 means.

        Parameters
        ----------
        df : DataFrame
            With the columns of the features and the key.
        prediction, decision : str, optional
            What the new columns are called; None: not wanted.
        """
        asked = Columns(self.columns.features, key=self.columns.key)
        asked.demand_in(df.columns)
        if _BUCKET in df.columns:
            raise ValueError(f"df has a column {_BUCKET!r}, which is needed here; rename it")
        names = {"prediction": prediction, "decision": decision}
        wanted = {what: name for what, name in names.items() if name is not None}
        if not wanted:
            raise ValueError("prediction and decision are both None; name one of them")
        face = ModelBank.from_bytes(self._empty)._model
        fields = [StructField(name, _type_of(face, what)) for what, name in wanted.items()]
        teller = Teller(asked, self._empty, tuple(wanted.items()))
        rows = df.withColumn(_BUCKET, self._bucket(df)).groupBy(_BUCKET)
        both = rows.cogroup(self.banks.select(_BUCKET, "bank").groupBy(_BUCKET))
        return both.applyInArrow(_of_three(teller.tell), StructType([*df.schema.fields, *fields]))

    def forget(self, keys: DataFrame) -> tuple[BankModel, ForgottenKeys]:
        """Unlearn all that was learned for some keys: the models without them, and a certificate.

        What is left is, byte for byte, what `fit_by_key` would give of the rows without theirs.

        Parameters
        ----------
        keys : DataFrame with the column of the keys
            Repeated ones count once; those without a model are named in the certificate.
        """
        name = str(self.columns.key)
        Columns(name).demand_in(keys.columns)
        asked = keys.select(self._bucket(keys), _quoted(name)).distinct().groupBy(_BUCKET)
        both = self.banks.groupBy(_BUCKET).cogroup(asked)
        eraser = Eraser(name, self._empty)
        told = both.applyInArrow(_of_three(eraser.forget), _FORGOTTEN)
        told = told.persist(StorageLevel.MEMORY_AND_DISK)
        touched = told.where(F.col("forgotten").isNotNull())
        report = touched.withColumn("after", F.sha2("bank", 256)).drop("bank").collect()
        left = told.where(F.col("models") > 0).select(_BANKS.fieldNames())
        return (
            BankModel(left, self.columns, self._empty, self.buckets),
            ForgottenKeys.of(report),
        )

    def bank(self) -> ModelBank:
        """All models in one bank, here."""
        whole = ModelBank.from_bytes(self._empty)
        for row in self.banks.select("bank").orderBy(_BUCKET).toLocalIterator():
            whole.merge(ModelBank.from_bytes(bytes(row["bank"])))
        return whole

    def model(self, key: int | str) -> Any:
        """The model of one key, an ordinary one; a ValueError if there is none."""
        spark = self.banks.sparkSession
        kind = "long" if isinstance(key, int) else "string"
        asked = spark.createDataFrame([(key,)], f"`{self.columns.key}` {kind}")
        found = asked.select(self._bucket(asked)).join(self.banks, _BUCKET).select("bank").collect()
        held = ModelBank.from_bytes(bytes(found[0]["bank"]) if found else self._empty)
        return held.model(key)

    def _bucket(self, df: DataFrame) -> Column:
        return _bucket(df, str(self.columns.key), self.buckets)


@dataclass(frozen=True)
class ForgottenKeys:
    """What was forgotten, and from which banks: to be kept, and held against the banks later.

    Attributes
    ----------
    keys : tuple, the keys whose models are gone
    absent : tuple, the keys that had none
    rows : int, the examples that were learned for them
    before, after : dict of bucket to the SHA-256 of its bank
        Of the banks that had one of the keys; a bank that is left empty is gone.
    """

    keys: tuple[int | str, ...]
    absent: tuple[int | str, ...]
    rows: int
    before: dict[int, str]
    after: dict[int, str]

    @staticmethod
    def of(report: Iterable[Any]) -> ForgottenKeys:
        """From the rows that the buckets give of themselves."""
        rows = sorted(report, key=lambda row: row[_BUCKET])
        told = [(json.loads(row["forgotten"]), json.loads(row["absent"])) for row in rows]
        changed = [row for row, (keys, _) in zip(rows, told, strict=True) if keys]
        return ForgottenKeys(
            tuple(key for keys, _ in told for key in keys),
            tuple(key for _, keys in told for key in keys),
            sum(row["gone"] for row in rows),
            {row[_BUCKET]: row["before"] for row in changed},
            {row[_BUCKET]: row["after"] for row in changed if row["models"]},
        )

    def holds_for(self, model: BankModel) -> bool:
        """Whether the banks of these buckets are those that were left, without the keys."""
        places = list(self.before)
        now = model.banks.where(F.col(_BUCKET).isin(places)).select(_BUCKET, "bank").collect()
        found = {row[_BUCKET]: hashlib.sha256(row["bank"]).hexdigest() for row in now}
        gone = frozenset(self.keys)
        held = (key for row in now for key in ModelBank.from_bytes(bytes(row["bank"])))
        return found == self.after and not any(key in gone for key in held)


def learn_by_key(
    df: DataFrame,
    key: str,
    model: Any,
    features: Sequence[str],
    label: str | None = None,
    *,
    order: str | Sequence[str],
    buckets: int = _BUCKETS,
) -> DataFrame:
    """Learn a model for each key from a stream: the state of each bucket is one bank.

    Spark keeps the state and counts every row once, whatever fails. A micro-batch gives the banks
    that changed in it, as `BankModel` takes them: write the newest of each bucket to a table.
    The store of the state must be RocksDB
    (``spark.sql.streaming.stateStore.providerClass``), and `protobuf` installed. Within a batch the
    rows of a key are learned by the order; a batch costs some milliseconds for each bucket that
    has rows, and reading and writing its bank.

    Parameters
    ----------
    df : streaming DataFrame
    features : list of str
        Columns of numbers.
    key, model, label, order, buckets
        As for `fit_by_key`.

    Returns
    -------
    streaming DataFrame of bucket, models, rows, bank

    Examples
    --------
    ::

        changed = learn_by_key(events, "user", model, ["x", "y"], "clicked", order="time")
        changed.writeStream.outputMode("update").foreachBatch(keep_newest).start()
    """
    columns = Columns(features, label, None, key)
    by = _names(order)
    columns.demand_in(df.columns)
    Columns(by).demand_in(df.columns)
    teacher = Teacher(columns, by, ModelBank(model).to_bytes())
    wanted = [_quoted(name) for name in dict.fromkeys((*columns.names, *by))]
    dealt = df.select(_bucket(df, key, check_count("buckets", buckets)), *wanted)
    return dealt.groupBy(_BUCKET).transformWithState(
        StatefulTeacher(teacher), _BANKS, outputMode="Update", timeMode="None"
    )


# --- on the executors -------------------------------------------------------------------------


@dataclass(frozen=True)
class Teacher:
    """Teaches a bucket its rows."""

    columns: Columns
    order: tuple[str, ...]
    empty: bytes

    def learn(self, place: tuple[Any, ...], table: Any) -> Any:
        bank = self.taught(ModelBank.from_bytes(self.empty), table)
        return pa.Table.from_pylist([_row(place[0].as_py(), bank)], schema=_ARROW)

    def taught(self, bank: ModelBank, table: Any) -> ModelBank:
        """A bank that has learned the rows of a table, in order."""
        rows = self.columns.read(table.sort_by([(name, "ascending") for name in self.order]))
        return bank.learn_many(rows.keys, rows.X, rows.y, rows.weight)


class StatefulTeacher(StatefulProcessor):
    """Teaches a bucket its rows of each micro-batch; its state is a bank."""

    def __init__(self, teacher: Teacher) -> None:
        self._teacher = teacher

    def init(self, handle: StatefulProcessorHandle) -> None:
        self._state = handle.getValueState("bank", StructType([_BANKS["bank"]]))

    def handleInputRows(self, key: Any, rows: Iterator[Any], timerValues: Any) -> Iterator[Any]:
        kept = self._state.get() if self._state.exists() else None
        held = self._teacher.empty if kept is None else bytes(kept[0])
        table = pa.Table.from_pylist([row.asDict() for row in rows])
        bank = self._teacher.taught(ModelBank.from_bytes(held), table)
        told = _row(key[0], bank)
        self._state.update((told["bank"],))
        yield Row(**told)

    def close(self) -> None:
        pass


@dataclass(frozen=True)
class Teller:
    """Answers for the rows of a bucket by its bank."""

    columns: Columns
    empty: bytes
    wanted: tuple[tuple[str, str], ...]  # what, and the name of its column

    def tell(self, place: tuple[Any, ...], table: Any, banks: Any) -> Any:
        held = banks.column("bank").to_pylist()
        bank = ModelBank.from_bytes(held[0] if held else self.empty)
        rows = self.columns.read(table)
        table = table.drop_columns([_BUCKET])
        for what, name in self.wanted:
            verb = bank.predict if what == "prediction" else bank.decision_function
            values = verb(rows.keys, rows.X) if table.num_rows else np.empty(0)
            table = table.append_column(name, _arrow(values))
        return table


@dataclass(frozen=True)
class Eraser:
    """Forgets keys of a bucket, and says what it forgot."""

    key: str
    empty: bytes

    def forget(self, place: tuple[Any, ...], banks: Any, keys: Any) -> Any:
        held = banks.column("bank").to_pylist()
        data = held[0] if held else self.empty
        wanted = read_keys(keys.column(self.key).combine_chunks(), self.key).tolist()
        if not wanted:
            row = {name: banks.column(name)[0].as_py() for name in _BANKS.fieldNames()}
            return pa.Table.from_pylist([row], schema=_ARROW_FORGOTTEN)
        bank = ModelBank.from_bytes(data)
        gone = sorted(key for key in wanted if key in bank)
        absent = sorted(key for key in wanted if key not in bank)
        seen = bank.n_seen_
        told = _row(place[0].as_py(), bank.forget(gone) if gone else bank)
        report = {
            "before": hashlib.sha256(data).hexdigest(),
            "forgotten": json.dumps(gone),
            "absent": json.dumps(absent),
            "gone": seen - bank.n_seen_,
        }
        return pa.Table.from_pylist([told | report], schema=_ARROW_FORGOTTEN)


_ARROW = pa.schema(
    [(_BUCKET, pa.int32()), ("models", pa.int64()), ("rows", pa.int64()), ("bank", pa.binary())]
)
_ARROW_FORGOTTEN = pa.schema(
    [
        *_ARROW,
        ("before", pa.string()),
        ("forgotten", pa.string()),
        ("absent", pa.string()),
        ("gone", pa.int64()),
    ]
)


def _row(bucket: int, bank: ModelBank) -> dict[str, Any]:
    return {
        _BUCKET: bucket,
        "models": len(bank),
        "rows": bank.n_seen_,
        "bank": bank.to_bytes(),
    }


# Spark counts the arguments of a function, and counts the self of a method among them.
def _of_two(method: Callable[..., Any]) -> Callable[..., Any]:
    return lambda place, rows: method(place, rows)


def _of_three(method: Callable[..., Any]) -> Callable[..., Any]:
    return lambda place, rows, others: method(place, rows, others)


def _bucket(df: DataFrame, key: str, buckets: int) -> Column:
    """Where a key belongs: the same for every DataFrame, of short numbers and of long ones."""
    whole = isinstance(df.schema[key].dataType, IntegralType)
    plain = _quoted(key).cast("long" if whole else "string")
    return F.pmod(F.xxhash64(plain), F.lit(buckets)).cast("int").alias(_BUCKET)


def _partitions(df: DataFrame) -> int:
    wanted = df.sparkSession.conf.get("spark.sql.shuffle.partitions")
    assert wanted is not None  # it has a default
    return int(wanted)


def _type_of(model: Any, what: str) -> DataType:
    """Of a column of answers."""
    classes = getattr(model, "classes", None)
    if classes is None:
        plain = what == "decision" or not hasattr(model, "decision_function")
        return DoubleType() if plain else LongType()
    if what == "decision":
        return ArrayType(DoubleType()) if len(classes) > 2 else DoubleType()
    return _LABELS[np.asarray(classes).dtype.kind]


def _names(names: str | Sequence[str]) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else tuple(names)


def _quoted(name: str) -> Column:
    return F.col("`" + name.replace("`", "``") + "`")
