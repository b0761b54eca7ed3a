"""The sidecar beside any adapter, here a shell script: reported, refused, killed, evicted, out of time, out of memory."""

import asyncio
from dataclasses import replace
from pathlib import Path

from lab.real.cluster.cluster import Cluster
from tests.support.cluster import TIMEOUT, Document, JobNamespace, JobTemplate

REPORT = (
    "adapter-report write --condition Applied=True:Created:'it is there' --condition Available=True:Ready:'it answers'"
    " --data endpoint=https://api.example.com --observed-generation 3"
)
HANG = "trap 'exit 143' TERM; while :; do sleep 0.1; done"


async def test_a_shell_script_reports_and_the_job_shows_it_until_its_time_is_over(
    namespace: JobNamespace, template: JobTemplate
) -> None:
    await namespace.create(template.script("script", REPORT))
    seen = await namespace.ended("script", "CompletionsReached")
    assert seen.has_condition("Applied", "True", "Created")
    assert seen.has_condition("Available", "True", "Ready")
    assert seen.message("Available") == "it answers"
    assert seen.data == {"endpoint": "https://api.example.com"}
    assert "it answers" in await namespace.kubectl("get", "job", "script", "--output=yaml")

    await namespace.expire("script")
    assert await namespace.pods("script") == []

    await namespace.create(template.script("script", REPORT.replace("answers", "answers again")))
    again = await namespace.ended("script", "CompletionsReached")
    assert again.message("Available") == "it answers again"


async def test_what_is_reported_while_the_adapter_still_runs_is_shown_at_once(
    namespace: JobNamespace, template: JobTemplate
) -> None:
    await namespace.create(template.script("early", f"{REPORT}; {HANG}"))
    seen = await namespace.until("early", lambda job: job.has_condition("Available", "True", "Ready"))
    assert not seen.over


async def test_an_adapter_that_needs_too_much_memory_is_reported_as_oom_killed(
    namespace: JobNamespace, template: JobTemplate
) -> None:
    """Where a container has only just begun, containerd misses now and then why it ended, and its reason is Error."""
    greedy = "exec python3 -c 'bytearray(512 * 1024 * 1024)'"
    reasons = {"OOMKilled": "AdapterOOMKilled", "Error": "AdapterExitedWithError"}
    ends: list[str] = []
    while ends[-1:] != ["OOMKilled"] and len(ends) < 5:
        job = f"greedy-{len(ends)}"
        await namespace.create(template.script(job, greedy, limit="32Mi", backoffLimit=0))
        seen = await namespace.ended(job, "BackoffLimitExceeded")
        ended = await namespace.terminated(job, "adapter")
        assert ended["exitCode"] == 137
        ends.append(ended["reason"])
        assert seen.has_condition("Available", "False", reasons[ended["reason"]])
        assert seen.has_condition("Applied", "Unknown", reasons[ended["reason"]])
    assert ends[-1] == "OOMKilled"


async def test_a_missing_image_is_reported_before_the_deadline(namespace: JobNamespace, template: JobTemplate) -> None:
    await namespace.create(replace(template, adapter_image="localhost/nobody-has-this:1").script("missing", "true"))
    seen = await namespace.until("missing", lambda job: job.reason("Available") in {"ErrImagePull", "ImagePullBackOff"})
    assert "nobody-has-this" in seen.message("Available")
    assert not seen.over


async def test_a_permanent_failure_ends_the_job_with_its_first_pod(
    namespace: JobNamespace, template: JobTemplate
) -> None:
    refused = "adapter-report write --condition Applied=False:InvalidSpec:'no region'; exit 3"
    await namespace.create(template.script("permanent", refused, backoffLimit=3))
    seen = await namespace.ended("permanent", "PodFailurePolicy")
    assert seen.has_condition("Applied", "False", "InvalidSpec")
    assert len(await namespace.pods("permanent")) == 1


async def test_a_transient_failure_is_tried_by_another_pod_and_the_last_report_counts(
    namespace: JobNamespace, template: JobTemplate
) -> None:
    trouble = 'adapter-report write --condition Applied=False:MaestroUnavailable:"from $HOSTNAME"; exit 4'
    await namespace.create(template.script("transient", trouble, backoffLimit=1))
    seen = await namespace.ended("transient", "BackoffLimitExceeded")
    pods = sorted(await namespace.pods("transient"), key=lambda pod: str(pod["metadata"]["creationTimestamp"]))
    assert len(pods) == 2
    assert seen.has_condition("Applied", "False", "MaestroUnavailable")
    assert seen.message("Applied") == f"from {pods[-1]['metadata']['name']}"


async def test_an_adapter_that_dies_without_a_report_is_reported_by_its_exit_code(
    namespace: JobNamespace, template: JobTemplate
) -> None:
    await namespace.create(
        template.script("mute", "echo 'the disk is full' > /dev/termination-log; exit 7", backoffLimit=0)
    )
    seen = await namespace.ended("mute", "BackoffLimitExceeded")
    assert seen.has_condition("Available", "False", "AdapterExitedWithError")
    assert "exited with code 7" in seen.message("Available")
    assert "the disk is full" in seen.message("Available")


async def test_a_pod_that_is_over_its_deadline_is_reported_on_the_job(
    namespace: JobNamespace, template: JobTemplate
) -> None:
    await namespace.create(template.script("slow", HANG, backoffLimit=0))
    pod = await namespace.pod_with_listening_reporter("slow")
    await namespace.kubectl("patch", "pod", pod, '--patch={"spec": {"activeDeadlineSeconds": 1}}')
    seen = await namespace.until("slow", lambda job: job.over and "Available" in job.conditions)
    assert seen.over == "BackoffLimitExceeded"
    assert seen.reason("Available") in {"AdapterDeadlineExceeded", "ReporterTerminated"}
    assert seen.conditions["Available"]["status"] == "False"


async def test_an_evicted_pod_is_reported_and_replaced_and_its_successor_reports_last(
    namespace: JobNamespace, template: JobTemplate
) -> None:
    """The adapter hangs until the Job's first pod is deleted."""
    await namespace.create(template.script("evicted", HANG, backoffLimit=0))
    first = await namespace.pod_with_listening_reporter("evicted")
    eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": first, "namespace": namespace.name}}
    path = f"/api/v1/namespaces/{namespace.name}/pods/{first}/eviction"
    await namespace.kubectl("create", f"--raw={path}", "--filename=-", stdin=eviction)
    seen = await namespace.until("evicted", lambda job: "Available" in job.conditions)
    assert seen.conditions["Available"]["status"] == "False"
    assert seen.reason("Available") in {"AdapterExitedWithError", "ReporterTerminated"}
    await namespace.gone("pod", first)
    second = await namespace.running_pod("evicted")
    assert second != first
    assert not (await namespace.job("evicted")).over


async def test_a_report_survives_an_api_server_that_is_down_when_it_is_written(
    namespace: JobNamespace, template: JobTemplate, cluster: Cluster
) -> None:
    patient = replace(template, slowness=4)  # a busy machine takes minutes to start the server again
    await namespace.create(patient.script("patient", f"until [ -e /results/go ]; do sleep 0.1; done; {REPORT}"))
    await namespace.pod_with_listening_reporter("patient")
    (pod,) = await namespace.pods("patient")
    results = shared_folder(cluster, pod, "results")
    cluster.control_plane.kill_api_server()
    try:
        (results / "go").touch()
        await until_exists(results / "adapter-report.json")
    finally:
        cluster.control_plane.start_api_server()
    seen = await namespace.ended("patient", "CompletionsReached")
    assert not seen.document["status"].get("failed"), f"another pod was needed\n{await namespace.story('patient')}"
    assert seen.has_condition("Available", "True", "Ready")


def shared_folder(cluster: Cluster, pod: Document, volume: str) -> Path:
    """An emptyDir of a pod, as the node has it."""
    volumes = cluster.place.folder / "kubelet" / "pods" / str(pod["metadata"]["uid"]) / "volumes"
    return volumes / "kubernetes.io~empty-dir" / volume


async def until_exists(file: Path) -> None:
    async with asyncio.timeout(TIMEOUT):
        while not file.exists():  # noqa: ASYNC110, ASYNC240 - no API server shows it
            await asyncio.sleep(0.1)
