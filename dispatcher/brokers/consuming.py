"""Keeps a subscription connected: connects again with backoff, and gives up when it has been away for too long."""

import asyncio
import random
from collections.abc import Awaitable, Callable
from typing import Self

from dispatcher.brokers.port import Connection, Deliver, Subscription
from shared import logs
from shared.errors import HyperFleetError, Unavailable

FIRST_RECONNECT_SECONDS = 0.5
MAX_RECONNECT_SECONDS = 15.0
CONNECT_TIMEOUT_SECONDS = 20.0
CLOSE_TIMEOUT_SECONDS = 5.0
# An ordinary outage of the broker must not restart pods. After an hour a failing pod is the better alert.
DEFAULT_GIVE_UP_SECONDS = 3600.0

log = logs.get(__name__)


class BrokerLost(Unavailable):
    """The broker could not be reached for so long that the process should end."""


class Consumer:
    """`run` delivers until it is cancelled; then `stop` ends the deliveries and leaving the context the connection.

    `give_up_after` seconds without a connection end `run` with BrokerLost.
    """

    def __init__(
        self,
        subscription: Subscription,
        deliver: Deliver,
        *,
        give_up_after: float = DEFAULT_GIVE_UP_SECONDS,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        self._subscription = subscription
        self._deliver = deliver
        self._give_up_after = give_up_after
        self._jitter = jitter
        self._connection: Connection | None = None
        self._attempted_at: float | None = None
        self._failures = 0

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._disconnect()

    @property
    def description(self) -> str:
        return self._subscription.description

    @property
    def connected(self) -> bool:
        return self._connection is not None

    def seconds_without_attempt(self) -> float:
        """How long it has done nothing about a missing connection; every attempt to connect is progress."""
        if self._connection is not None or self._attempted_at is None:
            return 0.0
        return asyncio.get_running_loop().time() - self._attempted_at

    async def run(self) -> None:
        """Deliver for ever. Raises BrokerLost."""
        clock = asyncio.get_running_loop().time
        lost_at = clock()
        while True:
            try:
                self._connection = await self._connect()
                await self._connection.wait_lost()
            except HyperFleetError as error:
                if self._connection is not None:
                    lost_at = clock()
                    await self._disconnect()
                if clock() - lost_at >= self._give_up_after:
                    what = f"no connection to {self.description} for {clock() - lost_at:.0f} s"
                    raise BrokerLost(what, why=str(error)) from error
                await self._pause_after(error)

    async def stop(self) -> None:
        """Take no further deliveries; what was delivered can still be acknowledged."""
        if self._connection is not None:
            await _quietly("stop the broker's deliveries", self._connection.stop)

    async def _connect(self) -> Connection:
        self._attempted_at = asyncio.get_running_loop().time()
        try:
            async with asyncio.timeout(CONNECT_TIMEOUT_SECONDS):
                connection = await self._subscription.connect(self._deliver)
        except TimeoutError:
            raise Unavailable(f"no answer of {self.description} within {CONNECT_TIMEOUT_SECONDS:g} s") from None
        except asyncio.CancelledError:
            if _is_cancelled():
                raise
            # A client library cancels what waits for an answer when its connection ends.
            raise Unavailable(f"{self.description} ended the connection while it was set up") from None
        log.info("consuming messages", subscription=self.description)
        self._failures = 0
        return connection

    async def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            await _quietly("close the connection to the broker", connection.close)

    async def _pause_after(self, error: HyperFleetError) -> None:
        delay = min(MAX_RECONNECT_SECONDS, FIRST_RECONNECT_SECONDS * 2.0 ** min(self._failures, 30))
        delay *= 0.5 + 0.5 * self._jitter()
        self._failures += 1
        log.warning("no connection to the broker, trying again", error=str(error), seconds=round(delay, 1))
        await asyncio.sleep(delay)


def _is_cancelled() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


async def _quietly(doing: str, call: Callable[[], Awaitable[None]]) -> None:
    try:
        async with asyncio.timeout(CLOSE_TIMEOUT_SECONDS):
            await call()
    except (TimeoutError, HyperFleetError) as error:
        log.warning("could not %s", doing, error=str(error))
