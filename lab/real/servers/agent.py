"""The real Maestro agent: applies works on a management cluster and reports their status."""

import json
import signal
from dataclasses import dataclass
from pathlib import Path

from lab.real.artifacts.go_binaries import built
from lab.real.servers.maestro import PACKAGE
from lab.real.servers.processes import Server, free_port

# Interval of its status sync; the default of 10 s would make every test wait.
STATUS_SYNC_SECONDS = 1
# What it logs once it has subscribed to Maestro.
_SUBSCRIBED = "subscribed to grpc server"


@dataclass(frozen=True, slots=True, kw_only=True)
class Credentials:
    """CA and client certificate of the agent, if Maestro's broker port uses TLS."""

    ca_file: Path
    certificate: Path
    key: Path


class RealAgent:
    """The agent of one consumer. `kill` and `start` simulate a crash and restart of its pod."""

    def __init__(
        self,
        folder: Path,
        *,
        broker_address: str,
        consumer: str,
        kubeconfig: Path,
        credentials: Credentials | None = None,
    ) -> None:
        self._folder = folder / f"agent-{consumer}"
        self._folder.mkdir()
        self._consumer, self._kubeconfig = consumer, kubeconfig
        self._config = self._folder / "broker.yaml"
        self._config.write_text(json.dumps({"url": broker_address, **_files(credentials)}))
        self._server = Server("agent", self._folder)
        self._binary = built("maestro", PACKAGE)

    def start(self) -> None:
        """Return when it accepts works, which its log shows; only new lines count."""
        former = self._logged()
        self._server.start(
            [
                *(self._binary, "agent", f"--consumer-name={self._consumer}", f"--kubeconfig={self._kubeconfig}"),
                *("--namespace=default", f"--listen=127.0.0.1:{free_port()}"),
                *("--workload-source-driver=grpc", f"--workload-source-config={self._config}"),
                f"--cloudevents-client-id={self._consumer}-work-agent",
                f"--status-sync-interval={STATUS_SYNC_SECONDS}s",
                "-v=2",
            ],
            ready=lambda: _SUBSCRIBED in self._logged().removeprefix(former),
            environment={"TMPDIR": str(self._folder)},
        )

    def kill(self) -> None:
        self._server.stop(signal.SIGKILL)

    def stop(self) -> None:
        self._server.stop()

    def _logged(self) -> str:
        return self._server.log.read_text(errors="replace") if self._server.log.exists() else ""


def _files(credentials: Credentials | None) -> dict[str, str]:
    if credentials is None:
        return {}
    return {
        "caFile": str(credentials.ca_file),
        "clientCertFile": str(credentials.certificate),
        "clientKeyFile": str(credentials.key),
    }
