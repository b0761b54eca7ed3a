"""Spans per run, phase and call, with the W3C context of the event as their parent. Off unless it is configured.

It is configured by `HYPERFLEET_TRACING_ENABLED=true`, or by the address of an OTLP collector in
`OTEL_EXPORTER_OTLP_ENDPOINT`. OpenTelemetry's other variables (sampler, propagators, protocol, service name) are read
by OpenTelemetry itself, which is imported only where tracing is on.
"""

import asyncio
import threading
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING, Any, Protocol

from dispatcher.engine.runs import Event, ObjectKey
from dispatcher.observability.identity import Identity
from shared import logs
from shared.errors import Misconfigured, Problem

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SpanExporter

ENABLED = "HYPERFLEET_TRACING_ENABLED"
ENDPOINTS = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
PROTOCOLS = ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL")
# A collector that does not answer must not use up the pod's grace period; OpenTelemetry itself waits for 30 s.
LONGEST_CLOSE_SECONDS = 5.0
_YES, _NO = frozenset({"1", "t", "true", "yes", "on"}), frozenset({"0", "f", "false", "no", "off"})

log = logs.get(__name__)


class Tracing(Protocol):
    is_on: bool

    def run(self, key: ObjectKey, event: Event, *, cause: str) -> AbstractContextManager[Mapping[str, str]]:
        """The span of a run; what comes back are `trace_id` and `span_id` for its log lines."""

    def span(self, name: str, attributes: Mapping[str, str] | None = None) -> AbstractContextManager[None]:
        """A span within the present one."""

    def headers(self) -> Mapping[str, str]:
        """The present context, for a request to another system."""

    async def close(self) -> None:
        """Send what is not sent yet."""


class NoTracing:
    is_on = False

    def run(self, _key: ObjectKey, _event: Event, *, cause: str) -> AbstractContextManager[Mapping[str, str]]:  # noqa: ARG002 - the port's
        return nullcontext({})

    def span(self, _name: str, _attributes: Mapping[str, str] | None = None) -> AbstractContextManager[None]:
        return nullcontext()

    def headers(self) -> Mapping[str, str]:
        return {}

    async def close(self) -> None:
        return


class OpenTelemetryTracing:
    is_on = True

    def __init__(self, provider: "TracerProvider", *, component: str) -> None:
        from opentelemetry import propagate, trace  # noqa: PLC0415 - not imported where tracing is off

        self._provider = provider
        self._tracer = provider.get_tracer(component)
        self._propagate = propagate
        self._trace = trace

    @contextmanager
    def run(self, key: ObjectKey, event: Event, *, cause: str) -> Iterator[Mapping[str, str]]:
        carrier = {name: str(value) for name, value in event.extensions.items()}
        attributes = {"hyperfleet.kind": key.kind, "hyperfleet.id": key.id, "hyperfleet.cause": cause}
        parent = self._propagate.extract(carrier)
        with self._tracer.start_as_current_span("Execute", context=parent, attributes=attributes) as span:
            context = span.get_span_context()
            yield {
                "trace_id": self._trace.format_trace_id(context.trace_id),
                "span_id": self._trace.format_span_id(context.span_id),
            }

    @contextmanager
    def span(self, name: str, attributes: Mapping[str, str] | None = None) -> Iterator[None]:
        with self._tracer.start_as_current_span(name, attributes=dict(attributes or {})):
            yield

    def headers(self) -> Mapping[str, str]:
        carrier: dict[str, str] = {}
        self._propagate.inject(carrier)
        return carrier

    async def close(self) -> None:
        """What the collector does not take in time is lost; a thread that still waits for it ends with the process."""
        sending = threading.Thread(target=self._provider.shutdown, name="send the last spans", daemon=True)
        sending.start()
        await asyncio.to_thread(sending.join, LONGEST_CLOSE_SECONDS)
        if sending.is_alive():
            log.warning("the last spans are lost: the collector does not answer", seconds=LONGEST_CLOSE_SECONDS)


def open_tracing(identity: Identity, environment: Mapping[str, str], *, exporter: Any = None) -> Tracing:
    """Tracing as the environment says. `exporter` replaces the one of the environment. Raises Misconfigured."""
    if not is_enabled(environment):
        return NoTracing()
    if exporter is None and not any(environment.get(name) for name in ENDPOINTS):
        log.warning("tracing stays off: it is enabled, but no OTEL_EXPORTER_OTLP_ENDPOINT says where spans go")
        return NoTracing()
    try:
        return _set_up(identity, environment, exporter)
    except Misconfigured:
        raise
    except Exception as error:  # whatever OpenTelemetry makes of a variable that it cannot read
        remedy = "correct the variables that begin with OTEL_"
        raise Misconfigured("tracing cannot be set up", why=str(error), remedy=remedy) from error


def _set_up(identity: Identity, environment: Mapping[str, str], exporter: Any) -> OpenTelemetryTracing:
    from opentelemetry.sdk.resources import SERVICE_NAME, SERVICE_VERSION, Resource  # noqa: PLC0415 - as above
    from opentelemetry.sdk.trace import TracerProvider  # noqa: PLC0415 - as above
    from opentelemetry.sdk.trace.export import BatchSpanProcessor  # noqa: PLC0415 - as above

    name = environment.get("OTEL_SERVICE_NAME") or identity.component
    resource = Resource.create({SERVICE_NAME: name, SERVICE_VERSION: identity.version})
    provider = TracerProvider(resource=resource, shutdown_on_exit=False)
    provider.add_span_processor(BatchSpanProcessor(exporter or _otlp_exporter(environment)))
    return OpenTelemetryTracing(provider, component=identity.component)


def is_enabled(environment: Mapping[str, str]) -> bool:
    written = environment.get(ENABLED, "").strip().lower()
    if written in _YES | _NO:
        return written in _YES
    if written:
        raise Misconfigured("tracing cannot be set up", [Problem(ENABLED, f"must be true or false, not {written!r}")])
    return any(environment.get(name) for name in ENDPOINTS)


def _otlp_exporter(environment: Mapping[str, str]) -> "SpanExporter":
    protocol = next((environment[name] for name in PROTOCOLS if environment.get(name)), "grpc")
    if protocol == "grpc":
        from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter  # noqa: PLC0415 - as above

        return OTLPSpanExporter()
    if protocol == "http/protobuf":
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import (  # noqa: PLC0415 - as above
            OTLPSpanExporter as HttpExporter,
        )

        return HttpExporter()
    problem = Problem("OTEL_EXPORTER_OTLP_PROTOCOL", f"must be grpc or http/protobuf, not {protocol!r}")
    raise Misconfigured("tracing cannot be set up", [problem])
