"""The engine's ports with a span for every call. Where tracing is off, the ports are left as they are."""

from collections.abc import Mapping
from typing import Literal

from dispatcher.engine.ports import ApiRequest, ApiResponse, HyperFleetApi, Object, Query, Transport
from dispatcher.observability.tracing import Tracing


def traced_api(api: HyperFleetApi, tracing: Tracing) -> HyperFleetApi:
    return _TracedApi(api, tracing) if tracing.is_on else api


def traced_transports(transports: Mapping[str, Transport], tracing: Tracing) -> Mapping[str, Transport]:
    if not tracing.is_on:
        return transports
    return {name: _TracedTransport(name, transport, tracing) for name, transport in transports.items()}


class _TracedApi:
    """Spans are named as the Go adapter names them."""

    def __init__(self, api: HyperFleetApi, tracing: Tracing) -> None:
        self._api = api
        self._tracing = tracing

    async def send(self, request: ApiRequest) -> ApiResponse:
        attributes = {"http.request.method": request.method, "url.full": request.url}
        with self._tracing.span(f"HTTP {request.method}", attributes):
            return await self._api.send(request)


class _TracedTransport:
    def __init__(self, name: str, transport: Transport, tracing: Tracing) -> None:
        self._name = name
        self._transport = transport
        self._tracing = tracing

    async def find(self, query: Query) -> list[Object]:
        attributes = {"k8s.kind": query.kind, "k8s.namespace.name": query.namespace, "maestro.consumer": query.consumer}
        with self._tracing.span(f"{self._name} find", attributes):
            return await self._transport.find(query)

    async def create(self, manifest: Object, *, consumer: str = "") -> Object:
        with self._tracing.span(f"{self._name} create", _about(manifest, consumer)):
            return await self._transport.create(manifest, consumer=consumer)

    async def update(self, manifest: Object, observed: Object, *, consumer: str = "") -> Object:
        with self._tracing.span(f"{self._name} update", _about(observed, consumer)):
            return await self._transport.update(manifest, observed, consumer=consumer)

    async def delete(
        self, observed: Object, *, policy: Literal["Background", "Foreground", "Orphan"], consumer: str = ""
    ) -> Object | None:
        with self._tracing.span(f"{self._name} delete", _about(observed, consumer)):
            return await self._transport.delete(observed, policy=policy, consumer=consumer)

    async def wait_gone(self, observed: Object, *, timeout: float, consumer: str = "") -> bool:
        with self._tracing.span(f"{self._name} wait", _about(observed, consumer)):
            return await self._transport.wait_gone(observed, timeout=timeout, consumer=consumer)

    async def differs(self, manifest: Object, observed: Object, *, consumer: str = "") -> bool:
        with self._tracing.span(f"{self._name} compare", _about(observed, consumer)):
            return await self._transport.differs(manifest, observed, consumer=consumer)


def _about(found: Object, consumer: str) -> dict[str, str]:
    metadata = found.get("metadata") or {}
    return {
        "k8s.kind": str(found.get("kind", "")),
        "k8s.name": str(metadata.get("name", "")),
        "k8s.namespace.name": str(metadata.get("namespace", "")),
        "maestro.consumer": consumer,
    }
