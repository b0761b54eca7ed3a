"""A Maestro that asks for a client's certificate: who is let in, and what the others are told."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from shared.errors import Forbidden, Unauthenticated, Unavailable
from shared.maestro import MaestroClient
from tests.contracts.maestro_ground import Ground, some_work, unique
from tests.contracts.pki import Pair, Pki


async def create_as(maestro: Ground, **overrides: Any) -> None:
    async with MaestroClient(maestro.settings(retry_attempts=1, **overrides)) as client:
        await client.works((await client.consumers.create(unique("mgmt"))).name).create(some_work("w"))


async def test_a_known_certificate_is_let_in(maestro: Ground) -> None:
    await create_as(maestro)


async def test_no_certificate_does_not_get_through(maestro: Ground) -> None:
    with pytest.raises(Unavailable):
        await create_as(maestro, cert_file=None, key_file=None)


async def test_a_strangers_certificate_does_not_get_through(maestro: Ground, pki: Pki) -> None:
    with pytest.raises(Unavailable):
        await create_as(maestro, cert_file=pki.stranger.certificate, key_file=pki.stranger.key)


async def test_a_certificate_without_a_group_is_unauthenticated(maestro: Ground, pki: Pki) -> None:
    pair = pki.client_without_group
    with pytest.raises(Unauthenticated, match="group"):
        await create_as(maestro, cert_file=pair.certificate, key_file=pair.key)


async def test_a_source_that_may_not_publish_is_forbidden(maestro: Ground) -> None:
    with pytest.raises(Forbidden):
        await create_as(maestro, source_id="forbidden-source")


async def test_a_renewed_certificate_is_used_without_a_new_client(maestro: Ground, pki: Pki, tmp_path: Path) -> None:
    certificate, key = tmp_path / "tls.crt", tmp_path / "tls.key"

    def install(pair: Pair) -> None:
        shutil.copy(pair.certificate, certificate)
        shutil.copy(pair.key, key)

    install(pki.client_without_group)
    async with MaestroClient(maestro.settings(cert_file=certificate, key_file=key, retry_attempts=1)) as client:
        works = client.works((await client.consumers.create(unique("mgmt"))).name)
        with pytest.raises(Unauthenticated):
            await works.create(some_work("w"))
        install(pki.client)
        await works.create(some_work("w"))
