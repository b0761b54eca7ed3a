"""OpenTelemetry collectors: receivers of OTLP on a socket, which decode with OpenTelemetry's own protobufs."""

import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import grpc
from aiohttp import web
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, Span

from lab.loopback import HOST

_SERVICE = "opentelemetry.proto.collector.trace.v1.TraceService"


@dataclass
class Collector:
    """`environment` leads a program to it. `received` is all it was sent, in order."""

    environment: dict[str, Any]
    received: list[ResourceSpans] = field(default_factory=list)

    @property
    def spans(self) -> list[Span]:
        return [span for each in self.received for scope in each.scope_spans for span in scope.spans]

    def take(self, request: ExportTraceServiceRequest) -> ExportTraceServiceResponse:
        self.received.extend(request.resource_spans)
        return ExportTraceServiceResponse()


@contextlib.asynccontextmanager
async def grpc_collector() -> AsyncIterator[Collector]:
    collector = Collector({})

    async def export(
        request: ExportTraceServiceRequest, _: "grpc.aio.ServicerContext[Any, Any]"
    ) -> ExportTraceServiceResponse:
        return collector.take(request)

    handler = grpc.unary_unary_rpc_method_handler(
        export,
        request_deserializer=ExportTraceServiceRequest.FromString,
        response_serializer=ExportTraceServiceResponse.SerializeToString,
    )
    server = grpc.aio.server()
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(_SERVICE, {"Export": handler}),))
    port = server.add_insecure_port(f"{HOST}:0")
    await server.start()
    collector.environment["OTEL_EXPORTER_OTLP_ENDPOINT"] = f"http://{HOST}:{port}"
    try:
        yield collector
    finally:
        await server.stop(grace=None)


@contextlib.asynccontextmanager
async def http_collector() -> AsyncIterator[Collector]:
    collector = Collector({"OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf"})

    async def export(request: web.Request) -> web.Response:
        assert request.content_type == "application/x-protobuf"
        answer = collector.take(ExportTraceServiceRequest.FromString(await request.read()))
        return web.Response(body=answer.SerializeToString(), content_type="application/x-protobuf")

    application = web.Application()
    application.router.add_post("/v1/traces", export)
    runner = web.AppRunner(application, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, HOST, 0).start()
    collector.environment["OTEL_EXPORTER_OTLP_ENDPOINT"] = f"http://{HOST}:{runner.addresses[0][1]}"
    try:
        yield collector
    finally:
        await runner.cleanup()
