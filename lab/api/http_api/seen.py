"""What the server was asked and how it answered, for tests that look on or wait."""

import asyncio
import json
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from lab.api.rules.evaluation import Discard

# A server under load for an hour must not keep all of it.
REMEMBERED = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """One request. `status` is None where it got no answer; `discard` says why a status report was ignored."""

    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: bytes
    status: int | None
    discard: Discard | None = None

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Journal:
    def __init__(self) -> None:
        self.entries: deque[Seen] = deque(maxlen=REMEMBERED)
        self._news = asyncio.Event()

    def add(self, seen: Seen) -> None:
        self.entries.append(seen)
        news, self._news = self._news, asyncio.Event()
        news.set()

    async def change(self) -> None:
        """Return after the next request."""
        await self._news.wait()

    async def until(self, wanted: Callable[[Seen], bool]) -> Seen:
        """The first request so far, or from now on, that is wanted."""
        while True:
            for seen in self.entries:
                if wanted(seen):
                    return seen
            await self._news.wait()
