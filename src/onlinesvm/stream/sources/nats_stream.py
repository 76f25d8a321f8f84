"""NATS JetStream."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine, Iterator
from typing import Any, TypeVar

from onlinesvm.stream.sources.arrow import demand
from onlinesvm.stream.sources.broker import COUNT, Broker, Message, Messages, address
from onlinesvm.stream.sources.source import Place
from onlinesvm.stream.sources.text import whole_number
from onlinesvm.stream.sources.wishes import Wishes

__all__ = ["NatsStream"]

T = TypeVar("T")
_PATIENCE = 10  # seconds without an answer


class _Loop:
    """An event loop in a thread of its own: a caller may have one running already."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()

    def run(self, task: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(task, self._loop).result()

    def close(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


class NatsStream(Broker):
    """Messages of a JetStream stream, ``nats://host:4222/stream``, by their sequence numbers."""

    def __init__(self, spec: str, wishes: Wishes) -> None:
        self._nats = demand("nats", "reading NATS", "nats")
        parts, self._stream = address(spec, 4222, "stream")
        self._url = f"nats://{parts.netloc}"
        super().__init__(f"nats://{parts.hostname}:{parts.port}/{self._stream}", wishes)

    def _batches(self, since: Place | None) -> Iterator[tuple[Messages, Place]]:
        last = 0 if since is None else whole_number(since, "sequence")
        loop = _Loop()
        client = None
        try:
            client = loop.run(self._connected())
            subscription = loop.run(self._subscribed(client, last))
            while found := loop.run(self._fetched(subscription)):
                last = found[-1].metadata.sequence.stream
                yield (
                    [Message(m.data, f"sequence {m.metadata.sequence.stream}") for m in found],
                    {"sequence": last},
                )
        except (OSError, self._nats.errors.Error) as error:
            told = str(error) or type(error).__name__
            raise ValueError(f"{self.name}: {told.removeprefix('nats: ')}") from None
        finally:
            if client is not None:
                loop.run(client.close())
            loop.close()

    async def _connected(self) -> Any:
        async def quiet(_: Exception) -> None:
            """What goes wrong is raised where it is waited for."""

        return await self._nats.connect(
            self._url,
            allow_reconnect=False,
            max_reconnect_attempts=1,  # 0 would be without end, also of the first connection
            reconnect_time_wait=0.1,
            connect_timeout=_PATIENCE,
            error_cb=quiet,
        )

    async def _subscribed(self, client: Any, last: int) -> Any:
        api = demand("nats.js.api", "reading NATS", "nats")
        stream = client.jetstream()
        state = (await stream.stream_info(self._stream)).state
        if last and not state.first_seq - 1 <= last <= state.last_seq:
            raise ValueError(
                f"{self.name}: holds messages {state.first_seq} to {state.last_seq} by now, "
                f"and was read up to {last}; begin anew"
            )
        # Nothing is acknowledged: the place is ours, and the consumer is gone with the connection.
        config = api.ConsumerConfig(
            deliver_policy=api.DeliverPolicy.BY_START_SEQUENCE,
            opt_start_seq=max(last + 1, 1),
            ack_policy=api.AckPolicy.NONE,
            inactive_threshold=60,
        )
        return await stream.pull_subscribe("", stream=self._stream, config=config)

    async def _fetched(self, subscription: Any) -> list[Any]:
        """The next messages, COUNT of them unless there are no more for now."""
        pending = (await subscription.consumer_info()).num_pending
        found: list[Any] = []
        while pending and len(found) < COUNT:
            want = min(COUNT - len(found), pending)
            found += await subscription.fetch(want, timeout=_PATIENCE)
            pending = found[-1].metadata.num_pending
        return found
