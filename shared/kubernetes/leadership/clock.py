"""Time as the Lease sees it, so that a test can hold it."""

import asyncio
import time
from datetime import datetime
from typing import Protocol

from shared import times


class Clock(Protocol):
    def now(self) -> datetime:
        """The present instant, in UTC."""

    def monotonic(self) -> float:
        """Seconds that never go back."""

    async def sleep(self, seconds: float) -> None: ...


class SystemClock:
    def now(self) -> datetime:
        return times.now()

    def monotonic(self) -> float:
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)
