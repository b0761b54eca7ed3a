"""The engine's ports for a diff: live systems that are read, and that are asked what a write would do."""

from collections.abc import Mapping
from contextlib import AsyncExitStack

from dispatcher.api.client import ApiClient
from dispatcher.config.loading import Loaded
from dispatcher.config.maestro import maestro_settings
from dispatcher.diff.dry_run_client import DryRunClient
from dispatcher.diff.unsent_works import UnsentWorks
from dispatcher.engine.ports import Ports, Secrets, Transport
from dispatcher.runtime.live_ports import NoSecrets, SystemClock, api_settings, needs_kubernetes, open_kubernetes
from dispatcher.transports.kubernetes import KubernetesTransport
from dispatcher.transports.secrets import KubernetesSecrets
from shared.maestro import MaestroClient
from shared.retry import RetryPolicy

# Somebody waits at a terminal.
_RETRY = RetryPolicy(budget=10.0, first_delay=0.2, max_delay=2.0)


async def open_reading_ports(stack: AsyncExitStack, loaded: Loaded, environment: Mapping[str, str]) -> Ports:
    """Raises Misconfigured. Calls of the HyperFleet API are not held back here, but for each object."""
    adapter, config = loaded.adapter, loaded.config
    api = await stack.enter_async_context(ApiClient(api_settings(config.clients.hyperfleet_api, environment)))
    transports: dict[str, Transport] = {}
    secrets: Secrets = NoSecrets()
    required = needs_kubernetes(adapter)
    client = await open_kubernetes(stack, loaded, environment, required=required, client_class=DryRunClient)
    if client is not None:
        transports["kubernetes"] = KubernetesTransport(client, manager=adapter.name, retry=_RETRY)
        secrets = await stack.enter_async_context(KubernetesSecrets(client))
    if config.clients.maestro is not None:
        transports["maestro"] = UnsentWorks(await stack.enter_async_context(MaestroClient(maestro_settings(config))))
    return Ports(api=api, transports=transports, secrets=secrets, clock=SystemClock(), environment=environment)
