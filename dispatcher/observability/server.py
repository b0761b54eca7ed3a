"""The two ports an operator knows: health, configuration and objects on one, metrics on the other."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, Self

from aiohttp import web
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest

from dispatcher.observability.health import Health
from shared.errors import Misconfigured

HEALTH_PORT = 8080
METRICS_PORT = 9090
MAX_LISTED_OBJECTS = 500


class ObjectsView(Protocol):
    """What is shown at /objects."""

    def __len__(self) -> int: ...

    def list(self, limit: int) -> list[Mapping[str, Any]]:
        """So many of the objects, those that fail first."""

    def describe(self, kind: str, id_: str) -> Mapping[str, Any] | None:
        """One object, None where it is not known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pages:
    """What is served. `config_yaml` and `objects` are None where they are switched off."""

    health: Health
    registry: CollectorRegistry
    config_yaml: Callable[[], str] | None = None
    objects: ObjectsView | None = None


class ObservabilityServer:
    """Port 0 means any free one; the ports in use are `health_port` and `metrics_port`."""

    def __init__(
        self,
        pages: Pages,
        *,
        host: str = "0.0.0.0",  # noqa: S104 - probes and Prometheus come from other machines
        health_port: int = HEALTH_PORT,
        metrics_port: int = METRICS_PORT,
    ) -> None:
        self._pages = pages
        self._host = host
        self.health_port = health_port
        self.metrics_port = metrics_port
        self._runners: list[web.AppRunner] = []

    async def __aenter__(self) -> Self:
        try:
            self.health_port = await self._serve(self._health_routes(), self.health_port)
            self.metrics_port = await self._serve([web.get("/metrics", self._metrics)], self.metrics_port)
        except BaseException:
            await self.__aexit__()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        for runner in self._runners:
            await runner.cleanup()
        self._runners.clear()

    async def _serve(self, routes: list[web.RouteDef], port: int) -> int:
        application = web.Application()
        application.add_routes(routes)
        runner = web.AppRunner(application, access_log=None, shutdown_timeout=1.0)
        self._runners.append(runner)
        await runner.setup()
        try:
            await web.TCPSite(runner, self._host, port).start()
        except OSError as error:
            remedy = "choose another with --health-port and --metrics-port"
            raise Misconfigured(f"cannot listen on port {port}", why=str(error), remedy=remedy) from error
        return int(runner.addresses[0][1])

    def _health_routes(self) -> list[web.RouteDef]:
        return [
            web.get("/healthz", self._healthz),
            web.get("/readyz", self._readyz),
            web.get("/config", self._config),
            web.get("/objects", self._objects),
            web.get("/objects/{kind}/{id}", self._object),
        ]

    async def _healthz(self, _request: web.Request) -> web.Response:
        return _answer(*self._pages.health.alive())

    async def _readyz(self, _request: web.Request) -> web.Response:
        return _answer(*self._pages.health.ready())

    async def _config(self, _request: web.Request) -> web.Response:
        if self._pages.config_yaml is None:
            raise web.HTTPNotFound
        return web.Response(text=self._pages.config_yaml(), content_type="application/yaml")

    async def _objects(self, _request: web.Request) -> web.Response:
        if self._pages.objects is None:
            raise web.HTTPNotFound
        objects = self._pages.objects
        return _json({"total": len(objects), "items": objects.list(MAX_LISTED_OBJECTS)})

    async def _object(self, request: web.Request) -> web.Response:
        if self._pages.objects is None:
            raise web.HTTPNotFound
        found = self._pages.objects.describe(request.match_info["kind"], request.match_info["id"])
        if found is None:
            raise web.HTTPNotFound(text="this dispatcher has not handled the object since it started")
        return _json(found)

    async def _metrics(self, _request: web.Request) -> web.Response:
        text = generate_latest(self._pages.registry)
        return web.Response(body=text, headers={"Content-Type": CONTENT_TYPE_LATEST})


def _answer(good: bool, content: Mapping[str, Any]) -> web.Response:  # noqa: FBT001 - the pair that Health gives
    return _json(content, status=200 if good else 503)


def _json(content: Mapping[str, Any], *, status: int = 200) -> web.Response:
    return web.Response(text=json.dumps(content) + "\n", status=status, content_type="application/json")
