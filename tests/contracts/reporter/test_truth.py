"""What the Job shows is so: nothing that was true is replaced by less, and nothing made up stays beside the truth."""

import pytest

from tests.support.kubernetes import good
from tests.support.reporter import APPLIED, AVAILABLE, Scene

REPORT = {"conditions": [APPLIED, AVAILABLE], "data": {"a": 1}}


@pytest.mark.parametrize("content", ["{", "", '{"conditions": []}'], ids=["half a file", "an empty file", "no report"])
async def test_a_later_file_that_is_no_report_does_not_replace_a_valid_one(scene: Scene, content: str) -> None:
    await scene.start()
    await scene.runs()
    scene.write(REPORT)
    await scene.until_reason("Applied", "Created")
    scene.write(content)
    await scene.ends(1)

    assert await scene.exit_code() == 0
    conditions = await scene.conditions()
    assert (conditions["Applied"]["reason"], conditions["Available"]["reason"]) == ("Created", "Provisioning")
    assert "Health" not in conditions


async def test_a_late_report_replaces_all_that_the_reporter_made_up(scene: Scene) -> None:
    await scene.start(SHUTDOWN_GRACE_SECONDS="3600")
    await scene.runs()
    await scene.until_logged("no report yet")
    scene.terminate()
    await scene.until_reason("Health", "ReporterTerminated")
    scene.write({"conditions": [APPLIED]})

    assert await scene.exit_code() == 0
    assert set(await scene.conditions()) == {"Applied"}


async def test_a_report_replaces_what_the_reporter_of_an_earlier_pod_made_up(scene: Scene) -> None:
    before = [
        {"type": "Health", "status": "False", "reason": "AdapterOOMKilled", "message": "killed"},
        {"type": "Available", "status": "False", "reason": "Provisioning", "message": "an adapter's own"},
        {"type": "Elsewhere", "status": "False", "reason": "AdapterOOMKilled", "message": "not of this reporter"},
    ]
    good(await scene.api.patch("jobs", scene.name, {"status": {"conditions": before}}, "status"))
    await scene.start()
    scene.write({"conditions": [APPLIED]})
    await scene.ends(0)

    assert await scene.exit_code() == 0
    assert set(await scene.conditions()) == {"Applied", "Available", "Elsewhere"}


async def test_the_termination_message_names_only_what_was_set(scene: Scene) -> None:
    message = scene.folder / "termination"
    await scene.start(TERMINATION_MESSAGE_PATH=str(message))
    scene.write({"conditions": [APPLIED, {"type": "Complete", "status": "True", "reason": "Done"}]})
    await scene.ends(0)

    assert await scene.exit_code() == 0
    assert "Applied=True (Created)" in message.read_text()
    assert "Complete=True" not in message.read_text()


async def test_a_job_that_is_not_the_pods_owner_is_reported_to_with_a_warning(scene: Scene) -> None:
    other = f"{scene.name}-other"
    job = await scene.job()
    template = {"spec": job["spec"]["template"]["spec"]}
    good(await scene.api.create("jobs", {"metadata": {"name": other}, "spec": {"template": template}}))
    await scene.start(JOB_NAME=other)
    await scene.until_logged(f"JOB_NAME names Job {other!r}, but this pod belongs to Job {scene.name!r}")
    scene.write(REPORT)
    await scene.ends(0)

    assert await scene.exit_code() == 0
    assert await scene.conditions() == {}
