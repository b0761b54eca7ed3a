"""The sidecar beside any adapter, here a shell script: reported, refused, killed, evicted, out of time, out of memory."""

import asyncio
from dataclasses import replace

from lab.real.cluster.cluster import Cluster
from shared import times
from tests.contracts.cluster_ground import JobTemplate, Room

REPORT = (
    "adapter-report write --condition Applied=True:Created:'it is there' --condition Available=True:Ready:'it answers'"
    " --data endpoint=https://api.example.com --observed-generation 3"
)
HANG = "trap 'exit 143' TERM; while :; do sleep 0.1; done"


async def test_a_shell_script_reports_and_the_job_shows_it_until_its_time_is_over(
    room: Room, template: JobTemplate
) -> None:
    await room.create(template.script("script", REPORT, ttlSecondsAfterFinished=3))
    seen = await room.ended("script", "CompletionsReached")
    assert seen.says("Applied", "True", "Created")
    assert seen.says("Available", "True", "Ready")
    assert seen.message("Available") == "it answers"
    assert seen.data == {"endpoint": "https://api.example.com"}
    assert "it answers" in await room.kubectl("get", "job", "script", "--output=yaml")

    await room.gone("job", "script")
    assert await room.pods("script") == []

    await room.create(template.script("script", REPORT.replace("answers", "answers again")))
    again = await room.ended("script", "CompletionsReached")
    assert again.message("Available") == "it answers again"


async def test_what_is_reported_while_the_adapter_still_runs_is_shown_at_once(
    room: Room, template: JobTemplate
) -> None:
    await room.create(template.script("early", f"{REPORT}; {HANG}"))
    seen = await room.until("early", lambda job: job.says("Available", "True", "Ready"))
    assert not seen.over


async def test_an_adapter_that_needs_too_much_memory_is_told_as_such(room: Room, template: JobTemplate) -> None:
    greedy = "exec python3 -c 'bytearray(512 * 1024 * 1024)'"
    await room.create(template.script("greedy", greedy, limit="32Mi", backoffLimit=0))
    seen = await room.ended("greedy", "BackoffLimitExceeded")
    assert seen.says("Available", "False", "AdapterOOMKilled")
    assert seen.says("Applied", "Unknown", "AdapterOOMKilled")


async def test_an_image_that_is_not_there_is_told_before_anybody_gives_up(room: Room, template: JobTemplate) -> None:
    await room.create(replace(template, adapter_image="localhost/nobody-has-this:1").script("missing", "true"))
    seen = await room.until("missing", lambda job: job.reason("Available") in {"ErrImagePull", "ImagePullBackOff"})
    assert "nobody-has-this" in seen.message("Available")
    assert not seen.over


async def test_a_permanent_failure_ends_the_job_with_its_first_pod(room: Room, template: JobTemplate) -> None:
    refused = "adapter-report write --condition Applied=False:InvalidSpec:'no region'; exit 3"
    await room.create(template.script("permanent", refused, backoffLimit=3))
    seen = await room.ended("permanent", "PodFailurePolicy")
    assert seen.says("Applied", "False", "InvalidSpec")
    assert len(await room.pods("permanent")) == 1


async def test_a_transient_failure_is_tried_by_another_pod_and_the_last_word_counts(
    room: Room, template: JobTemplate
) -> None:
    trouble = 'adapter-report write --condition Applied=False:MaestroUnavailable:"told by $HOSTNAME"; exit 4'
    await room.create(template.script("transient", trouble, backoffLimit=1))
    seen = await room.ended("transient", "BackoffLimitExceeded")
    pods = sorted(await room.pods("transient"), key=lambda pod: str(pod["metadata"]["creationTimestamp"]))
    assert len(pods) == 2
    assert seen.says("Applied", "False", "MaestroUnavailable")
    assert seen.message("Applied") == f"told by {pods[-1]['metadata']['name']}"


async def test_an_adapter_that_dies_without_a_word_is_reported_by_its_exit_code(
    room: Room, template: JobTemplate
) -> None:
    await room.create(template.script("mute", "echo 'the disk is full' > /dev/termination-log; exit 7", backoffLimit=0))
    seen = await room.ended("mute", "BackoffLimitExceeded")
    assert seen.says("Available", "False", "AdapterExitedWithError")
    assert "exited with code 7" in seen.message("Available")
    assert "the disk is full" in seen.message("Available")


async def test_a_pod_that_is_over_its_deadline_says_so_on_the_job(room: Room, template: JobTemplate) -> None:
    await room.create(template.script("slow", HANG, backoffLimit=0, pod={"activeDeadlineSeconds": 4}))
    seen = await room.until("slow", lambda job: job.over and "Available" in job.conditions)
    assert seen.over == "BackoffLimitExceeded"
    assert seen.reason("Available") in {"AdapterDeadlineExceeded", "ReporterTerminated"}
    assert seen.conditions["Available"]["status"] == "False"


async def test_an_evicted_pod_is_told_and_replaced_and_its_successor_has_the_last_word(
    room: Room, template: JobTemplate
) -> None:
    """The adapter hangs until somebody has told the Job's first pod to go."""
    await room.create(template.script("evicted", HANG, backoffLimit=0))
    first = await room.running_pod("evicted")
    eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": first, "namespace": room.namespace}}
    path = f"/api/v1/namespaces/{room.namespace}/pods/{first}/eviction"
    await room.kubectl("create", f"--raw={path}", "--filename=-", stdin=eviction)
    told = await room.until("evicted", lambda job: "Available" in job.conditions)
    assert told.conditions["Available"]["status"] == "False"
    assert told.reason("Available") in {"AdapterExitedWithError", "ReporterTerminated"}
    await room.gone("pod", first)
    second = await room.running_pod("evicted")
    assert second != first
    assert not (await room.job("evicted")).over


async def test_a_report_survives_an_api_server_that_is_down_when_it_is_written(
    room: Room, template: JobTemplate, cluster: Cluster
) -> None:
    report = REPORT.replace("'it answers'", '"$(date --utc +%FT%TZ)"')
    await room.create(template.script("patient", f"sleep 4; {report}; sleep 1"))
    await room.running_pod("patient")
    down = times.now()
    cluster.control_plane.kill_api_server()
    await asyncio.sleep(6)  # for longer than the adapter takes to report
    up = times.now()
    cluster.control_plane.start_api_server()
    seen = await room.ended("patient", "CompletionsReached")
    assert not seen.document["status"].get("failed"), f"another pod was needed\n{await room.story('patient')}"
    assert seen.says("Available", "True", "Ready")
    assert down < times.parse(seen.message("Available")) < up
