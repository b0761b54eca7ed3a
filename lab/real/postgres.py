"""A throw-away PostgreSQL on loopback, from Debian's packages."""

import os
import pwd
import shutil
import signal
import subprocess
from pathlib import Path

from lab.real.building import CannotBuild
from lab.real.processes import Server, accepts, free_port

USER = "postgres"


class Postgres:
    """One database cluster in a folder of its own; it refuses to run as root, so root runs it as `postgres`."""

    def __init__(self, folder: Path) -> None:
        self.port = free_port()
        self._data = folder / "postgres"
        self._server = Server("postgres", folder)
        self._programs = programs()
        self._user = USER if os.geteuid() == 0 else None

    def start(self) -> None:
        self._data.mkdir(mode=0o700)
        if self._user:
            shutil.chown(self._data, self._user)
            _let_pass(self._data.parent)
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

    def _answers(self) -> bool:
        return subprocess.run([self._programs / "pg_isready", "-q", *self._address()], check=False).returncode == 0

    def _address(self) -> list[str]:
        return ["-h", "127.0.0.1", "-p", str(self.port), "-U", USER]


def programs() -> Path:
    """Where Debian keeps them; raises CannotBuild, with what to install, where there are none."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda each: int(each.parent.name))
    if not found:
        raise CannotBuild("PostgreSQL is needed: apt-get install postgresql")
    if os.geteuid() == 0:
        try:
            pwd.getpwnam(USER)
        except KeyError:
            raise CannotBuild(f"the system user {USER!r} is needed: apt-get install postgresql") from None
    return found[-1]


def _let_pass(folder: Path) -> None:
    """Let the database's user reach its folder below ours."""
    for each in (folder, *folder.parents):
        if each.stat().st_uid == os.geteuid() and each.parent != each and not each.stat().st_mode & 0o001:
            each.chmod(each.stat().st_mode | 0o011)
