"""Spans of a dispatcher process as a collector of OpenTelemetry receives them."""

import copy
import json
import signal
import socket
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status

from lab.loopback import HOST
from tests.support.collectors import Collector, grpc_collector, http_collector
from tests.support.dispatcher import DispatcherProcess, LabSystem, event_about
from tests.support.small_adapter import ADAPTER, TASK

TRACE, PARENT = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
COLLECTORS = {"grpc": grpc_collector, "http/protobuf": http_collector}
PHASES = ("param_extraction", "preconditions", "resources", "post_actions")


@pytest.fixture
def silent_collector() -> Iterator[dict[str, Any]]:
    """What leads to one that takes connections and answers nothing."""
    with socket.create_server((HOST, 0)) as server:
        endpoint = f"http://{HOST}:{server.getsockname()[1]}"
        yield {"OTEL_EXPORTER_OTLP_ENDPOINT": endpoint, "OTEL_EXPORTER_OTLP_TIMEOUT": "600"}


@pytest.fixture(params=COLLECTORS)
async def collector(request: pytest.FixtureRequest) -> AsyncIterator[Collector]:
    async with COLLECTORS[request.param]() as running:
        yield running


async def test_a_collector_receives_the_spans_of_a_run_and_they_join_the_event_to_the_calls_of_the_api(
    system: LabSystem, collector: Collector
) -> None:
    cluster = system.api.add_cluster("one")
    task = copy.deepcopy(TASK)
    task["resources"][0]["manifest"]["metadata"]["annotations"]["trace"] = "{{ .event.traceparent }}"
    event = json.loads(event_about(cluster)) | {"traceparent": f"00-{TRACE}-{PARENT}-01"}
    async with system.dispatcher(task=task, **collector.environment) as dispatcher:
        await dispatcher.serving()
        await system.broker.publish(json.dumps(event).encode())
        line = await dispatcher.until_run(cause="event")
        assert await dispatcher.terminate() == 0
    spans = collector.spans
    (run,) = [span for span in spans if span.name == "Execute"]
    assert (run.trace_id.hex(), run.parent_span_id.hex()) == (TRACE, PARENT)
    assert (line["trace_id"], line["span_id"]) == (TRACE, run.span_id.hex())
    assert {span.trace_id.hex() for span in spans} == {TRACE}
    assert [name for name in PHASES if _parents(spans, name) == {"Execute"}] == list(PHASES)
    assert _parents(spans, "HTTP GET") >= {"param_extraction"}
    assert _parents(spans, "HTTP PUT") == {"post_actions"}
    assert _parents(spans, "kubernetes create") == {"resources"}
    asked = {span.span_id.hex() for span in spans if span.name.startswith("HTTP ")}
    assert {seen.headers["traceparent"].split("-")[2] for seen in system.api.journal.entries} == asked
    (job,) = await system.jobs()
    assert job["metadata"]["annotations"]["trace"] == f"00-{TRACE}-{run.span_id.hex()}-01"
    services = {(each.key, each.value.string_value) for sent in collector.received for each in sent.resource.attributes}
    assert ("service.name", ADAPTER) in services
    assert {each.scope.name for sent in collector.received for each in sent.scope_spans} == {ADAPTER}


async def test_a_call_that_gets_no_answer_is_a_span_with_its_error(system: LabSystem, collector: Collector) -> None:
    cluster = system.api.add_cluster("one")
    async with system.dispatcher(**collector.environment) as dispatcher:
        await dispatcher.serving()
        body = event_about(cluster)
        await system.api.kill()
        await system.broker.publish(body)
        await dispatcher.until_run(level="error")
        assert await dispatcher.terminate() == 0
    failed = [span for span in collector.spans if span.name == "HTTP GET"]
    assert failed
    assert {span.status.code for span in failed} == {Status.STATUS_CODE_ERROR}


async def test_a_collector_that_does_not_answer_neither_stops_the_work_nor_holds_up_the_end(
    system: LabSystem, silent_collector: dict[str, Any]
) -> None:
    async with system.dispatcher(**silent_collector) as dispatcher:
        await report_one(system, dispatcher)
        assert await dispatcher.terminate() == 0
    assert dispatcher.lines[-1]["msg"] == "the last spans are lost: the collector does not answer"


async def test_a_second_signal_ends_it_at_once_also_while_it_closes(
    system: LabSystem, silent_collector: dict[str, Any]
) -> None:
    async with system.dispatcher(**silent_collector) as dispatcher:
        await report_one(system, dispatcher)
        dispatcher.signal(signal.SIGTERM)
        await dispatcher.until_line(lambda line: line["msg"] == "stopped")
        dispatcher.signal(signal.SIGTERM)
        # By our own handler; without it the kernel would end it, but not the first process of a container.
        code = await dispatcher.ended()
        assert code == 1 or dispatcher.lines[-1]["msg"].startswith("the last spans are lost")


async def report_one(system: LabSystem, dispatcher: DispatcherProcess) -> None:
    """Return when a run has left spans to send."""
    cluster = system.api.add_cluster("one")
    await dispatcher.serving()
    await system.publish(cluster)
    await system.until(lambda: system.available(cluster) == (1, "False"), "reported")


def _parents(spans: list[Span], name: str) -> set[str]:
    names = {span.span_id: span.name for span in spans}
    return {names[span.parent_span_id] for span in spans if span.name == name}
