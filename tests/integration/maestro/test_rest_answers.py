"""Answers that are not Maestro's, or not as Maestro gives them: each becomes an error that names what to do."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from shared.errors import HyperFleetError, Misconfigured, ServerError
from shared.maestro import MaestroClient, MaestroSettings


@asynccontextmanager
async def answering(head: str, body: bytes) -> AsyncIterator[MaestroClient]:
    """A client of a server that gives this answer to everything."""
    answer = f"{head}\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(answer)
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        settings = MaestroSettings.load(
            {
                "MAESTRO_API_URL": f"http://admin:s3cret@127.0.0.1:{port}",
                "MAESTRO_GRPC_URL": "127.0.0.1:1",
                "MAESTRO_SOURCE_ID": "s",
                "MAESTRO_INSECURE": "true",
                "MAESTRO_RETRY_ATTEMPTS": "1",
            }
        )
        async with MaestroClient(settings) as client:
            yield client


DEEP = b'{"a":' * 900 + b"1" + b"}" * 900


@pytest.mark.parametrize(
    ("head", "body", "kind", "text"),
    [
        pytest.param("HTTP/1.1 200 OK", DEEP, ServerError, "nested too deeply", id="deep JSON"),
        pytest.param("HTTP/1.1 200 OK", b"[" * 100_000, ServerError, "nested too deeply", id="endless JSON"),
        pytest.param("HTTP/1.1 200 OK", b"<html>", ServerError, "not Maestro's JSON", id="a page"),
        pytest.param("HTTP/1.1 200 OK", b"\xff\xfe", ServerError, "not Maestro's JSON", id="bytes"),
        pytest.param("HTTP/1.1 200 OK", b"9" * 9999, ServerError, "not Maestro's JSON", id="a number without end"),
        pytest.param(
            "HTTP/1.1 302 Found\r\nLocation: https://me:s3cret@login.example.com/",
            b"",
            Misconfigured,
            "redirects to",
            id="a redirect",
        ),
        pytest.param("HTTP/1.1 418 Teapot", b"", Misconfigured, "MAESTRO_API_URL", id="a teapot"),
        pytest.param("HTTP/1.1 400 Bad Request", b"token=s3cret", Misconfigured, "MAESTRO_API_URL", id="a gateway"),
    ],
)
async def test_an_answer_that_is_not_maestros(head: str, body: bytes, kind: type[HyperFleetError], text: str) -> None:
    async with answering(head, body) as client:
        with pytest.raises(kind) as refused:
            await client.works("mgmt-01").get("w")
    assert text in str(refused.value)
    assert "s3cret" not in str(refused.value)


async def test_an_address_with_a_password_is_shown_without_it() -> None:
    settings = MaestroSettings(
        grpc_server_address="127.0.0.1:1",
        http_server_address="http://admin:s3cret@127.0.0.1:1",
        source_id="s",
        insecure=True,
        retry_attempts=1,
    )
    async with MaestroClient(settings) as client:
        with pytest.raises(HyperFleetError) as refused:
            await client.works("mgmt-01").get("w")
    assert "***@127.0.0.1:1" in str(refused.value)
    assert "s3cret" not in str(refused.value)
