"""Servers that keep running after the command that started them, in the cluster's cgroup, found by their pid file."""

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from lab.real.cluster.host.cgroup import Cgroup
from lab.real.cluster.place import Place
from lab.real.servers.processes import START_DEADLINE, STOP_DEADLINE, DidNotStart

_POLL_SECONDS = 0.1
_TAIL = 3000
# It enters the cgroup and writes its pid file, by rename, before it executes the server.
_ENTER = 'echo $$ >"$0" && echo $$ >"$1.new" && mv "$1.new" "$1" && shift && exec "$@"'


class Daemon:
    def __init__(self, name: str, place: Place) -> None:
        self.name = name
        self.log = place.logs / f"{name}.log"
        self._pid_file = place.folder / f"{name}.pid"
        self._cgroup = Cgroup(place.title)

    @property
    def pid(self) -> int | None:
        """None if it does not run. A reused pid is not in our cgroup."""
        try:
            pid = int(self._pid_file.read_text())
        except (FileNotFoundError, ValueError):
            return None
        return pid if pid in self._cgroup.members() else None

    def start(self, command: Sequence[str | Path], *, ready: Callable[[], bool]) -> None:
        self._pid_file.unlink(missing_ok=True)
        with self.log.open("ab") as log:
            subprocess.run(
                [*("setsid", "--fork", "sh", "-c", _ENTER), self._cgroup.entrance, self._pid_file, *command],
                check=True,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                cwd="/",
            )
        _wait(self._pid_file.exists, lambda: True, f"{self.name} was not started", self.log)
        _wait(ready, lambda: self.pid is not None, f"{self.name} is not ready", self.log)

    def stop(self, how: signal.Signals = signal.SIGTERM) -> None:
        """SIGTERM, then SIGKILL."""
        deadline = time.monotonic() + STOP_DEADLINE
        self._signal(how)
        while self.pid is not None:
            if time.monotonic() > deadline:
                self._signal(signal.SIGKILL)
            time.sleep(_POLL_SECONDS)
        self._pid_file.unlink(missing_ok=True)

    def _signal(self, number: signal.Signals) -> None:
        if pid := self.pid:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)


def _wait(done: Callable[[], bool], going: Callable[[], bool], problem: str, log: Path) -> None:
    deadline = time.monotonic() + START_DEADLINE
    while not done():
        if not going() or time.monotonic() > deadline:
            raise DidNotStart(f"{problem}; the end of {log}:\n{log.read_text(errors='replace')[-_TAIL:]}")
        time.sleep(_POLL_SECONDS)
