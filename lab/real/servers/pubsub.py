"""Google's own fake of Pub/Sub (`pstest`) on loopback, built from the module proxy. It keeps nothing when it ends."""

from pathlib import Path

from lab.real.artifacts.go_binaries import built
from lab.real.servers.processes import Server, accepts, free_port


class RealPubSub:
    def __init__(self, folder: Path) -> None:
        self.port = free_port()
        self._server = Server("pubsub", folder)

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    def prepare(self) -> None:
        """Build it where this machine has not done so before."""
        self._binary = built("pstest", "hyperfleet.io/lab/pstest")

    def start(self) -> None:
        self._server.start([self._binary, "-port", str(self.port)], ready=lambda: accepts(self.port))

    def stop(self) -> None:
        self._server.stop()
