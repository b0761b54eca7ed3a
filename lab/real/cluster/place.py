"""Folder and addresses of a cluster: one number determines its networks, loopback address and bridge."""

import os
import tempfile
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Place:
    """Two places do not overlap. `number` is the second byte of all addresses."""

    name: str
    number: int

    @property
    def folder(self) -> Path:
        """State, logs and credentials."""
        base = Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state")
        return base / "hyperfleet-adapters" / self.title

    @property
    def scratch(self) -> Path:
        """For the database, whose user may have no access to our home folder."""
        return Path(tempfile.gettempdir()) / f"hyperfleet-{self.title}"

    @property
    def logs(self) -> Path:
        return self.folder / "logs"

    @property
    def title(self) -> str:
        return f"cluster-{self.name}"

    @property
    def bridge(self) -> str:
        return f"hyperfleet{self.number}"

    @property
    def pods(self) -> str:
        return f"10.{self.number}.0.0/24"

    @property
    def node(self) -> str:
        """The node's address on the bridge; pods can reach it."""
        return f"10.{self.number}.0.1"

    @property
    def services(self) -> str:
        return f"10.{self.number}.1.0/24"

    @property
    def api(self) -> str:
        """The service address of the API server; it listens on this address, so there is no NAT."""
        return f"10.{self.number}.1.1"

    @property
    def loopback(self) -> str:
        """For servers that pods must not reach."""
        return f"127.{self.number}.0.1"

    @property
    def kubeconfig(self) -> Path:
        return self.folder / "admin.kubeconfig"


LAB = Place("lab", 244)
TESTS = Place("tests", 245)
# For tests that break a cluster on purpose.
BROKEN = Place("broken", 246)
# For the soak that is run by hand, for half an hour.
SOAK = Place("soak", 247)
