"""The sidecar in trouble: an API server that dies, tokens that expire, rights that are missing, Jobs that were replaced."""

import asyncio
import random
import uuid
from pathlib import Path

from tests.support.kubernetes import MERGE, Api, KubernetesServer, good
from tests.support.reporter import APPLIED, AVAILABLE, ROLE, Scene, scene_on

REPORT = {"conditions": [APPLIED, AVAILABLE], "data": {"a": 1}}
PATCH_ONLY = ROLE[:1]


async def test_a_report_survives_an_api_server_that_is_down_when_it_is_written(
    server: KubernetesServer, scene: Scene
) -> None:
    await scene.start()
    await scene.runs()
    await scene.until_logged("no report yet")
    await server.kill()
    scene.write(REPORT)
    await scene.until_logged("writing the Job's status failed, retrying")
    await server.start()

    await scene.until_reason("Applied", "Created")


async def test_a_report_survives_being_stopped_while_the_api_server_is_down(
    server: KubernetesServer, scene: Scene
) -> None:
    await scene.start(SHUTDOWN_GRACE_SECONDS="600")
    await scene.runs()
    await scene.until_logged("no report yet")
    await server.kill()
    scene.write(REPORT)
    await scene.until_logged("writing the Job's status failed, retrying")
    scene.terminate()
    await server.start()

    await scene.until_reason("Applied", "Created")
    await scene.ends(143)
    assert await scene.exit_code() == 0


async def test_an_api_server_that_stays_away_is_reported_by_the_exit_code(
    server: KubernetesServer, scene: Scene
) -> None:
    await scene.start(SHUTDOWN_GRACE_SECONDS="1")
    await scene.runs()
    await scene.until_logged("no report yet")
    await server.kill()
    scene.write(REPORT)
    await scene.until_logged("writing the Job's status failed, retrying")
    scene.terminate()

    assert await scene.exit_code() == 4
    assert "could not be reached" in scene.termination_message
    await server.start()


async def test_a_token_that_is_renewed_in_place_is_used(scene: Scene) -> None:
    token = scene.folder / "account" / "token"
    known = token.read_text()
    token.write_text("expired")
    await scene.start()
    scene.write(REPORT)
    await scene.until_logged("rejects the token")
    token.write_text(known + "\n")

    await scene.until_reason("Applied", "Created")


async def test_with_the_right_to_patch_only_the_first_report_is_reported_and_ends_it(
    server: KubernetesServer, api: Api, tmp_path: Path
) -> None:
    async with scene_on(server, api, tmp_path, rules=PATCH_ONLY) as scene:
        await scene.start(JOB_NAME=scene.name)
        scene.write(REPORT)

        assert await scene.exit_code() == 0
        assert (await scene.conditions())["Applied"]["reason"] == "Created"


async def test_a_pod_that_may_not_be_watched_is_polled(server: KubernetesServer, api: Api, tmp_path: Path) -> None:
    may_get = {"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}
    async with scene_on(server, api, tmp_path, rules=(*ROLE[:2], may_get)) as scene:
        await scene.start(POLL_INTERVAL="200ms")
        await scene.until_logged("not allowed to watch the pod")
        await scene.ends(7)

        assert await scene.exit_code() == 0
        assert (await scene.conditions())["Available"]["reason"] == "AdapterExitedWithError"


async def test_without_the_right_to_patch_the_refusal_is_reported(
    server: KubernetesServer, api: Api, tmp_path: Path
) -> None:
    async with scene_on(server, api, tmp_path, rules=ROLE[1:]) as scene:
        await scene.start()
        scene.write(REPORT)

        assert await scene.exit_code() == 3
        assert "not allowed" in scene.termination_message
        assert await scene.conditions() == {}


async def test_a_job_made_anew_under_the_same_name_is_not_marked(scene: Scene) -> None:
    former = {"apiVersion": "batch/v1", "kind": "Job", "name": scene.name, "uid": str(uuid.uuid4()), "controller": True}
    good(await scene.api.patch("pods", scene.name, {"metadata": {"ownerReferences": [former]}}, how=MERGE))
    await scene.start()
    scene.write(REPORT)

    assert await scene.exit_code() == 3
    assert "another Job of that name" in scene.termination_message
    assert await scene.conditions() == {}


async def test_a_job_that_is_gone_ends_the_reporter(scene: Scene) -> None:
    good(await scene.api.delete("jobs", scene.name, propagationPolicy="Orphan"))
    await scene.api.patch("jobs", scene.name, {"metadata": {"finalizers": None}})
    await scene.start(JOB_NAME=scene.name)
    scene.write(REPORT)

    assert await scene.exit_code() == 3
    assert "not found" in scene.termination_message


async def test_being_stopped_at_any_moment_loses_nothing(server: KubernetesServer, api: Api, tmp_path: Path) -> None:
    moments = random.Random(4)
    for number in range(20):
        folder = tmp_path / str(number)
        folder.mkdir()
        async with scene_on(server, api, folder) as scene:
            scene.write(REPORT)
            await scene.start()
            await asyncio.sleep(moments.uniform(0.2, 0.6))
            scene.terminate()
            await scene.ends(143)
            code = await scene.exit_code()
            reported = "Applied" in await scene.conditions()
            # A process that had not yet begun to listen is ended by the signal itself, as the kernel does it.
            assert reported or code < 0, f"after stop {number} the reporter ended with {code} and reported nothing"
