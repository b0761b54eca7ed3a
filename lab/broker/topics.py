"""All topics of a broker, and a way to await that something became true of them."""

import asyncio
from collections.abc import Callable

from lab.broker.subscriptions import Subscription


class Topics:
    def __init__(self) -> None:
        self._subscriptions: dict[str, dict[str, Subscription]] = {}
        self._news = asyncio.Event()

    def publish(self, topic: str, body: bytes) -> None:
        for subscription in self._subscriptions.get(topic, {}).values():
            subscription.add(body)
        self.changed()

    def subscription(self, topic: str, name: str) -> Subscription:
        """The subscription of that name, which exists from now on."""
        return self._subscriptions.setdefault(topic, {}).setdefault(name, Subscription())

    def changed(self) -> None:
        news, self._news = self._news, asyncio.Event()
        news.set()

    async def until(self, is_true: Callable[[], bool]) -> None:
        while not is_true():
            await self._news.wait()
