"""An adapter with two Jobs for a cluster, which is available when both are; the TTL removes one while the other runs."""

import copy
from typing import Any

from shared.kubernetes import ObjectRef
from tests.support.dispatcher import System, set_conditions
from tests.support.small_adapter import TASK

NAMES = ("first", "second")
_IS_DONE = " && ".join(
    f'resources.?{name}.?status.?conditions.orValue([]).exists(c, c.type == "Available" && c.status == "True")'
    for name in NAMES
)
_CONDITIONS = f"""
["Applied", "Available", "Health"].map(t, {{
  "type": t, "status": {_IS_DONE} ? "True" : "False", "reason": "Jobs", "message": ""}})
"""


def two_jobs() -> dict[str, Any]:
    """The task config. The label `part` says which of the Jobs one is; all others they share."""
    task = copy.deepcopy(TASK)
    (job,) = task["resources"]
    task["resources"] = [_part(job, name) for name in NAMES]
    task["post"]["payloads"][0]["build"]["conditions"] = {"expression": _CONDITIONS}
    return task


def _part(job: dict[str, Any], name: str) -> dict[str, Any]:
    part = {**copy.deepcopy(job), "name": name}
    metadata = part["manifest"]["metadata"]
    metadata["name"] += f"-{name}"
    metadata["labels"]["part"] = name
    part["discovery"]["by_selectors"]["label_selector"]["part"] = name
    return part


async def report_a_removed_job(system: System) -> None:
    cluster = system.api.add_cluster("one")
    async with system.dispatcher(task=two_jobs()) as dispatcher:
        await dispatcher.serving()
        await system.publish(cluster)
        await system.until(lambda: system.available(cluster) == (1, "False"), "both Jobs run")
        jobs = {job["metadata"]["labels"]["part"]: job for job in await system.jobs()}
        assert sorted(jobs) == sorted(NAMES)
        await set_conditions(system.client, jobs["first"])
        await dispatcher.until_run(cause="watch")
        await system.client.delete(ObjectRef.of(jobs["first"]))  # as the TTL does
        await set_conditions(system.client, jobs["second"])
        await dispatcher.until_run(cause="watch", count=2)
        assert system.available(cluster) == (1, "True")
    assert [job["metadata"]["labels"]["part"] for job in await system.jobs()] == ["second"], "nothing was made again"
