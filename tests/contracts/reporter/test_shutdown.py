"""The sidecar after SIGTERM: the adapter gets it at the same moment, and its last report is not lost."""

from pathlib import Path

import pytest

from tests.support.kubernetes import Api, KubernetesServer
from tests.support.reporter import APPLIED, AVAILABLE, ROLE, Scene, scene_on

REPORT = {"conditions": [APPLIED, AVAILABLE], "data": {"a": 1}}
ANSWER = {"conditions": [APPLIED | {"reason": "Stopped"}, AVAILABLE], "data": {"a": 2}}
STOPPING = "received a signal to stop"
# Half of it would be waited for an answer: longer than a test waits for the end of a process.
LONG_GRACE = "3600"


async def begin(scene: Scene) -> None:
    """An adapter at work, that has not reported yet."""
    await scene.start(SHUTDOWN_GRACE_SECONDS=LONG_GRACE)
    await scene.runs()
    await scene.until_logged("no report yet")


def is_running(scene: Scene) -> bool:
    return scene.process is not None and scene.process.returncode is None


async def test_what_the_adapter_reports_after_the_same_signal_is_reported(scene: Scene) -> None:
    await begin(scene)
    scene.terminate()
    await scene.until_logged(STOPPING)
    scene.write(ANSWER)
    await scene.ends(143)

    assert await scene.exit_code() == 0
    conditions = await scene.conditions()
    assert conditions["Applied"]["reason"] == "Stopped"
    assert "Health" not in conditions, "nothing but the last report was written"
    assert await scene.data() == {"a": 2}


async def test_a_report_that_is_there_is_reported_at_once_and_the_answer_replaces_it(scene: Scene) -> None:
    scene.report_file.parent.rmdir()
    await scene.start(POLL_INTERVAL="40s", SHUTDOWN_GRACE_SECONDS=LONG_GRACE)
    await scene.runs()
    await scene.until_logged("no file events")
    scene.report_file.parent.mkdir()
    scene.write(REPORT)
    scene.terminate()
    await scene.until_reason("Applied", "Created")
    assert is_running(scene)

    scene.write(ANSWER)
    await scene.ends(143)
    assert await scene.exit_code() == 0
    assert (await scene.conditions())["Applied"]["reason"] == "Stopped"


async def test_an_adapter_that_does_not_answer_soon_is_reported_and_may_still_answer(scene: Scene) -> None:
    await begin(scene)
    scene.terminate()
    await scene.until_reason("Available", "ReporterTerminated")
    assert is_running(scene)

    scene.write(ANSWER)
    await scene.until_reason("Applied", "Stopped")


async def test_an_adapter_whose_end_is_not_shown_is_left_when_it_adds_nothing_to_its_answer(scene: Scene) -> None:
    await begin(scene)
    scene.terminate()
    await scene.until_logged(STOPPING)
    scene.write(ANSWER)

    assert await scene.exit_code() == 0
    assert (await scene.conditions())["Applied"]["reason"] == "Stopped"


async def test_a_last_answer_that_no_event_announced_is_read_before_leaving(scene: Scene) -> None:
    scene.report_file.parent.rmdir()
    await scene.start(POLL_INTERVAL="40s", SHUTDOWN_GRACE_SECONDS="24")
    await scene.runs()
    await scene.until_logged("no file events")
    scene.terminate()
    await scene.until_reason("Available", "ReporterTerminated")
    scene.report_file.parent.mkdir()
    scene.write(ANSWER)

    assert await scene.exit_code() == 0
    assert (await scene.conditions())["Applied"]["reason"] == "Stopped"


@pytest.mark.parametrize(
    ("state", "reason"),
    [
        pytest.param({"terminated": {"exitCode": 143, "reason": "Error"}}, "AdapterExitedWithError", id="it ends"),
        pytest.param({"waiting": {"reason": "ImagePullBackOff"}}, "ImagePullBackOff", id="it cannot start"),
    ],
)
async def test_an_adapter_that_cannot_answer_is_not_waited_for(
    scene: Scene, state: dict[str, dict[str, str]], reason: str
) -> None:
    await begin(scene)
    scene.terminate()
    await scene.until_logged(STOPPING)
    await scene.container(state)

    assert await scene.exit_code() == 0
    assert (await scene.conditions())["Available"]["reason"] == reason


async def test_a_second_signal_ends_the_wait_and_what_is_known_is_reported(scene: Scene) -> None:
    await begin(scene)
    scene.terminate()
    await scene.until_logged(STOPPING)
    scene.terminate()

    assert await scene.exit_code() == 0
    assert (await scene.conditions())["Available"]["reason"] == "ReporterTerminated"


async def test_a_second_signal_ends_the_patience_with_an_api_server_that_is_down(
    server: KubernetesServer, scene: Scene
) -> None:
    await begin(scene)
    await server.kill()
    scene.write(REPORT)
    await scene.until_logged("retrying")
    scene.terminate()
    await scene.until_logged(STOPPING)
    scene.terminate()

    assert await scene.exit_code() == 4
    await server.start()


async def test_an_answer_is_awaited_where_the_pod_may_not_be_seen(
    server: KubernetesServer, api: Api, tmp_path: Path
) -> None:
    async with scene_on(server, api, tmp_path, rules=ROLE[:1]) as scene:
        await scene.start(JOB_NAME=scene.name, SHUTDOWN_GRACE_SECONDS=LONG_GRACE)
        await scene.until_logged("the pod cannot be read")
        scene.terminate()
        await scene.until_logged(STOPPING)
        scene.write(ANSWER)

        assert await scene.exit_code() == 0
        assert (await scene.conditions())["Applied"]["reason"] == "Stopped"
