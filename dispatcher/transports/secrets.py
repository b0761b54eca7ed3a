"""Values of Secrets and ConfigMaps, read once and then kept up to date by a watch of each object by its name.

Where the account may not list or watch the object, or the watch is interrupted, a value is read again after a while.
What was read from a Secret is redacted in every log line from then on.
"""

import asyncio
import base64
import binascii
import time
from contextlib import aclosing
from typing import Literal, Self

from dispatcher.engine.ports import Object
from shared.errors import Forbidden, Invalid, NotFound
from shared.kubernetes import Change, KubernetesClient, ObjectRef, Watch, select_one
from shared.redaction import register_secret
from shared.retry import RetryPolicy

KEPT_SECONDS = 30.0
RETRY = RetryPolicy(budget=15.0, first_delay=0.2, max_delay=3.0)

Kind = Literal["Secret", "ConfigMap"]


class KubernetesSecrets:
    """`kept_seconds` is for objects that cannot be watched. Watches end with the context."""

    def __init__(
        self, client: KubernetesClient, *, kept_seconds: float = KEPT_SECONDS, retry: RetryPolicy = RETRY
    ) -> None:
        self._client, self._kept_seconds, self._retry = client, kept_seconds, retry
        self._copies: dict[ObjectRef, _Copy] = {}

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        for copy in self._copies.values():
            await copy.close()

    async def read(self, kind: Kind, namespace: str, name: str, key: str) -> str:
        """Raises NotFound where there is no such object or no such key in it, Invalid for what is not text."""
        ref = ObjectRef(api_version="v1", kind=kind, namespace=namespace, name=name)
        copy = self._copies.setdefault(ref, _Copy(self._client, ref))
        document = await self._retry.run(f"read {ref}", lambda: copy.current(self._kept_seconds))
        if document is None:
            raise NotFound(f"there is no {ref}")
        value = _value(ref, document, key)
        if kind == "Secret":
            register_secret(value)
        return value


class _Copy:
    """The last known state of one object, None where there is none."""

    def __init__(self, client: KubernetesClient, ref: ObjectRef) -> None:
        self._client, self._ref = client, ref
        self._document: Object | None = None
        self._read_at = float("-inf")
        self._watch: Watch | None = None
        self._watching: asyncio.Task[None] | None = None
        self._lock = asyncio.Lock()

    async def current(self, kept_seconds: float) -> Object | None:
        async with self._lock:
            if not self._is_watched and time.monotonic() - self._read_at >= kept_seconds:
                document = await self._read()
                self._read_at = time.monotonic()
                if not self._is_watched:
                    self._document = document
            return self._document

    async def close(self) -> None:
        if self._watching is not None:
            self._watching.cancel()
            await asyncio.wait([self._watching])

    @property
    def _is_watched(self) -> bool:
        return self._watch is not None and self._watch.healthy and self._watch.synced.is_set()

    async def _read(self) -> Object | None:
        """By a list, which shows whether a watch is allowed; where it is not, by a plain read."""
        try:
            listed = await self._client.list(select_one(self._ref))
        except Forbidden:
            return await self._get()
        if self._watching is None:
            self._watch = Watch(self._client, select_one(self._ref))
            self._watching = asyncio.create_task(self._follow(self._watch))
        return next(iter(listed), None)

    async def _get(self) -> Object | None:
        try:
            return await self._client.get(self._ref)
        except NotFound:
            return None

    async def _follow(self, watch: Watch) -> None:
        async with aclosing(watch.events()) as events:
            async for event in events:
                self._document = None if event.change is Change.DELETED else event.object


def _value(ref: ObjectRef, document: Object, key: str) -> str:
    plain, encoded = document.get("data") or {}, document.get("binaryData") or {}
    if ref.kind == "Secret":
        plain, encoded = {}, plain
    if key in plain:
        return str(plain[key])
    if key not in encoded:
        raise NotFound(f"{ref} has no key {key}")
    try:
        return base64.b64decode(encoded[key]).decode()
    except (binascii.Error, UnicodeDecodeError):
        raise Invalid(f"key {key} of {ref} is not text in UTF-8") from None
