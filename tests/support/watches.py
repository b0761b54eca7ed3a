"""A watch that runs beside the test, and what it has delivered so far."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing

from shared.kubernetes import Change, Watch, WatchEvent

# Generous, because the machine may be slow; nothing waits this long unless it is broken.
LONGEST_WAIT = 240.0


class Following:
    def __init__(self, watch: Watch) -> None:
        self.watch = watch
        self.events: list[WatchEvent] = []
        self._arrived = asyncio.Condition()

    @property
    def changes(self) -> list[tuple[str, str]]:
        return [(event.change.value, event.object["metadata"]["name"]) for event in self.events]

    async def until(self, reached: Callable[[], object]) -> None:
        try:
            async with asyncio.timeout(LONGEST_WAIT), self._arrived:
                await self._arrived.wait_for(reached)
        except TimeoutError:
            raise AssertionError(f"not seen in {LONGEST_WAIT:g} s; delivered were {self.changes}") from None

    async def until_change(self, change: Change, name: str) -> WatchEvent:
        """The last such event, once there is one."""
        await self.until(lambda: (change.value, name) in self.changes)
        return next(e for e in reversed(self.events) if (e.change, e.object["metadata"]["name"]) == (change, name))

    async def run(self) -> None:
        async with aclosing(self.watch.events()) as events:
            async for event in events:
                async with self._arrived:
                    self.events.append(event)
                    self._arrived.notify_all()


@contextlib.asynccontextmanager
async def following(watch: Watch) -> AsyncIterator[Following]:
    """Entered once all that was there has been delivered."""
    follower = Following(watch)
    running = asyncio.create_task(follower.run())
    synced = asyncio.create_task(watch.synced.wait())
    try:
        async with asyncio.timeout(LONGEST_WAIT):
            await asyncio.wait([running, synced], return_when=asyncio.FIRST_COMPLETED)
        if running.done():
            running.result()
        yield follower
    finally:
        for task in (running, synced):
            task.cancel()
        await asyncio.gather(running, synced, return_exceptions=True)
