"""Where credentials come from, and how they are renewed under a running process."""

import base64
import json
import stat
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from shared import times
from shared.errors import Misconfigured, Unauthenticated
from shared.kubernetes import access_source
from shared.kubernetes.credentials.in_cluster import InClusterAccess
from shared.kubernetes.credentials.kubeconfig import KubeconfigAccess

IN_POD = {"KUBERNETES_SERVICE_HOST": "10.0.0.1", "KUBERNETES_SERVICE_PORT": "443"}


@pytest.fixture
def account(tmp_path: Path) -> Path:
    for name, content in {"token": "one\n", "ca.crt": "certificate", "namespace": "adapters\n"}.items():
        (tmp_path / name).write_text(content)
    return tmp_path


def kubeconfig(folder: Path, user: dict[str, Any], **cluster: Any) -> Path:
    path = folder / "config"
    context = {"cluster": "c", "user": "u", "namespace": "adapters"}
    document = {
        "clusters": [{"name": "c", "cluster": {"server": "https://kube.example.com:6443/", **cluster}}],
        "users": [{"name": "u", "user": user}],
        "contexts": [{"name": "x", "context": context}],
        "current-context": "x",
    }
    path.write_text(json.dumps(document))
    return path


def plugin(folder: Path, **status: str) -> dict[str, Any]:
    """An exec plugin that counts its runs, and says this."""
    answer = {"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": status}
    (folder / "answer").write_text(json.dumps(answer))
    script = folder / "plugin"
    script.write_text(f"#!/bin/sh\necho run >> {folder}/runs\ncat {folder}/answer\n")
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    return {
        "exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": str(script), "interactiveMode": "Never"}
    }


def runs(folder: Path) -> int:
    return len((folder / "runs").read_text().splitlines())


class TestInCluster:
    async def test_the_service_account_is_used(self, account: Path) -> None:
        access = await InClusterAccess(IN_POD, account=account).current()
        assert (access.server, access.namespace, access.authorization) == (
            "https://10.0.0.1:443",
            "adapters",
            "Bearer one",
        )
        assert access.ca_file == account / "ca.crt"
        assert "Bearer" not in repr(access)

    async def test_a_renewed_token_is_used_with_the_next_request(self, account: Path) -> None:
        source = InClusterAccess(IN_POD, account=account)
        (account / "token").write_text("two")
        assert (await source.current()).authorization == "Bearer two"

    async def test_an_address_of_ipv6_gets_its_brackets(self, account: Path) -> None:
        source = InClusterAccess(IN_POD | {"KUBERNETES_SERVICE_HOST": "fd00::1"}, account=account)
        assert (await source.current()).server == "https://[fd00::1]:443"

    def test_outside_a_pod_the_remedy_is_named(self, account: Path) -> None:
        with pytest.raises(Misconfigured, match="kube_config_path"):
            InClusterAccess({}, account=account)

    def test_a_pod_without_a_token_cannot_start(self, account: Path) -> None:
        (account / "token").unlink()
        with pytest.raises(Misconfigured, match="token"):
            InClusterAccess(IN_POD, account=account)


class TestKubeconfig:
    async def test_a_token_and_a_server_are_read(self, tmp_path: Path) -> None:
        access = await KubeconfigAccess(str(kubeconfig(tmp_path, {"token": "secret"}))).current()
        assert (access.server, access.namespace) == ("https://kube.example.com:6443", "adapters")
        assert access.authorization == "Bearer secret"

    async def test_certificates_in_the_file_become_files(self, tmp_path: Path) -> None:
        encoded = base64.b64encode(b"pem").decode()
        user = {"client-certificate-data": encoded, "client-key-data": encoded}
        path = kubeconfig(tmp_path, user, **{"certificate-authority-data": encoded, "tls-server-name": "kubernetes"})
        access = await KubeconfigAccess(str(path)).current()
        files = (access.ca_file, access.cert_file, access.key_file)
        assert [file and file.read_bytes() for file in files] == [b"pem"] * 3
        assert (access.server_name, access.verify, access.authorization) == ("kubernetes", True, "")

    async def test_verification_is_off_only_where_the_file_says_so(self, tmp_path: Path) -> None:
        path = kubeconfig(tmp_path, {"token": "t"}, **{"insecure-skip-tls-verify": True, "proxy-url": "http://p:1"})
        access = await KubeconfigAccess(str(path)).current()
        assert (access.verify, access.proxy) == (False, "http://p:1")

    async def test_a_changed_file_is_read_again(self, tmp_path: Path) -> None:
        source = KubeconfigAccess(str(kubeconfig(tmp_path, {"token": "one"})))
        assert (await source.current()).authorization == "Bearer one"
        kubeconfig(tmp_path, {"token": "other"})
        assert (await source.current()).authorization == "Bearer other"

    async def test_while_a_changed_file_cannot_be_used_the_previous_one_serves(self, tmp_path: Path) -> None:
        path = kubeconfig(tmp_path, {"token": "one"})
        source = KubeconfigAccess(str(path))
        assert (await source.current()).authorization == "Bearer one"
        path.write_text("apiVersion: v1\nclusters:")
        assert (await source.current()).authorization == "Bearer one"
        kubeconfig(tmp_path, {"token": "other"})
        assert (await source.current()).authorization == "Bearer other"

    async def test_a_changed_token_file_is_read_again(self, tmp_path: Path) -> None:
        (tmp_path / "token").write_text("one")
        source = KubeconfigAccess(str(kubeconfig(tmp_path, {"tokenFile": "token"})))
        assert (await source.current()).authorization == "Bearer one"
        (tmp_path / "token").write_text("two")
        assert (await source.current()).authorization == "Bearer two"

    async def test_a_plugin_runs_once_until_its_credentials_expire_or_are_refused(self, tmp_path: Path) -> None:
        later = times.to_seconds(times.now() + timedelta(hours=1))
        source = KubeconfigAccess(str(kubeconfig(tmp_path, plugin(tmp_path, token="one", expirationTimestamp=later))))
        for _ in range(3):
            assert (await source.current()).authorization == "Bearer one"
        assert runs(tmp_path) == 1
        plugin(tmp_path, token="two", expirationTimestamp=times.to_seconds(times.now()))
        assert (await source.renew()).authorization == "Bearer two"
        plugin(tmp_path, token="three")
        assert (await source.current()).authorization == "Bearer three"
        assert runs(tmp_path) == 3

    async def test_a_plugin_that_fails_is_named(self, tmp_path: Path) -> None:
        user = {"exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": "/nonexistent/login"}}
        with pytest.raises(Unauthenticated, match="/nonexistent/login"):
            await KubeconfigAccess(str(kubeconfig(tmp_path, user))).current()

    @pytest.mark.parametrize("content", [None, "", "{}", "a: [", "current-context: x\ncontexts: []", "[]"], ids=repr)
    async def test_a_file_that_cannot_be_used_is_named(self, tmp_path: Path, content: str | None) -> None:
        path = tmp_path / "config"
        if content is not None:
            path.write_text(content)
        with pytest.raises(Misconfigured, match=str(path)):
            await KubeconfigAccess(str(path)).current()

    async def test_another_context_can_be_chosen(self, tmp_path: Path) -> None:
        with pytest.raises(Misconfigured, match="other"):
            await KubeconfigAccess(str(kubeconfig(tmp_path, {"token": "t"})), context="other").current()


class TestTheChoice:
    async def test_a_named_kubeconfig_wins_over_the_pod(self, tmp_path: Path) -> None:
        source = access_source(str(kubeconfig(tmp_path, {"token": "t"})), environment=IN_POD)
        assert (await source.current()).server == "https://kube.example.com:6443"

    def test_in_a_pod_its_account_is_used(self) -> None:
        with pytest.raises(Misconfigured, match="serviceaccount/token"):
            access_source(environment=IN_POD)

    async def test_elsewhere_the_users_kubeconfig_is_used(self, tmp_path: Path) -> None:
        source = access_source(environment={"KUBECONFIG": str(kubeconfig(tmp_path, {"token": "t"}))})
        assert (await source.current()).authorization == "Bearer t"
