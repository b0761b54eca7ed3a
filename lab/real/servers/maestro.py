"""The real Maestro server with its database: start, kill and restart, without or with TLS and authentication."""

import signal
import subprocess
import sys
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path

from lab.real.artifacts.go_binaries import built
from lab.real.servers.postgres import Postgres
from lab.real.servers.processes import Server, accepts, free_port
from lab.tls import Tls

PACKAGE = "github.com/openshift-online/maestro/cmd/maestro"
HEARTBEAT_SECONDS = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Listening:
    """Host and ports of a server."""

    host: str = "127.0.0.1"
    rest: int = 8000
    grpc: int = 8090
    broker: int = 8091
    health: int = 8083
    metrics: int = 8080

    @classmethod
    def on_free_ports(cls) -> "Listening":
        return cls(rest=free_port(), grpc=free_port(), broker=free_port(), health=free_port(), metrics=free_port())


class RealMaestro:
    """One server with its own database. `kill` and `start` keep ports and data, as a restart of a pod does.

    `reviewer` is the kubeconfig of the API server that says what clients may do; without one, a small part of one does.
    `broker_tls` is for agents, who are let in by their certificate alone.
    """

    def __init__(
        self,
        folder: Path,
        database: Postgres,
        name: str,
        *,
        tls: Tls | None = None,
        broker_tls: Tls | None = None,
        at: Listening | None = None,
        reviewer: Path | None = None,
    ) -> None:
        self._at = at or Listening.on_free_ports()
        self.rest_port, self.grpc_port, self.broker_port = self._at.rest, self._at.grpc, self._at.broker
        self._reviews_port, self._reviewer = free_port(), reviewer
        self._folder = folder / name
        self._folder.mkdir(mode=0o755)
        self._database, self._name = database, name
        self._tls, self._broker_tls = tls, broker_tls
        self._server = Server("maestro", self._folder)
        self._reviews = Server("reviews", self._folder)
        self._binary = built("maestro", PACKAGE)

    def prepare(self) -> None:
        """Start and migrate the database; with TLS also the small Kubernetes API for access reviews."""
        self._database.create_database(self._name)
        subprocess.run([self._binary, "migration", *self._database_flags()], check=True, capture_output=True)
        if self._tls and not self._reviewer:
            self._reviews.start(
                [sys.executable, "-m", "lab.real.servers.reviews", str(self._reviews_port)],
                ready=lambda: accepts(self._reviews_port),
            )

    def start(self) -> None:
        self._server.start(
            [
                *(self._binary, "server"),
                *self._database_flags(),
                *self._address_flags(),
                *self._tls_flags(),
                *self._broker_tls_flags(),
            ],
            ready=self._is_ready,
            environment={"MAESTRO_ENV": "production"},
        )

    def kill(self) -> None:
        self._server.stop(signal.SIGKILL)

    def stop(self) -> None:
        self._server.stop()
        self._reviews.stop()

    def _is_ready(self) -> bool:
        try:
            with urllib.request.urlopen(f"http://{self._at.host}:{self._at.health}/healthcheck", timeout=2) as answer:
                healthy: bool = answer.status == 200  # noqa: PLR2004 - HTTP's own number
        except (urllib.error.URLError, OSError):
            return False
        return healthy and all(
            accepts(port, self._at.host) for port in (self.rest_port, self.grpc_port, self.broker_port)
        )

    def _database_flags(self) -> list[str]:
        values = {"host": "127.0.0.1", "port": str(self._database.port), "user": "postgres", "password": "none"}
        flags = ["--db-sslmode=disable"]
        for key, value in (values | {"name": self._name}).items():
            file = self._folder / f"db.{key}"
            file.write_text(value)
            flags.append(f"--db-{key}-file={file.resolve()}")
        return flags

    def _address_flags(self) -> list[str]:
        return [
            f"--server-hostname={self._at.host}",
            f"--http-server-bindport={self.rest_port}",
            f"--grpc-server-bindport={self.grpc_port}",
            f"--grpc-broker-bindport={self.broker_port}",
            f"--health-check-server-bindport={self._at.health}",
            f"--metrics-server-bindport={self._at.metrics}",
            "--message-broker-type=grpc",
            f"--heartbeat-check-interval={HEARTBEAT_SECONDS}s",
            # Below 3 the idle server uses a third of a core.
            "--heartbeat-interval=3",
            "-v=2",
        ]

    def _tls_flags(self) -> list[str]:
        if self._tls is None:
            return []
        flags = [
            "--enable-https=true",
            f"--https-cert-file={self._tls.certificate}",
            f"--https-key-file={self._tls.key}",
            f"--grpc-tls-cert-file={self._tls.certificate}",
            f"--grpc-tls-key-file={self._tls.key}",
            f"--grpc-authorizer-config={self._reviewer or self._small_reviewer()}",
        ]
        if self._tls.client_authority is None:
            return [*flags, "--grpc-authn-type=token"]
        return [*flags, "--grpc-authn-type=mtls", f"--grpc-client-ca-file={self._tls.client_authority}"]

    def _broker_tls_flags(self) -> list[str]:
        if self._broker_tls is None:
            return []
        return [
            f"--grpc-broker-tls-cert-file={self._broker_tls.certificate}",
            f"--grpc-broker-tls-key-file={self._broker_tls.key}",
            f"--grpc-broker-client-ca-file={self._broker_tls.client_authority}",
        ]

    def _small_reviewer(self) -> Path:
        kubeconfig = self._folder / "reviews.kubeconfig"
        kubeconfig.write_text(
            "apiVersion: v1\nkind: Config\ncurrent-context: reviews\nusers: [{name: reviews, user: {}}]\n"
            f"clusters: [{{name: reviews, cluster: {{server: 'http://127.0.0.1:{self._reviews_port}'}}}}]\n"
            "contexts: [{name: reviews, context: {cluster: reviews, user: reviews}}]\n"
        )
        return kubeconfig
