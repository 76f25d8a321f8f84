"""A model for each of 100,000 keys, 20 rows each: one bank against a loop over single models.

learn      the same rows through one `ModelBank`, and through a dict of models by `learn_one`
predict    one row for each key, by the bank and by the models of the dict
save       a bank to bytes and back, against SHA-256 of as many bytes, which both take once, and
           against a plain copy
spark      `fit_by_key` on two threads of this machine against the same loop; where Spark is. The
           processor time counts, of the JVM and of every Python worker.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from bench.common import Options, Report, benchmark, race

KEYS, ROWS, FEATURES, CLASSES = 100_000, 20, 10, [0, 1]


def stream(options: Options) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(0)
    n_keys = options.size(KEYS, 2000)
    keys = rng.permutation(np.repeat(np.arange(n_keys), ROWS))
    X = rng.standard_normal((len(keys), FEATURES))
    tastes = rng.standard_normal((n_keys, FEATURES))
    return keys, X, (np.einsum("ij,ij->i", X, tastes[keys]) > 0).astype(np.int64)


def make() -> Any:
    from onlinesvm import PassiveAggressiveClassifier

    return PassiveAggressiveClassifier(classes=CLASSES)


def loop(keys: Any, X: Any, y: Any) -> dict[int, Any]:
    """One model for each key, in plain Python."""
    models: dict[int, Any] = {}
    for key, x, label in zip(keys.tolist(), X, y.tolist(), strict=True):
        model = models.get(key)
        if model is None:
            model = models[key] = make()
        model.learn_one(x, label)
    return models


def one_bank(keys: Any, X: Any, y: Any) -> Any:
    from onlinesvm import ModelBank

    return ModelBank(make()).learn_many(keys, X, y)


def contest(report: Report, options: Options) -> None:
    keys, X, y = stream(options)
    laps = race(
        {"bank": lambda: one_bank(keys, X, y), "loop": lambda: loop(keys, X, y)},
        repeats=options.repeats,
        clock=time.process_time,
    )
    bank, models = laps["bank"].product, laps["loop"].product
    for key in keys[:: len(keys) // 50].tolist():
        alone, held = models[key]._core.state(), bank.model(key)._core.state()
        assert all(np.array_equal(alone[name], held[name]) for name in alone), "not the same bits"
    facts = {"bank": {"MB": bank.nbytes_ / 1e6}}
    report.add("learn", laps, facts=facts, units=len(keys))
    report.bar("learn: times as fast as a loop", report.speed_up("learn", "bank"), at_least=5)

    asked = np.arange(len(models))
    rows = X[: len(asked)]
    laps = race(
        {
            "bank": lambda: bank.predict(asked, rows),
            "loop": lambda: [
                models[key].predict_one(x) for key, x in zip(asked.tolist(), rows, strict=True)
            ],
        },
        repeats=options.repeats,
        clock=time.process_time,
    )
    assert laps["bank"].product.tolist() == laps["loop"].product, "not the same answers"
    report.add("predict", laps, units=len(asked))


def saving(report: Report, options: Options) -> None:
    from onlinesvm import ModelBank

    bank = one_bank(*stream(options))
    data = bank.to_bytes()
    flat = np.frombuffer(data, dtype=np.uint8)
    contestants: dict[str, Callable[[], Any]] = {
        "to_bytes": bank.to_bytes,
        "from_bytes": lambda: ModelBank.from_bytes(data),
        "pack and check": lambda: bank._core.load(**bank._core.state()),
        "SHA-256": lambda: hashlib.sha256(flat.data).digest(),
        "loop": flat.copy,
    }
    laps = race(contestants, repeats=options.repeats, clock=time.process_time)
    facts = {name: {"GB/s": len(data) / lap.best / 1e9} for name, lap in laps.items()}
    report.add("save", laps, facts=facts)
    report.note(f"save: {len(data) / 1e6:.0f} MB of {len(bank):,} models; 'loop' is a plain copy")


def on_spark(report: Report, options: Options) -> None:
    try:
        from onlinesvm.cluster.spark.local import local_session, why_no_spark

        why = why_no_spark()
    except ImportError as missing:
        why = str(missing)
    if why is not None:
        report.note(f"spark: left out, {why}")
        return
    import psutil
    import pyarrow as pa

    from onlinesvm.cluster.spark import fit_by_key

    keys, X, y = stream(options)
    table = pa.table(
        {"key": keys, "at": np.arange(len(keys)), "y": y}
        | {f"x{j}": X[:, j] for j in range(FEATURES)}
    )
    spark = local_session("local[2]", spark_driver_memory="4g")
    names = [f"x{j}" for j in range(FEATURES)]
    df = spark.createDataFrame(table).repartition(4).persist()
    df.count()

    def processor_time() -> float:
        me = psutil.Process()
        total = sum(me.cpu_times()[:4])
        for child in me.children(recursive=True):
            total += sum(child.cpu_times()[:4])
        return float(total)

    def fit() -> int:
        fitted = fit_by_key(df, "key", make(), names, "y", order="at", buckets=16)
        total = fitted.banks.agg({"models": "sum"}).collect()[0][0]
        fitted.banks.unpersist()
        return int(total)

    contestants: dict[str, Callable[[], Any]] = {"spark": fit, "loop": lambda: loop(keys, X, y)}
    laps = race(contestants, repeats=options.repeats, clock=processor_time)
    assert laps["spark"].product == len(laps["loop"].product)
    report.add("spark", laps, units=len(keys))
    report.bar("spark: processor time over a loop's", report.ratio("spark", "spark"), at_most=5)
    spark.stop()


@benchmark("a model for each key", "loop")
def main(report: Report, options: Options) -> None:
    for case, run in (("learn", contest), ("save", saving), ("spark", on_spark)):
        if options.wants(case):
            run(report, options)
