"""Leader election, on an API server."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from shared.kubernetes import KubernetesClient, Lease, ObjectRef, Watch, select_one
from tests.support.kubernetes import KubernetesServer
from tests.support.watches import LONGEST_WAIT, Following, following


class Replica:
    """A process that asks for the Lease; its work runs until it is stopped."""

    def __init__(self, lease: Lease) -> None:
        self.lease = lease
        self.works, self.rests = asyncio.Event(), asyncio.Event()
        self._task = asyncio.create_task(lease.lead(self._work))

    async def leads(self) -> None:
        async with asyncio.timeout(LONGEST_WAIT):
            await self.works.wait()

    async def stops_working(self) -> None:
        async with asyncio.timeout(LONGEST_WAIT):
            await self.rests.wait()

    async def stop(self) -> None:
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    async def _work(self) -> None:
        self.works.set()
        self.rests.clear()
        try:
            await asyncio.Event().wait()
        finally:
            self.works.clear()
            self.rests.set()


@pytest.fixture
def ref(namespace: str) -> ObjectRef:
    return ObjectRef(api_version="coordination.k8s.io/v1", kind="Lease", name="leader", namespace=namespace)


@pytest.fixture
def duration() -> float:
    """Nobody loses the Lease because the machine is slow."""
    return 60.0


@pytest.fixture
def replica(client: KubernetesClient, ref: ObjectRef, duration: float) -> Callable[[str], Replica]:
    return lambda identity: Replica(
        Lease(client, name=ref.name, namespace=ref.namespace, identity=identity, duration=duration, renew_every=0.2)
    )


def holders(followed: Following) -> list[str]:
    """Who held it, in order, each once."""
    found: list[str] = []
    for event in followed.events:
        holder = str(event.object["spec"].get("holderIdentity") or "")
        if [holder] != found[-1:]:
            found.append(holder)
    return found


async def test_one_leads_until_it_gives_the_lease_back_and_then_the_other(
    client: KubernetesClient, ref: ObjectRef, replica: Callable[[str], Replica]
) -> None:
    async with following(Watch(client, select_one(ref))) as followed:
        first = replica("first")
        await first.leads()
        second = replica("second")
        await followed.until(lambda: len(followed.events) >= 4)
        assert (first.lease.is_held, second.lease.is_held, second.works.is_set()) == (True, False, False)
        await first.stop()
        assert not first.works.is_set()
        await second.leads()
        await followed.until(lambda: holders(followed)[-1:] == ["second"])
        await second.stop()
    assert holders(followed)[:3] == ["first", "", "second"]


async def test_a_holder_that_died_is_followed_after_its_time(
    client: KubernetesClient, ref: ObjectRef, replica: Callable[[str], Replica]
) -> None:
    spec: dict[str, Any] = {"holderIdentity": "dead", "leaseDurationSeconds": 1, "leaseTransitions": 6}
    metadata = {"name": ref.name, "namespace": ref.namespace}
    await client.create({"apiVersion": ref.api_version, "kind": ref.kind, "metadata": metadata, "spec": spec})
    second = replica("second")
    await second.leads()
    stored = (await client.get(ref))["spec"]
    assert (stored["holderIdentity"], stored["leaseTransitions"]) == ("second", 7)
    await second.stop()


async def test_a_process_that_was_restarted_has_its_lease_at_once(
    client: KubernetesClient, ref: ObjectRef, replica: Callable[[str], Replica]
) -> None:
    spec = {"holderIdentity": "first", "leaseDurationSeconds": 3600, "leaseTransitions": 1}
    metadata = {"name": ref.name, "namespace": ref.namespace}
    await client.create({"apiVersion": ref.api_version, "kind": ref.kind, "metadata": metadata, "spec": spec})
    first = replica("first")
    await first.leads()
    await first.stop()
    assert not (await client.get(ref))["spec"].get("holderIdentity")


async def test_of_many_only_one_leads(client: KubernetesClient, replica: Callable[[str], Replica]) -> None:
    replicas = [replica(f"replica-{number}") for number in range(5)]
    async with asyncio.timeout(LONGEST_WAIT):
        await asyncio.wait(
            [asyncio.create_task(each.leads()) for each in replicas], return_when=asyncio.FIRST_COMPLETED
        )
    assert len([each for each in replicas if each.works.is_set()]) == 1
    for each in replicas:
        await each.stop()


@pytest.mark.parametrize("duration", [2.0])
async def test_a_leader_stops_while_the_server_is_away_and_leads_again_after(
    server: KubernetesServer, replica: Callable[[str], Replica]
) -> None:
    only = replica("only")
    await only.leads()
    await server.kill()
    await only.stops_working()
    assert not only.lease.is_held
    await server.start()
    await only.leads()
    await only.stop()
