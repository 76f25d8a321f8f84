"""Spark on this machine alone: to try things out, for tests and for benchmarks."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

__all__ = ["executors", "local_session", "processes_below", "why_no_spark"]

_HERE = "127.0.0.1"


def why_no_spark() -> str | None:
    """Why Spark cannot be started here, in a few words; None if it can."""
    home = os.environ.get("JAVA_HOME")
    has_java = os.access(f"{home}/bin/java", os.X_OK) if home else shutil.which("java")
    return None if has_java else "no Java for Spark; install a JRE of version 17 or later"


def local_session(master: str = "local[2]", **settings: Any) -> SparkSession:
    """A session on this machine that needs neither a network name nor a free port of its choice.

    Parameters
    ----------
    master : str
        ``"local[2]"`` is one process with two threads, ready in some ten seconds;
        ``"local-cluster[2,1,1024]"`` two executors of one core and 1024 MiB each, real processes
        that can be killed, in some thirty.
    settings
        Of Spark, with ``_`` for ``.``: ``spark_sql_shuffle_partitions=4``.
    """
    if (why := why_no_spark()) is not None:
        raise RuntimeError(why)
    os.environ.setdefault("SPARK_LOCAL_IP", _HERE)
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    wanted = {
        "spark.driver.host": _HERE,
        "spark.driver.bindAddress": _HERE,
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": "4",
    } | {name.replace("_", "."): str(value) for name, value in settings.items()}
    builder = SparkSession.builder.master(master).appName("onlinesvm")
    for name, value in wanted.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    return spark


# --- the processes of a session, where there is /proc ------------------------------------------


def executors(spark: SparkSession) -> list[int]:
    """The processes of the executors that a session on a ``local-cluster`` has started."""
    gateway: Any = spark.sparkContext._gateway
    return sorted(
        pid
        for pid in processes_below(gateway.proc.pid)
        if b"CoarseGrainedExecutorBackend" in _command(pid)
    )


def processes_below(parent: int) -> list[int]:
    """All processes that a process has started, and those that they have."""
    below: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                stat = (entry / "stat").read_text()
            except OSError:  # it has just ended
                continue
            above = int(stat.rpartition(")")[2].split()[1])
            below.setdefault(above, []).append(int(entry.name))
    found: list[int] = []
    waiting = [parent]
    while waiting:
        started = below.get(waiting.pop(), [])
        waiting += started
        found += started
    return found


def _command(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""
