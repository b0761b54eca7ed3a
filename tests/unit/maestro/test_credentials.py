"""Certificates that change under a running Maestro client."""

import ssl
from dataclasses import replace
from pathlib import Path
from typing import Any

import grpc
import pytest

from shared.errors import Misconfigured
from shared.maestro import MaestroClient
from shared.maestro.config.credentials import check_files, rest_context
from shared.maestro.config.settings import MaestroSettings
from shared.maestro.grpc.channel import GrpcChannel, channel_credentials
from shared.maestro.http.rest import Rest
from shared.network.tls import verifying
from tests.support.pki import make_pki


def settings(**files: Any) -> MaestroSettings:
    return MaestroSettings(
        grpc_server_address="https://127.0.0.1:1", http_server_address="https://127.0.0.1:1", source_id="s", **files
    )


def put(path: Path, content: str) -> Path:
    """Replace the file as Kubernetes does: a new file under the old name."""
    fresh = path.with_name(f"{path.name}.new")
    fresh.write_text(content)
    fresh.replace(path)
    return path


@pytest.fixture
def tls(tmp_path: Path) -> MaestroSettings:
    issued = make_pki(tmp_path)
    return settings(ca_file=issued.authority, cert_file=issued.client.certificate, key_file=issued.client.key)


class TestTls:
    def test_insecure_means_no_credentials(self) -> None:
        plain = MaestroSettings(
            grpc_server_address="m:1", http_server_address="http://m:1", source_id="s", insecure=True
        )
        assert channel_credentials(plain) is None
        assert rest_context(plain).verify_mode is ssl.CERT_NONE

    def test_the_files_become_credentials(self, tls: MaestroSettings) -> None:
        assert isinstance(channel_credentials(tls), grpc.ChannelCredentials)
        context = rest_context(tls)
        assert context.verify_mode is ssl.CERT_REQUIRED
        assert context.check_hostname
        assert context.cert_store_stats()["x509_ca"] == 1

    @pytest.mark.parametrize("name", ["ca_file", "cert_file", "key_file"])
    def test_a_file_that_is_not_there_is_named(self, tls: MaestroSettings, name: str) -> None:
        path: Path = getattr(tls, name)
        path.unlink()
        with pytest.raises(Misconfigured, match=str(path)):
            channel_credentials(tls)

    @pytest.mark.parametrize("content", [None, "no certificate"], ids=["gone", "no certificate"])
    def test_an_authority_rest_cannot_use_is_named(self, tls: MaestroSettings, content: str | None) -> None:
        assert tls.ca_file is not None
        tls.ca_file.unlink()
        if content is not None:
            tls.ca_file.write_text(content)
        with pytest.raises(Misconfigured, match=str(tls.ca_file)):
            rest_context(tls)


class TestTheChannel:
    async def test_it_is_opened_anew_when_a_certificate_changes(self, tls: MaestroSettings) -> None:
        assert tls.cert_file is not None
        link = GrpcChannel(tls)
        try:
            before = link._channel
            assert not link.refresh()
            assert link._channel is before
            put(tls.cert_file, tls.cert_file.read_text())
            assert link.refresh()
            assert link._channel is not before
        finally:
            await link.close()

    async def test_while_a_certificate_is_away_the_old_channel_serves(self, tls: MaestroSettings) -> None:
        assert tls.key_file is not None
        link = GrpcChannel(tls)
        try:
            before, content = link._channel, tls.key_file.read_text()
            tls.key_file.unlink()
            assert not link.refresh()
            assert link._channel is before
            put(tls.key_file, content)
            assert link.refresh()
            assert link._channel is not before
        finally:
            await link.close()


async def test_rest_goes_on_with_the_old_authority_while_the_new_one_is_away(tls: MaestroSettings) -> None:
    assert tls.ca_file is not None
    rest = Rest(tls)
    try:
        before, content = rest._connections, tls.ca_file.read_text()
        tls.ca_file.unlink()
        await rest._refresh()
        assert rest._connections is before
        put(tls.ca_file, content)
        await rest._refresh()
        assert rest._connections is not before
    finally:
        await rest.close()


def test_a_certificate_without_the_key_identifier_of_its_authority_is_trusted_by_every_python(tmp_path: Path) -> None:
    context = verifying(make_pki(tmp_path).authority)
    assert not context.verify_flags & ssl.VERIFY_X509_STRICT
    assert context.verify_mode is ssl.CERT_REQUIRED
    assert context.check_hostname


class TestFilesAtTheStart:
    """gRPC opens its files at the first write; what is wrong with them is found before anything is read."""

    @pytest.mark.parametrize(
        ("name", "path"),
        [
            ("ca_file", "ca_file"),
            ("cert_file", "cert_file"),
            ("key_file", "cert_file"),
        ],
    )
    @pytest.mark.parametrize("content", [None, "garbage"], ids=["missing", "garbage"])
    def test_a_file_that_cannot_be_used_is_named(
        self, tls: MaestroSettings, name: str, path: str, content: str | None
    ) -> None:
        file: Path = getattr(tls, name)
        file.unlink()
        if content is not None:
            file.write_text(content)
        with pytest.raises(Misconfigured) as refused:
            check_files(tls)
        (problem,) = refused.value.problems
        assert problem.path == (path if content else name), "a pair that does not fit is named by its certificate"
        assert str(file) in problem.message

    def test_all_of_them_are_named_at_once(self, tls: MaestroSettings, tmp_path: Path) -> None:
        token = put(tmp_path / "token", "two lines\nof text")
        assert tls.ca_file is not None
        assert tls.key_file is not None
        for file in (tls.ca_file, tls.key_file):
            file.write_text("garbage")
        with pytest.raises(Misconfigured) as refused:
            check_files(replace(tls, token_file=token))
        assert len(refused.value.problems) == 3
        assert "two lines" not in str(refused.value)

    async def test_a_client_checks_them_before_it_reads(self, tls: MaestroSettings, tmp_path: Path) -> None:
        missing = replace(tls, token_file=tmp_path / "nowhere")
        with pytest.raises(Misconfigured, match="nowhere"):
            await MaestroClient(missing).__aenter__()

    async def test_a_client_that_only_reads_opens_no_channel(self, tls: MaestroSettings) -> None:
        async with MaestroClient(tls) as client:
            assert client._connection is None
