"""Kafka topics."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from onlinesvm.stream.sources.arrow import demand
from onlinesvm.stream.sources.broker import COUNT, Broker, Message, Messages, unsigned
from onlinesvm.stream.sources.source import Place
from onlinesvm.stream.sources.wishes import Wishes

__all__ = ["KafkaTopic"]

_PATIENCE = 30  # seconds without an answer


class KafkaTopic(Broker):
    """Messages of a topic, ``kafka://host:9092/topic``, by offsets of its partitions.

    Partitions take turns, a block each, so that the order does not depend on which broker answers
    first. No consumer group is used, and no offset committed.
    """

    def __init__(self, spec: str, wishes: Wishes) -> None:
        self._kafka = demand("confluent_kafka", "reading Kafka", "kafka")
        self._servers, _, self._topic = spec.removeprefix("kafka://").partition("/")
        if not self._servers or not self._topic or "/" in self._topic:
            raise ValueError(f"{unsigned(spec)!r:.80} must be kafka://host:9092/topic")
        super().__init__(f"kafka://{self._servers}/{self._topic}", wishes)

    def _batches(self, since: Place | None) -> Iterator[tuple[Messages, Place]]:
        offsets, turn = ({}, 0) if since is None else _checked(since)
        readers: dict[int, Any] = {}
        ended: set[int] = set()
        try:
            partitions = self._partitions()
            offsets = {p: offsets.get(p, -1) for p in partitions}
            silent = 0
            while silent < len(partitions):
                partition = partitions[turn % len(partitions)]
                turn = (turn + 1) % len(partitions)
                if partition not in readers:
                    readers[partition], start = self._reader(partition, offsets[partition])
                    offsets[partition] = start
                messages, end = self._read(readers[partition], partition, ended)
                silent = 0 if messages else silent + 1
                if messages:
                    offsets[partition] = end
                    told = {str(p): n for p, n in offsets.items() if n >= 0}
                    yield messages, {"offsets": told, "turn": turn}
        except self._kafka.KafkaException as error:
            raise ValueError(f"{self.name}: {error.args[0].str()}") from None
        finally:
            for reader in readers.values():
                reader.close()

    def _consumer(self) -> Any:
        return self._kafka.Consumer(
            {
                "bootstrap.servers": self._servers,
                "group.id": "onlinesvm",  # demanded, and not used: partitions are assigned
                "enable.auto.commit": False,
                "enable.partition.eof": True,
                "auto.offset.reset": "error",  # what is gone is told, not jumped over
                "queued.max.messages.kbytes": 16384,
                "log_level": 2,
            }
        )

    def _partitions(self) -> list[int]:
        consumer = self._consumer()
        try:
            topic = consumer.list_topics(self._topic, timeout=_PATIENCE).topics[self._topic]
        finally:
            consumer.close()
        if topic.error is not None or not topic.partitions:
            raise ValueError(f"{self.name}: there is no such topic")
        return sorted(topic.partitions)

    def _reader(self, partition: int, offset: int) -> tuple[Any, int]:
        """A consumer of one partition from an offset on, or from its first message."""
        consumer = self._consumer()
        at = self._kafka.TopicPartition(self._topic, partition)
        low, high = consumer.get_watermark_offsets(at, timeout=_PATIENCE)
        start = low if offset < 0 else offset
        if not low <= start <= high:
            consumer.close()
            raise ValueError(
                f"{self.name}: partition {partition} holds offsets {low} to {high} by now, and was "
                f"read up to {start}; begin anew"
            )
        consumer.assign([self._kafka.TopicPartition(self._topic, partition, start)])
        return consumer, start

    def _read(self, consumer: Any, partition: int, ended: set[int]) -> tuple[Messages, int]:
        """Messages of a partition up to its end or COUNT, and the offset behind them.

        The end is told once: what is known of it stays in `ended` until more comes.
        """
        messages: Messages = []
        end = waited = 0
        while len(messages) < COUNT:
            found = consumer.consume(1, timeout=0.0 if partition in ended else 1.0)
            if not found and partition in ended:
                break
            if not found:
                waited += 1
                if waited >= _PATIENCE:
                    raise ValueError(f"{self.name}: no answer for {_PATIENCE} seconds")
                continue
            (message,) = found
            error = message.error()
            if error is None:
                ended.discard(partition)
                end = message.offset() + 1
                where = f"partition {partition}, offset {message.offset()}"
                messages.append(Message(message.value() or b"", where))
            elif error.code() == self._kafka.KafkaError._PARTITION_EOF:
                ended.add(partition)
            elif error.fatal() or not error.retriable():
                raise self._kafka.KafkaException(error)
        return messages, end


def _checked(since: Place) -> tuple[dict[int, int], int]:
    offsets, turn = since.get("offsets"), since.get("turn")
    if (
        not isinstance(offsets, dict)
        or not all(isinstance(n, int) and 0 <= n < 1 << 62 for n in offsets.values())
        or not all(isinstance(p, str) and p.isdigit() for p in offsets)
        or not isinstance(turn, int)
        or not 0 <= turn < 1 << 31
    ):
        raise ValueError("the place has no offsets of partitions; it is of another source")
    return {int(p): n for p, n in offsets.items()}, turn
