"""Kill Spark's executors at random moments and see that nothing changes: the same bits come out.

    python tools/kill_executors.py --kills 50 --seed 1      # kill -9, drawn anew for each scenario
    python tools/kill_executors.py --only stream            # fit, unlearn, predict, by_key, or
    python tools/kill_executors.py --only keys_stream

Each scenario runs once undisturbed and then again and again while executors die, until so many
were killed: a cascade over partitions that came by a shuffle, unlearning over it, predictions,
micro-batches that executors prepare and a `StreamLearner` learns, a model for each key, and the
same from micro-batches, where executors keep the banks as Spark's state. Model, certificate,
metrics and answers must be those of the undisturbed run, byte for byte, and no row may have been
learned twice. Only processes that this program's own Spark has started are killed. A finding ends
with status 1.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from onlinesvm import (
    ModelBank,
    OnlineScaler,
    PassiveAggressiveClassifier,
    RampSVC,
    SmoSVC,
    make_online_pipeline,
)
from onlinesvm.cluster.spark import (
    Columns,
    SparkParts,
    StreamLearner,
    fit_by_key,
    learn_by_key,
    local_session,
    transform,
)
from onlinesvm.cluster.spark.local import executors, processes_below
from onlinesvm.stream.run import RunOptions

MASTER = "local-cluster[2,1,1024]"
PER_TURN = 5
PATIENT = {  # Spark gives up after a few failures in a row, which here are not the program's
    "spark_task_maxFailures": 1000,
    "spark_stage_maxConsecutiveAttempts": 1000,
    "spark_deploy_maxExecutorRetries": -1,
    "spark_sql_streaming_stateStore_providerClass": (
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    ),
}


def works(pid: int) -> bool:
    """Whether an executor is past its start: it has Python workers."""
    return bool(processes_below(pid))


class Killer(threading.Thread):
    """Kills an executor now and then, as long as it is in its ``with`` block."""

    def __init__(self, spark: SparkSession, seed: int, most: int, pause: float = 3.0) -> None:
        super().__init__(daemon=True)
        self._spark, self._draw = spark, random.Random(seed)
        self._most, self._pause, self._over = most, pause, threading.Event()
        self.kills = 0

    def run(self) -> None:
        while self.kills < self._most:
            if self._over.wait(self._draw.uniform(0.0, 2 * self._pause)):
                return
            alive = [pid for pid in executors(self._spark) if works(pid)]
            if alive:
                os.kill(self._draw.choice(alive), signal.SIGKILL)
                self.kills += 1

    def __enter__(self) -> Killer:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self.join()


# --- what is disturbed ------------------------------------------------------------------------


def table(n: int) -> Any:
    X = np.random.default_rng(0).normal(size=(n, 4))
    y = X[:, 0] * X[:, 1] + 0.3 * X[:, 2] > 0
    columns = {f"x{j}": X[:, j] for j in range(4)} | {"y": y, "who": np.arange(n) // 20}
    return pa.table(columns)


def rows(spark: SparkSession, n: int = 3000) -> DataFrame:
    return spark.createDataFrame(table(n)).repartition(4, "who")


FEATURES = [f"x{j}" for j in range(4)]


def saved(model: Any) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        model.save(f"{folder}/model")
        return Path(f"{folder}/model").read_bytes()


def fit(spark: SparkSession) -> Any:
    from onlinesvm.cluster import cascade

    with SparkParts(rows(spark), Columns(FEATURES, "y", key="who")) as parts:
        learned = cascade(parts, SmoSVC(C=10, gamma=0.5))
        assert learned.certificate is not None
        return saved(learned.model), replace(learned.certificate, bytes_down=0, seal="")


def unlearn(spark: SparkSession) -> Any:
    from onlinesvm.cluster import cascade, unlearn, verify

    with SparkParts(rows(spark, 1500), Columns(FEATURES, "y", key="who")) as parts:
        learned = cascade(parts, SmoSVC(C=10, gamma=0.5))
        left = unlearn(parts, learned.model, [1, 7, 30])
        assert left.certificate is not None
        assert verify(left.certificate, left.model, parts)
        return saved(left.model), left.certificate.ids_removed, left.certificate.data_hash


def predict(spark: SparkSession) -> Any:
    X = np.random.default_rng(1).normal(size=(500, 4))
    model = SmoSVC(C=10, gamma=0.5).fit(X, X[:, 0] * X[:, 1] > 0)
    wide = spark.range(100_000, numPartitions=24).selectExpr(
        "id", *(f"sin(id * {j + 1}) as x{j}" for j in range(4))
    )
    told = transform(wide, model, FEATURES, decision="score")
    return told.selectExpr("sum(hash(id, score))", "count(*)", "sum(int(prediction))").collect()


def prepared(batches: Iterator[Any]) -> Iterator[Any]:
    """Something that executors do to each row, in Python, before it is learned."""
    for batch in batches:
        doubled = pa.array(batch.column("x0").to_numpy() * 2)
        yield batch.set_column(batch.schema.get_field_index("x0"), "x0", doubled)


SCHEMA = "x0 double, x1 double, x2 double, x3 double, y boolean, who long, time long"


def files(spark: SparkSession, folder: str) -> DataFrame:
    """Ten files of 300 rows as a stream, one file in each micro-batch."""
    source = Path(folder) / "in"
    source.mkdir()
    numbered = table(3000).append_column("time", pa.array(np.arange(3000)))
    for i in range(10):
        part = numbered.slice(300 * i, 300)
        pa.parquet.write_table(part, source / f"{i}.parquet")
        os.utime(source / f"{i}.parquet", (1000 + i, 1000 + i))
    return spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1).parquet(str(source))


def run_through(query: Any, folder: str) -> None:
    """All that is there, to the end; a query that gives up is started again."""
    query = query.option("checkpointLocation", f"{folder}/offsets").trigger(availableNow=True)
    for _ in range(20):
        try:
            return query.start().awaitTermination()
        except StreamingQueryException as gave_up:
            print(f"  started again: {str(gave_up).splitlines()[0][-160:]}", flush=True)
    raise RuntimeError("the query gave up 20 times")


def stream(spark: SparkSession) -> Any:
    """Micro-batches from files through a shuffle and Python workers into one learner."""
    with tempfile.TemporaryDirectory() as folder:
        # The learner's order says how rows are learned: a shuffle delivers them as they arrive.
        came = files(spark, folder).repartition(3).mapInArrow(prepared, SCHEMA)
        model = make_online_pipeline(OnlineScaler(), RampSVC(C=10, gamma=0.5))
        options = RunOptions(classes=[False, True])
        home = Path(folder) / "learned"
        with StreamLearner(model, home, FEATURES, "y", order="time", options=options) as learner:
            run_through(came.writeStream.foreachBatch(learner.learn), folder)
            assert learner.seen == 3000, learner.seen
            return saved(learner.model), learner.metrics()


def keys_stream(spark: SparkSession) -> Any:
    """Micro-batches into a model for each key, whose banks are the state that Spark keeps."""
    newest: dict[int, bytes] = {}

    def keep(batch: DataFrame, _: int) -> None:
        newest.update({row["bucket"]: bytes(row["bank"]) for row in batch.collect()})

    with tempfile.TemporaryDirectory() as folder:
        model = PassiveAggressiveClassifier(classes=[False, True])
        came = files(spark, folder).withColumn("who", F.col("time") % 40)  # in every micro-batch
        changed = learn_by_key(came, "who", model, FEATURES, "y", order="time", buckets=3)
        run_through(changed.writeStream.outputMode("update").foreachBatch(keep), folder)
    bank = ModelBank(model)
    for bucket in sorted(newest):
        bank.merge(ModelBank.from_bytes(newest[bucket]))
    assert bank.n_seen_ == 3000, bank.n_seen_  # each row once
    return newest


def by_key(spark: SparkSession) -> Any:
    """A model for each key: fitted, asked, and some of them forgotten."""
    model = PassiveAggressiveClassifier(classes=[False, True])
    df = rows(spark, 6000).withColumn("at", F.hash("x0", "x1"))  # whatever the partitions are
    fitted = fit_by_key(df, "who", model, FEATURES, "y", order=["at", "x0"], buckets=12)
    told = fitted.transform(df, decision="score").selectExpr("sum(hash(at, score))", "count(*)")
    asked = spark.createDataFrame([(who,) for who in (1, 7, 30)], "who long")
    left, certificate = fitted.forget(asked)
    assert certificate.holds_for(left)
    return fitted.bank().to_bytes(), told.collect(), left.bank().to_bytes(), certificate


SCENARIOS: dict[str, Callable[[SparkSession], Any]] = {
    "fit": fit,
    "unlearn": unlearn,
    "predict": predict,
    "stream": stream,
    "by_key": by_key,
    "keys_stream": keys_stream,
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=50, help="in all scenarios together")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--pause", type=float, default=3.0, help="seconds between kills, mean")
    parser.add_argument("--only", choices=SCENARIOS, nargs="+", default=list(SCENARIOS))
    options = parser.parse_args()
    spark = local_session(MASTER, **PATIENT)
    expected = {name: SCENARIOS[name](spark) for name in options.only}
    print(f"undisturbed: {', '.join(expected)}", flush=True)
    kills, turns, findings, seed = 0, 0, 0, options.seed
    while kills < options.kills:
        for name in options.only:
            most = min(PER_TURN, options.kills - kills)  # or a slow machine would never get there
            with Killer(spark, seed, most, options.pause) as killer:
                came = SCENARIOS[name](spark)
            same = came == expected[name]
            kills, turns, seed = kills + killer.kills, turns + 1, seed + 1
            findings += not same
            verdict = "the same" if same else "DIFFERENT"
            print(f"{name}: {killer.kills} killed, {verdict} ({kills} in all)", flush=True)
            if kills >= options.kills:
                break
    print(f"{kills} executors killed in {turns} turns, {findings} findings, seed {options.seed}")
    spark.stop()
    return min(findings, 1)


if __name__ == "__main__":
    sys.exit(main())
