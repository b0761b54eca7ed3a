"""The leases of Pub/Sub messages: extended while runs last, ended in batches by acknowledgements and returns.

A lease that is not extended in time makes Pub/Sub deliver the message again.
"""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Iterator
from typing import Protocol

from google.api_core.exceptions import GoogleAPICallError

from shared import logs

BATCH_SECONDS = 0.02
# Pub/Sub takes requests of up to 512 KiB; an id has less than 200 bytes.
MAX_IDS_PER_REQUEST = 1000
# Extended well before it ends, so that one lost request does no harm.
EXTENSIONS_PER_DEADLINE = 3

log = logs.get(__name__)


class LeaseCalls(Protocol):
    """The three calls, for one subscription."""

    async def acknowledge(self, ids: list[str]) -> None: ...

    async def extend(self, ids: list[str], seconds: int) -> None: ...

    async def give_back(self, ids: list[str]) -> None: ...


class Leases:
    """`run` does the work until it is cancelled; `flush` sends what is left."""

    def __init__(self, calls: LeaseCalls, *, deadline: int) -> None:
        self._calls = calls
        self._deadline = deadline
        self._held: set[str] = set()
        self._acks: list[str] = []
        self._returns: list[str] = []
        self._news = asyncio.Event()

    @property
    def held(self) -> int:
        return len(self._held)

    def take(self, ack_id: str) -> None:
        self._held.add(ack_id)

    def ack(self, ack_id: str) -> None:
        self._end(ack_id, self._acks)

    def give_back(self, ack_id: str) -> None:
        self._end(ack_id, self._returns)

    def give_all_back(self) -> None:
        for ack_id in tuple(self._held):
            self.give_back(ack_id)

    async def run(self) -> None:
        clock = asyncio.get_running_loop().time
        interval = self._deadline / EXTENSIONS_PER_DEADLINE
        extend_at = clock() + interval
        while True:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout_at(extend_at):
                    await self._news.wait()
                    await asyncio.sleep(BATCH_SECONDS)
            await self.flush()
            if clock() >= extend_at:
                extend_at = clock() + interval
                await self._extend()

    async def flush(self) -> None:
        self._news.clear()
        await _send("acknowledge messages", self._calls.acknowledge, self._acks)
        await _send("give messages back", self._calls.give_back, self._returns)

    async def _extend(self) -> None:
        for chunk in _chunks(list(self._held)):
            await _try("extend the leases of messages", lambda ids: self._calls.extend(ids, self._deadline), chunk)

    def _end(self, ack_id: str, ending: list[str]) -> None:
        if ack_id in self._held:
            self._held.discard(ack_id)
            ending.append(ack_id)
            self._news.set()


async def _send(doing: str, call: Callable[[list[str]], Awaitable[None]], ids: list[str]) -> None:
    """Ids leave the list once they are sent, so that the next flush repeats one that was cancelled."""
    for chunk in _chunks(list(ids)):
        await _try(doing, call, chunk)
        del ids[: len(chunk)]


async def _try(doing: str, call: Callable[[list[str]], Awaitable[None]], ids: list[str]) -> None:
    try:
        await call(ids)
    except GoogleAPICallError as error:
        log.warning("Pub/Sub could not %s, they will be delivered again", doing, error=str(error), messages=len(ids))


def _chunks(ids: list[str]) -> Iterator[list[str]]:
    for start in range(0, len(ids), MAX_IDS_PER_REQUEST):
        yield ids[start : start + MAX_IDS_PER_REQUEST]
