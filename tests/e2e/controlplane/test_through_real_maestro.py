"""A HostedCluster through the real Maestro and the real agent onto a real API server, and what is reported of it.

Nothing of the adapter's process takes part: our Maestro client sends the work, the feedback rules bring the status back,
and `hosted_cluster_status` and `conditions` turn them into conditions and data.
"""

import asyncio
import ssl
from dataclasses import replace
from datetime import timedelta

import httpx
import pytest

from controlplane_adapter.status.thresholds import Thresholds
from lab.hypershift.conditions import NO_QUORUM, ConditionText
from lab.hypershift.operator import Operator
from lab.hypershift.sequences import GRACE_PERIOD, Moment, Script
from lab.real.servers.agent import RealAgent
from lab.real.servers.management import ManagementCluster
from shared.maestro import MaestroClient
from tests.support.hosted_clusters import (
    NAMESPACE,
    TIMEOUT,
    Story,
    full_hosted_cluster,
    hosted_cluster,
    reported,
    unique,
)


@pytest.fixture
def story(client: MaestroClient, management_cluster: ManagementCluster, operator: Operator) -> Story:
    return Story(works=client.works(management_cluster.consumer), operator=operator, name=unique("c"))


@pytest.fixture
async def running(story: Story) -> Story:
    """A cluster whose control plane is up."""
    await story.send(hosted_cluster(story.name))
    await story.ready()
    return story


async def test_a_new_control_plane_is_reported_as_provisioning_and_then_ready_with_endpoint_and_version(
    story: Story,
) -> None:
    story.play(Script(hold_before=Moment.AVAILABLE))
    await story.send(hosted_cluster(story.name))

    building = await story.until(
        "Applied=True ManifestWorkExists",
        "Available=False Provisioning",
        "Health=True TransientIssues",
        having=lambda seen: "ComponentsNotAvailable" in seen.message("Available"),
    )
    endpoint = f"https://api.{story.name}.hypershift.local:443"
    assert building.data == {"control_plane_endpoint": endpoint, "version": "", "desired_version": "4.22.0"}

    story.play(Script())
    seen = await story.until(
        "Applied=True ManifestWorkExists", "Available=True ControlPlaneReady", "Health=True NoIssues"
    )
    assert seen.data == {"control_plane_endpoint": endpoint, "version": "4.22.0", "desired_version": "4.22.0"}
    assert seen.status.was_up


async def test_the_full_object_is_accepted_and_answers_under_the_hostname_it_asked_for(story: Story) -> None:
    await story.send(full_hosted_cluster(story.name))
    seen = await story.ready()
    assert seen.data["control_plane_endpoint"] == f"https://api-{story.name}.gcp.example.com:443"


async def test_the_scalars_alone_tell_the_same_as_the_whole_status(running: Story) -> None:
    """As an agent that returns no objects would: the status is taken out of what the real agent sent."""
    seen = await running.ready()
    [manifest] = seen.work.status.manifests
    scalars = {name: value for name, value in manifest.feedback.items() if name != "status"}
    status = replace(seen.work.status, manifests=(replace(manifest, feedback=scalars),))
    poorer = reported(replace(seen.work, status=status))
    assert (poorer.conditions, poorer.data) == (seen.conditions, seen.data)


async def test_an_upgrade_is_followed_and_the_control_plane_stays_available(running: Story) -> None:
    running.play(Script(hold_before=Moment.ROLLED_OUT))
    await running.send(hosted_cluster(running.name, "4.22.1"))
    rolling = await running.until(
        "Applied=True ManifestWorkExists",
        "Available=True ControlPlaneReady",
        "Health=True TransientIssues",
        having=lambda seen: seen.data["desired_version"] == "4.22.1",
    )
    assert rolling.data["version"] == "4.22.0"
    assert rolling.data["upgrade"].items() >= {"state": "Progressing", "from": "4.22.0", "to": "4.22.1"}.items()
    assert "upgrade from 4.22.0 to 4.22.1 in progress" in rolling.message("Available")

    running.play(Script())
    done = await running.until(
        "Available=True ControlPlaneReady",
        "Health=True NoIssues",
        having=lambda seen: seen.data["version"] == "4.22.1",
    )
    assert done.data["upgrade"].items() >= {"state": "Completed", "from": "4.22.0", "to": "4.22.1"}.items()


async def test_an_upgrade_that_cannot_be_is_reported_as_blocked_with_the_reason(running: Story) -> None:
    running.play(Script(upgrade_blocked="cluster version is not upgradeable"))
    await running.send(hosted_cluster(running.name, "4.23.0"))
    blocked = await running.until("Available=True ControlPlaneReady", "Health=False UpgradeBlocked")
    assert "cluster version is not upgradeable" in blocked.message("Health")
    assert blocked.data["version"] == "4.22.0"
    assert blocked.data["upgrade"].items() >= {"state": "UpgradeBlocked", "from": "4.22.0", "to": "4.23.0"}.items()

    running.play(Script())
    await running.until("Health=True NoIssues", having=lambda seen: seen.data["version"] == "4.23.0")


async def test_degraded_is_reported_once_it_has_lasted_and_is_forgotten_when_it_is_over(running: Story) -> None:
    running.play(Script(degraded="kube-apiserver: the serving certificate has expired"))
    degraded = await running.until("Available=True ControlPlaneReady", "Health=True TransientIssues")
    lasting = degraded.later(timedelta(seconds=Thresholds().degraded + 1))
    assert lasting.says("Health", "False", "Degraded")
    assert "certificate problem" in lasting.message("Health")
    assert lasting.says("Available", "True", "ControlPlaneReady")

    running.play(Script())
    await running.ready()


async def test_an_outage_is_reported_at_once_and_its_end_too(running: Story) -> None:
    running.play(Script(outage=NO_QUORUM, degraded="etcd: 2 of 3 members are gone"))
    seen = await running.until("Available=False NotReady", "Health=False Degraded")
    assert "Waiting for etcd to reach quorum" in seen.message("Available")
    running.play(Script())
    await running.ready()


async def test_what_a_person_can_put_right_is_the_reason_of_not_being_available(story: Story) -> None:
    missing = ConditionText("False", "InvalidImage", "failed to lookup release image: manifest unknown")
    story.play(Script(failing={"ValidReleaseImage": missing}))
    await story.send(hosted_cluster(story.name))
    seen = await story.until("Applied=True ManifestWorkExists", "Available=False InvalidImage")
    assert "manifest unknown" in seen.message("Available")
    assert seen.later(timedelta(seconds=Thresholds().degraded + 1)).says("Health", "False", "InvalidImage")

    story.play(Script())
    await story.ready()


async def test_a_management_cluster_without_the_feature_set_refuses_and_the_remedy_is_reported(
    client: MaestroClient, management_cluster_without_gcp: ManagementCluster
) -> None:
    works = client.works(management_cluster_without_gcp.consumer)
    story = Story(works=works, operator=None, name=unique("c"))
    await story.send(hosted_cluster(story.name))
    seen = await story.until(
        "Applied=False AppliedManifestWorkFailed", "Available=False NotApplied", "Health=Unknown NotApplied"
    )
    assert "TechPreviewNoUpgrade" in seen.message("Applied"), seen.message("Applied")


async def test_a_refused_object_is_reported_in_the_words_of_the_api_server(story: Story) -> None:
    broken = hosted_cluster(story.name)
    broken["spec"]["services"] = []
    await story.send(broken)
    seen = await story.until("Applied=False AppliedManifestWorkFailed", "Available=False NotApplied")
    assert "spec.services" in seen.message("Applied")


async def test_a_refused_update_leaves_the_truth_about_the_running_control_plane(running: Story) -> None:
    changed = hosted_cluster(running.name)
    changed["spec"]["platform"]["gcp"]["region"] = "europe-west1"
    await running.send(changed)
    seen = await running.until("Applied=False AppliedManifestWorkFailed")
    assert "Region is immutable" in seen.message("Applied"), seen.message("Applied")
    assert seen.says("Available", "True", "ControlPlaneReady")
    assert seen.says("Health", "True", "NoIssues")


async def test_an_agent_that_does_not_answer_is_reported_as_silent_and_the_last_report_is_kept(
    running: Story, management_cluster: ManagementCluster
) -> None:
    management_cluster.agent.kill()
    try:
        await running.send(hosted_cluster(running.name, "4.22.1"))
        sent = await running.until("Applied=True ManifestWorkExists", "Available=True ControlPlaneReady")
        assert "not yet confirmed" in sent.message("Applied")
        silent = sent.later(timedelta(seconds=Thresholds().agent_silence + 60))
        assert silent.says("Applied", "False", "AgentSilent")
        assert "last report at" in silent.message("Applied")
        assert silent.says("Available", "True", "ControlPlaneReady")
    finally:
        management_cluster.agent.start()
    await running.until("Applied=True ManifestWorkExists", having=lambda seen: seen.data["version"] == "4.22.1")


async def test_an_object_that_somebody_removed_there_is_reported_as_missing(
    running: Story, management_cluster: ManagementCluster
) -> None:
    server = management_cluster.server
    trust = ssl.create_default_context(cafile=str(server.ca_file))
    async with httpx.AsyncClient(base_url=server.url, verify=trust, timeout=TIMEOUT) as http:
        path = f"/apis/hypershift.openshift.io/v1beta1/namespaces/{NAMESPACE}/hostedclusters/{running.name}"
        answer = await http.delete(path, headers={"Authorization": f"Bearer {server.admin_token}"})
        assert answer.is_success, answer.text
    await running.until(
        "Applied=False HostedClusterMissing",
        "Available=False HostedClusterMissing",
        "Health=False HostedClusterMissing",
    )


async def test_a_deletion_is_followed_through_finalizers_and_grace_until_nothing_is_left(
    story: Story, management_cluster: ManagementCluster
) -> None:
    cluster = hosted_cluster(story.name)
    cluster["metadata"]["annotations"] = {GRACE_PERIOD: "5m0s"}
    await story.send(cluster)
    await story.ready()

    story.play(Script(hold_before=Moment.CLOUD_RESOURCES_GONE))
    await story.works.delete(story.work_name)
    slow = await story.until(
        "Available=False Deleting",
        "Health=True NoIssues",
        "Finalized=False FinalizersRunning",
        having=lambda seen: "Remaining resources: load-balancers" in seen.message("Finalized"),
    )
    assert "finalizers: hypershift.openshift.io/finalizer" in slow.message("Finalized")
    assert slow.data["version"] == "4.22.0"
    stuck = slow.later(timedelta(seconds=Thresholds().deletion))
    assert stuck.says("Health", "False", "DeletionStuck")
    assert "HyperShift operator's log" in stuck.message("Health")

    story.play(Script(hold_before=Moment.FINALIZED))
    torn_down = await story.until("Finalized=False WaitingForGracePeriod", "Available=False Deleting")
    assert "Grace period set: 5m0s" in torn_down.message("Finalized")

    await replaced_while_the_object_goes(story, management_cluster.agent)
    await story.works.wait_gone(story.work_name, timeout=TIMEOUT)


async def replaced_while_the_object_goes(story: Story, agent: RealAgent) -> None:
    """Let the object go while no agent looks, and start another.

    Not only because pods are replaced: the real agent now and then never confirms that an object has gone (2 of some 50
    deletions here). A new one finds everything as it is and says so.
    """
    assert story.operator is not None
    agent.kill()
    try:
        story.play(Script())
        async with asyncio.timeout(TIMEOUT):
            await story.operator.gone(NAMESPACE, story.name)
    finally:
        agent.start()
