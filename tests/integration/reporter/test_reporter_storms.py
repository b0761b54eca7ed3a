"""The sidecar in weather that only the stand-in can make: floods of refusals, lost answers, silence, bursts of reports."""

import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from lab.kubernetes import LabKubernetes
from status_reporter.kube import FORBIDDEN_SECONDS
from tests.support.kubernetes import Api, KubernetesServer, good
from tests.support.reporter import APPLIED, AVAILABLE, Scene, scene_on

REPORT = {"conditions": [APPLIED, AVAILABLE], "data": {"a": 1}}


@pytest.fixture
async def scene(server: KubernetesServer, api: Api, tmp_path: Path) -> AsyncIterator[Scene]:
    async with scene_on(server, api, tmp_path) as standing:
        yield standing


def patches(lab: LabKubernetes) -> int:
    """How often the sidecar tried to write to its Job."""
    return sum(each.method == "PATCH" and each.user != "admin" for each in lab.seen)


async def test_a_flood_of_429_is_waited_out_as_long_as_the_server_asks(lab: LabKubernetes, scene: Scene) -> None:
    await scene.start()
    await scene.runs()
    await scene.until_logged("no report yet")
    lab.faults.fail(429, method="PATCH", times=2, headers={"Retry-After": "1"})
    started = time.monotonic()
    scene.write(REPORT)
    await scene.until_reason("Applied", "Created")

    assert time.monotonic() - started >= 2
    assert patches(lab) == 3


async def test_every_request_may_be_refused_in_a_storm_and_the_report_still_arrives(
    lab: LabKubernetes, scene: Scene
) -> None:
    lab.faults.fail(429, times=2, headers={"Retry-After": "0"})
    lab.faults.fail(503, times=2)
    scene.write(REPORT)
    await scene.start()
    await scene.until_reason("Applied", "Created")
    await scene.ends()

    assert await scene.exit_code() == 0


async def test_a_refusal_after_an_outage_is_not_believed_at_once(lab: LabKubernetes, scene: Scene) -> None:
    """An API server that comes back refuses for a moment what it allows, and the outage before it is no refusal."""
    lab.faults.fail(503, method="PATCH", headers={"Retry-After": f"{FORBIDDEN_SECONDS + 1:.0f}"})
    lab.faults.fail(403, method="PATCH")
    scene.write(REPORT)
    await scene.start()
    await scene.ends()

    assert await scene.exit_code() == 0
    assert (await scene.conditions())["Applied"]["reason"] == "Created"
    assert patches(lab) == 3


@pytest.mark.parametrize("status", [409, 500, 503])
async def test_a_failing_server_is_asked_again(lab: LabKubernetes, scene: Scene, status: int) -> None:
    lab.faults.fail(status, method="PATCH", times=2)
    scene.write(REPORT)
    await scene.start()
    await scene.ends()

    assert await scene.exit_code() == 0
    assert (await scene.conditions())["Applied"]["reason"] == "Created"
    assert patches(lab) == 3


async def test_a_page_in_place_of_an_answer_is_no_answer(lab: LabKubernetes, scene: Scene) -> None:
    lab.faults.fail(200, times=2, body="<html>please log in</html>")
    scene.write(REPORT)
    await scene.start()
    await scene.ends()

    assert await scene.exit_code() == 0
    assert (await scene.conditions())["Applied"]["reason"] == "Created"


@pytest.mark.parametrize("times", [1, 3])
async def test_a_connection_that_breaks_at_the_moment_of_writing_loses_nothing(
    lab: LabKubernetes, scene: Scene, times: int
) -> None:
    lab.faults.cut(method="PATCH", times=times)
    scene.write(REPORT)
    await scene.start()
    await scene.ends()

    assert await scene.exit_code() == 0
    assert (await scene.conditions())["Applied"]["reason"] == "Created"
    assert patches(lab) == times + 1


@pytest.mark.parametrize("times", [1, 3])
async def test_a_write_whose_answer_was_lost_is_written_again_and_changes_nothing(
    lab: LabKubernetes, scene: Scene, times: int
) -> None:
    old = {"type": "Applied", "status": "True", "lastTransitionTime": "2020-01-01T00:00:00Z", "reason": "Before"}
    good(await scene.api.patch("jobs", scene.name, {"status": {"conditions": [old]}}, "status"))
    lab.faults.lose_answer(method="PATCH", times=times)
    scene.write(REPORT)
    await scene.start()
    await scene.ends()

    assert await scene.exit_code() == 0
    conditions = await scene.conditions()
    assert sorted(conditions) == ["Applied", "Available"]
    assert conditions["Applied"]["lastTransitionTime"] == "2020-01-01T00:00:00Z"
    assert patches(lab) == times + 1


@pytest.mark.parametrize("trouble", ["cut", "expired"])
async def test_an_adapter_that_ends_while_nobody_watches_is_still_reported(
    lab: LabKubernetes, scene: Scene, trouble: str
) -> None:
    await scene.start()
    await scene.runs()
    await scene.until_logged("no report yet")
    {"cut": lab.faults.cut_watches, "expired": lab.faults.expire_history}[trouble]()
    await scene.ends(9)

    assert await scene.exit_code() == 0
    assert "exited with code 9" in (await scene.conditions())["Available"]["message"]


async def test_a_server_that_is_silent_is_not_waited_for_for_ever(lab: LabKubernetes, scene: Scene) -> None:
    lab.faults.hang(method="PATCH")
    lab.faults.hang(path="/pods$")
    await scene.start()
    scene.write(REPORT)
    await scene.until_logged("did not answer in time")
    await scene.until_reason("Applied", "Created")
    await scene.ends()

    assert await scene.exit_code() == 0


async def test_being_stopped_ends_the_patience_a_server_asked_for(lab: LabKubernetes, scene: Scene) -> None:
    await scene.start()
    await scene.runs()
    await scene.until_logged("no report yet")
    lab.faults.fail(429, method="PATCH", times=2, headers={"Retry-After": "3600"})
    scene.write(REPORT)
    await scene.until_logged("retrying")
    scene.terminate()
    await scene.until_reason("Applied", "Created")
    await scene.ends(143)

    assert await scene.exit_code() == 0


async def test_a_server_that_is_silent_for_longer_than_the_grace_period_is_given_up(
    lab: LabKubernetes, scene: Scene
) -> None:
    await scene.start(SHUTDOWN_GRACE_SECONDS="1")
    await scene.runs()
    await scene.until_logged("no report yet")
    lab.faults.hang(method="PATCH", times=0)
    scene.terminate()

    assert await scene.exit_code() == 4


async def test_a_burst_of_reports_is_reported_in_few_writes_and_the_last_one_stands(
    lab: LabKubernetes, scene: Scene
) -> None:
    await scene.start()
    await scene.runs()
    await scene.until_logged("no report yet")
    for step in range(30):
        scene.write({"conditions": [APPLIED | {"reason": f"Step{step}"}]})
    await scene.until_reason("Applied", "Step29")
    assert patches(lab) <= 3
    await scene.ends()

    assert await scene.exit_code() == 0
    assert patches(lab) <= 3
    assert (await scene.conditions())["Applied"]["reason"] == "Step29"


async def test_the_same_report_written_again_is_not_reported_again(lab: LabKubernetes, scene: Scene) -> None:
    await scene.start()
    scene.write(REPORT)
    await scene.until_reason("Applied", "Created")
    for _ in range(5):
        scene.write(REPORT)
    await scene.ends()

    assert await scene.exit_code() == 0
    assert patches(lab) == 1


async def test_a_report_is_reported_when_the_time_is_over_before_the_pod_was_ever_seen(
    lab: LabKubernetes, scene: Scene
) -> None:
    lab.faults.hang(path="/pods/")
    scene.write(REPORT)
    await scene.start(MAX_WAIT_TIME_SECONDS="1", POLL_INTERVAL="0.5")

    assert await scene.exit_code() == 0
    assert (await scene.conditions())["Applied"]["reason"] == "Created"


async def test_being_stopped_while_a_misconfiguration_cannot_be_reported_ends_in_time(
    lab: LabKubernetes, scene: Scene
) -> None:
    lab.faults.fail(503, times=0)
    await scene.start(LOG_FORMAT="xml", SHUTDOWN_GRACE_SECONDS="1")
    await scene.until_logged("retrying")
    scene.terminate()

    assert await scene.exit_code() == 2
    assert "LOG_FORMAT" in scene.termination_message
