"""TLS to the API server: whom the client trusts, how it shows who it is, and certificates that are renewed."""

import ssl
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
from aiohttp import web

from shared.errors import Misconfigured, Unavailable
from shared.kubernetes import Access, FixedAccess, KubernetesClient
from tests.support.connections import connections_closed
from tests.support.pki import Pki, make_pki


@pytest.fixture
def pki(tmp_path: Path) -> Pki:
    return make_pki(tmp_path)


@pytest.fixture
async def url(pki: Pki) -> AsyncIterator[str]:
    """A server that lets in only who shows a certificate of our authority."""

    async def discovery(request: web.Request) -> web.Response:
        certificate = request.get_extra_info("peercert") or {}
        names = [value for part in certificate.get("subject", ()) for key, value in part if key == "commonName"]
        resources = [{"name": each, "kind": each, "namespaced": False} for each in names]
        return web.json_response({"resources": resources})

    application = web.Application()
    application.router.add_get("/api/v1", discovery)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=str(pki.authority))
    context.verify_mode = ssl.CERT_REQUIRED
    context.load_cert_chain(pki.server.certificate, pki.server.key)
    runner = web.AppRunner(application)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=context).start()
    port = runner.addresses[0][1]
    yield f"https://127.0.0.1:{port}"
    await runner.cleanup()
    await connections_closed(port)


@pytest.fixture
def access(url: str, pki: Pki) -> Access:
    return Access(server=url, ca_file=pki.authority, cert_file=pki.client.certificate, key_file=pki.client.key)


async def test_a_client_certificate_is_shown(access: Access) -> None:
    async with KubernetesClient(FixedAccess(access)) as client:
        assert (await client.kind("v1", "good-user")).plural == "good-user"


async def test_another_name_in_the_servers_certificate_can_be_expected(access: Access) -> None:
    async with KubernetesClient(FixedAccess(replace(access, server_name="localhost"))) as client:
        assert (await client.kind("v1", "good-user")).kind == "good-user"
    async with KubernetesClient(FixedAccess(replace(access, server_name="elsewhere"))) as client:
        with pytest.raises(Unavailable, match="certificate"):
            await client.kind("v1", "good-user")


async def test_a_server_of_another_authority_is_not_trusted_unless_verification_is_off(
    access: Access, pki: Pki
) -> None:
    wrong = replace(access, ca_file=pki.other_authority)
    async with KubernetesClient(FixedAccess(wrong)) as client:
        with pytest.raises(Unavailable, match="certificate"):
            await client.kind("v1", "good-user")
    async with KubernetesClient(FixedAccess(replace(wrong, verify=False))) as client:
        assert (await client.kind("v1", "good-user")).kind == "good-user"


async def test_a_renewed_certificate_is_shown_from_the_next_request_on(access: Access, pki: Pki) -> None:
    async with KubernetesClient(FixedAccess(access)) as client:
        assert (await client.kind("v1", "good-user")).kind == "good-user"
        _copy(pki.client_without_group.key, pki.client.key)
        _copy(pki.client_without_group.certificate, pki.client.certificate)
        assert (await client.kind("v1", "lonely-user")).kind == "lonely-user"


async def test_while_a_certificate_is_spoilt_the_previous_one_serves(access: Access, pki: Pki) -> None:
    async with KubernetesClient(FixedAccess(access)) as client:
        assert (await client.kind("v1", "good-user")).kind == "good-user"
        _spoil(pki.authority)
        client._discovery.forget("v1")
        assert (await client.kind("v1", "good-user")).kind == "good-user"


async def test_a_certificate_that_cannot_be_used_at_the_start_is_named(access: Access, pki: Pki) -> None:
    _spoil(pki.client.key)
    async with KubernetesClient(FixedAccess(access)) as client:
        with pytest.raises(Misconfigured, match=str(pki.client.key)):
            await client.kind("v1", "good-user")


def _copy(source: Path, target: Path) -> None:
    target.write_bytes(source.read_bytes())


def _spoil(path: Path) -> None:
    path.write_text("no certificate")
