"""A dispatcher process that delivers ManifestWorks itself: what its management cluster feeds back becomes the status."""

import copy
from pathlib import Path
from typing import Any

import yaml

from lab.api.rules.values import Resource
from lab.maestro import LabMaestro
from lab.maestro.agent import Agent
from shared.maestro import MaestroClient
from tests.support.dispatcher import LabSystem, set_conditions
from tests.support.maestro import standin
from tests.support.small_adapter import TASK

CONSUMER = "mgmt-1"
GENERATION = {"hyperfleet.io/generation": "{{ .generation }}"}
WORK = {
    "name": "work",
    "transport": {"client": "maestro", "maestro": {"target_cluster": CONSUMER}},
    "manifest": {
        "apiVersion": "work.open-cluster-management.io/v1",
        "kind": "ManifestWork",
        "metadata": {"name": "small-{{ .clusterId }}", "annotations": GENERATION},
        "spec": {
            "workload": {
                "manifests": [
                    {
                        "apiVersion": "v1",
                        "kind": "Namespace",
                        "metadata": {"name": "{{ .clusterId }}", "annotations": GENERATION},
                    }
                ]
            },
            "manifestConfigs": [
                {
                    "resourceIdentifier": {"group": "", "resource": "namespaces", "name": "{{ .clusterId }}"},
                    "feedbackRules": [{"type": "JSONPaths", "jsonPaths": [{"name": "phase", "path": ".status.phase"}]}],
                }
            ],
        },
    },
    "discovery": {"by_name": "small-{{ .clusterId }}"},
}
ACTIVE = """
resources.?work.?status.?resourceStatus.?manifests.orValue([]).exists(m, m.?statusFeedback.?values.orValue([])
    .exists(v, v.name == "phase" && v.fieldValue.string == "Active"))
"""


def conditions(true: str) -> str:
    return f"""
["Applied", "Available", "Health"].map(t, {{"type": t, "reason": "Feedback", "message": "", "status":
  ({true}) ? "True" : "False"}})
"""


def task() -> dict[str, Any]:
    changed = copy.deepcopy(TASK)
    changed["resources"] = [WORK]
    changed["post"]["payloads"][0]["build"]["conditions"] = {"expression": conditions(ACTIVE)}
    return changed


def task_with_a_job() -> dict[str, Any]:
    """Applied as its Job says, Available when its work is too."""
    changed = task()
    changed["resources"] = [*TASK["resources"], WORK]
    applied = 'resources.?job.?status.?conditions.orValue([]).exists(c, c.type == "Applied")'
    both = f'(t == "Available" ? {ACTIVE} : true) && {applied}'
    changed["post"]["payloads"][0]["build"]["conditions"] = {"expression": conditions(both)}
    return changed


def use_maestro(folder: Path, server: LabMaestro) -> None:
    """The adapter config names this Maestro too."""
    path = folder / "adapter.yaml"
    adapter = yaml.safe_load(path.read_text())
    adapter["clients"]["maestro"] = {
        "grpc_server_address": server.grpc_address,
        "http_server_address": server.rest_url,
        "source_id": "small",
        "insecure": True,
    }
    path.write_text(yaml.safe_dump(adapter))


def applied(system: LabSystem, cluster: Resource) -> list[str]:
    """The Applied condition of each report, in order."""
    reports = system.stored_reports(cluster)
    return [each["status"] for report in reports for each in report["conditions"] if each["type"] == "Applied"]


async def test_feedback_of_a_work_is_reported_without_an_event(system: LabSystem) -> None:
    cluster = system.api.add_cluster("one")
    async with LabMaestro() as maestro:
        async with MaestroClient(standin(maestro).settings(insecure=True)) as client:
            await client.consumers.create(CONSUMER)
        dispatcher = system.dispatcher(task=task())
        use_maestro(system.folder, maestro)
        async with Agent(maestro.broker_address, CONSUMER) as agent, dispatcher:
            await dispatcher.leading()
            await system.publish(cluster)
            await dispatcher.until_run(cause="event")
            assert system.available(cluster) == (1, "False")
            await dispatcher.until_run(cause="watch")
            await agent.observe("Namespace", "", cluster.id, {"phase": "Active"})
            await system.until(lambda: system.available(cluster) == (1, "True"), "the feedback is reported")
    assert [line["cause"] for line in dispatcher.lines if "cause" in line].count("event") == 1


async def test_feedback_of_a_work_is_reported_beside_a_job_that_its_ttl_removed(system: LabSystem) -> None:
    cluster = system.api.add_cluster("one")
    async with LabMaestro() as maestro:
        async with MaestroClient(standin(maestro).settings(insecure=True)) as client:
            await client.consumers.create(CONSUMER)
        dispatcher = system.dispatcher(task=task_with_a_job())
        use_maestro(system.folder, maestro)
        async with Agent(maestro.broker_address, CONSUMER) as agent, dispatcher:
            await dispatcher.leading()
            await system.publish(cluster)
            await system.until(lambda: system.available(cluster) == (1, "False"), "both are made")
            (job,) = await system.jobs()
            await set_conditions(system.client, job)
            await system.until(lambda: applied(system, cluster)[-1:] == ["True"], "the Job has reported")
            await system.delete_jobs()
            await agent.observe("Namespace", "", cluster.id, {"phase": "Active"})
            await system.until(lambda: system.available(cluster) == (1, "True"), "the feedback is reported")
        assert await system.jobs() == []
    reports = applied(system, cluster)
    assert "False" not in reports[reports.index("True") :]
