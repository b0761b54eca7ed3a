"""Runs kopf: its watches, its health endpoint and, where it is asked for, the admission webhook."""

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Collection
from typing import Any

import kopf

from dpu_bridge.api.kinds import OWNER_LABEL
from dpu_bridge.operator.handlers import CONFIG_MAPS, OWNED
from dpu_bridge.operator.kopf_session import KopfSession
from dpu_bridge.operator.webhook.admission import Webhook
from dpu_bridge.operator.webhook.certificate import WebhookCertificate
from dpu_bridge.settings import Settings
from shared.errors import ServerError
from shared.kubernetes import KubernetesClient

# After these the server ends a watch, and kopf one whose server does not.
WATCH_SECONDS = (600, 630)
# How kopf names the tasks of its watches, and how often they are looked for.
WATCHER, LOST_SECONDS = "watcher for ", 30.0
# How soon a renewed certificate is served; until then the API server trusts both.
CERTIFICATE_SECONDS = 5.0


async def serve(
    client: KubernetesClient, settings: Settings, registry: kopf.OperatorRegistry, stop: asyncio.Event | None
) -> None:
    """Until a signal or `stop`. One replica without peering: the chart ends a pod before it starts the next."""
    logging.getLogger("kopf.objects").setLevel(logging.WARNING)
    options = kopf.OperatorSettings()
    options.posting.enabled = False
    options.watching.server_timeout, options.watching.client_timeout = WATCH_SECONDS
    health = f"http://0.0.0.0:{settings.health_port}/healthz" if settings.health_port else None
    planning = settings.planning
    # Filtered by the server: other ConfigMaps, and MetalLB's objects of others, never come here.
    options.watching.field_selectors[CONFIG_MAPS] = f"metadata.name={planning.images_name}"
    for owned in OWNED:
        options.watching.label_selectors[owned] = OWNER_LABEL
    namespaces = {*settings.namespaces, planning.metallb_namespace, planning.images_namespace}
    async with _webhook(client, settings, registry, options), KopfSession(client) as session:
        kopf.on.login(registry=registry)(session.login)
        roots = await kopf.spawn_tasks(
            registry=registry,
            settings=options,
            standalone=True,
            clusterwide=not settings.namespaces,
            namespaces=namespaces if settings.namespaces else (),
            liveness_endpoint=health,
            stop_flag=stop,
        )
        losing = asyncio.create_task(lost_watch())
        await _first_end([*roots, losing])


async def lost_watch(every: float = LOST_SECONDS) -> None:
    """Ends when kopf has given up a watch, as it does when the server refuses one, and says nothing further.

    Its kind would never be heard of again, so the operator ends too, and is started anew.
    """
    known: set[str] = set()
    while True:
        running = {name for task in asyncio.all_tasks() if (name := task.get_name()).startswith(WATCHER)}
        if lost := known - running:
            raise ServerError("a watch of the management cluster has ended", why=", ".join(sorted(lost)))
        known = running
        await asyncio.sleep(every)


@contextlib.asynccontextmanager
async def _webhook(
    client: KubernetesClient, settings: Settings, registry: kopf.OperatorRegistry, options: kopf.OperatorSettings
) -> AsyncIterator[None]:
    if settings.webhook is None:
        yield
        return
    Webhook(client, settings).register(registry)
    with contextlib.closing(WebhookCertificate(client, settings.namespace, settings.webhook)) as certificate:
        await certificate.prepare()
        options.admission.server = kopf.WebhookServer(
            port=settings.webhook.port,
            certfile=certificate.certificate,
            pkeyfile=certificate.key,
            file_check_interval=CERTIFICATE_SECONDS,
        )
        async with asyncio.TaskGroup() as group:
            keeping = group.create_task(certificate.keep())
            yield
            keeping.cancel()


async def _first_end(roots: Collection[asyncio.Task[Any]]) -> None:
    """One part that ends stops all. `kopf.operator` would cancel tasks that are not its own as well."""
    try:
        ended, _ = await asyncio.wait(roots, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in roots:
            task.cancel()
        await asyncio.gather(*roots, return_exceptions=True)
    for task in ended:
        if not task.cancelled() and (error := task.exception()):
            raise error
