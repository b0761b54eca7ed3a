"""What surrounds a run: log fields, metrics, records, and what its object waits for."""

import asyncio
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
import structlog

from dispatcher.engine.runs import (
    AwaitedDeletion,
    CallRecord,
    Cause,
    Delivered,
    Delivery,
    Done,
    Operation,
    Phase,
    PostActionRecord,
    PreconditionRecord,
    Requeue,
    ResourceRecord,
    RunRequest,
    RunResult,
    Status,
    StatusReport,
    Verdict,
)
from dispatcher.observability.identity import Identity
from dispatcher.observability.metrics import Metrics
from dispatcher.observability.objects import ObjectRecords
from dispatcher.observability.tracing import NoTracing
from dispatcher.runtime.reconciling import FOLLOWED_DELETION_SECONDS, Reconciler, log_fields
from dispatcher.runtime.recording import RunMetrics
from dispatcher.runtime.scheduling.entry import Ended, Start
from dispatcher.runtime.watching.awaiting import AwaitedDeletions
from shared import times
from tests.support.wakes import event, key

SUCCESS = RunResult(status=Status.SUCCESS)
FAILED = RunResult(
    status=Status.FAILED, errors={Phase.RESOURCES: "job: refused, password=hunter2"}, requeue=Requeue(reason="r")
)
DELETION = AwaitedDeletion(resource="job", api_version="batch/v1", kind="Job", namespace="n", name="x", uid="u")


@dataclass
class FakeEngine:
    result: RunResult | BaseException = SUCCESS
    fields: list[dict[str, Any]] = field(default_factory=list)
    requests: list[RunRequest] = field(default_factory=list)

    async def run(self, request: RunRequest) -> RunResult:
        self.requests.append(request)
        self.fields.append(structlog.contextvars.get_contextvars())
        if isinstance(self.result, BaseException):
            raise self.result
        return self.result


@dataclass
class Stage:
    engine: FakeEngine = field(default_factory=FakeEngine)
    metrics: Metrics = field(default_factory=lambda: Metrics(Identity(component="dns", version="1", commit="c")))
    awaited: AwaitedDeletions = field(default_factory=AwaitedDeletions)
    records: ObjectRecords = field(default_factory=ObjectRecords)
    leads: bool = True
    discovered: list[Any] = field(default_factory=list)

    async def run(self, result: RunResult | BaseException = SUCCESS, **request: Any) -> Ended:
        self.engine.result = result
        reconciler = Reconciler(
            self.engine,
            RunMetrics(self.metrics),
            NoTracing(),
            self.awaited,
            records=self.records,
            follows=lambda _: self.leads,
            learn=self.discovered.append,
            last_seen=lambda _: {"other": {"kind": "Job"}},
        )
        asked = RunRequest(**{"event": event("a"), **request})
        return await reconciler(Start(key=key("a"), request=asked, receipts=(), waited=0.5))

    def count(self, name: str, **labels: str) -> float:
        constant = {"component": "dns", "version": "1", "adapter_name": "dns"}
        return self.metrics.registry.get_sample_value(f"hyperfleet_adapter_{name}", constant | labels) or 0.0


@pytest.fixture
def stage() -> Stage:
    return Stage()


async def test_a_run_that_succeeds_is_over(stage: Stage) -> None:
    assert await stage.run() == Ended()
    assert stage.count("events_processed_total", status="success") == 1
    assert stage.count("event_processing_duration_seconds_count") == 1
    assert stage.count("wake_wait_seconds_sum") == 0.5


async def test_a_failed_run_is_tried_again_as_it_asks(stage: Stage) -> None:
    assert await stage.run(FAILED) == Ended(failed=True, requeue=Requeue(reason="r"))
    assert stage.count("events_processed_total", status="failed") == 1
    assert stage.count("errors_total", error_type="resources") == 1


async def test_a_run_that_was_skipped_is_counted_as_such(stage: Stage) -> None:
    await stage.run(replace(SUCCESS, skipped=True, skip_reason="not met"))
    assert stage.count("events_processed_total", status="skipped") == 1


async def test_runs_of_watches_are_no_events(stage: Stage) -> None:
    await stage.run(cause=Cause.WATCH)
    assert stage.count("events_processed_total", status="success") == 0
    assert stage.count("runs_total", cause="watch", outcome="success") == 1


async def test_a_run_that_breaks_is_counted_and_its_error_goes_on(stage: Stage) -> None:
    with pytest.raises(RuntimeError):
        await stage.run(RuntimeError("bug"))
    assert stage.count("runs_total", cause="event", outcome="failed") == 1


async def test_a_run_cancelled_at_its_deadline_is_counted(stage: Stage) -> None:
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0):
            await stage.run(TimeoutError())
    assert stage.count("runs_total", cause="event", outcome="failed") == 1


@pytest.mark.parametrize(
    ("error", "named"),
    [(RuntimeError("password=hunter2"), "RuntimeError"), (asyncio.CancelledError(), "deadline")],
    ids=["a defect", "its deadline"],
)
async def test_what_is_known_of_the_object_names_a_run_without_a_result(
    stage: Stage, error: BaseException, named: str
) -> None:
    with pytest.raises(type(error)):
        await stage.run(error)
    (run,) = stage.records.describe(key("a"))["runs"]
    assert (run["outcome"], run["cause"]) == ("failed", "event")
    assert named in run["error"]
    assert "hunter2" not in run["error"]


async def test_calls_operations_and_statuses_are_counted(stage: Stage) -> None:
    calls = (CallRecord(method="GET", url="u", status=200), CallRecord(method="GET", url="u", status=None))
    result = replace(
        SUCCESS,
        preconditions=(PreconditionRecord(name="p", verdict=Verdict.MET, calls=calls),),
        resources=(
            ResourceRecord(name="job", kind="Job", operation=Operation.CREATE),
            ResourceRecord(name="ns", kind="Namespace", operation=Operation.DELETE, deleted={}, seconds=2.0),
            ResourceRecord(name="gone", kind="Secret", operation=Operation.DELETE),
            ResourceRecord(name="stays", kind="Pod", deleted={}, error="may not delete it", seconds=3.0),
        ),
        post_actions=(
            PostActionRecord(name="report", done=Done.EXECUTED, report=StatusReport(url="u", delivery=Delivery.STORED)),
        ),
    )
    await stage.run(result)
    assert stage.count("api_calls_total", method="GET", code="200") == 1
    assert stage.count("api_calls_total", method="GET", code="none") == 1
    assert stage.count("applies_total", resource="job", operation="create") == 1
    assert stage.count("resources_deleted_total", resource_type="Namespace", status="success") == 1
    assert stage.count("resource_deletion_duration_seconds_sum", resource_type="Namespace") == 2
    assert stage.count("resources_deleted_total", resource_type="Secret", status="success") == 0
    assert stage.count("resources_deleted_total", resource_type="Pod", status="error") == 1
    assert stage.count("resource_deletion_duration_seconds_sum", resource_type="Pod") == 3
    assert stage.count("statuses_total", delivery="stored") == 1


async def test_expressions_that_failed_are_counted_by_phase(stage: Stage) -> None:
    await stage.run(replace(SUCCESS, failed_expressions={Phase.PARAMS: 2, Phase.POST_ACTIONS: 1}))
    assert stage.count("expression_errors_total", phase="param_extraction") == 2
    assert stage.count("expression_errors_total", phase="post_actions") == 1


@pytest.mark.parametrize(
    ("is_first", "count"), [(True, 1), (False, 0)], ids=["its first report", "a Job that may have been reported before"]
)
async def test_the_time_from_a_jobs_creation_to_its_first_report_is_measured(
    stage: Stage, *, is_first: bool, count: int
) -> None:
    job = {"kind": "Job", "metadata": {"creationTimestamp": times.to_seconds(times.now())}}
    report = PostActionRecord(name="report", done=Done.EXECUTED, report=StatusReport(url="u", delivery=Delivery.STORED))
    delivered = (Delivered(resource="job", object=job, at=times.now(), is_first=is_first),)
    await stage.run(replace(SUCCESS, post_actions=(report,)), cause=Cause.WATCH, delivered=delivered)
    assert stage.count("job_report_latency_seconds_count") == count


async def test_what_is_known_of_the_object_has_no_secrets(stage: Stage) -> None:
    await stage.run(FAILED)
    (run,) = stage.records.describe(key("a"))["runs"]
    assert run["outcome"] == "failed"
    assert "refused" in run["error"]
    assert "hunter2" not in str(run)


class TestAwaitedDeletions:
    async def test_the_watch_wakes_and_a_timer_stands_by(self, stage: Stage) -> None:
        ended = await stage.run(replace(SUCCESS, awaited_deletions=(DELETION,)))
        assert ended.requeue == Requeue(reason="a deletion is awaited", after=FOLLOWED_DELETION_SECONDS)
        assert stage.awaited.see("u") is not None

    async def test_where_another_process_watches_the_queue_backs_off(self, stage: Stage) -> None:
        stage.leads = False
        ended = await stage.run(replace(SUCCESS, awaited_deletions=(DELETION,)))
        assert ended.requeue == Requeue(reason="a deletion is awaited", after=None)

    async def test_one_that_has_happened_meanwhile_is_not_waited_for(self, stage: Stage) -> None:
        stage.awaited.see("u")
        ended = await stage.run(replace(SUCCESS, awaited_deletions=(DELETION,)))
        assert ended.requeue == Requeue(reason="a deletion is awaited", after=0.0)

    async def test_a_run_that_asks_for_a_later_one_does_not_wait_that_long(self, stage: Stage) -> None:
        later = Requeue(reason="the Job has not reported yet", after=FOLLOWED_DELETION_SECONDS + 1)
        ended = await stage.run(replace(SUCCESS, awaited_deletions=(DELETION,), requeue=later))
        assert ended.requeue == Requeue(reason="a deletion is awaited", after=FOLLOWED_DELETION_SECONDS)

    @pytest.mark.parametrize(
        "request_",
        [
            pytest.param({"delivered": (Delivered(resource="job", object={}, at=times.now()),)}, id="delivered"),
            pytest.param({"observe_only": True}, id="a timer that only observes"),
        ],
    )
    async def test_a_run_that_writes_nothing_leaves_them_awaited(self, stage: Stage, request_: dict[str, Any]) -> None:
        await stage.run(replace(SUCCESS, awaited_deletions=(DELETION,)))
        await stage.run(**request_)
        assert stage.awaited.see("u") is not None

    async def test_a_run_that_may_write_says_anew_what_is_awaited(self, stage: Stage) -> None:
        await stage.run(replace(SUCCESS, awaited_deletions=(DELETION,)))
        await stage.run()
        assert stage.awaited.see("u") is None


@pytest.mark.parametrize(
    ("delivery", "reported"),
    [(Delivery.STORED, True), (Delivery.DISCARDED, True), (Delivery.WITHHELD, False)],
)
async def test_the_schedule_is_told_whether_a_status_was_sent(
    stage: Stage, delivery: Delivery, *, reported: bool
) -> None:
    report = StatusReport(url="/clusters/a/statuses", delivery=delivery)
    action = PostActionRecord(name="report", done=Done.EXECUTED, report=report)
    assert await stage.run(replace(SUCCESS, post_actions=(action,))) == Ended(reported=reported)


async def test_log_lines_of_a_run_have_the_go_adapters_fields(stage: Stage) -> None:
    await stage.run()
    assert stage.engine.fields == [{"cluster_id": "a", "event_id": "a-1"}]
    assert structlog.contextvars.get_contextvars() == {}


@pytest.mark.parametrize(
    "sent", ["", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"], ids=["none", "of the event"]
)
async def test_authors_see_the_trace_context(stage: Stage, sent: str) -> None:
    woken = replace(event("a"), extensions={"traceparent": sent} if sent else {})
    await stage.run(event=woken)
    assert stage.engine.requests[0].event.data == {**woken.data, "traceparent": sent}


def test_a_node_pool_names_its_cluster_too() -> None:
    owned = event("n", owner_references={"kind": "Cluster", "id": "c", "href": "h"})
    assert log_fields(key("n", "NodePool"), owned) == {
        "nodepool_id": "n",
        "cluster_id": "c",
        "event_id": "n-1",
        "resource_type": "nodepool",
    }


async def test_the_end_of_a_run_is_logged_as_the_go_adapter_does(stage: Stage) -> None:
    with structlog.testing.capture_logs() as lines:
        await stage.run()
        await stage.run(FAILED)
    assert (
        lines[0]["event"] == "Event execution finished: event_execution_status=success resources_skipped=false reason="
    )
    assert lines[1]["failed_phases"] == ["resources"]
    assert lines[1]["log_level"] == "error"


async def test_what_a_run_did_is_logged_with_the_go_adapters_fields(stage: Stage) -> None:
    report = StatusReport(url="u", delivery=Delivery.STORED, generation=3)
    result = replace(
        SUCCESS,
        resources=(
            ResourceRecord(
                name="work",
                kind="ManifestWork",
                namespace="mgmt",
                object_name="w",
                operation=Operation.CREATE,
                reason="not found",
            ),
            ResourceRecord(name="job", kind="Job", namespace="n", object_name="j", operation=Operation.UPDATE),
            ResourceRecord(name="same", kind="Job", operation=Operation.SKIP),
            ResourceRecord(name="gone", kind="Job", operation=Operation.DELETE),
            ResourceRecord(name="bad", kind="Job", error="refused"),
        ),
        post_actions=(PostActionRecord(name="report", done=Done.EXECUTED, report=report),),
    )
    with structlog.testing.capture_logs() as lines:
        await stage.run(result)
    work, job, end = lines
    expected = {"operation": "create", "reason": "not found", "maestro_consumer": "mgmt", "manifestwork": "w"}
    assert expected.items() <= work.items()
    assert (job["operation"], job["kind"], job["namespace"], job["name"]) == ("update", "Job", "n", "j")
    assert (end["observed_generation"], end["event_type"]) == (3, "com.redhat.hyperfleet.cluster.reconcile")


async def test_watches_learn_what_a_run_has_found(stage: Stage) -> None:
    await stage.run(replace(SUCCESS, discovered={"job": {"kind": "Job"}}))
    assert stage.discovered == [{"job": {"kind": "Job"}}]


async def test_a_run_that_only_observes_hears_how_what_is_gone_was_at_last(stage: Stage) -> None:
    await stage.run(observe_only=True)
    await stage.run()
    assert [request.last_seen for request in stage.engine.requests] == [{"other": {"kind": "Job"}}, {}]
