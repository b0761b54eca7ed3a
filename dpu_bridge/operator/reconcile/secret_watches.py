"""Wakes bridges when a Secret changes that they read but do not own: one watch per name, shared by all its readers."""

import asyncio
from collections.abc import Callable

from dpu_bridge.api.bridge import Key
from shared import logs
from shared.errors import Invalid
from shared.kubernetes import KubernetesClient, ObjectRef, Watch, select_one

log = logs.get(__name__)


class SecretWatches:
    def __init__(self, client: KubernetesClient, wake: Callable[[Key], None], group: asyncio.TaskGroup) -> None:
        self._client, self._wake, self._group = client, wake, group
        self._readers: dict[Key, set[Key]] = {}
        self._tasks: dict[Key, asyncio.Task[None]] = {}

    def follow(self, bridge: Key, names: set[Key]) -> None:
        """From now on the bridge reads these Secrets, and no others."""
        for name in [each for each, readers in self._readers.items() if bridge in readers and each not in names]:
            self._readers[name].discard(bridge)
            if not self._readers[name]:
                del self._readers[name]
                self._tasks.pop(name).cancel()
        for name in names:
            self._readers.setdefault(name, set()).add(bridge)
            if name not in self._tasks:
                self._tasks[name] = self._group.create_task(self._watch(name))

    async def _watch(self, name: Key) -> None:
        ref = ObjectRef(api_version="v1", kind="Secret", namespace=name[0], name=name[1])
        try:
            async for _ in Watch(self._client, select_one(ref)).events():
                for bridge in self._readers.get(name, ()):
                    self._wake(bridge)
        except Invalid as error:
            log.warning("a Secret cannot be watched", secret="/".join(name), error=str(error))
