"""The real Kubernetes API server on loopback: etcd and kube-apiserver, with RBAC and service account tokens.

There is no kubelet, so no pod ever runs, and no controller manager, so nothing follows from a Job or a deletion.
"""

import secrets
import signal
import ssl
import urllib.request
from pathlib import Path

from lab.certificates import self_signed
from lab.kubeconfig import kubeconfig
from lab.real.artifacts.kubernetes import etcd, program
from lab.real.servers.processes import Server, free_port

_OK = 200
# A busy machine answers late; one without a server refuses at once.
_HEALTH_SECONDS = 10


class RealKubernetes:
    """One API server on its own etcd. `kill` and `start` concern the API server; etcd keeps running."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._tls = self_signed(folder)
        self._port, self._etcd_port, self._peer_port = free_port(), free_port(), free_port()
        self.url = f"https://127.0.0.1:{self._port}"
        self.ca_file = self._tls.certificate
        self.admin_token = secrets.token_urlsafe(24)
        self.kubeconfig = folder / "admin.kubeconfig"
        self.kubeconfig.write_text(kubeconfig(self.url, self.admin_token, self.ca_file))
        self._etcd, self._server = Server("etcd", folder), Server("kube-apiserver", folder)
        self._etcd_binary = etcd()
        self._server_binary = program("kube-apiserver")

    def prepare(self) -> None:
        """Start etcd, and write the admin's token file."""
        tokens = self._folder / "tokens.csv"
        tokens.touch(mode=0o600)
        tokens.write_text(f'{self.admin_token},admin,admin,"system:masters"\n')
        clients, peers = (f"http://127.0.0.1:{port}" for port in (self._etcd_port, self._peer_port))
        self._etcd.start(
            [
                *(self._etcd_binary, f"--data-dir={self._folder / 'etcd'}", "--unsafe-no-fsync"),
                *(f"--listen-client-urls={clients}", f"--advertise-client-urls={clients}"),
                *(f"--listen-peer-urls={peers}", f"--initial-advertise-peer-urls={peers}"),
                f"--initial-cluster=default={peers}",
            ],
            ready=lambda: is_healthy(f"{clients}/health"),
        )

    def start(self) -> None:
        self._server.start([self._server_binary, *self._flags()], ready=self._is_ready)

    def kill(self) -> None:
        self._server.stop(signal.SIGKILL)

    def stop(self) -> None:
        self._server.stop(signal.SIGKILL)
        self._etcd.stop()

    def _is_ready(self) -> bool:
        return is_healthy(f"{self.url}/readyz", token=self.admin_token, ca_file=self.ca_file)

    def _flags(self) -> list[str]:
        return [
            f"--etcd-servers=http://127.0.0.1:{self._etcd_port}",
            *("--bind-address=127.0.0.1", f"--secure-port={self._port}", "--endpoint-reconciler-type=none"),
            *(f"--tls-cert-file={self._tls.certificate}", f"--tls-private-key-file={self._tls.key}"),
            *(f"--token-auth-file={self._folder / 'tokens.csv'}", "--anonymous-auth=false"),
            "--authorization-mode=RBAC",
            "--disable-admission-plugins=ServiceAccount",
            "--service-account-issuer=https://kubernetes.default.svc",
            *(f"--service-account-key-file={self._tls.key}", f"--service-account-signing-key-file={self._tls.key}"),
            "--service-cluster-ip-range=10.0.0.0/24",
        ]


def is_healthy(url: str, *, token: str = "", ca_file: Path | None = None) -> bool:
    request = urllib.request.Request(url, headers={"Authorization": f"Bearer {token}"} if token else {})
    context = ssl.create_default_context(cafile=str(ca_file)) if ca_file else None
    try:
        with urllib.request.urlopen(request, timeout=_HEALTH_SECONDS, context=context) as answer:
            return bool(answer.status == _OK)
    except OSError:
        return False
