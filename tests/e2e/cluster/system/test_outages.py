"""Parts of the installed system are killed while clusters are created and changed; all clusters get there."""

import asyncio
from collections.abc import Iterator

import pytest

from lab.hypershift.operator import Operator
from lab.real.installed.release import CONTROL_PLANE, Releases
from tests.support.cluster import JobNamespace
from tests.support.installed import SOON, Clusters, Document
from tests.support.outages import Component, dispatchers

# Long enough for several attempts of everybody who needs the server.
OUTAGE_SECONDS = 5
LEASE = f"hyperfleet-adapter-{CONTROL_PLANE}"


@SOON
@pytest.mark.parametrize("name", ["RabbitMQ", "HyperFleet API", "Kubernetes API server", "Maestro and its agent"])
async def test_a_restart_in_the_middle_delays_clusters_and_loses_none(
    clusters: Clusters, operator: Operator, components: dict[str, Component], name: str
) -> None:
    changed = await clusters.create()
    await clusters.until_available(changed)
    created = await clusters.create()
    await clusters.upgrade(changed)
    await components[name].kill()
    await asyncio.sleep(OUTAGE_SECONDS)
    await components[name].start()
    await clusters.until_available(created)
    await clusters.until_upgraded(changed)
    operator.check()


async def test_a_dispatcher_that_is_killed_in_the_middle_is_replaced_and_goes_on(
    clusters: Clusters, operator: Operator, system_namespace: JobNamespace, jobs_namespace: JobNamespace
) -> None:
    cluster = await clusters.create()
    await jobs_namespace.first(lambda _: True, "jobs", f"--selector=hyperfleet.io/cluster-id={cluster['id']}")
    (pod,) = await dispatchers(system_namespace)
    await system_namespace.kubectl("delete", "pod", pod, "--grace-period=0", "--force")
    await clusters.until_available(cluster)
    operator.check()
    assert pod not in await dispatchers(system_namespace)


@pytest.fixture
def _two_replicas(releases: Releases) -> Iterator[None]:
    releases.scale(CONTROL_PLANE, 2)
    yield
    releases.scale(CONTROL_PLANE, 1)


@pytest.mark.usefixtures("_two_replicas")
async def test_a_second_replica_takes_over_when_the_first_one_dies(
    clusters: Clusters, operator: Operator, system_namespace: JobNamespace
) -> None:
    before = await holder(system_namespace, among=set(await dispatchers(system_namespace)))
    several = [await clusters.create() for _ in range(3)]
    await system_namespace.kubectl("delete", "pod", before, "--grace-period=0", "--force")
    for cluster in several:
        await clusters.until_available(cluster)
    operator.check()
    after = await holder(system_namespace, among=set(await dispatchers(system_namespace)) - {before})
    assert after != before


async def holder(namespace: JobNamespace, *, among: set[str]) -> str:
    """The replica that watches, once it is one of these: a Lease names a killed one until it expires."""

    def held(lease: Document) -> bool:
        return lease["spec"].get("holderIdentity") in among

    found = await namespace.first(held, "leases", f"--field-selector=metadata.name={LEASE}")
    return str(found["spec"]["holderIdentity"])
