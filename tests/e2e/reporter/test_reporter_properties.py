"""Whatever stands in the report file, the real API server takes what is made of it, and keeps it as it was sent."""

import contextlib
import json
from pathlib import Path

from hypothesis import HealthCheck, event, given, settings

from shared import times
from status_reporter.job.patching import DATA_ANNOTATION, patch_for
from status_reporter.kube import Kube
from status_reporter.pod.container import Terminated
from status_reporter.report.report_file import read
from status_reporter.verdict import Facts, verdict
from tests.support.kubernetes import Api, KubernetesServer
from tests.support.reporter import Scene, scene_on
from tests.support.reporter_contents import CONTENTS

ENDED = Terminated(exit_code=0, reason="Completed", message="")
TYPES = ("Applied", "Available", "Health")
FORGET = {"status": {"conditions": [{"$patch": "replace"}]}}
TIMEOUT_SECONDS = 240.0


async def test_no_content_makes_a_patch_that_is_refused_or_changed(
    server: KubernetesServer, api: Api, tmp_path: Path
) -> None:
    async with scene_on(server, api, tmp_path) as scene:
        account = Path(scene.environment["SERVICE_ACCOUNT_PATH"])
        with contextlib.closing(Kube(server.url, account, api.namespace)) as connection:
            _put_many(connection, scene)


def _put_many(connection: Kube, scene: Scene) -> None:
    uid = connection.job(scene.name, TIMEOUT_SECONDS)["metadata"]["uid"]

    @settings(max_examples=150, deadline=None, database=None, suppress_health_check=[HealthCheck.too_slow])
    @given(CONTENTS)
    def put(content: bytes) -> None:
        scene.report_file.write_bytes(content)
        reading = read(scene.report_file, condition_type="Available", attempt_began=None)
        event(type(reading).__name__)
        decided = verdict(Facts(reading=reading, container=ENDED, waited=0.0, max_wait=1.0), TYPES)
        assert decided is not None
        body = patch_for(decided.conditions, decided.data, present={}, now=times.now(), uid=uid).body

        connection.patch_job_status(scene.name, FORGET, TIMEOUT_SECONDS)
        job = connection.patch_job_status(scene.name, body, TIMEOUT_SECONDS)

        kept = {each["type"]: each for each in job["status"]["conditions"]}
        for sent in body["status"]["conditions"]:
            known = kept.pop(sent["type"])
            assert {name: known.get(name, "") for name in sent} == sent
        assert not kept
        if decided.data is not None:
            annotation = job["metadata"]["annotations"][DATA_ANNOTATION]
            assert annotation == body["metadata"]["annotations"][DATA_ANNOTATION]
            assert isinstance(json.loads(annotation), dict)

    put()


async def test_the_most_conditions_with_the_longest_texts_fit(
    server: KubernetesServer, api: Api, tmp_path: Path
) -> None:
    async with scene_on(server, api, tmp_path) as scene:
        conditions = [
            {"type": f"{'d' * 200}/Type{number}", "status": "True", "reason": "r" * 300, "message": "\0" * 1300}
            for number in range(100)
        ]
        await scene.start()
        scene.write(json.dumps({"conditions": conditions, "data": {"a": "x" * 65_000}}, ensure_ascii=False))
        await scene.ends()

        assert await scene.exit_code() == 0
        assert len(await scene.conditions()) == 100
