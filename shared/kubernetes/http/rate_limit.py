"""At most so many requests a second, where an operator asks for it; the API server has limits of its own."""

import asyncio


class RateLimit:
    """`burst` requests may come at once, then `qps` a second in the order they came. Without a `qps` nothing waits."""

    def __init__(self, qps: float = 0.0, burst: int = 0) -> None:
        self._interval = 1.0 / qps if qps > 0 else 0.0
        self._ahead = self._interval * max(0, burst - 1)
        self._next = float("-inf")

    async def wait(self) -> None:
        if not self._interval:
            return
        now = asyncio.get_running_loop().time()
        turn = max(self._next, now - self._ahead)
        self._next = turn + self._interval
        if turn > now:
            await asyncio.sleep(turn - now)
