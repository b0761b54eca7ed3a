"""A span for every call of the engine's ports, where tracing is on."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import pytest

from dispatcher.engine.ports import ApiRequest, ApiResponse, Query
from dispatcher.observability.tracing import NoTracing
from dispatcher.runtime.tracing_ports import traced_api, traced_transports

OBJECT = {"kind": "Job", "metadata": {"name": "j", "namespace": "n"}}


class Spans(NoTracing):
    is_on = True

    def __init__(self) -> None:
        self.names: list[str] = []

    @contextmanager
    def span(self, name: str, attributes: Mapping[str, str] | None = None) -> Iterator[None]:
        assert all(isinstance(value, str) for value in (attributes or {}).values())
        self.names.append(name)
        yield


class Api:
    async def send(self, request: ApiRequest) -> ApiResponse:
        return ApiResponse(status=200, body=b"", url=request.url)


class FakeTransport:
    """Answers with the name of what was called."""

    def __getattr__(self, name: str) -> Any:
        async def called(*_arguments: Any, **_options: Any) -> str:
            return name

        return called


async def test_a_call_of_the_api_is_a_span_as_the_go_adapter_names_it() -> None:
    spans = Spans()
    await traced_api(Api(), spans).send(ApiRequest(method="PUT", url="/clusters/x/statuses"))
    assert spans.names == ["HTTP PUT"]


async def test_every_call_of_a_transport_is_a_span() -> None:
    spans = Spans()
    transport = traced_transports({"maestro": FakeTransport()}, spans)["maestro"]
    answers: list[Any] = [
        await transport.find(Query(api_version="v1", kind="Job", name="j")),
        await transport.create(OBJECT, consumer="c"),
        await transport.update(OBJECT, OBJECT, consumer="c"),
        await transport.delete(OBJECT, policy="Background", consumer="c"),
        await transport.wait_gone(OBJECT, timeout=1, consumer="c"),
        await transport.differs(OBJECT, OBJECT, consumer="c"),
    ]
    assert answers == ["find", "create", "update", "delete", "wait_gone", "differs"]
    assert spans.names == [f"maestro {verb}" for verb in ("find", "create", "update", "delete", "wait", "compare")]


@pytest.mark.parametrize("part", ["api", "transports"])
def test_where_tracing_is_off_nothing_is_wrapped(part: str) -> None:
    api, transports = Api(), {"kubernetes": FakeTransport()}
    if part == "api":
        assert traced_api(api, NoTracing()) is api
    else:
        assert traced_transports(transports, NoTracing()) is transports
