"""A temporary PostgreSQL on loopback, from Debian's packages."""

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path

from lab.real.artifacts.go_binaries import CannotBuild
from lab.real.servers.processes import Server, accepts, free_port

USER = "postgres"


class Postgres:
    """One database cluster in its own folder. PostgreSQL does not run as root, so root runs it as `postgres`."""

    def __init__(self, folder: Path) -> None:
        self.port = free_port()
        self._data = Path()
        self._server = Server("postgres", folder)
        self._programs = programs()
        self._user = USER if os.geteuid() == 0 else None

    def start(self) -> None:
        # Not below pytest's folder: every session of pytest closes that one to other users again.
        self._data = Path(tempfile.mkdtemp(prefix="hyperfleet-postgres-"))
        if self._user:
            shutil.chown(self._data, self._user)
        init: list[str | Path] = [
            self._programs / "initdb",
            "--pgdata",
            self._data,
            "--auth=trust",
            f"--username={USER}",
            "--no-sync",
        ]
        init += ["--encoding=UTF8", "--locale=C"]
        subprocess.run(init, user=self._user, check=True, stdout=subprocess.DEVNULL)
        self._server.start(
            [
                *(self._programs / "postgres", "-D", self._data, "-p", str(self.port), "-h", "127.0.0.1"),
                *("-k", self._data, "-c", "fsync=off", "-c", "max_connections=200"),
            ],
            ready=lambda: accepts(self.port) and self._answers(),
            user=self._user,
        )

    def create_database(self, name: str) -> None:
        subprocess.run([self._programs / "createdb", *self._address(), name], check=True)

    def stop(self) -> None:
        self._server.stop(signal.SIGINT)
        shutil.rmtree(self._data, ignore_errors=True)

    def _answers(self) -> bool:
        return subprocess.run([self._programs / "pg_isready", "-q", *self._address()], check=False).returncode == 0

    def _address(self) -> list[str]:
        return ["-h", "127.0.0.1", "-p", str(self.port), "-U", USER]


def programs() -> Path:
    """The folder of PostgreSQL's programs; raises CannotBuild, with what to install, if there is none."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda each: int(each.parent.name))
    if not found:
        raise CannotBuild("PostgreSQL is needed: apt-get install postgresql")
    if os.geteuid() == 0:
        try:
            pwd.getpwnam(USER)
        except KeyError:
            raise CannotBuild(f"the system user {USER!r} is needed: apt-get install postgresql") from None
    return found[-1]
