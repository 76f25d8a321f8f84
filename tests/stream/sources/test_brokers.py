"""Kafka, NATS and Redis: real servers for two, librdkafka's mock cluster for the third."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator

import pytest
from stream.sources.reading import assert_restarts, everything
from stream.sources.servers import free_port, nats_server, redis_server

from onlinesvm.stream.sources import open_source


class Redis:
    scheme = "redis"

    def __init__(self, port):
        import redis

        self.url, self._client = f"redis://127.0.0.1:{port}", redis.Redis(port=port)

    def send(self, name, messages):
        pipe = self._client.pipeline()
        for message in messages:
            pipe.xadd(name, {"json": message})
        pipe.execute()

    def trim(self, name, keep):
        self._client.xtrim(name, maxlen=keep, approximate=False)


class Nats:
    scheme = "nats"

    def __init__(self, port):
        self.url = f"nats://127.0.0.1:{port}"

    def send(self, name, messages):
        asyncio.run(self._send(name, messages))

    async def _send(self, name, messages):
        import nats

        client = await nats.connect(self.url)
        stream = client.jetstream()
        await stream.add_stream(name=name, subjects=[f"{name}.>"])
        for message in messages:
            await stream.publish(f"{name}.a", message.encode())
        await client.close()

    def trim(self, name, keep):
        asyncio.run(self._trim(name, keep))

    async def _trim(self, name, keep):
        import nats

        client = await nats.connect(self.url)
        await client.jetstream().purge_stream(name, keep=keep)
        await client.close()


class Kafka:
    scheme = "kafka"

    def __init__(self):
        from confluent_kafka import Producer

        self._cluster = Producer(
            {"bootstrap.servers": "mock", "test.mock.num.brokers": 1, "log_level": 2}
        )
        (broker,) = self._cluster.list_topics(timeout=30).brokers.values()
        self.url = f"kafka://{broker.host}:{broker.port}"

    def send(self, name, messages):
        for i, message in enumerate(messages):
            self._cluster.produce(name, message, partition=i % 2)
        assert self._cluster.flush(30) == 0


@pytest.fixture(scope="module")
def redis(tmp_path_factory) -> Iterator[Redis]:
    with redis_server(tmp_path_factory.mktemp("redis")) as port:
        yield Redis(port)


@pytest.fixture(scope="module")
def nats(tmp_path_factory) -> Iterator[Nats]:
    with nats_server(tmp_path_factory.mktemp("nats")) as port:
        yield Nats(port)


@pytest.fixture(scope="module")
def kafka() -> Kafka:
    pytest.importorskip("confluent_kafka")
    return Kafka()


@pytest.fixture(params=["redis", "nats", "kafka"])
def broker(request):
    return request.getfixturevalue(request.param)


def rows(start, stop):
    return [
        json.dumps({"a": i, "town": ["Rom", "Bonn"][i % 2], "y": i % 2}) for i in range(start, stop)
    ]


def in_order(found, broker):
    """Kafka keeps the order of each partition only."""
    values = [int(row["a"]) for row in found.X]
    if broker.scheme != "kafka":
        return values
    assert [v for v in values if v % 2 == 0] == sorted(v for v in values if v % 2 == 0)
    assert [v for v in values if v % 2] == sorted(v for v in values if v % 2)
    return sorted(values)


def test_messages_are_rows_from_any_place(broker):
    broker.send("flows", rows(0, 2500))
    source = open_source(f"{broker.url}/flows", target="y")
    assert source.live
    assert source.replays
    assert {c.name: c.kind for c in source.schema.features} == {"a": "number", "town": "category"}
    assert in_order(everything(source), broker) == list(range(2500))
    assert assert_restarts(source) >= 3
    assert max(len(block.examples) for block in source.blocks()) <= 1000
    place = json.loads(json.dumps(list(source.blocks())[-1].end))
    assert everything(source, place).n == 0
    broker.send("flows", rows(2500, 2600))
    again = open_source(f"{broker.url}/flows", schema=source.schema)
    assert in_order(everything(again, place), broker) == list(range(2500, 2600))
    assert again.identity() == source.identity()
    again.close()


def test_bad_messages_are_told(broker):
    broker.send(
        "bad", [*rows(0, 40), '{"a": "x", "town": "Rom", "y": 1}', "nonsense", *rows(40, 50)]
    )
    found = everything(open_source(f"{broker.url}/bad", target="y"))
    assert found.n == 50
    assert sorted(bad.reason[:12] for bad in found.bad) == ["'x' is no nu", "is no JSON: "]
    assert all(bad.file for bad in found.bad)
    assert {bad.text for bad in found.bad} == {'{"a": "x", "town": "Rom", "y": 1}', "nonsense"}


@pytest.mark.parametrize("name", ["redis", "nats"])
def test_what_is_gone_unread_is_refused(name, request):
    broker = request.getfixturevalue(name)
    broker.send("short", rows(0, 3000))
    source = open_source(f"{broker.url}/short", target="y")
    first, second, third = (block.end for block in source.blocks())
    broker.trim("short", 1001)  # Redis needs the last entry that was read
    assert everything(source, second).n == 1000
    assert everything(source, third).n == 0
    with pytest.raises(ValueError, match="begin anew"):
        everything(source, first)


def test_nothing_there_yet(broker):
    if broker.scheme == "nats":
        broker.send("empty", [])
    with pytest.raises(ValueError, match=r"no message yet|no such topic"):
        open_source(f"{broker.url}/empty")
    broker.send("some", rows(0, 10))
    schema = open_source(f"{broker.url}/some", target="y").schema
    if broker.scheme != "kafka":
        assert everything(open_source(f"{broker.url}/empty", schema=schema)).n == 0


@pytest.mark.parametrize(
    ("scheme", "wrong"),
    [
        ("redis", {"id": "x"}),
        ("redis", {}),
        ("nats", {"sequence": -1}),
        ("kafka", {"offsets": {"0": -1}, "turn": 0}),
        ("kafka", {"offsets": [1]}),
    ],
)
def test_places_of_other_sources_are_refused(scheme, wrong, request):
    broker = request.getfixturevalue(scheme)
    broker.send("places", rows(0, 10))
    with pytest.raises(ValueError, match="of another source"):
        everything(open_source(f"{broker.url}/places"), wrong)


def test_fields_of_redis_are_columns(redis):
    for i in range(20):
        redis._client.xadd("fields", {"a": i, "town": "Rom", "y": "up" if i % 2 else "down"})
    redis._client.xadd("fields", {"a": b"\xff", "town": "Rom", "y": "up"})
    found = everything(open_source(f"{redis.url}/fields", target="y"))
    assert found.X[3] == {"a": 3.0, "town": "Rom"}
    assert found.y[3] == "up"
    assert [bad.reason for bad in found.bad] == ["is not UTF-8"]


@pytest.mark.parametrize("spec", ["redis://host", "nats:///x", "kafka://host", "redis://h/a/b"])
def test_addresses(spec):
    for module in ("redis", "nats", "confluent_kafka"):
        pytest.importorskip(module)
    with pytest.raises(ValueError, match="must be"):
        open_source(spec)


@pytest.mark.parametrize("scheme", ["redis", "nats"])
def test_no_server_is_one_line(scheme):
    pytest.importorskip(scheme)
    with pytest.raises(ValueError, match=f"^{scheme}://127") as told:
        open_source(f"{scheme}://127.0.0.1:{free_port()}/flows")
    assert "\n" not in str(told.value)
