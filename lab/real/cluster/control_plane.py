"""etcd, the API server, the controller manager and the scheduler, with RBAC, node authorization and pod security."""

import secrets
import signal
from pathlib import Path

from lab.kubeconfig import kubeconfig
from lab.real.artifacts.kubernetes import etcd, program
from lab.real.cluster.certificates import Authority
from lab.real.cluster.host.daemons import Daemon
from lab.real.cluster.place import Place
from lab.real.servers import kubernetes
from lab.real.servers.processes import accepts

NODE = "lab"
_MASTERS, _NODES = "system:masters", "system:nodes"
_ACCOUNTS = {
    "admin": ("admin", _MASTERS),
    "controller-manager": ("system:kube-controller-manager", ""),
    "scheduler": ("system:kube-scheduler", ""),
    "kubelet": (f"system:node:{NODE}", _NODES),
}


class ControlPlane:
    """The admin uses `url`, `admin_token` and `ca_file`, or `kubeconfigs["admin"]`."""

    def __init__(self, place: Place, authority: Authority) -> None:
        self._place, self._authority = place, authority
        self.url = f"https://{place.api}"
        self.ca_file = authority.certificate
        self.kubeconfigs = {name: place.folder / f"{name}.kubeconfig" for name in _ACCOUNTS}
        self._tokens = place.folder / "tokens.csv"
        self._etcd = Daemon("etcd", place)
        self.api_server = Daemon("kube-apiserver", place)
        self._followers = [Daemon("kube-controller-manager", place), Daemon("kube-scheduler", place)]

    @property
    def admin_token(self) -> str:
        return (self._place.folder / "admin.token").read_text()

    def start(self) -> None:
        self._make_accounts()
        self._start_etcd()
        self.start_api_server()
        self._start_followers()

    @property
    def runs(self) -> bool:
        return all(each.pid for each in (self._etcd, self.api_server, *self._followers)) and self.is_ready()

    def is_ready(self) -> bool:
        return kubernetes.is_healthy(f"{self.url}/readyz", token=self.admin_token, ca_file=self.ca_file)

    def start_api_server(self) -> None:
        self.api_server.start([program("kube-apiserver"), *self._api_server_flags()], ready=self.is_ready)

    def kill_api_server(self) -> None:
        self.api_server.stop(signal.SIGKILL)

    def _make_accounts(self) -> None:
        lines = []
        for name, (user, group) in _ACCOUNTS.items():
            token = secrets.token_urlsafe(24)
            lines.append(f'{token},{user},{name},"{group}"\n')
            _write_secret(self.kubeconfigs[name], kubeconfig(self.url, token, self.ca_file))
            if group == _MASTERS:
                _write_secret(self._place.folder / "admin.token", token)
        _write_secret(self._tokens, "".join(lines))

    def _start_etcd(self) -> None:
        clients, peers = (f"http://{self._place.loopback}:{port}" for port in (2379, 2380))
        self._etcd.start(
            [
                etcd(),
                *(f"--data-dir={self._place.folder / 'etcd'}", "--unsafe-no-fsync"),
                *(f"--listen-client-urls={clients}", f"--advertise-client-urls={clients}"),
                *(f"--listen-peer-urls={peers}", f"--initial-advertise-peer-urls={peers}"),
                f"--initial-cluster=default={peers}",
            ],
            ready=lambda: kubernetes.is_healthy(f"{clients}/health"),
        )

    def _api_server_flags(self) -> list[str]:
        place, issue = self._place, self._authority.issue
        addresses = (place.api, "kubernetes.default.svc", "localhost")
        own = issue("api-server", common_name="kube-apiserver", addresses=addresses)
        to_kubelet = issue("api-server-client", common_name="kube-apiserver", group=_MASTERS)
        accounts = place.folder / "service-accounts.key"
        if not accounts.exists():
            issue("service-accounts", common_name="service-accounts").key.rename(accounts)
        return [
            f"--etcd-servers=http://{place.loopback}:2379",
            *(f"--bind-address={place.api}", "--secure-port=443", "--endpoint-reconciler-type=none"),
            *(f"--tls-cert-file={own.certificate}", f"--tls-private-key-file={own.key}"),
            *(f"--token-auth-file={self._tokens}", "--anonymous-auth=false"),
            "--authorization-mode=Node,RBAC",
            "--enable-admission-plugins=NodeRestriction",
            "--service-account-issuer=https://kubernetes.default.svc",
            *(f"--service-account-key-file={accounts}", f"--service-account-signing-key-file={accounts}"),
            f"--service-cluster-ip-range={place.services}",
            f"--kubelet-client-certificate={to_kubelet.certificate}",
            f"--kubelet-client-key={to_kubelet.key}",
            f"--kubelet-certificate-authority={self.ca_file}",
            "--kubelet-preferred-address-types=InternalIP",
        ]

    def _start_followers(self) -> None:
        manager, scheduler = self._followers
        loopback = self._place.loopback
        common = [f"--bind-address={loopback}", "--leader-elect=false"]
        manager.start(
            [
                program(manager.name),
                *(*common, f"--kubeconfig={self.kubeconfigs['controller-manager']}"),
                f"--cert-dir={self._place.folder / manager.name}",
                *("--use-service-account-credentials", f"--root-ca-file={self.ca_file}"),
                f"--service-account-private-key-file={self._place.folder / 'service-accounts.key'}",
                f"--flex-volume-plugin-dir={self._place.folder / 'volume-plugins'}",
            ],
            ready=lambda: accepts(10257, loopback),
        )
        scheduler.start(
            [
                program(scheduler.name),
                *(*common, f"--kubeconfig={self.kubeconfigs['scheduler']}"),
                f"--cert-dir={self._place.folder / scheduler.name}",
            ],
            ready=lambda: accepts(10259, loopback),
        )


def _write_secret(file: Path, content: str) -> None:
    file.touch(mode=0o600)
    file.write_text(content)
