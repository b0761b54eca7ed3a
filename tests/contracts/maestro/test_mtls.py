"""A Maestro that asks for a client's certificate: who is authenticated, and the errors of the others."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from shared.errors import Forbidden, Misconfigured, Unauthenticated, Unavailable
from shared.maestro import MaestroClient
from tests.support.maestro import MaestroServer, some_work, unique
from tests.support.pki import Pair, Pki


@pytest.fixture
def mode() -> str:
    return "mtls"


async def create_as(server: MaestroServer, **overrides: Any) -> None:
    async with MaestroClient(server.settings(retry_attempts=1, **overrides)) as client:
        await client.works((await client.consumers.create(unique("mgmt"))).name).create(some_work("w"))


async def test_a_known_certificate_is_let_in(server: MaestroServer) -> None:
    await create_as(server)


# Maestro refuses the TLS connection with an alert; the stand-in's gRPC library only closes it.
REFUSED = {"real": Unauthenticated, "standin": Unavailable}


async def test_no_certificate_does_not_get_through(server: MaestroServer, servers: str) -> None:
    with pytest.raises(REFUSED[servers]):
        await create_as(server, cert_file=None, key_file=None)


async def test_a_certificate_of_another_authority_does_not_get_through(
    server: MaestroServer, servers: str, pki: Pki
) -> None:
    with pytest.raises(REFUSED[servers]):
        await create_as(server, cert_file=pki.untrusted.certificate, key_file=pki.untrusted.key)


async def test_a_server_of_another_authority_is_not_trusted_by_grpc(server: MaestroServer, pki: Pki) -> None:
    rest_ca = server.settings().rest_ca_file
    with pytest.raises(Misconfigured, match="ca_file"):
        await create_as(server, ca_file=pki.untrusted.certificate, http_ca_file=rest_ca)


async def test_a_server_of_another_authority_is_not_trusted_by_rest(server: MaestroServer, pki: Pki) -> None:
    with pytest.raises(Misconfigured, match="http_ca_file"):
        await create_as(server, http_ca_file=pki.untrusted.certificate)


async def test_a_certificate_without_a_group_is_unauthenticated(server: MaestroServer, pki: Pki) -> None:
    pair = pki.client_without_group
    with pytest.raises(Unauthenticated, match="group"):
        await create_as(server, cert_file=pair.certificate, key_file=pair.key)


async def test_a_source_that_may_not_publish_is_forbidden(server: MaestroServer) -> None:
    with pytest.raises(Forbidden):
        await create_as(server, source_id="forbidden-source")


async def test_a_renewed_certificate_is_used_without_a_new_client(
    server: MaestroServer, pki: Pki, tmp_path: Path
) -> None:
    certificate, key = tmp_path / "tls.crt", tmp_path / "tls.key"

    def install(pair: Pair) -> None:
        shutil.copy(pair.certificate, certificate)
        shutil.copy(pair.key, key)

    install(pki.client_without_group)
    async with MaestroClient(server.settings(cert_file=certificate, key_file=key, retry_attempts=1)) as client:
        works = client.works((await client.consumers.create(unique("mgmt"))).name)
        with pytest.raises(Unauthenticated):
            await works.create(some_work("w"))
        install(pki.client)
        await works.create(some_work("w"))
