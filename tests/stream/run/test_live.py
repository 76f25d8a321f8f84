"""Runs over brokers and standard input, killed and resumed: real servers, real pipes."""

from __future__ import annotations

import json
import multiprocessing
import random
import subprocess
import sys
from pathlib import Path

import pytest
from doubles import LABELS, a_model, outcome, stream
from stream.sources.servers import nats_server, redis_server

from onlinesvm.stream.run import Run, RunOptions, read_run
from onlinesvm.stream.sources import open_source

ROOT = Path(__file__).parents[3]
KILLS = 3  # of each word of fsync


def messages(rows=2500):
    X, y = stream(rows)
    for i, (x, label) in enumerate(zip(X.tolist(), y.tolist(), strict=True)):
        good = dict(zip("abc", x, strict=True)) | {"y": label}
        yield "{" if i % 113 == 50 else json.dumps(good)


def to_redis(port):
    import redis

    with redis.Redis(port=port) as client:
        pipe = client.pipeline()
        for message in messages():
            pipe.xadd("sales", {"json": message})
        pipe.execute()
    return f"redis://127.0.0.1:{port}/sales"


def to_nats(port):
    import asyncio

    import nats

    async def publish():
        client = await nats.connect(f"nats://127.0.0.1:{port}")
        stream = client.jetstream()
        await stream.add_stream(name="sales", subjects=["sales.*"])
        for message in messages():
            await stream.publish("sales.a", message.encode())
        await client.close()

    asyncio.run(publish())
    return f"nats://127.0.0.1:{port}/sales"


def go_on(folder, address, fsync, told):
    """Begin or resume, and learn until the broker has nothing more to say."""
    if (folder / "run.json").exists():
        source = open_source(address, target="y", schema=read_run(folder).schema)
        run = Run.resume(folder, source)
    else:
        options = RunOptions(
            classes=LABELS,
            lesson=64,
            every=90,
            silence="end",
            fsync=fsync,
            checkpoint_seconds=1e-3,
        )
        run = Run.begin(folder, open_source(address, target="y"), a_model(), options)
    with run:
        for moment in run.steps():
            told.send(moment.seen)


def forked(*given):
    """A process that goes on with a run, and where it tells of moments."""
    context = multiprocessing.get_context("fork")
    here, there = context.Pipe(duplex=False)
    process = context.Process(target=go_on, args=(*given, there))
    process.start()
    there.close()
    return process, here


@pytest.mark.slow
@pytest.mark.parametrize(("server", "filled"), [(redis_server, to_redis), (nats_server, to_nats)])
def test_a_broker_and_a_run_that_is_killed(tmp_path, server, filled):
    with server(tmp_path) as port:
        address = filled(port)
        rng = random.Random(1)
        for fsync in ("whole", "always", "interval", "never"):
            folder = tmp_path / fsync
            words = (folder, address, "never" if fsync == "whole" else fsync)
            for _ in range(0 if fsync == "whole" else KILLS):
                process, told = forked(*words)
                for _ in range(rng.randrange(1, 6)):  # so many moments, then no more
                    if told.poll(60):
                        told.recv()
                process.kill()
                process.join()
            process, told = forked(*words)
            process.join()
            assert process.exitcode == 0
            assert outcome(folder) == outcome(tmp_path / "whole"), fsync
    assert read_run(tmp_path / "whole").checkpoint().arrived == 2500


@pytest.mark.slow
def test_standard_input_goes_on_where_it_was_cut(tmp_path):
    pytest.importorskip("pyarrow")
    lines = [m + "\n" for m in messages(6000)]
    program = f"""
import sys
sys.path.insert(0, {str(ROOT / "tests")!r})
from doubles import LABELS, a_model
from onlinesvm.stream.run import Run, RunOptions, read_run
from onlinesvm.stream.sources import open_source

folder, stop = sys.argv[1], int(sys.argv[2])
words = dict(target="y", format="jsonl")
if stop < 0:
    run = Run.resume(folder, open_source("-", schema=read_run(folder).schema, **words))
else:
    options = RunOptions(classes=LABELS, every=90)
    run = Run.begin(folder, open_source("-", **words), a_model(), options)
for moment in run.steps():
    if 0 <= stop <= moment.seen:
        print(run.arrived, flush=True)
        import os
        os._exit(9)
run.close()
"""

    def fed(folder, stop, start):
        done = subprocess.run(
            [sys.executable, "-c", program, str(folder), str(stop)],
            input="".join(lines[start:]),
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == (0 if stop in (-1, 10**9) else 9), done.stderr[-2000:]
        return int(done.stdout or 0)

    fed(tmp_path / "whole", 10**9, 0)
    arrived = fed(tmp_path / "cut", 300, 0)
    assert 300 <= arrived < 6000
    fed(tmp_path / "cut", -1, arrived)
    assert outcome(tmp_path / "cut")[:2] == outcome(tmp_path / "whole")[:2]
    # Lines are counted from where the pipe was fed anew.
    cut, whole = (len(list(read_run(tmp_path / f).dead_letters())) for f in ("cut", "whole"))
    assert cut == whole == len([line for line in lines if line == "{\n"])
