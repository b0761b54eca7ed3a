"""Every row of the documented error tables, and what else can go wrong, with the adapter as a real process.

* Trouble that passes is tried again with growing waits inside the budget, then it is Unknown with exit code 4.
* Authentication and refused content are not tried again: Applied=False, exit code 3.
* Not found is expected before a work is created.
* What exists already is looked at again: ours is reported, another's is left alone.
"""

import asyncio
import json
import os
import signal
import sys
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path

import grpc
import pytest

from controlplane_adapter.hostedcluster.render_settings import RenderSettings
from controlplane_adapter.reconcile.desire import desire
from controlplane_adapter.reconcile.loop import reconcile
from controlplane_adapter.reconcile.observe import Progress
from controlplane_adapter.reconcile.placement import FixedPlacement
from controlplane_adapter.reconcile.plan import AwaitDeletion, LeaveAlone, Update
from controlplane_adapter.reconcile.request import Request
from controlplane_adapter.work.manifestwork import owner_labels, work_for
from lab.maestro import LabMaestro
from lab.maestro.agent import Agent
from lab.maestro.faults import Faults
from shared.errors import Unavailable
from shared.maestro import MaestroClient, Works
from shared.model.manifestwork import ManifestWork
from shared.model.snapshot import ClusterSnapshot
from tests.support.adapter import TIMEOUT, Adapter, Cluster

WORK = f"hostedcluster-{Cluster().cluster_id}"
SHORT = {"MAESTRO_RETRY_BUDGET": "1s", "MAESTRO_TIMEOUT": "1s"}
REFUSED_CONTENT = "failed to create resource: maestro-8: the manifest bundle in the resource is invalid, manifests[0].metadata.name: Invalid value"

PASSING: dict[str, Callable[[Faults], None]] = {
    "gRPC is unavailable": lambda faults: faults.fail_publish(grpc.StatusCode.UNAVAILABLE, "connection refused"),
    "gRPC does not answer": lambda faults: faults.hang_publish(),
    "gRPC answers that it failed": lambda faults: faults.fail_publish(grpc.StatusCode.INTERNAL, "oops"),
    "gRPC is asked too much": lambda faults: faults.fail_publish(grpc.StatusCode.RESOURCE_EXHAUSTED, "slow down"),
    "the answer of gRPC is lost": lambda faults: faults.lose_publish_answer(),
    "REST is unavailable": lambda faults: faults.fail_rest(503),
    "REST does not answer": lambda faults: faults.hang_rest(),
    "REST answers that it failed": lambda faults: faults.fail_rest(500, {"code": "maestro-9", "reason": "oops"}),
    "REST is asked too much": lambda faults: faults.fail_rest(429, headers={"Retry-After": "1"}),
    "REST hangs up": lambda faults: faults.cut_rest(),
    "REST answers nonsense": lambda faults: faults.fail_rest(200, "<html>"),
}


@pytest.mark.parametrize("trouble", PASSING.values(), ids=PASSING)
async def test_trouble_that_passes_is_tried_again(
    adapter: Adapter, works: Works, agent: Agent, maestro: LabMaestro, trouble: Callable[[Faults], None]
) -> None:
    trouble(maestro.faults)

    run = await adapter.run(Cluster(), MAESTRO_TIMEOUT="1s")

    assert run.exit_code == 0
    assert (run.statuses["Applied"], run.reason("Applied")) == ("True", "ManifestWorkCreated")
    assert "retrying in" in run.log
    assert (await works.get(WORK)).generation == 1


LASTING: dict[str, Callable[[Faults], None]] = {
    "gRPC is unavailable": lambda faults: faults.fail_publish(grpc.StatusCode.UNAVAILABLE, "refused", times=1000),
    "REST is unavailable": lambda faults: faults.fail_rest(503, times=1000),
    "REST does not answer": lambda faults: faults.hang_rest(times=1000),
}


@pytest.mark.parametrize("trouble", LASTING.values(), ids=LASTING)
async def test_trouble_that_lasts_is_unknown_and_worth_another_pod(
    adapter: Adapter, works: Works, maestro: LabMaestro, trouble: Callable[[Faults], None]
) -> None:
    trouble(maestro.faults)

    run = await adapter.run(Cluster(), **SHORT)

    assert run.exit_code == 4
    assert set(run.statuses.values()) == {"Unknown"}
    assert (run.reason("Applied"), run.reason("Available"), run.reason("Health")) == (
        "MaestroError",
        "Unknown",
        "AdapterError",
    )
    assert run.report["observedGeneration"] == 1


REFUSALS: dict[str, tuple[Callable[[Faults], None], str, str]] = {
    "no token": (
        lambda faults: faults.fail_publish(grpc.StatusCode.UNAUTHENTICATED, "invalid token", times=2),
        "MaestroError",
        "MAESTRO_TOKEN_FILE",
    ),
    "a token that is not known": (
        lambda faults: faults.fail_publish(grpc.StatusCode.UNKNOWN, "token not authenticated", times=2),
        "MaestroError",
        "MAESTRO_TOKEN_FILE",
    ),
    "a source that may not publish": (
        lambda faults: faults.fail_publish(grpc.StatusCode.UNKNOWN, "unauthorized to publish the event", times=2),
        "MaestroError",
        "`pub` and `sub`",
    ),
    "content that Maestro refuses": (
        lambda faults: faults.fail_publish(grpc.StatusCode.UNKNOWN, REFUSED_CONTENT, times=2),
        "InvalidSpec",
        "manifests[0].metadata.name",
    ),
    "a work that is too large": (
        lambda faults: faults.fail_publish(
            grpc.StatusCode.RESOURCE_EXHAUSTED, "grpc: received message larger than max", times=2
        ),
        "MaestroError",
        "too large",
    ),
}


@pytest.mark.parametrize(("refusal", "reason", "message"), REFUSALS.values(), ids=REFUSALS)
async def test_a_refusal_is_reported_and_not_tried_again(
    adapter: Adapter,
    works: Works,
    maestro: LabMaestro,
    refusal: Callable[[Faults], None],
    reason: str,
    message: str,
) -> None:
    refusal(maestro.faults)

    run = await adapter.run(Cluster())

    assert run.exit_code == 3
    assert set(run.statuses.values()) == {"False"}
    assert run.reason("Applied") == reason
    assert message in run.message("Applied")
    assert maestro.faults.next_publish() is not None, "the second refusal was asked for"
    assert await works.list() == []


@pytest.mark.parametrize(
    ("status", "exit_code", "reason", "message"),
    [
        pytest.param(401, 3, "MaestroError", "MAESTRO_HTTP_TOKEN_FILE", id="REST does not know who we are"),
        pytest.param(403, 3, "MaestroError", "not allowed", id="REST does not allow it"),
        pytest.param(404, 2, "AdapterError", "MAESTRO_API_URL", id="REST has no such path"),
        pytest.param(307, 2, "AdapterError", "MAESTRO_API_URL", id="REST is elsewhere"),
    ],
)
async def test_a_refusal_of_rest_is_reported_and_not_tried_again(
    adapter: Adapter, works: Works, maestro: LabMaestro, status: int, exit_code: int, reason: str, message: str
) -> None:
    maestro.faults.fail_rest(status, times=2)

    run = await adapter.run(Cluster())

    assert run.exit_code == exit_code
    assert (run.statuses["Applied"], run.reason("Applied")) == ("False", reason)
    assert message in run.message("Applied")
    assert maestro.faults.next_rest() is not None, "the second refusal was asked for"


async def test_a_work_that_exists_already_is_looked_at_again(
    adapter: Adapter, works: Works, agent: Agent, maestro: LabMaestro
) -> None:
    exists = "failed to create resource: maestro-6: This Resource already exists"
    maestro.faults.fail_publish(grpc.StatusCode.UNKNOWN, exists)

    run = await adapter.run(Cluster())

    assert run.exit_code == 0
    assert run.statuses["Applied"] == "True"


async def test_a_work_that_was_changed_in_between_is_decided_on_again(
    adapter: Adapter, works: Works, agent: Agent, maestro: LabMaestro
) -> None:
    cluster = Cluster()
    await adapter.run(cluster)
    cluster.change(openshift_version="4.22.3")
    maestro.faults.conflict_before_publish()

    run = await adapter.run(cluster)

    assert run.exit_code == 0
    assert run.reason("Applied") == "ManifestWorkUpdated"
    assert (await works.get(WORK)).manifests[0]["spec"]["release"]["image"].endswith(":4.22.3-multi")


async def test_a_work_that_changes_all_the_time_is_left_to_another_pod(
    adapter: Adapter, works: Works, agent: Agent, maestro: LabMaestro
) -> None:
    cluster = Cluster()
    await adapter.run(cluster)
    cluster.change(openshift_version="4.22.3")
    maestro.faults.conflict_before_publish(times=100)

    run = await adapter.run(cluster)

    assert run.exit_code == 4
    assert (run.statuses["Applied"], run.reason("Applied")) == ("Unknown", "MaestroError")
    assert "changed at each of 4 attempts" in run.message("Applied")


class Contended(MaestroClient):
    """A client with a rival that writes once, right after the first observation."""

    rivals: list[Callable[[], Awaitable[object]]]

    async def find(self, name: str, labels: Mapping[str, str]) -> list[ManifestWork]:
        found = await super().find(name, labels)
        if self.rivals:
            await self.rivals.pop()()
        return found


def contended(client: MaestroClient, rival: Callable[[], Awaitable[object]]) -> Contended:
    contended = Contended.__new__(Contended)
    contended.__dict__ |= {**client.__dict__, "rivals": [rival]}
    return contended


def request(generation: int, version: str = "4.22.0") -> Request:
    cluster = Cluster(generation=generation)
    cluster.spec["openshift_version"] = version
    return Request(
        snapshot=ClusterSnapshot.parse(json.dumps(cluster.snapshot()).encode()),
        render=RenderSettings(),
        overlay={},
        placement=FixedPlacement("us-east-mgmt-01"),
        confirmation=0.1,
    )


def work_of(generation: int, version: str = "4.22.0") -> ManifestWork:
    hosted_cluster = desire(request(generation, version), None).hosted_cluster
    assert hosted_cluster is not None
    return work_for(hosted_cluster, cluster_id=Cluster().cluster_id, consumer="us-east-mgmt-01", generation=generation)


@pytest.fixture
def ours(client: MaestroClient) -> Works:
    return client.works("us-east-mgmt-01", owner_labels=owner_labels(Cluster().cluster_id))


async def test_a_newer_generation_that_was_created_in_between_is_not_overwritten(
    client: MaestroClient, ours: Works
) -> None:
    rivalled = contended(client, lambda: ours.create(work_of(2, "4.22.2")))

    result = await reconcile(request(1), rivalled, Progress())

    assert result.plan == LeaveAlone(superseded=True)
    stored = await ours.get(WORK)
    assert stored.annotations["hyperfleet.io/generation"] == "2"
    assert stored.generation == 1


async def test_a_newer_generation_that_was_applied_in_between_is_not_overwritten(
    client: MaestroClient, ours: Works
) -> None:
    await ours.create(work_of(1))
    rivalled = contended(client, lambda: ours.apply(work_of(3, "4.22.3")))

    result = await reconcile(request(2, "4.22.2"), rivalled, Progress())

    assert result.plan == LeaveAlone(superseded=True)
    assert (await ours.get(WORK)).annotations["hyperfleet.io/generation"] == "3"


async def test_a_work_that_was_deleted_in_between_is_waited_for(client: MaestroClient, ours: Works) -> None:
    await ours.create(work_of(1))
    rivalled = contended(client, lambda: ours.delete(WORK))

    result = await reconcile(request(2, "4.22.2"), rivalled, Progress())

    assert result.plan == AwaitDeletion()


async def test_a_work_that_was_changed_in_between_by_an_older_generation_is_brought_up(
    client: MaestroClient, ours: Works
) -> None:
    await ours.create(work_of(1))
    rivalled = contended(client, lambda: ours.apply(work_of(1, "4.22.1")))

    result = await reconcile(request(2, "4.22.2"), rivalled, Progress())

    assert isinstance(result.plan, Update)
    assert (await ours.get(WORK)).generation == 3


async def test_what_never_comes_to_rest_is_given_up(client: MaestroClient, ours: Works, maestro: LabMaestro) -> None:
    await ours.create(work_of(1))
    maestro.faults.conflict_before_publish(times=100)

    with pytest.raises(Unavailable, match="changed at each of 4 attempts"):
        await reconcile(request(2, "4.22.2"), client, Progress())


async def test_a_report_that_cannot_be_written_is_reported_by_the_exit_code(
    adapter: Adapter, works: Works, tmp_path: Path
) -> None:
    nowhere = str(tmp_path / "nowhere" / "report.json")
    process = await adapter.start(Cluster(), RESULTS_OUTPUT_PATH=nowhere, CONFIRMATION_WAIT="0")
    async with asyncio.timeout(TIMEOUT):
        _, log = await process.communicate()

    assert process.returncode == 5
    assert b"cannot write the report" in log


async def test_a_pod_that_is_stopped_while_it_starts_has_its_report(
    adapter: Adapter, works: Works, maestro: LabMaestro
) -> None:
    maestro.faults.hang_rest(times=100)
    process = await adapter.start(Cluster())
    async with asyncio.timeout(TIMEOUT):
        await listens_to_signals(process)
    process.terminate()

    run = await adapter.ended(process)

    assert run.exit_code == 4
    assert (run.statuses["Applied"], run.reason("Applied")) == ("Unknown", "AdapterStopped")


async def listens_to_signals(process: asyncio.subprocess.Process) -> None:
    """Return once the process would no longer die of SIGTERM."""
    while not catches(process.pid, signal.SIGTERM):  # noqa: ASYNC110 - another process sets no event
        await asyncio.sleep(0.001)


def catches(pid: int, number: signal.Signals) -> bool:
    status = Path(f"/proc/{pid}/status").read_text()
    (caught,) = (line for line in status.splitlines() if line.startswith("SigCgt"))
    return bool(int(caught.split()[1], 16) >> (number - 1) & 1)


async def test_a_surprise_is_reported_with_its_text(tmp_path: Path) -> None:
    program = """
import sys
from controlplane_adapter.run import run
from controlplane_adapter.stop_signals import StopSignals

class Broken(dict):
    def get(self, key, default=None):
        if key == "MANAGEMENT_CLUSTER_CONSUMER":
            raise RuntimeError("boom")
        return super().get(key, default)

sys.exit(run(Broken(RESULTS_OUTPUT_PATH=sys.argv[1]), StopSignals()))
"""
    report = tmp_path / "report.json"
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", program, str(report)),
        env={**os.environ},
        stderr=asyncio.subprocess.PIPE,
    )
    async with asyncio.timeout(TIMEOUT):
        _, log = await process.communicate()

    applied = json.loads(report.read_text())["conditions"][0]
    assert process.returncode == 3
    assert (applied["status"], applied["reason"]) == ("False", "AdapterError")
    assert "RuntimeError: boom" in applied["message"]
    assert b"Traceback" in log


async def test_a_setting_of_the_log_is_reported_with_all_others(adapter: Adapter) -> None:
    run = await adapter.run(Cluster(), LOG_LEVEL="loud", ADAPTER_TIME_BUDGET="soon")

    assert run.exit_code == 2
    assert run.reason("Applied") == "AdapterError"
    for name in ("LOG_LEVEL", "ADAPTER_TIME_BUDGET"):
        assert name in run.message("Applied")
