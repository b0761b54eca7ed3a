"""A work goes to a management cluster through Maestro, and its status comes back."""

import asyncio
from collections.abc import Callable
from dataclasses import replace

from lab.demo.story import Story
from lab.maestro import LabMaestro
from lab.maestro.agent import Agent
from lab.maestro.verdicts import Script
from shared.maestro import Change, MaestroClient, MaestroSettings, WorkEvent, Works
from shared.maestro.freshness import Application, applied
from shared.manifestwork import ManifestWork, manifest_config

CONSUMER = "us-east-mgmt-01"
HOSTED_CLUSTER = {
    "apiVersion": "hypershift.openshift.io/v1beta1",
    "kind": "HostedCluster",
    "metadata": {"name": "demo", "namespace": "clusters"},
    "spec": {"release": {"image": "quay.io/openshift-release-dev/ocp-release:4.22.0-multi"}},
}
WORK = ManifestWork(
    name="hostedcluster-demo",
    consumer=CONSUMER,
    manifests=(HOSTED_CLUSTER,),
    manifest_configs=(
        manifest_config(
            group="hypershift.openshift.io",
            resource="hostedclusters",
            namespace="clusters",
            name="demo",
            feedback={"status": ".status", "endpoint": ".status.controlPlaneEndpoint.host"},
            update_strategy="ServerSideApply",
        ),
    ),
    labels={"hyperfleet.io/cluster-id": "demo"},
    delete_option={"propagationPolicy": "Foreground"},
)


async def tell(story: Story) -> None:
    story.chapter("a ManifestWork through Maestro")
    async with LabMaestro(heartbeat_seconds=1.0) as maestro:
        story.tell("Maestro (stand-in)", f"REST {maestro.rest_url}, gRPC {maestro.grpc_address}")
        settings = MaestroSettings(
            grpc_server_address=maestro.grpc_address,
            http_server_address=maestro.rest_url,
            source_id="demo-adapter",
            insecure=True,
        )
        async with MaestroClient(settings) as client:
            await client.consumers.ensure(CONSUMER)
            story.tell("adapter", f"management cluster {CONSUMER} is registered")
            async with Agent(maestro.broker_address, CONSUMER, Script(apply_after=0.3)) as cluster:
                story.tell(CONSUMER, "its agent is connected")
                await deliver(client.works(CONSUMER), cluster, story)


async def deliver(works: Works, cluster: Agent, story: Story) -> None:
    watcher = asyncio.create_task(follow(works, story))
    try:
        created = await works.create(WORK)
        story.tell("adapter", f"sent {WORK.name} (id {created.uid}); Maestro has stored version {created.generation}")
        await until(works, lambda work: applied(work).state is Application.APPLIED)
        await cluster.observe("HostedCluster", "clusters", "demo", {"conditions": [], "version": {"history": []}})
        await cluster.observe(
            "HostedCluster", "clusters", "demo", {"controlPlaneEndpoint": {"host": "api.demo.example.com", "port": 443}}
        )
        work = await until(works, lambda work: "endpoint" in work.status.manifests[0].feedback)
        story.tell("adapter", f"control plane endpoint: {work.status.manifests[0].feedback['endpoint']}")
        outcome = await works.apply(replace(work, labels={**work.labels, "hyperfleet.io/generation": "2"}))
        story.tell("adapter", f"applied a change of {', '.join(outcome.changed)}: {outcome.action}")
        await until(works, lambda work: applied(work).state is Application.APPLIED)
        await works.delete(WORK.name)
        story.tell("adapter", "asked for deletion")
        await works.wait_gone(WORK.name, patience=30)
        story.tell("adapter", "it is gone")
    finally:
        watcher.cancel()
        await asyncio.gather(watcher, return_exceptions=True)


async def until(works: Works, reached: Callable[[ManifestWork], bool]) -> ManifestWork:
    work = await works.wait_until(WORK.name, lambda each: each is not None and reached(each), patience=30)
    assert work is not None
    return work


async def follow(works: Works, story: Story) -> None:
    async for event in works.watch():
        story.tell("status stream", describe(event))


def describe(event: WorkEvent) -> str:
    verdict = applied(event.work)
    words = f"{event.change} version {event.work.generation}: {verdict.state.value}"
    if event.change is Change.DELETED:
        return f"{event.change}: nothing is left on the management cluster"
    return f"{words}, being deleted" if event.work.deleting else words
