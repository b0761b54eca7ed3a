"""Which bridges need a pass: each at most once in the queue, and never two passes of one bridge at a time."""

import asyncio
import math
import random
from collections import defaultdict
from collections.abc import Awaitable, Callable

from dpu_bridge.api.bridge import Key
from shared import logs
from shared.backoff import Backoff
from shared.errors import HyperFleetError

WORKERS = 8
RETRY = Backoff(first=1.0, longest=120.0, spread=0.5)

log = logs.get(__name__)
Pass = Callable[[Key], Awaitable[float | None]]
"""One pass of a bridge. Returns in how many seconds to look again at the latest, None if it does not matter."""
NEVER = math.inf
"""What a pass returns for a bridge that is gone."""


class WorkQueue:
    def __init__(self, *, resync: float) -> None:
        self._resync = resync
        self._ready: asyncio.Queue[Key] = asyncio.Queue()
        self._waiting: set[Key] = set()
        self._busy: set[Key] = set()
        self._timers: dict[Key, asyncio.TimerHandle] = {}
        self._failures: defaultdict[Key, int] = defaultdict(int)

    def add(self, key: Key) -> None:
        """A bridge whose pass is under way gets another one afterwards."""
        if key in self._waiting:
            return
        self._waiting.add(key)
        if key not in self._busy:
            self._ready.put_nowait(key)

    async def run(self, perform: Pass) -> None:
        async with asyncio.TaskGroup() as group:
            for _ in range(WORKERS):
                group.create_task(self._work(perform))

    async def _work(self, perform: Pass) -> None:
        while True:
            key = await self._ready.get()
            self._waiting.discard(key)
            self._busy.add(key)
            try:
                self._schedule(key, await self._attempt(key, perform))
            finally:
                self._busy.discard(key)
                if key in self._waiting:
                    self._ready.put_nowait(key)

    async def _attempt(self, key: Key, perform: Pass) -> float:
        """Seconds until the next pass."""
        try:
            seconds = await perform(key)
        except HyperFleetError as error:
            self._failures[key] += 1
            seconds = RETRY.delay(self._failures[key] - 1)
            log.warning("the pass failed and is tried again", bridge="/".join(key), error=str(error), seconds=seconds)
            return seconds
        except Exception:
            log.exception("the pass failed in an unexpected way and is tried again", bridge="/".join(key))
            return RETRY.longest
        self._failures.pop(key, None)
        resync = self._resync * random.uniform(0.8, 1.0)  # noqa: S311 - spreads load
        return seconds if seconds == NEVER else min(resync, seconds if seconds is not None else resync)

    def _schedule(self, key: Key, seconds: float) -> None:
        if timer := self._timers.pop(key, None):
            timer.cancel()
        if seconds != NEVER:
            self._timers[key] = asyncio.get_running_loop().call_later(seconds, self.add, key)
