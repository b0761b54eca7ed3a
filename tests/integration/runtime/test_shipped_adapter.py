"""The shipped control plane adapter's own files, served by a dispatcher process."""

import json
from pathlib import Path

import yaml

from lab.api import LabApi
from lab.api.rules.reports import Report
from lab.api.rules.values import AdapterCondition, Resource, ResourceCondition
from lab.broker import LabBroker
from lab.kubernetes import LabKubernetes
from shared import times
from tests.support.dispatcher import (
    ENVIRONMENT,
    DispatcherProcess,
    EmbeddedBroker,
    JobWorker,
    System,
    available_in,
    cluster_client,
)
from tests.support.kubernetes import standin
from tests.support.small_adapter import NAMESPACE, REPORTED, TOPIC

FOLDER = Path(__file__).parents[3] / "jobs" / "controlplane"
ADAPTER, DEPENDENCIES = "controlplane", ("validation", "dns", "pullsecret")
SUBSCRIPTION = "hyperfleet-clusters-controlplane"
RE_POLLS = 3


def shipped_files(folder: Path, broker: EmbeddedBroker) -> list[str]:
    """Unchanged but for the namespace, in which the lab's Jobs are."""
    names = ("hypershift-controlplane-adapter-config.yaml", "hypershift-controlplane-task-config.yaml", "job.yaml")
    for name in names:
        (folder / name).write_text((FOLDER / name).read_text().replace("hyperfleet-adapters", NAMESPACE))
    (folder / "broker.yaml").write_text(yaml.safe_dump({"broker": broker.section}))
    options = ("--config", "--task-config")
    files = [part for option, name in zip(options, names, strict=False) for part in (option, str(folder / name))]
    return [*files, "--broker-config", str(folder / "broker.yaml")]


def available(adapter: str) -> Report:
    now = times.now()
    conditions = tuple(AdapterCondition(type=each, status="True", last_transition_time=now) for each in REPORTED)
    return Report(
        adapter=adapter,
        observed_generation=1,
        observed_time=now,
        conditions=conditions,
        data={"from": adapter},
        metadata=None,
    )


async def test_reconciled_stays_true_over_three_re_polls(tmp_path: Path) -> None:
    async with (
        LabApi(required_adapters={"Cluster": [ADAPTER, *DEPENDENCIES]}) as api,
        LabBroker() as server,
        LabKubernetes() as kubernetes,
        cluster_client(tmp_path, standin(kubernetes)) as client,
        JobWorker(client) as worker,
    ):
        server.subscribe(TOPIC, SUBSCRIPTION)
        broker = EmbeddedBroker(server)
        system = System(tmp_path, api, broker, standin(kubernetes), client)
        cluster = api.add_cluster("one")
        for adapter in DEPENDENCIES:
            api.store.report(cluster, available(adapter))
        seen: set[str] = set()

        def looked_again(turn: int) -> bool:
            seen.add(_reconciled(api, cluster).status)
            return _reason(api, cluster) == f"Job{turn}"

        environment = ENVIRONMENT | {
            "HYPERFLEET_API_BASE_URL": api.url,
            "HYPERFLEET_KUBERNETES_KUBE_CONFIG_PATH": str(tmp_path / "kubeconfig"),
            "LOG_OUTPUT": "stderr",
            "MANAGEMENT_CLUSTER_CONSUMER": "mgmt-01",
            "MAESTRO_API_URL": "https://maestro.example.com",
            "MAESTRO_GRPC_URL": "maestro.example.com:8090",
            "ADAPTER_IMAGE": "adapter",
            "REPORTER_IMAGE": "reporter",
        }
        async with DispatcherProcess(shipped_files(tmp_path, broker), environment) as dispatcher:
            await dispatcher.serving()
            await system.publish(cluster)
            await system.until(lambda: _reconciled(api, cluster).status == "True", "reconciled")
            first = len(system.stored_reports(cluster)) - 1
            (job,) = await system.jobs()
            for turn in range(2, 2 + RE_POLLS):
                await system.delete_jobs()
                await worker.until_gone()
                await system.publish(cluster)
                await system.until(lambda: looked_again(turn), "the fresh Job has reported")  # noqa: B023
            assert await dispatcher.terminate() == 0
    assert seen == {"True"}
    assert {available_in(report) for report in system.stored_reports(cluster)[first:]} == {"True"}
    assert worker.created == 1 + RE_POLLS
    snapshot = json.loads(job["spec"]["template"]["metadata"]["annotations"]["hyperfleet.io/cluster-snapshot"])
    assert snapshot["cluster"]["name"] == "one"
    assert snapshot["adapters"] == {each: {"from": each} for each in DEPENDENCIES}


def _reconciled(api: LabApi, cluster: Resource) -> ResourceCondition:
    return next(each for each in api.store.get(cluster.id).conditions if each.type == "Reconciled")


def _reason(api: LabApi, cluster: Resource) -> str:
    """The reason of the Available condition that the adapter reported last."""
    (status,) = (each for each in api.store.statuses(cluster.id) if each.adapter == ADAPTER)
    condition = status.condition("Available")
    return (condition.reason or "") if condition else ""
