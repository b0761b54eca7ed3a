"""Tokens and certificates that change under a running process."""

import os
import ssl
from pathlib import Path
from typing import Any

import grpc
import pytest

from shared.errors import Misconfigured
from shared.maestro.credentials import TokenFile, Watched, channel_credentials, rest_context
from shared.maestro.link import Link
from shared.maestro.rest import Rest
from shared.maestro.settings import MaestroSettings
from shared.trust import verifying
from tests.contracts.pki import make_pki


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


class TestWatched:
    def test_nothing_has_changed_at_first_and_each_change_is_told_once(self, tmp_path: Path) -> None:
        watched = Watched([put(tmp_path / "a", "1"), put(tmp_path / "b", "1"), None])
        assert not watched.changed()
        put(tmp_path / "b", "2")
        assert watched.changed()
        assert not watched.changed()

    def test_going_and_coming_are_changes(self, tmp_path: Path) -> None:
        path = tmp_path / "a"
        watched = Watched([path])
        assert not watched.changed()
        put(path, "1")
        assert watched.changed()
        path.unlink()
        assert watched.changed()

    def test_a_link_that_is_pointed_elsewhere_is_a_change(self, tmp_path: Path) -> None:
        for folder in ("first", "second"):
            (tmp_path / folder).mkdir()
            (tmp_path / folder / "token").write_text("same")
        (tmp_path / "..data").symlink_to("first")
        (tmp_path / "token").symlink_to("..data/token")
        watched = Watched([tmp_path / "token"])
        (tmp_path / "..data.new").symlink_to("second")
        (tmp_path / "..data.new").replace(tmp_path / "..data")
        assert watched.changed()

    def test_a_change_that_keeps_length_and_modification_time_is_seen(self, tmp_path: Path) -> None:
        path = put(tmp_path / "a", "old")
        watched = Watched([path])
        times = (path.stat().st_atime_ns, path.stat().st_mtime_ns)
        path.write_text("new")
        os.utime(path, ns=times)
        assert watched.changed()

    def test_without_files_nothing_ever_changes(self) -> None:
        assert not Watched([None, None]).changed()


class TestTheToken:
    def test_it_is_trimmed_and_made_a_header(self, tmp_path: Path) -> None:
        assert TokenFile(put(tmp_path / "token", " \nabc.def\r\n")).header == "Bearer abc.def"

    def test_a_new_one_is_used_from_the_next_call_on(self, tmp_path: Path) -> None:
        token = TokenFile(put(tmp_path / "token", "one"))
        put(tmp_path / "token", "two")
        assert token.header == "Bearer two"

    @pytest.mark.parametrize(
        "spoil",
        [
            pytest.param(Path.unlink, id="gone"),
            pytest.param(lambda path: path.write_bytes(b""), id="empty"),
            pytest.param(lambda path: path.write_bytes(b" \n"), id="blank"),
            pytest.param(lambda path: path.write_bytes(b"\xff\xfe"), id="no text"),
            pytest.param(lambda path: path.write_bytes(b"one\nauthorization: two"), id="two lines"),
            pytest.param(lambda path: (path.unlink(), path.mkdir()), id="a folder"),
        ],
    )
    def test_the_last_good_one_serves_while_the_file_is_spoilt_and_the_next_good_one_after(
        self, tmp_path: Path, spoil: object
    ) -> None:
        path = put(tmp_path / "token", "good")
        token = TokenFile(path)
        assert callable(spoil)
        spoil(path)
        assert token.header == "Bearer good"
        assert token.header == "Bearer good"
        if path.is_dir():
            path.rmdir()
        put(path, "better")
        assert token.header == "Bearer better"

    @pytest.mark.parametrize("content", [None, b"", b"\n", b"\xff", b"a b", b"a\nb", "tökén".encode()], ids=repr)
    def test_without_a_good_one_at_the_start_there_is_no_start(self, tmp_path: Path, content: bytes | None) -> None:
        path = tmp_path / "token"
        if content is not None:
            path.write_bytes(content)
        with pytest.raises(Misconfigured, match=str(path)) as refusal:
            TokenFile(path)
        assert "a b" not in str(refusal.value)


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
        link = Link(tls)
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
        link = Link(tls)
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
