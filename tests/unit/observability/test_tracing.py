"""Spans, where they are wanted, and the context that goes from the event to the API."""

import sys
from subprocess import run as run_process

import pytest
from opentelemetry.sdk.trace.export import SpanExportResult
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from dispatcher.observability.identity import Identity
from dispatcher.observability.tracing import NoTracing, is_enabled, open_tracing
from shared.errors import Misconfigured
from tests.support.wakes import event, key

IDENTITY = Identity(component="dns", version="1", commit="c")
TRACE = "0af7651916cd43dd8448eb211c80319c"
PARENT = f"00-{TRACE}-b7ad6b7169203331-01"
ENDPOINT = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:4317"}


@pytest.mark.parametrize(
    ("environment", "enabled"),
    [
        ({}, False),
        ({"HYPERFLEET_TRACING_ENABLED": "true"}, True),
        (ENDPOINT, True),
        ({**ENDPOINT, "HYPERFLEET_TRACING_ENABLED": "false"}, False),
        ({"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://127.0.0.1:4317"}, True),
    ],
    ids=["by default", "switched on", "a collector", "switched off", "a collector of traces"],
)
def test_tracing_is_off_unless_it_is_configured(environment: dict[str, str], *, enabled: bool) -> None:
    assert is_enabled(environment) == enabled


@pytest.mark.parametrize(
    "environment",
    [{"HYPERFLEET_TRACING_ENABLED": "perhaps"}, {**ENDPOINT, "OTEL_EXPORTER_OTLP_PROTOCOL": "smoke"}],
    ids=["switch", "protocol"],
)
def test_a_setting_that_cannot_be_read_is_named(environment: dict[str, str]) -> None:
    with pytest.raises(Misconfigured, match="must be"):
        open_tracing(IDENTITY, environment)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("OTEL_EXPORTER_OTLP_TIMEOUT", "soon"),
        ("OTEL_EXPORTER_OTLP_COMPRESSION", "zip"),
        ("OTEL_BSP_MAX_QUEUE_SIZE", "1"),
    ],
)
def test_what_opentelemetry_cannot_read_is_refused(name: str, value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(Misconfigured, match=r"tracing cannot be set up.*OTEL_"):
        open_tracing(IDENTITY, ENDPOINT)


def test_without_a_collector_it_stays_off() -> None:
    assert isinstance(open_tracing(IDENTITY, {"HYPERFLEET_TRACING_ENABLED": "true"}), NoTracing)


def test_where_tracing_is_off_opentelemetry_is_not_imported() -> None:
    code = "import dispatcher.observability.tracing, sys; sys.exit('opentelemetry' in sys.modules)"
    assert run_process([sys.executable, "-c", code], check=False).returncode == 0


async def test_spans_of_a_run_continue_the_trace_of_its_event() -> None:
    exporter = InMemorySpanExporter()
    tracing = open_tracing(IDENTITY, {"HYPERFLEET_TRACING_ENABLED": "true"}, exporter=exporter)
    woken = event("a")
    woken = type(woken)(id="e", type="t", source="s", data=woken.data, extensions={"traceparent": PARENT})
    with (
        tracing.run(key("a"), woken, cause="event") as fields,
        tracing.span("preconditions"),
        tracing.span("HTTP GET", {"http.request.method": "GET"}),
    ):
        headers = tracing.headers()
    await tracing.close()
    spans = {span.name: span for span in exporter.get_finished_spans()}
    assert set(spans) == {"Execute", "preconditions", "HTTP GET"}
    assert {format(span.context.trace_id, "032x") for span in spans.values() if span.context} == {TRACE}
    assert fields["trace_id"] == TRACE
    assert headers["traceparent"].startswith(f"00-{TRACE}-")
    assert headers["traceparent"] != PARENT
    assert (spans["Execute"].attributes or {})["hyperfleet.id"] == "a"


async def test_a_failed_run_ends_its_span() -> None:
    exporter = InMemorySpanExporter()
    tracing = open_tracing(IDENTITY, {"HYPERFLEET_TRACING_ENABLED": "true"}, exporter=exporter)
    with pytest.raises(RuntimeError), tracing.run(key("a"), event("a"), cause="event"):
        raise RuntimeError("bug")
    await tracing.close()
    (span,) = exporter.get_finished_spans()
    assert not span.status.is_ok
    assert exporter.export([]) is SpanExportResult.FAILURE  # it was shut down
