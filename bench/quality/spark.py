"""What Spark adds and what a second executor gives: prediction, banks, the cascade. Needs Java.

Predicting 1,000,000 rows of ten features through Spark, against the library alone over the same
rows plus the same job with a function that answers nothing: by the CPU time of every process, by
turns. Then one executor against two, each bound to one core: 8,000,000 predictions, a model for
each of 100,000 keys, and the cascade on MNIST (8 against the rest, 60,000 rows) and covtype (40,000
rows) beside SmoSVC in this process.

Seconds by the clock need a quiet machine; the driver is bound to no core. On a busy one read the
other ratio: CPU seconds of the driver and the busiest executor, which is what the clock would show
if nobody had to wait, and executors never waited for each other within a round.
`--only overhead`, `predict`, `by_key`, `mnist` or `covtype` runs a part of it.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import DoubleType

from bench.common import Lap, Options, Report, benchmark
from bench.speed.bank import make, one_bank, stream
from bench.speed.digits import DIGIT, against_the_rest, digits
from bench.speed.features import covtype
from onlinesvm import RampSVC, SmoSVC
from onlinesvm.cluster import cascade
from onlinesvm.cluster.spark import Columns, SparkParts, fit_by_key, local_session, transform
from onlinesvm.cluster.spark.local import executors, processes_below
from onlinesvm.cluster.spark.predicting import _udf

FEATURES = [f"x{j}" for j in range(10)]
ALONE, ONE, TWO = "the library alone", "1 executor", "2 executors"
DRIVER = {"spark_driver_memory": "4g"}  # it holds the rows of every case
_TICK = os.sysconf("SC_CLK_TCK")


class Cost(NamedTuple):
    """Of one run: seconds by the clock, CPU seconds of the driver and of each executor."""

    seconds: float
    driver: float
    executors: list[float]

    @property
    def cpu(self) -> float:
        return self.driver + sum(self.executors)

    @property
    def path(self) -> float:
        """What nobody can do at the same time: the driver's part, and that of the busiest."""
        return self.driver + max(self.executors, default=0.0)


def cpu_of(pid: int) -> float:
    """CPU seconds of a process and of its children that have ended."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            fields = file.read().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return sum(map(int, fields[11:15])) / _TICK


def cpu_by_place(spark: SparkSession) -> tuple[float, dict[int, float]]:
    """CPU seconds so far: of the driver (this process and its JVM), and of each executor."""
    places = {pid: sum(map(cpu_of, (pid, *processes_below(pid)))) for pid in executors(spark)}
    everything = sum(map(cpu_of, (os.getpid(), *processes_below(os.getpid()))))
    return everything - sum(places.values()), places


def costed(spark: SparkSession, run: Callable[[], Any]) -> tuple[Cost, Any]:
    driver, places = cpu_by_place(spark)
    start = time.perf_counter()
    product = run()
    seconds = time.perf_counter() - start
    driver_after, after = cpu_by_place(spark)
    spent = [after[pid] - places.get(pid, 0.0) for pid in after]
    return Cost(seconds, driver_after - driver, spent), product


def pin(spark: SparkSession) -> None:
    """One core for each executor: for its JVM and for the Python workers that this will start."""
    cores = sorted(os.sched_getaffinity(0))
    for place, pid in enumerate(executors(spark)):
        for thread in Path(f"/proc/{pid}/task").iterdir():
            os.sched_setaffinity(int(thread.name), {cores[place % len(cores)]})


def by_turns(
    spark: SparkSession, runs: dict[str, Callable[[], Any]], repeats: int
) -> dict[str, list[float]]:
    """CPU seconds of several jobs, round by round: what the JVM still compiles or collects falls on
    all of them alike. Three rounds before are not counted."""
    for _ in range(3):
        for run in runs.values():
            run()
    spent: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(repeats):
        for name, run in runs.items():
            spent[name].append(costed(spark, run)[0].cpu)
    return spent


def soonest(
    spark: SparkSession, run: Callable[[], Any], *, warm: int, repeats: int
) -> tuple[Cost, Any]:
    """The quickest of several runs, by the clock; some before are for the JVMs to warm up."""
    for _ in range(warm):
        run()
    return min((costed(spark, run) for _ in range(repeats)), key=lambda one: one[0].seconds)


# --- prediction -------------------------------------------------------------------------------


def model() -> RampSVC:
    X = np.random.default_rng(0).uniform(-1, 1, size=(2_000, 10))
    return RampSVC(C=10, gamma=0.5).fit(X, X[:, 0] * X[:, 1] + 0.2 * X[:, 2] > 0)


def wide(spark: SparkSession, n: int, parts: int) -> DataFrame:
    numbers = spark.range(n, numPartitions=parts)
    return numbers.select("id", *(F.rand(seed=j).alias(name) for j, name in enumerate(FEATURES)))


def kept(df: DataFrame) -> DataFrame:
    df.persist().count()
    return df


def _nothing(batches: Any) -> Any:
    for arrays in batches:
        yield pa.array(np.zeros(len(arrays[0])))


def spend(df: DataFrame) -> None:
    df.write.format("noop").mode("overwrite").save()


def predicted_alone(machine: RampSVC, n: int, repeats: int) -> list[float]:
    """CPU seconds of the library over as many rows."""
    X = np.random.default_rng(1).uniform(size=(n, 10))
    took = []
    for _ in range(repeats):
        start = time.process_time()
        for at in range(0, n, 10_000):  # as many as a batch of Spark's has
            machine.decision_function(X[at : at + 10_000])
        took.append(time.process_time() - start)
    return took


def overhead(report: Report, options: Options) -> None:
    """CPU seconds through Spark against those of the library and of an empty job."""
    n, rounds = options.size(1_000_000, 20_000), options.size(9, 1)
    spark = local_session("local[1]", **DRIVER)
    machine = model()
    df = kept(wide(spark, n, 4))
    empty = _udf(_nothing, DoubleType())
    bare, through = "an empty job of Spark's", "through Spark"
    spent = by_turns(
        spark,
        {
            bare: lambda: spend(df.withColumn("f", empty(*FEATURES))),
            # Decision values alone, as the library beside it.
            through: lambda: spend(transform(df, machine, FEATURES, prediction=None, decision="f")),
        },
        rounds,
    )
    spark.stop()
    spent = {ALONE: predicted_alone(machine, n, rounds)} | spent
    laps = {name: Lap(seconds, None) for name, seconds in spent.items()}
    facts = {through: {"support_vectors": int(sum(machine.n_support_))}}
    report.add(f"{n:,} rows, CPU seconds", laps, facts=facts, units=n)
    middle = {name: float(np.median(seconds)) for name, seconds in spent.items()}
    ratio = middle[through] / (middle[ALONE] + middle[bare])
    report.bar("CPU through Spark / (library + empty job)", ratio, at_most=1.3)


# --- one executor against two -----------------------------------------------------------------


def both(report: Report, case: str, laps: dict[str, Cost], at_least: float, alone: float) -> None:
    facts = {name: {"cpu_s": cost.cpu, "path_cpu_s": cost.path} for name, cost in laps.items()}
    shown = {name: Lap([cost.seconds], None) for name, cost in laps.items()}
    report.add(case, shown | {ALONE: Lap([alone], None)}, facts=facts)
    gain = laps[ONE].seconds / laps[TWO].seconds
    report.bar(f"{case}: 2 executors, times as fast by the clock", gain, at_least=at_least)
    gain = laps[ONE].path / laps[TWO].path
    report.bar(f"{case}: the same by CPU on the path", gain, at_least=at_least)


def over_executors(job: Callable[[SparkSession], Callable[[], Any]], repeats: int) -> Any:
    """The cost with one executor and with two, and what came out."""
    costs, products = {}, {}
    for count, name in ((1, ONE), (2, TWO)):
        spark = local_session(
            f"local-cluster[{count},1,2048]",
            **DRIVER,
            spark_executor_memory="2048m",
            # Rows stay where they were cached: all executors must be there before that.
            spark_cores_max=count,
            spark_scheduler_minRegisteredResourcesRatio=1.0,
            spark_sql_shuffle_partitions=16,  # all alike; each more is a tenth of a CPU second
            spark_sql_files_maxPartitionBytes="24m",  # small enough to be dealt evenly
        )
        pin(spark)
        # Of two executors each does half of a run, and has as much to compile.
        warm = min(repeats, 3) * count
        costs[name], products[name] = soonest(spark, job(spark), warm=warm, repeats=repeats)
        spark.stop()
    return costs, products


def predict(report: Report, options: Options) -> None:
    n, machine = options.size(8_000_000, 20_000), model()

    # Rows in files go to whoever is free. Those that executors keep stay where they are, and never
    # lay so evenly that both ended at the same time.
    with TemporaryDirectory() as folder:

        def job(spark: SparkSession) -> Callable[[], Any]:
            wide(spark, n, 32).write.mode("overwrite").parquet(folder)
            df = spark.read.parquet(folder)
            return lambda: spend(transform(df, machine, FEATURES, decision="f"))

        costs, _ = over_executors(job, options.repeats)
    both(
        report, f"predict {n:,} rows", costs, 1.6, min(predicted_alone(machine, n, options.repeats))
    )


def by_key(report: Report, options: Options) -> None:
    keys, X, y = stream(options)
    columns = {"key": keys, "at": np.arange(len(keys)), "y": y}
    table = pa.table(columns | {name: X[:, j] for j, name in enumerate(FEATURES)})

    def job(spark: SparkSession) -> Callable[[], Any]:
        df = spark.createDataFrame(table).repartition(32).persist()
        df.count()

        def fit() -> int:
            fitted = fit_by_key(df, "key", make(), FEATURES, "y", order="at")
            models = fitted.banks.agg({"models": "sum"}).collect()[0][0]
            fitted.banks.unpersist(blocking=True)
            return int(models)

        return fit

    costs, products = over_executors(job, options.repeats)
    assert set(products.values()) == {len(set(keys.tolist()))}, "a key has no model"
    start = time.process_time()
    one_bank(keys, X, y)
    alone = time.process_time() - start
    both(report, f"a model for each of {products[ONE]:,} keys", costs, 1.6, alone)


def learn(report: Report, options: Options, case: str, X: Any, y: Any, **params: Any) -> None:
    machine = SmoSVC(**params)
    start = time.process_time()
    one = machine.fit(X, y)
    alone = time.process_time() - start

    def job(spark: SparkSession) -> Callable[[], Any]:
        ends = pa.array(np.arange(0, X.size + 1, X.shape[1], dtype=np.int32))
        lists = pa.ListArray.from_arrays(ends, pa.array(X.ravel()))
        df = spark.createDataFrame(pa.table({"f": lists, "y": y}))
        parts = SparkParts(df.repartition(2), Columns("f", "y"))
        return lambda: cascade(parts, SmoSVC(**params))

    costs, products = over_executors(job, 1)
    both(report, case, costs, 1.4, alone)
    probe = X[:2_000]
    distance = np.abs(
        products[TWO].model.decision_function(probe) - one.decision_function(probe)
    ).max()
    report.note(
        f"{case}: furthest from one machine's {distance:.2g}, {products[TWO].rounds} rounds"
    )


@benchmark("Through Spark, and over two executors", ALONE, repeats=2)
def main(report: Report, options: Options) -> None:
    if options.wants("overhead"):
        overhead(report, options)
    if options.wants("predict"):
        predict(report, options)
    if options.wants("by_key"):
        by_key(report, options)
    if options.wants("mnist"):
        data = against_the_rest(digits(options), DIGIT)
        case = f"cascade, MNIST {DIGIT}, {len(data.y_train):,} rows"
        learn(report, options, case, data.X_train, data.y_train, C=10.0, gamma=0.02)
    if options.wants("covtype"):
        rows = covtype(options.size(40_000, 1_000)).single()
        case = f"cascade, covtype, {len(rows.y):,} rows"
        learn(report, options, case, rows.X, rows.y, C=10.0, gamma=0.05)
