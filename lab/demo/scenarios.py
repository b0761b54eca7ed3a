"""What can be demonstrated: one scenario on a good day, and several on bad ones. Each works on a cluster of its own."""

import math
import os
import sys
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Final

from lab.demo.cluster_api import ClusterApi
from lab.demo.waiting import NotReached
from lab.hypershift.sequences import Script
from lab.system.regional import ADAPTER_IMAGE

NEXT_VERSION: Final = "4.22.1"
_NEEDS_TOO_MUCH_MEMORY: Final = "import signal; held = b'x' * 2**28; signal.pause()"
_AT_ONCE: Final = 12
_AVAILABLE: Final = "the control plane is available and the cluster reconciled"
_GONE: Final = "the control plane and the cluster are gone"


async def happy(api: ClusterApi) -> None:
    """A cluster is created, upgraded, gets a node pool, and is deleted with the node pool in the way."""
    cluster = await api.create("demo")
    await api.until_reconciled(cluster, _AVAILABLE)
    data = await api.until_data(cluster, ("control_plane_endpoint", "version"), "its endpoint and version are reported")
    api.timeline.event("you", f"see the endpoint {data['control_plane_endpoint']}, version {data['version']}")
    await api.change(cluster, openshift_version=NEXT_VERSION)

    async def is_upgraded() -> bool:
        return bool((await api.status(cluster)).get("data", {}).get("version") == NEXT_VERSION)

    await api.until(f"the control plane runs {NEXT_VERSION}", is_upgraded)
    await api.until_reconciled(cluster, "the cluster is reconciled again")
    pool = await api.add_node_pool(cluster, "workers", replicas=3)
    await api.until_reconciled(f"{cluster}/nodepools/{pool}", "the node pool is ready")
    await api.delete(cluster)
    await api.until_gone(cluster, "the node pool, the control plane and the cluster are gone")


async def invalid_spec(api: ClusterApi) -> None:
    """A spec that HyperShift would refuse is reported, and works once it is corrected."""
    cluster = await api.create("invalid", machine_network_cidr="not-a-network")
    await api.until_condition(cluster, "Applied", "False", "InvalidSpec", "the mistake in the spec is reported")
    await api.change(cluster, machine_network_cidr="10.0.0.0/16")
    await api.until_reconciled(cluster, "the corrected cluster is available")


async def immutable_change(api: ClusterApi) -> None:
    """A change of what cannot change is refused, and the control plane stays as it is."""
    cluster = await api.create("immutable")
    await api.until_reconciled(cluster, _AVAILABLE)
    await api.change(cluster, gcp_region="europe-west1")
    await api.until_condition(cluster, "Applied", "False", "ImmutableFieldChanged", "the change is refused")


async def maestro_down(api: ClusterApi) -> None:
    """Maestro is away while a cluster is created; the cluster is delivered when it is back."""
    await api.system.maestro.kill()
    api.timeline.event("you", "stopped Maestro")
    cluster = await api.create("outage")

    async def has_job() -> bool:
        return bool(await api.status(cluster))

    await api.until("the cluster is waiting for Maestro", has_job)
    await api.system.maestro.start()
    api.timeline.event("you", "started Maestro again")
    await api.until_reconciled(cluster, _AVAILABLE)


@contextmanager
def _adapter_image(api: ClusterApi, program: Sequence[str] | None) -> Iterator[None]:
    """The registry has another program under the adapter's image, or none; afterwards the right one again."""
    images = api.system.images
    right = images.pop(ADAPTER_IMAGE)
    if program:
        images[ADAPTER_IMAGE] = program
    try:
        yield
    finally:
        images[ADAPTER_IMAGE] = right
    api.timeline.event("you", f"pushed the right image {ADAPTER_IMAGE}")


async def image_pull(api: ClusterApi) -> None:
    """The adapter's image cannot be pulled; the cause is reported, and the pod starts once the image is there."""
    with _adapter_image(api, None):
        api.timeline.event("you", f"removed the image {ADAPTER_IMAGE} from the registry")
        cluster = await api.create("image-pull")
        await api.until_condition(cluster, "Available", "False", "ImagePullBackOff", "the failing pull is reported")
    await api.until_reconciled(cluster, _AVAILABLE)


async def oom(api: ClusterApi) -> None:
    """The adapter needs more memory than its limit; its end is reported, and a corrected adapter succeeds."""
    with _adapter_image(api, (sys.executable, "-c", _NEEDS_TOO_MUCH_MEMORY)):
        api.timeline.event("you", "pushed an adapter that needs more memory than its limit of 128Mi")
        cluster = await api.create("oom")
        await api.until_condition(cluster, "Available", "False", "AdapterOOMKilled", "the adapter's end is reported")
    await api.until_reconciled(cluster, _AVAILABLE)


async def degraded(api: ClusterApi) -> None:
    """A control plane that is degraded for long turns Health to False; Available stays True."""
    cluster = await api.create("degraded")
    await api.until_reconciled(cluster, _AVAILABLE)
    api.system.hypershift.play("clusters", "degraded", Script(degraded="etcd has lost a member"))
    api.timeline.event("HyperShift", "etcd has lost a member")

    async def is_shown() -> bool:
        conditions = {each["type"]: each for each in (await api.status(cluster))["conditions"]}
        return (
            "etcd has lost a member" in conditions["Health"]["message"] and conditions["Available"]["status"] == "True"
        )

    await api.until("the degradation is shown while the control plane stays available", is_shown)


async def stuck_deletion(api: ClusterApi) -> None:
    """A deletion that does not end is reported as such, and ends when what held it is gone."""
    cluster = await api.create("stuck")
    await api.until_reconciled(cluster, _AVAILABLE)
    agent = api.system.agent
    script, agent.script = agent.script, replace(agent.script, stuck=True)
    await api.delete(cluster)
    await api.until_condition(cluster, "Available", "False", "Deleting", "the deletion is reported as unfinished")
    api.timeline.event("you", "freed what held the deletion")
    agent.script = script
    agent.freed.set()
    await api.until_gone(cluster, _GONE)


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise NotReached(f"CLUSTERS is a number of clusters, not {text!r}")
    return int(text)


@contextmanager
def _rarer_pulses(api: ClusterApi, factor: float) -> Iterator[None]:
    """Sentinel announces each cluster more rarely: a Job for every pulse would be more than this machine can run."""
    sentinels = api.system.sentinels
    usual = [each.settings for each in sentinels]
    for each in sentinels:
        settings = each.settings
        each.settings = replace(settings, debounce=settings.debounce * factor, stale=settings.stale * factor)
    try:
        yield
    finally:
        for each, settings in zip(sentinels, usual, strict=True):
            each.settings = settings


async def _until_all(api: ClusterApi, number: Callable[[], Awaitable[int]], total: int, what: str) -> None:
    """Until the number is that of all clusters. Each quarter is a milestone, and the timeline shows each change."""
    shown = 0
    for milestone in sorted({math.ceil(total * quarter / 4) for quarter in (1, 2, 3, 4)}):

        async def is_reached(milestone: int = milestone) -> bool:
            nonlocal shown
            found = await number()
            if found != shown:
                shown = found
                api.timeline.event("you", f"see that {found} of {total} clusters are {what}")
            return found >= milestone

        await api.until(f"{milestone} of {total} clusters are {what}", is_reached)


async def many_clusters(api: ClusterApi) -> None:
    """Many clusters at once (CLUSTERS, 12 by default) become available and are deleted."""
    count = _count(os.environ.get("CLUSTERS", str(_AT_ONCE)))
    more = max(1.0, count / _AT_ONCE)
    api.timeout *= more

    async def available() -> int:
        return await api.count("status.conditions.Reconciled = 'True'")

    async def gone() -> int:
        return count - await api.count()

    with _rarer_pulses(api, more):
        clusters = [await api.create(f"many-{number}") for number in range(count)]
        await _until_all(api, available, count, "available")
        for each in clusters:
            await api.delete(each)
        await _until_all(api, gone, count, "gone")


async def left_running(api: ClusterApi) -> None:
    """A cluster is created and left running, to look at."""
    await api.until_reconciled(await api.create("yours"), _AVAILABLE)


Scenario = Callable[[ClusterApi], Awaitable[None]]
SCENARIOS: Final[dict[str, Scenario]] = {
    "happy": happy,
    "invalid-spec": invalid_spec,
    "immutable-change": immutable_change,
    "maestro-down": maestro_down,
    "image-pull": image_pull,
    "oom": oom,
    "degraded": degraded,
    "stuck-deletion": stuck_deletion,
    "many-clusters": many_clusters,
}
