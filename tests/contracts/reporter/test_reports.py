"""The sidecar as a real process: the documented cases, the Go reporter's lost ones, and what stands on the Job after."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.kubernetes import Api, KubernetesServer, good
from tests.support.reporter import APPLIED, AVAILABLE, HEALTHY, Scene, scene_on

REPORT = {"conditions": [APPLIED, AVAILABLE, HEALTHY], "data": {"version": "4.22.0"}}


def statuses(conditions: dict[str, Any]) -> dict[str, str]:
    return {type_: condition["status"] for type_, condition in conditions.items()}


async def test_success_puts_every_condition_and_the_data_on_the_job(scene: Scene) -> None:
    await scene.start()
    await scene.runs()
    scene.write(REPORT)
    await scene.ends()

    assert await scene.exit_code() == 0
    conditions = await scene.conditions()
    assert statuses(conditions) == {"Applied": "True", "Available": "False", "Health": "True"}
    assert conditions["Available"]["reason"] == "Provisioning"
    assert await scene.data() == {"version": "4.22.0"}
    assert "Applied=True (Created)" in scene.termination_message


async def test_failure_of_the_adapter_is_a_report_like_any_other(scene: Scene) -> None:
    await scene.start(CONDITION_TYPE="Available")
    scene.write({"status": "failure", "reason": "WIFMissing", "message": "no pool", "details": {"x": 1}})
    await scene.ends(1)

    assert await scene.exit_code() == 0
    available = (await scene.conditions())["Available"]
    assert (available["status"], available["reason"], available["message"]) == ("False", "WIFMissing", "no pool")


async def test_an_adapter_that_hangs_is_reported_when_the_wait_is_over(scene: Scene) -> None:
    await scene.start(MAX_WAIT_TIME_SECONDS="2", POLL_INTERVAL="0.5")
    await scene.runs()

    assert await scene.exit_code() == 5
    conditions = await scene.conditions()
    assert statuses(conditions) == {"Applied": "Unknown", "Available": "False", "Health": "False"}
    assert conditions["Available"]["reason"] == "AdapterTimeout"
    assert conditions["Available"]["message"] == "Adapter did not produce results within 2s"
    assert await scene.data() is None


@pytest.mark.parametrize(
    ("ending", "reason", "message"),
    [
        pytest.param(
            {"exit_code": 137, "reason": "OOMKilled"},
            "AdapterOOMKilled",
            "Adapter container was killed due to out of memory (OOMKilled)",
            id="out of memory",
        ),
        pytest.param(
            {"exit_code": 1, "message": "Traceback: boom"},
            "AdapterExitedWithError",
            "Adapter container exited with code 1: Error: Traceback: boom",
            id="crash",
        ),
        pytest.param(
            {"exit_code": 139, "signal": 11},
            "AdapterExitedWithError",
            "Adapter container exited with code 139: Error (signal 11)",
            id="signal",
        ),
        pytest.param(
            {"exit_code": 0},
            "AdapterMissingResults",
            "Adapter container exited successfully (code 0) but did not produce a valid result file: result file not found",
            id="nothing written",
        ),
    ],
)
async def test_an_adapter_that_ends_without_a_report_is_reported_at_once_by_how_it_ended(
    scene: Scene, ending: dict[str, Any], reason: str, message: str
) -> None:
    await scene.start()
    await scene.runs()
    await scene.ends(**ending)

    assert await scene.exit_code() == 0
    conditions = await scene.conditions()
    assert statuses(conditions) == {"Applied": "Unknown", "Available": "False", "Health": "False"}
    assert {each["reason"] for each in conditions.values()} == {reason}
    assert conditions["Available"]["message"] == message


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        pytest.param('{"status": "success",\n  "reason": }', "line 2, column 13", id="invalid JSON"),
        pytest.param('{"reason": "NoStatus"}', 'needs "conditions"', id="missing status"),
        pytest.param("", "empty", id="empty file"),
        pytest.param('{"status": "maybe"}', '"success" or "failure"', id="unknown status"),
        pytest.param("[1]", "JSON object", id="not an object"),
    ],
)
async def test_a_file_that_is_no_report_is_reported_when_the_adapter_has_ended(
    scene: Scene, content: str, expected: str
) -> None:
    await scene.start()
    scene.write(content)
    await scene.runs()
    await scene.ends()

    assert await scene.exit_code() == 0
    available = (await scene.conditions())["Available"]
    assert available["reason"] == "InvalidResultFormat"
    assert expected in available["message"]


async def test_a_file_written_in_two_halves_is_read_when_it_is_whole(scene: Scene) -> None:
    text = json.dumps(REPORT)
    await scene.start()
    await scene.runs()
    await scene.until_logged("no report yet")
    scene.report_file.write_text(text[:40])
    await scene.until_logged("no report yet")
    scene.report_file.write_text(text)

    await scene.until_reason("Applied", "Created")


async def test_a_file_that_was_created_empty_is_read_when_it_is_filled(scene: Scene) -> None:
    await scene.start()
    await scene.runs()
    scene.report_file.touch()
    await scene.until_logged("no report yet")
    scene.report_file.write_text(json.dumps(REPORT))

    await scene.until_reason("Applied", "Created")


async def test_a_file_written_byte_by_byte_is_read_when_it_is_whole(scene: Scene) -> None:
    await scene.start()
    await scene.runs()
    with scene.report_file.open("wb", buffering=0) as file:
        for byte in json.dumps(REPORT).encode():
            file.write(bytes([byte]))
            await asyncio.sleep(0)

    conditions = await scene.until_reason("Applied", "Created")
    assert "InvalidResultFormat" not in {each["reason"] for each in conditions.values()}


async def test_a_file_that_no_event_announced_is_read_before_the_verdict(scene: Scene) -> None:
    scene.report_file.parent.rmdir()
    await scene.start(POLL_INTERVAL="40s")
    await scene.runs()
    await scene.until_logged("no file events")
    scene.report_file.parent.mkdir()
    scene.write(REPORT)
    await scene.ends()

    assert await scene.exit_code() == 0
    assert (await scene.conditions())["Applied"]["reason"] == "Created"


async def test_being_stopped_is_the_last_chance_to_write_the_report(scene: Scene) -> None:
    scene.report_file.parent.rmdir()
    await scene.start(POLL_INTERVAL="40s")
    await scene.runs()
    await scene.until_logged("no file events")
    scene.report_file.parent.mkdir()
    scene.write(REPORT)
    scene.terminate()
    await scene.until_reason("Applied", "Created")
    await scene.ends(143)

    assert await scene.exit_code() == 0
    assert (await scene.conditions())["Applied"]["reason"] == "Created"


async def test_being_stopped_before_anything_is_known_is_reported(scene: Scene) -> None:
    await scene.start(SHUTDOWN_GRACE_SECONDS="16")
    await scene.runs()
    await scene.until_logged("no report yet")
    scene.terminate()

    assert await scene.exit_code() == 0
    conditions = await scene.conditions()
    assert statuses(conditions) == {"Applied": "Unknown", "Available": "False", "Health": "False"}
    assert conditions["Available"]["reason"] == "ReporterTerminated"


@pytest.mark.parametrize(
    "reason",
    [
        *("ImagePullBackOff", "ErrImagePull", "ErrImageNeverPull", "InvalidImageName"),
        *("CreateContainerConfigError", "CreateContainerError", "RunContainerError", "CrashLoopBackOff"),
    ],
)
async def test_a_container_that_cannot_start_is_reported_early_and_a_report_replaces_it(
    scene: Scene, reason: str
) -> None:
    await scene.start()
    await scene.container({"waiting": {"reason": reason, "message": "because of the registry"}})
    conditions = await scene.until_reason("Available", reason)
    assert "because of the registry" in conditions["Available"]["message"]
    assert conditions["Applied"]["status"] == "Unknown"

    await scene.runs()
    scene.write(REPORT)
    await scene.until_reason("Applied", "Created")


async def test_a_container_that_failed_to_start_and_is_not_tried_again_is_reported_by_how_it_ended(
    scene: Scene,
) -> None:
    await scene.start()
    await scene.container({"waiting": {"reason": "RunContainerError", "message": "no such file"}})
    await scene.until_reason("Available", "RunContainerError")
    await scene.ends(128, reason="StartError", message="exec: no such file")

    assert await scene.exit_code() == 0
    available = (await scene.conditions())["Available"]
    assert available["message"] == "Adapter container exited with code 128: StartError: exec: no such file"


async def test_the_result_of_maestro_cli_is_understood(scene: Scene) -> None:
    await scene.start()
    scene.write({"name": "w", "consumer": "mgmt-1", "status": "Applied", "message": "sent", "timestamp": "x"})
    await scene.ends()

    assert await scene.exit_code() == 0
    assert (await scene.conditions())["Applied"]["status"] == "True"
    assert await scene.data() == {"manifest_work": "w", "management_cluster": "mgmt-1"}


async def test_a_link_out_of_the_folder_is_not_followed(scene: Scene) -> None:
    secret = scene.folder / "elsewhere.json"
    secret.write_text(json.dumps(REPORT))
    scene.report_file.symlink_to(secret)
    await scene.start()
    await scene.ends()

    assert await scene.exit_code() == 0
    available = (await scene.conditions())["Available"]
    assert available["reason"] == "InvalidResultFormat"
    assert "leads out of its folder" in available["message"]


async def test_a_file_that_may_not_be_read_yet_is_read_when_it_may(scene: Scene) -> None:
    scene.write(REPORT)
    scene.report_file.chmod(0)
    powerless = ("setpriv", "--bounding-set", "-dac_override,-dac_read_search", "--inh-caps", "-all", "--")
    await scene.start(*powerless)
    await scene.runs()
    await scene.until_logged("cannot be read")
    scene.report_file.chmod(0o644)

    await scene.until_reason("Applied", "Created")


async def test_several_candidates_for_the_adapter_are_listed(
    server: KubernetesServer, api: Api, tmp_path: Path
) -> None:
    containers = [{"name": name, "image": "x"} for name in ("adapter", "istio-proxy", "status-reporter")]
    async with scene_on(server, api, tmp_path, containers=containers) as scene:
        await scene.start()

        assert await scene.exit_code() == 2
        available = (await scene.conditions())["Available"]
        assert available["reason"] == "ReporterMisconfigured"
        assert "adapter, istio-proxy" in available["message"]
        assert "ADAPTER_CONTAINER_NAME" in scene.termination_message


async def test_the_named_container_is_the_adapter(server: KubernetesServer, api: Api, tmp_path: Path) -> None:
    containers = [{"name": name, "image": "x"} for name in ("adapter", "istio-proxy", "status-reporter")]
    async with scene_on(server, api, tmp_path, containers=containers) as scene:
        await scene.start(ADAPTER_CONTAINER_NAME="adapter")
        await scene.ends(3)

        assert await scene.exit_code() == 0
        assert (await scene.conditions())["Available"]["reason"] == "AdapterExitedWithError"


async def test_a_condition_of_the_job_controller_is_refused_as_a_setting(scene: Scene) -> None:
    await scene.start(CONDITION_TYPE="Complete", POLL_INTERVAL="never")

    assert await scene.exit_code() == 2
    conditions = await scene.conditions()
    assert "Complete" not in conditions
    message = conditions["Available"]["message"]
    assert "CONDITION_TYPE" in message
    assert "POLL_INTERVAL" in message


async def test_a_condition_of_the_job_controller_is_left_out_of_a_report(scene: Scene) -> None:
    await scene.start()
    scene.write({"conditions": [APPLIED, {"type": "Complete", "status": "True"}]})
    await scene.ends()

    assert await scene.exit_code() == 0
    assert set(await scene.conditions()) == {"Applied"}


async def test_a_report_of_a_former_attempt_is_not_taken_for_this_one(
    server: KubernetesServer, api: Api, tmp_path: Path
) -> None:
    async with scene_on(server, api, tmp_path, restartPolicy="OnFailure") as scene:
        scene.write(REPORT)
        await scene.container({"running": {"startedAt": "2126-01-01T00:00:00Z"}}, restarts=1)
        await scene.start()
        await scene.until_logged("no report yet")
        assert await scene.conditions() == {}
        await scene.container(
            {"terminated": {"exitCode": 1, "reason": "Error", "startedAt": "2126-01-01T00:00:00Z"}},
            restarts=1,
            phase="Failed",
        )

        assert await scene.exit_code() == 0
        assert (await scene.conditions())["Available"]["reason"] == "AdapterExitedWithError"


async def test_a_later_attempts_report_replaces_an_earlier_one(
    server: KubernetesServer, api: Api, tmp_path: Path
) -> None:
    async with scene_on(server, api, tmp_path, restartPolicy="OnFailure") as scene:
        await scene.start()
        scene.write({"conditions": [APPLIED | {"status": "False", "reason": "FirstTry"}]})
        await scene.until_reason("Applied", "FirstTry")
        await scene.container({"terminated": {"exitCode": 1, "reason": "Error", "startedAt": "2026-01-01T00:00:00Z"}})
        await scene.runs(restarts=1)
        scene.write(REPORT)
        await scene.until_reason("Applied", "Created")


async def test_each_new_content_is_reported_until_the_adapter_ends(scene: Scene) -> None:
    await scene.start()
    await scene.runs()
    for step in ("Creating", "Waiting", "Done"):
        scene.write({"conditions": [APPLIED | {"reason": step}]})
        await scene.until_reason("Applied", step)
    await scene.ends()

    assert await scene.exit_code() == 0


async def test_the_time_of_a_condition_moves_only_with_its_status(scene: Scene) -> None:
    old = {"type": "Applied", "status": "True", "lastTransitionTime": "2020-01-01T00:00:00Z", "reason": "Before"}
    good(await scene.api.patch("jobs", scene.name, {"status": {"conditions": [old]}}, "status"))
    await scene.start()
    scene.write(REPORT)
    await scene.ends()

    assert await scene.exit_code() == 0
    conditions = await scene.conditions()
    assert conditions["Applied"]["lastTransitionTime"] == "2020-01-01T00:00:00Z"
    assert conditions["Applied"]["reason"] == "Created"
    assert conditions["Available"]["lastTransitionTime"] > "2026"


async def test_conditions_of_others_stay_on_the_job(scene: Scene) -> None:
    other = {"type": "example.com/Audited", "status": "True", "reason": "Seen", "message": ""}
    good(await scene.api.patch("jobs", scene.name, {"status": {"conditions": [other]}}, "status"))
    await scene.start()
    scene.write(REPORT)
    await scene.ends()

    assert await scene.exit_code() == 0
    assert set(await scene.conditions()) == {"example.com/Audited", "Applied", "Available", "Health"}


async def test_long_texts_and_large_data_are_cut_to_what_can_be_reported(scene: Scene) -> None:
    await scene.start()
    long = APPLIED | {"reason": "R" * 400, "message": "é" * 3000}
    scene.write({"conditions": [long], "data": {"small": 1, "large": "x" * 100_000}})
    await scene.ends()

    assert await scene.exit_code() == 0
    applied = (await scene.conditions())["Applied"]
    assert (len(applied["reason"]), len(applied["message"].encode())) == (256, 2048)
    assert await scene.data() == {"small": 1, "hyperfleet.io/dropped": ["large"]}


@pytest.mark.parametrize("reason", ["Evicted", "DeadlineExceeded"])
async def test_a_pod_that_kubernetes_failed_is_reported_by_its_reason(scene: Scene, reason: str) -> None:
    await scene.start()
    await scene.runs(phase="Failed", reason=reason, message="The node was low on resource: memory")

    assert await scene.exit_code() == 0
    available = (await scene.conditions())["Available"]
    assert available["reason"] == f"Adapter{reason}"
    assert "low on resource" in available["message"]
