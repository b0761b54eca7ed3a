"""What probes, Prometheus and people get over HTTP."""

from collections.abc import AsyncIterator, Mapping
from typing import Any

import aiohttp
import pytest
from prometheus_client import CollectorRegistry

from dispatcher.observability.health import Health
from dispatcher.observability.identity import Identity
from dispatcher.observability.metrics import Metrics
from dispatcher.observability.server import ObservabilityServer, Pages
from shared.errors import Misconfigured


class Objects:
    def __len__(self) -> int:
        return 1

    def list(self, limit: int) -> list[Mapping[str, Any]]:
        return [{"kind": "Cluster", "id": "a"}]

    def describe(self, kind: str, id_: str) -> Mapping[str, Any] | None:
        return {"kind": kind, "id": id_} if id_ == "a" else None


@pytest.fixture
def health() -> Health:
    return Health(checks={"config": lambda: "", "broker": lambda: ""})


def pages(health: Health, **more: Any) -> Pages:
    return Pages(health=health, registry=Metrics(Identity(component="dns", version="1", commit="c")).registry, **more)


@pytest.fixture
async def http() -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession() as session:
        yield session


def served(pages: Pages) -> ObservabilityServer:
    return ObservabilityServer(pages, host="127.0.0.1", health_port=0, metrics_port=0)


async def test_probes_follow_the_health_of_the_process(http: aiohttp.ClientSession, health: Health) -> None:
    async with served(pages(health)) as server:
        base = f"http://127.0.0.1:{server.health_port}"
        async with http.get(f"{base}/healthz") as answer:
            assert (answer.status, await answer.json()) == (200, {"status": "ok"})
        async with http.get(f"{base}/readyz") as answer:
            assert (answer.status, (await answer.json())["checks"]) == (200, {"config": "ok", "broker": "ok"})
        health.stopping = True
        async with http.get(f"{base}/readyz") as answer:
            assert (answer.status, await answer.json()) == (
                503,
                {"status": "error", "message": "server is shutting down"},
            )


async def test_metrics_are_on_a_port_of_their_own(http: aiohttp.ClientSession, health: Health) -> None:
    async with served(pages(health)) as server:
        async with http.get(f"http://127.0.0.1:{server.metrics_port}/metrics") as answer:
            assert answer.status == 200
            assert "hyperfleet_adapter_up" in await answer.text()
        async with http.get(f"http://127.0.0.1:{server.metrics_port}/healthz") as answer:
            assert answer.status == 404


@pytest.mark.parametrize("path", ["/config", "/objects", "/objects/Cluster/a"])
async def test_what_is_switched_off_is_not_there(http: aiohttp.ClientSession, health: Health, path: str) -> None:
    async with served(pages(health)) as server, http.get(f"http://127.0.0.1:{server.health_port}{path}") as answer:
        assert answer.status == 404


async def test_the_configuration_is_shown_as_yaml_where_it_is_switched_on(
    http: aiohttp.ClientSession, health: Health
) -> None:
    async with (
        served(pages(health, config_yaml=lambda: "adapter: {}\n")) as server,
        http.get(f"http://127.0.0.1:{server.health_port}/config") as answer,
    ):
        assert (answer.status, answer.content_type, await answer.text()) == (200, "application/yaml", "adapter: {}\n")


async def test_objects_are_listed_and_described(http: aiohttp.ClientSession, health: Health) -> None:
    async with served(pages(health, objects=Objects())) as server:
        base = f"http://127.0.0.1:{server.health_port}/objects"
        async with http.get(base) as answer:
            assert await answer.json() == {"total": 1, "items": [{"kind": "Cluster", "id": "a"}]}
        async with http.get(f"{base}/Cluster/a") as answer:
            assert await answer.json() == {"kind": "Cluster", "id": "a"}
        async with http.get(f"{base}/Cluster/b") as answer:
            assert answer.status == 404


async def test_a_port_in_use_is_named(health: Health) -> None:
    async with served(pages(health)) as server:
        other = ObservabilityServer(
            Pages(health=health, registry=CollectorRegistry()), host="127.0.0.1", health_port=server.health_port
        )
        with pytest.raises(Misconfigured, match=f"port {server.health_port}.*--health-port"):
            async with other:
                pass
