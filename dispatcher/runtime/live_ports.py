"""The live sides of the engine's ports, as the configuration asks for them, opened and closed together."""

import time
from collections.abc import Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Literal

from dispatcher.api.client import ApiClient
from dispatcher.api.settings import ApiSettings
from dispatcher.config.compiled import Adapter, ObjectKeySource
from dispatcher.config.loading import Loaded
from dispatcher.config.maestro import maestro_settings
from dispatcher.config.models.adapter import HyperFleetApiConfig
from dispatcher.engine.ports import Ports, Secrets, Transport
from dispatcher.observability.tracing import Tracing
from dispatcher.runtime.tracing_ports import traced_api, traced_transports
from dispatcher.transports.kubernetes import KubernetesTransport
from dispatcher.transports.maestro import MaestroTransport
from dispatcher.transports.secrets import KubernetesSecrets
from shared import times
from shared.errors import Misconfigured
from shared.kubernetes import KubernetesClient, access_source
from shared.maestro import MaestroClient


@dataclass(frozen=True, slots=True, kw_only=True)
class Live:
    """`kubernetes` and `maestro` are None where the configuration has no use for them."""

    ports: Ports
    kubernetes: KubernetesClient | None
    maestro: MaestroClient | None


class SystemClock:
    def now(self) -> datetime:
        return times.now()

    def monotonic(self) -> float:
        return time.monotonic()


async def open_ports(
    stack: AsyncExitStack, loaded: Loaded, environment: Mapping[str, str], tracing: Tracing, *, leases: bool
) -> Live:
    """`leases` asks for Kubernetes where no resource needs it. Raises Misconfigured."""
    adapter, config = loaded.adapter, loaded.config
    settings = api_settings(config.clients.hyperfleet_api, environment)
    api = await stack.enter_async_context(ApiClient(settings, trace_headers=tracing.headers))
    transports: dict[str, Transport] = {}
    secrets: Secrets = NoSecrets()
    kubernetes = await open_kubernetes(stack, loaded, environment, required=needs_kubernetes(adapter), wanted=leases)
    if kubernetes is not None:
        transports["kubernetes"] = KubernetesTransport(kubernetes, manager=adapter.name)
        secrets = await stack.enter_async_context(KubernetesSecrets(kubernetes))
    maestro = None
    if config.clients.maestro is not None:
        maestro = await stack.enter_async_context(MaestroClient(maestro_settings(config)))
        transports["maestro"] = MaestroTransport(maestro)
    ports = Ports(
        api=traced_api(api, tracing),
        transports=traced_transports(transports, tracing),
        secrets=secrets,
        clock=SystemClock(),
        environment=environment,
    )
    return Live(ports=ports, kubernetes=kubernetes, maestro=maestro)


async def open_kubernetes(
    stack: AsyncExitStack,
    loaded: Loaded,
    environment: Mapping[str, str],
    *,
    required: bool,
    wanted: bool = False,
    client_class: type[KubernetesClient] = KubernetesClient,
) -> KubernetesClient | None:
    """None where it is not required, and not wanted or not configured. Raises Misconfigured."""
    if not required and not wanted:
        return None
    try:
        settings = loaded.config.clients.kubernetes
        source = access_source(settings.kube_config_path, environment=environment)
        client = await stack.enter_async_context(client_class(source, qps=settings.qps, burst=settings.burst))
        await client.access()
    except Misconfigured:
        if required:
            raise
        return None
    return client


def needs_kubernetes(adapter: Adapter) -> bool:
    """Whether a run may ask a Kubernetes API server for something."""
    on_kubernetes = any(resource.transport == "kubernetes" for resource in adapter.resources)
    return on_kubernetes or any(isinstance(param.source, ObjectKeySource) for param in adapter.params)


def api_settings(config: HyperFleetApiConfig, environment: Mapping[str, str]) -> ApiSettings:
    plain = ApiSettings(base_url=config.base_url)
    return ApiSettings(
        base_url=config.base_url,
        version=config.version,
        timeout=config.timeout,
        retry_attempts=config.retry_attempts,
        retry_backoff=config.retry_backoff,
        base_delay=config.base_delay,
        max_delay=config.max_delay,
        default_headers=config.default_headers,
        token_path=Path(config.auth.token_path) if config.auth is not None else None,
        token_cache_ttl=config.auth.token_cache_ttl if config.auth is not None else plain.token_cache_ttl,
        user_agent=environment.get("HYPERFLEET_USER_AGENT") or plain.user_agent,
    )


class NoSecrets:
    """For an adapter without Kubernetes."""

    async def read(self, kind: Literal["Secret", "ConfigMap"], namespace: str, name: str, key: str) -> str:
        raise Misconfigured(f"no Kubernetes API server is configured to read {kind} {namespace}/{name} key {key}")
