"""A Maestro that asks for a token over TLS: who is authenticated, and the errors of the others."""

from pathlib import Path

import pytest

from shared.errors import Forbidden, HyperFleetError, Misconfigured, Permanent, Unauthenticated, Unavailable
from shared.maestro import MaestroClient
from tests.support.maestro import MaestroServer, some_work, unique
from tests.support.pki import Pki


@pytest.fixture
def mode() -> str:
    return "token"


async def try_to_create(server: MaestroServer, **overrides: object) -> HyperFleetError | None:
    async with MaestroClient(server.settings(retry_attempts=1, **overrides)) as client:
        consumer = (await client.consumers.create(unique("mgmt"))).name
        try:
            await client.works(consumer).create(some_work("w"))
        except HyperFleetError as error:
            return error
    return None


async def test_a_known_token_is_let_in(server: MaestroServer) -> None:
    assert await try_to_create(server) is None


async def test_no_token_is_unauthenticated(server: MaestroServer) -> None:
    assert isinstance(await try_to_create(server, token_file=None), Unauthenticated)


async def test_an_unknown_token_is_unauthenticated(server: MaestroServer, tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("bad-token")
    error = await try_to_create(server, token_file=token)
    assert isinstance(error, Unauthenticated)
    assert "token_file" in error.remedy
    assert "bad-token" not in str(error)


async def test_a_source_that_may_not_publish_is_forbidden(server: MaestroServer) -> None:
    error = await try_to_create(server, source_id="forbidden-source")
    assert isinstance(error, Forbidden)
    assert "forbidden-source" in str(error)


async def test_a_source_that_may_not_subscribe_gets_an_error_when_it_watches(server: MaestroServer) -> None:
    async with MaestroClient(server.settings(source_id="forbidden-source")) as client:
        with pytest.raises(Forbidden):
            await anext(client.works(unique("mgmt")).watch())


async def test_a_renewed_token_is_used_without_a_new_client(server: MaestroServer, tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("bad-token")
    async with MaestroClient(server.settings(token_file=token, retry_attempts=1)) as client:
        works = client.works((await client.consumers.create(unique("mgmt"))).name)
        with pytest.raises(Unauthenticated):
            await works.create(some_work("w"))
        token.write_text("  good-token\n")
        await works.create(some_work("w"))


async def test_a_server_of_another_authority_is_not_trusted(server: MaestroServer, pki: Pki) -> None:
    settings = server.settings(ca_file=pki.other_authority, http_ca_file=pki.authority, retry_attempts=1)
    async with MaestroClient(settings) as client:
        works = client.works((await client.consumers.create(unique("mgmt"))).name)
        with pytest.raises(Misconfigured, match="certificate cannot be verified"):
            await works.create(some_work("w"))


async def test_rest_of_another_authority_is_not_trusted(server: MaestroServer, pki: Pki) -> None:
    async with MaestroClient(server.settings(http_ca_file=pki.other_authority, retry_attempts=1)) as client:
        with pytest.raises(Misconfigured, match="certificate cannot be verified"):
            await client.consumers.list()


async def test_plain_text_to_a_server_with_tls_is_an_error(server: MaestroServer) -> None:
    settings = server.settings(insecure=True, ca_file=None, token_file=None, retry_attempts=1)
    async with MaestroClient(settings) as client:
        works = client.works((await client.consumers.create(unique("mgmt"))).name)
        with pytest.raises(Unavailable):
            await works.create(some_work("w"))


async def test_a_token_without_tls_is_refused_before_anything_is_sent(server: MaestroServer) -> None:
    with pytest.raises(Permanent, match="in the open"):
        server.settings(ca_file=None)
