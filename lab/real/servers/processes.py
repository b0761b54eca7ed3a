"""Starts a server process and waits until it is ready; if it fails, shows the end of its log."""

import contextlib
import os
import random
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

# A killed test run leaves no servers behind.
_DIES_WITH_US = ("setpriv", "--pdeathsig", "KILL", "--")
START_DEADLINE = 600.0
STOP_DEADLINE = 60.0
# Below those that the kernel gives to clients.
_PORTS = (20000, 32767)


class DidNotStart(RuntimeError):
    """The server ended, or was not ready in time; the message has the end of its log."""


def free_port() -> int:
    """A port on loopback that is returned only once, also to other processes, as long as this one runs."""
    while True:
        port = random.randint(*_PORTS)
        with contextlib.suppress(OSError), socket.socket() as probe:
            probe.bind(("127.0.0.1", port))
            _claim(port)
            return port


def _claim(port: int) -> None:
    """Raises OSError where another call has the port; a name of this kind is gone with the process that bound it."""
    with socket.socket(socket.AF_UNIX) as claim:
        claim.bind(f"\0hyperfleet-port-{port}")
        claim.detach()


def accepts(port: int, host: str = "127.0.0.1") -> bool:
    with contextlib.suppress(OSError), socket.create_connection((host, port), timeout=1):
        return True
    return False


class Server:
    """One process with its log file and its own process group, so that its children end with it."""

    def __init__(self, name: str, folder: Path) -> None:
        self.name = name
        self.log = folder / f"{name}.log"
        self._process: subprocess.Popen[bytes] | None = None

    def start(
        self,
        command: Sequence[str | Path],
        *,
        ready: Callable[[], bool],
        environment: Mapping[str, str] | None = None,
        user: str | None = None,
    ) -> None:
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                [*_DIES_WITH_US, *command],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env=os.environ | dict(environment or {}),
                start_new_session=True,
                user=user,
            )
        self._await(ready)

    def _await(self, ready: Callable[[], bool]) -> None:
        assert self._process is not None
        deadline = time.monotonic() + START_DEADLINE
        while not ready():
            if self._process.poll() is not None or time.monotonic() > deadline:
                self.stop(signal.SIGKILL)
                tail = self.log.read_text(errors="replace")[-3000:]
                raise DidNotStart(f"{self.name} is not ready; the end of {self.log}:\n{tail}")
            time.sleep(0.05)

    def pause(self) -> None:
        """It keeps its connections and does nothing."""
        self._signal(signal.SIGSTOP)

    def resume(self) -> None:
        self._signal(signal.SIGCONT)

    def _signal(self, signal_: signal.Signals) -> None:
        assert self._process is not None
        os.killpg(self._process.pid, signal_)

    def stop(self, how: signal.Signals = signal.SIGTERM) -> None:
        if self._process is None:
            return
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, how)
        try:
            self._process.wait(STOP_DEADLINE)
        except subprocess.TimeoutExpired:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
        self._process = None
