"""A Maestro that asks for a token over TLS: who is let in, and what the others are told."""

from pathlib import Path

import pytest

from shared.errors import Forbidden, HyperFleetError, Permanent, Unauthenticated, Unavailable
from shared.maestro import MaestroClient
from tests.contracts.maestro_ground import Ground, some_work, unique
from tests.contracts.pki import Pki


async def try_to_create(maestro: Ground, **overrides: object) -> HyperFleetError | None:
    async with MaestroClient(maestro.settings(retry_attempts=1, **overrides)) as client:
        consumer = (await client.consumers.create(unique("mgmt"))).name
        try:
            await client.works(consumer).create(some_work("w"))
        except HyperFleetError as error:
            return error
    return None


async def test_a_known_token_is_let_in(maestro: Ground) -> None:
    assert await try_to_create(maestro) is None


async def test_no_token_is_unauthenticated(maestro: Ground) -> None:
    assert isinstance(await try_to_create(maestro, token_file=None), Unauthenticated)


async def test_an_unknown_token_is_unauthenticated(maestro: Ground, tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("bad-token")
    error = await try_to_create(maestro, token_file=token)
    assert isinstance(error, Unauthenticated)
    assert "MAESTRO_TOKEN_FILE" in error.remedy
    assert "bad-token" not in str(error)


async def test_a_source_that_may_not_publish_is_forbidden(maestro: Ground) -> None:
    error = await try_to_create(maestro, source_id="forbidden-source")
    assert isinstance(error, Forbidden)
    assert "forbidden-source" in str(error)


async def test_a_source_that_may_not_subscribe_is_told_when_it_watches(maestro: Ground) -> None:
    async with MaestroClient(maestro.settings(source_id="forbidden-source")) as client:
        with pytest.raises(Forbidden):
            await anext(client.works(unique("mgmt")).watch())


async def test_a_renewed_token_is_used_without_a_new_client(maestro: Ground, tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("bad-token")
    async with MaestroClient(maestro.settings(token_file=token, retry_attempts=1)) as client:
        works = client.works((await client.consumers.create(unique("mgmt"))).name)
        with pytest.raises(Unauthenticated):
            await works.create(some_work("w"))
        token.write_text("  good-token\n")
        await works.create(some_work("w"))


async def test_a_server_of_another_authority_is_not_trusted(maestro: Ground, pki: Pki) -> None:
    settings = maestro.settings(ca_file=pki.strangers_authority, http_ca_file=pki.authority, retry_attempts=1)
    async with MaestroClient(settings) as client:
        works = client.works((await client.consumers.create(unique("mgmt"))).name)
        with pytest.raises(Unavailable, match="CA file"):
            await works.create(some_work("w"))


async def test_rest_of_another_authority_is_not_trusted(maestro: Ground, pki: Pki) -> None:
    async with MaestroClient(maestro.settings(http_ca_file=pki.strangers_authority, retry_attempts=1)) as client:
        with pytest.raises(Unavailable, match="CA file"):
            await client.consumers.list()


async def test_speaking_plainly_to_a_server_with_tls_is_told(maestro: Ground) -> None:
    settings = maestro.settings(insecure=True, ca_file=None, token_file=None, retry_attempts=1)
    async with MaestroClient(settings) as client:
        works = client.works((await client.consumers.create(unique("mgmt"))).name)
        with pytest.raises(Unavailable):
            await works.create(some_work("w"))


async def test_a_token_without_tls_is_refused_before_anything_is_sent(maestro: Ground) -> None:
    with pytest.raises(Permanent, match="in the open"):
        maestro.settings(ca_file=None)
