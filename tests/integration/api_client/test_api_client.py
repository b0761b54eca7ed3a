"""The client of the HyperFleet API, against a server on loopback that answers what the test says."""

import asyncio
import logging
import shutil
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from dispatcher.api import ApiClient, ApiSettings
from dispatcher.engine.ports import ApiRequest
from lab.certificates import self_signed
from shared.errors import DeadlineExceeded, Invalid, Misconfigured, Transient, Unavailable

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class Server:
    """It answers with `answers` in turn, the last one for ever, and remembers what was asked."""

    def __init__(self) -> None:
        self.answers: list[Handler] = [says(200)]
        self.asked: list[web.Request] = []
        self.bodies: list[bytes] = []
        self.url = ""

    async def handle(self, request: web.Request) -> web.StreamResponse:
        self.asked.append(request)
        self.bodies.append(await request.read())
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        return await answer(request)


def says(status: int, body: str = "{}", **headers: str) -> Handler:
    async def answer(_: web.Request) -> web.StreamResponse:
        return web.Response(status=status, text=body, headers=headers)

    return answer


async def hangs(_: web.Request) -> web.StreamResponse:
    await asyncio.Event().wait()
    raise AssertionError


async def cuts(request: web.Request) -> web.StreamResponse:
    assert request.transport is not None
    request.transport.abort()
    return web.Response()


@asynccontextmanager
async def serving(tls: ssl.SSLContext | None = None) -> AsyncIterator[Server]:
    server, application = Server(), web.Application()
    application.router.add_route("*", "/{path:.*}", server.handle)
    runner = web.AppRunner(application, handler_cancellation=True, shutdown_timeout=0.001)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0, ssl_context=tls)
    await site.start()
    server.url = f"{'https' if tls else 'http'}://127.0.0.1:{runner.addresses[0][1]}"
    try:
        yield server
    finally:
        await runner.cleanup()


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    async with serving() as server:
        yield server


@asynccontextmanager
async def calling(server: Server, *, trace: dict[str, str] | None = None, **settings: Any) -> AsyncIterator[ApiClient]:
    quick: dict[str, Any] = {"base_url": server.url, "base_delay": 0.001, "max_delay": 0.01}
    async with ApiClient(ApiSettings(**(quick | settings)), trace_headers=lambda: trace or {}) as client:
        yield client


def write(path: Path, content: str) -> None:
    path.write_text(content)


def get(url: str = "clusters/1", **more: Any) -> ApiRequest:
    return ApiRequest(method="GET", url=url, **more)


class TestAnswers:
    @pytest.mark.parametrize("status", [200, 201, 204, 400, 403, 404, 409])
    async def test_an_answer_is_handed_on_as_it_is(self, server: Server, status: int) -> None:
        server.answers = [says(status, "" if status == 204 else '{"a": 1}')]
        async with calling(server) as client:
            response = await client.send(get())
        assert (response.status, response.attempts) == (status, 1)
        assert response.body == (b"" if status == 204 else b'{"a": 1}')
        assert response.url == f"{server.url}/api/hyperfleet/v1/clusters/1"

    @pytest.mark.parametrize("status", [500, 502, 503, 504, 408, 429])
    async def test_a_failure_of_the_server_is_tried_again(self, server: Server, status: int) -> None:
        server.answers = [says(status), says(status), says(200, "fine")]
        async with calling(server) as client:
            response = await client.send(get())
        assert (response.status, response.body, response.attempts) == (200, b"fine", 3)

    async def test_the_last_failure_is_handed_on(self, server: Server) -> None:
        server.answers = [says(503, "down")]
        async with calling(server) as client:
            response = await client.send(get())
        assert (response.status, response.body, response.attempts) == (503, b"down", 3)

    async def test_the_call_says_how_often_it_is_tried(self, server: Server) -> None:
        server.answers = [says(500)]
        async with calling(server) as client:
            assert (await client.send(get(retry_attempts=5, retry_backoff="constant"))).attempts == 5
            assert (await client.send(get(retry_attempts=1))).attempts == 1

    @pytest.mark.parametrize("attempts", [0, -1])
    async def test_settings_of_no_attempts_mean_three(self, server: Server, attempts: int) -> None:
        server.answers = [says(500)]
        async with calling(server, retry_attempts=attempts) as client:
            assert (await client.send(get())).attempts == 3

    async def test_a_wait_that_the_server_names_is_honoured(
        self, server: Server, caplog: pytest.LogCaptureFixture
    ) -> None:
        server.answers = [says(429, **{"Retry-After": "0.2"}), says(200)]
        with caplog.at_level(logging.WARNING):
            async with calling(server, max_delay=1.0) as client:
                assert (await client.send(get())).status == 200
        assert "trying again in 0.2 s: it answered 429" in caplog.text

    async def test_a_body_is_sent_with_every_attempt(self, server: Server) -> None:
        server.answers = [cuts, says(201)]
        async with calling(server) as client:
            await client.send(ApiRequest(method="PUT", url="clusters/1/statuses", body='{"ü": 1}'))
        assert set(server.bodies) == {'{"ü": 1}'.encode()}
        assert server.asked[-1].headers["Content-Type"] == "application/json"

    async def test_a_query_reaches_the_server(self, server: Server) -> None:
        async with calling(server) as client:
            await client.send(get("clusters?search=labels.env='a b'&size=5"))
        assert dict(server.asked[0].query) == {"search": "labels.env='a b'", "size": "5"}


class TestNoAnswer:
    async def test_a_connection_that_breaks_is_tried_again(self, server: Server) -> None:
        server.answers = [cuts, says(200)]
        async with calling(server) as client:
            assert (await client.send(ApiRequest(method="POST", url="x"))).attempts == 2

    async def test_a_server_that_is_away_is_unavailable_in_the_end(self, server: Server) -> None:
        async with calling(server, base_url="http://127.0.0.1:9") as client:
            with pytest.raises(Unavailable, match="GET http://127"):
                await client.send(get())

    async def test_the_calls_own_timeout_holds(self, server: Server, caplog: pytest.LogCaptureFixture) -> None:
        server.answers = [hangs]
        async with calling(server, timeout=600.0) as client:
            with pytest.raises(DeadlineExceeded, match=r"no answer in 0\.05 s") as refusal:
                await client.send(get(timeout=0.05, retry_attempts=2))
        assert isinstance(refusal.value, Transient)
        assert caplog.text.count("trying again") == 1

    async def test_a_call_may_take_longer_than_the_clients_timeout(self, server: Server) -> None:
        async def slowly(_: web.Request) -> web.StreamResponse:
            await asyncio.sleep(0.3)
            return web.Response(text="late")

        server.answers = [slowly]
        async with calling(server, timeout=0.05) as client:
            assert (await client.send(get(timeout=240.0))).body == b"late"

    @pytest.mark.parametrize(
        "request_",
        [get("http://["), get("ftp://x"), get(headers={"X-A": "a\r\nX-B: b"})],
        ids=["no URL", "no http", "a header of two lines"],
    )
    async def test_what_cannot_be_sent_is_not_tried(self, server: Server, request_: ApiRequest) -> None:
        async with calling(server) as client:
            with pytest.raises(Invalid):
                await client.send(request_)
        assert server.asked == []


class TestHeaders:
    async def test_the_calls_own_win_over_the_defaults(self, server: Server) -> None:
        defaults = {"x-hyperfleet-system": "true", "X-Team": "a"}
        async with calling(server, default_headers=defaults, user_agent="hyperfleet-adapter/1.2") as client:
            await client.send(get(headers={"x-team": "b", "Accept": "text/plain"}))
        headers = server.asked[0].headers
        assert headers["X-HyperFleet-System"] == "true"
        assert headers.getall("X-Team") == ["b"]
        assert headers["User-Agent"] == "hyperfleet-adapter/1.2"

    async def test_the_present_span_is_passed_on_unless_the_author_names_one(self, server: Server) -> None:
        async with calling(server, trace={"traceparent": "00-ours"}) as client:
            await client.send(get())
            await client.send(get(headers={"traceparent": "00-theirs"}))
        assert [asked.headers["traceparent"] for asked in server.asked] == ["00-ours", "00-theirs"]

    async def test_another_content_type_is_kept(self, server: Server) -> None:
        async with calling(server) as client:
            await client.send(ApiRequest(method="PATCH", url="x", body="a", headers={"content-type": "text/plain"}))
        assert server.asked[0].headers.getall("Content-Type") == ["text/plain"]


class TestToken:
    @pytest.fixture
    def token(self, tmp_path: Path) -> Path:
        path = tmp_path / "token"
        path.write_text("one\n")
        return path

    async def test_it_wins_over_any_other_authorization(self, server: Server, token: Path) -> None:
        async with calling(server, token_path=token) as client:
            await client.send(get(headers={"authorization": "Basic x"}))
        assert server.asked[0].headers.getall("Authorization") == ["Bearer one"]

    async def test_it_goes_to_no_other_host_and_neither_do_the_default_headers(
        self, server: Server, token: Path
    ) -> None:
        async with serving() as other, calling(server, token_path=token, default_headers={"X-Org": "a"}) as client:
            other.answers = [says(401)]
            assert (await client.send(get(f"{other.url}/place"))).status == 401
            assert (await client.send(get(f"{other.url}/place", headers={"Authorization": "Basic x"}))).status == 401
        assert [asked.headers.get("Authorization") for asked in other.asked] == [None, "Basic x"]
        assert all("X-Org" not in asked.headers for asked in other.asked)

    async def test_a_redirect_to_another_host_does_not_take_it_along(self, server: Server, token: Path) -> None:
        async with serving() as other, calling(server, token_path=token) as client:
            server.answers = [says(307, Location=f"{other.url}/there")]
            assert (await client.send(get())).status == 200
        assert "Authorization" not in other.asked[0].headers

    async def test_a_renewed_one_is_used_with_the_next_call(self, server: Server, token: Path) -> None:
        async with calling(server, token_path=token) as client:
            await client.send(get())
            write(token, "two")
            await client.send(get())
        assert [asked.headers["Authorization"] for asked in server.asked] == ["Bearer one", "Bearer two"]

    async def test_a_cached_one_is_read_again_when_it_is_refused(self, server: Server, token: Path) -> None:
        server.answers = [says(200), says(401), says(200)]
        async with calling(server, token_path=token, token_cache_ttl=3600.0) as client:
            await client.send(get())
            write(token, "two")
            response = await client.send(get())
        assert (response.status, response.attempts) == (200, 1)
        assert [asked.headers["Authorization"] for asked in server.asked] == ["Bearer one", "Bearer one", "Bearer two"]

    async def test_one_that_is_refused_and_not_renewed_is_not_sent_again(self, server: Server, token: Path) -> None:
        server.answers = [says(401)]
        async with calling(server, token_path=token) as client:
            assert (await client.send(get())).status == 401
        assert len(server.asked) == 1

    async def test_without_its_file_there_is_no_client(self, server: Server, tmp_path: Path) -> None:
        with pytest.raises(Misconfigured, match="absent"):
            ApiClient(ApiSettings(base_url=server.url, token_path=tmp_path / "absent"))


async def test_a_renewed_authority_is_trusted_with_the_next_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "old").mkdir()
    (tmp_path / "new").mkdir()
    old, new = self_signed(tmp_path / "old"), self_signed(tmp_path / "new")
    bundle = tmp_path / "ca.crt"
    shutil.copy(old.certificate, bundle)
    monkeypatch.setenv("SSL_CERT_FILE", str(bundle))
    tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    tls.load_cert_chain(new.certificate, new.key)
    async with serving(tls) as server, calling(server) as client:
        with pytest.raises(Unavailable, match="certificate"):
            await client.send(get())
        shutil.copy(new.certificate, bundle)
        assert (await client.send(get())).status == 200
