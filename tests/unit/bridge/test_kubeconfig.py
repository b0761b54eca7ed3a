"""Kubeconfigs of hosted clusters: what is taken from them, and what they cannot make the operator do."""

import base64
import stat
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from dpu_bridge.operator.kubeconfig import KubeconfigAccess, read_kubeconfig
from shared.errors import Misconfigured


def encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def config(*, cluster: dict[str, Any] | None = None, user: dict[str, Any] | None = None, **more: Any) -> bytes:
    document = {
        "clusters": [{"name": "c", "cluster": {"server": "https://192.0.2.1:6443/", **(cluster or {})}}],
        "users": [{"name": "other", "user": {"token": "wrong"}}, {"name": "u", "user": user or {"token": "secret"}}],
        "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
        "current-context": "x",
        **more,
    }
    return yaml.safe_dump(document).encode()


CERTIFICATES = {"client-certificate-data": encoded("certificate"), "client-key-data": encoded("key")}


async def test_a_token_and_the_clusters_own_authority(tmp_path: Path) -> None:
    access = KubeconfigAccess(tmp_path / "made")
    access.use(config(cluster={"certificate-authority-data": encoded("authority"), "tls-server-name": "api"}))
    current = await access.current()
    assert current.server == "https://192.0.2.1:6443"
    assert current.authorization == "Bearer secret"
    assert current.server_name == "api"
    assert current.ca_file is not None
    assert current.ca_file.read_text() == "authority"
    assert current.cert_file is None


async def test_a_client_certificate_is_kept_where_only_the_operator_reads_it(tmp_path: Path) -> None:
    access = KubeconfigAccess(tmp_path / "made")
    access.use(config(user=CERTIFICATES))
    current = await access.current()
    assert current.cert_file is not None
    assert current.key_file is not None
    assert current.key_file.read_text() == "key"
    assert stat.S_IMODE(current.key_file.stat().st_mode) == 0o600
    assert stat.S_IMODE(current.key_file.parent.stat().st_mode) == 0o700


async def test_a_rotated_kubeconfig_is_used_from_then_on(tmp_path: Path) -> None:
    access = KubeconfigAccess(tmp_path)
    access.use(config())
    before = await access.current()
    access.use(config())
    assert await access.current() is before
    access.use(config(user={"token": "renewed"}))
    assert (await access.renew()).authorization == "Bearer renewed"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        pytest.param(config(user={"exec": {"command": "/bin/true"}}), "needs exec", id="a program"),
        pytest.param(config(user={"auth-provider": {"name": "oidc"}}), "needs auth-provider", id="a provider"),
        pytest.param(config(user={"tokenFile": "/etc/passwd"}), "tokenFile names a file", id="a token's file"),
        pytest.param(config(user={"client-key": "/etc/shadow"}), "client-key names a file", id="a key's file"),
        pytest.param(
            config(cluster={"certificate-authority": "ca.crt"}), "certificate-authority names a file", id="a CA's file"
        ),
        pytest.param(config(user={"client-key-data": "%%%"}), "client-key-data is not base64", id="no base64"),
        pytest.param(config(contexts=[]), "it has no context 'x'", id="no context"),
        pytest.param(config(users=[]), "it has no user 'u'", id="no user"),
        pytest.param(config(clusters=[{"name": "c", "cluster": {}}]), "'server' is missing", id="no server"),
        pytest.param(b"", "cannot be used", id="nothing"),
        pytest.param(b"{", "cannot be used", id="no YAML"),
    ],
)
def test_what_is_refused(content: bytes, message: str) -> None:
    with pytest.raises(Misconfigured, match=message) as refused:
        read_kubeconfig(content)
    assert "token or a client certificate" in str(refused.value)


def test_the_administrators_own_kubeconfig_may_name_files(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("from-a-file\n")
    assert read_kubeconfig(config(user={"tokenFile": "token"}), files=tmp_path).token == "from-a-file"


def test_secrets_are_not_shown() -> None:
    shown = repr(read_kubeconfig(config(user={"token": "very-secret", **CERTIFICATES})))
    assert "very-secret" not in shown
    assert "b'key'" not in shown


@given(st.binary(max_size=200) | st.text(max_size=200).map(str.encode))
def test_any_content_is_read_or_refused(content: bytes) -> None:
    with pytest.raises(Misconfigured):
        read_kubeconfig(content)
