"""Assembles the operator and runs it until a signal ends it, or a part of it fails."""

import asyncio
import contextlib

from prometheus_client import start_http_server

from dpu_bridge.api.kinds import OWNER_LABEL
from dpu_bridge.operator import tls_buffers
from dpu_bridge.operator.approval.approvers import Approvers
from dpu_bridge.operator.handlers import Handlers, wake_owner
from dpu_bridge.operator.management import management_access
from dpu_bridge.operator.metrics import Metrics
from dpu_bridge.operator.prerequisites import missing
from dpu_bridge.operator.reconcile.observing import Observer
from dpu_bridge.operator.reconcile.queue import WorkQueue
from dpu_bridge.operator.reconcile.reconciler import Reconciler
from dpu_bridge.operator.reconcile.secret_watches import SecretWatches
from dpu_bridge.operator.serving import serve
from dpu_bridge.settings import Settings
from shared import logs
from shared.kubernetes import KubernetesClient, Selection, Watch

log = logs.get(__name__)
USER_AGENT = "dpu-hcp-bridge"


class _Finished(Exception):
    """kopf has ended by a signal; everything else ends with it."""


async def run(settings: Settings, *, stop: asyncio.Event | None = None) -> None:
    """`stop` ends it like a signal."""
    tls_buffers.shrink()
    with management_access(settings.kubeconfig) as access:
        async with KubernetesClient(access, user_agent=USER_AGENT) as client:
            await operate(client, settings, stop=stop)


async def operate(client: KubernetesClient, settings: Settings, *, stop: asyncio.Event | None = None) -> None:
    """The operator on an open client. Raises Misconfigured where there are no credentials."""
    await client.access()
    for name in await missing(client):
        log.warning("a prerequisite is missing on this cluster", prerequisite=name, remedy=f"install the {name}")
    metrics = Metrics()
    if settings.metrics_port:
        start_http_server(settings.metrics_port, registry=metrics.registry)
    try:
        async with asyncio.TaskGroup() as group:
            await _operate(client, settings, metrics, group, stop)
            raise _Finished  # noqa: TRY301 - the only way to end a group whose tasks never end
    except* _Finished:
        log.info("stopped")


async def _operate(
    client: KubernetesClient,
    settings: Settings,
    metrics: Metrics,
    group: asyncio.TaskGroup,
    stop: asyncio.Event | None,
) -> None:
    queue = WorkQueue(resync=settings.resync)
    with contextlib.closing(Approvers(client, queue.add, group, metrics)) as approvers:
        planning = settings.planning
        handlers = Handlers(queue, approvers, images=(planning.images_namespace, planning.images_name))
        observer = Observer(
            client,
            settings=planning,
            files=settings.files,
            contenders=handlers.contenders,
            images=handlers.images,
        )
        secrets = SecretWatches(client, queue.add, group)
        reconciler = Reconciler(
            client, observer, settings=planning, approvers=approvers, secrets=secrets, metrics=metrics
        )
        for selection in _owned(settings):
            group.create_task(_wake_owners(Watch(client, selection), handlers, queue))
        passes = group.create_task(queue.run(reconciler.reconcile))
        try:
            await serve(client, settings, handlers.registry(), stop)
        finally:
            # No pass may use the approvers' files once they are removed.
            passes.cancel()
            await asyncio.wait([passes])


def _owned(settings: Settings) -> list[Selection]:
    """Our own Secrets and ConfigMaps, by their label."""
    return [
        Selection(api_version="v1", kind=kind, namespace=namespace, labels=OWNER_LABEL)
        for kind in ("Secret", "ConfigMap")
        for namespace in settings.namespaces or ("",)
    ]


async def _wake_owners(watch: Watch, handlers: Handlers, queue: WorkQueue) -> None:
    """No pass may begin before the indices are complete: it would not see the other bridges."""
    await handlers.indexed.wait()
    async for event in watch.events():
        wake_owner(queue, event.object)
