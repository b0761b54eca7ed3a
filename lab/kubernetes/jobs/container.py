"""One container as a local process: its command, its status, and how it is stopped."""

import asyncio
import contextlib
import os
import signal
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lab.kubernetes.api.documents import Object
from lab.signals import send_signal
from shared import times

_MESSAGE_LIMIT = 4096
_LOG_TAIL = 2048
_MEMORY_LOOK_SECONDS = 0.05
# A shell's convention: a program that could not be started, and above it one that a signal ended.
_NOT_STARTED_CODE = 128
_SIZES = {"": 1, "k": 10**3, "M": 10**6, "G": 10**9, "Ki": 2**10, "Mi": 2**20, "Gi": 2**30}
_PAGE = os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """Everything a process needs to start. `message` is the file of its termination message."""

    command: Sequence[str]
    environment: Mapping[str, str]
    folder: Path
    log: Path
    message: Path
    memory_limit: int | None


class Container:
    """The status of one container of a pod, and its current process. `changed` is called when the status changes."""

    def __init__(self, spec: Object, waiting_for: str, changed: Callable[[], None]) -> None:
        self.spec = spec
        self.name: str = spec["name"]
        self.restarts = 0
        self.idle = asyncio.Event()
        self.idle.set()
        self._changed = changed
        self._signal: signal.Signals | None = None
        self._state: Object = {"waiting": {"reason": waiting_for}}
        self._last_state: Object = {}
        self._process: asyncio.subprocess.Process | None = None
        self._out_of_memory = False

    @property
    def status(self) -> Object:
        running = "running" in self._state
        status: Object = {
            "name": self.name,
            "image": self.spec["image"],
            "imageID": f"lab/{self.spec['image']}" if self.started else "",
            "ready": running or ("terminated" in self._state and self._state["terminated"]["exitCode"] == 0),
            "started": running,
            "restartCount": self.restarts,
            "state": self._state,
            "lastState": self._last_state,
        }
        return status

    @property
    def started(self) -> bool:
        return "waiting" not in self._state or bool(self._last_state)

    @property
    def running(self) -> bool:
        return "running" in self._state

    @property
    def exit_code(self) -> int | None:
        ended: Object | None = self._state.get("terminated")
        return ended["exitCode"] if ended else None

    def wait_because(self, reason: str, message: str = "") -> None:
        waiting = {"reason": reason} | ({"message": message} if message else {})
        self._move({"waiting": waiting})

    def back_off(self, seconds: float) -> None:
        """The process ended and is started again after `seconds`."""
        self._last_state = self._state
        self.wait_because("CrashLoopBackOff", f"back-off {seconds:g}s restarting failed container={self.name}")
        self.restarts += 1

    async def run(self, launch: Launch) -> int:
        """Start the process and wait for its end."""
        self.idle.clear()
        try:
            return await self._run(launch)
        finally:
            self.idle.set()

    def send(self, how: signal.Signals) -> None:
        """Signal the process, or the one that is just starting; its children end with it."""
        self._signal = how
        if self._process is not None:
            send_signal(self._process, how)

    async def _run(self, launch: Launch) -> int:
        started = times.to_seconds(times.now())
        await asyncio.to_thread(_clear, launch)
        try:
            code = await self._run_process(launch, started)
        except OSError as error:
            self._end(_NOT_STARTED_CODE, "StartError", f"failed to start: {error}", started)
            return _NOT_STARTED_CODE
        reason = "OOMKilled" if self._out_of_memory else "Completed" if code == 0 else "Error"
        self._end(code, reason, await asyncio.to_thread(_termination_message, self.spec, launch, code), started)
        return code

    async def _run_process(self, launch: Launch, started: str) -> int:
        self._out_of_memory = False
        with launch.log.open("ab") as log:
            process = await asyncio.create_subprocess_exec(
                *launch.command,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=log,
                stderr=asyncio.subprocess.STDOUT,
                cwd=launch.folder,
                env=dict(launch.environment),
                start_new_session=True,
            )
        self._process = process
        self._move({"running": {"startedAt": started}})
        if self._signal is not None:
            self.send(self._signal)
        guard = asyncio.create_task(self._guard_memory(process, launch.memory_limit))
        try:
            code = await process.wait()
        finally:
            guard.cancel()
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()
        return code if code >= 0 else _NOT_STARTED_CODE - code

    async def _guard_memory(self, process: asyncio.subprocess.Process, limit: int | None) -> None:
        """Kill a process above its memory limit, as the kernel does."""
        while limit and process.returncode is None:
            if _resident_bytes(process.pid) > limit:
                self._out_of_memory = True
                self.send(signal.SIGKILL)
            await asyncio.sleep(_MEMORY_LOOK_SECONDS)

    def _end(self, code: int, reason: str, message: str, started: str) -> None:
        ended: dict[str, Any] = {"exitCode": code, "reason": reason, "startedAt": started}
        ended["finishedAt"] = times.to_seconds(times.now())
        if message:
            ended["message"] = message
        self._move({"terminated": ended})

    def _move(self, state: Object) -> None:
        self._state = state
        self._changed()


def memory_limit(container: Object) -> int | None:
    """Bytes of `resources.limits.memory`."""
    text = str(((container.get("resources") or {}).get("limits") or {}).get("memory") or "")
    number = text.rstrip("".join(_SIZES))
    return int(float(number) * _SIZES[text[len(number) :]]) if text else None


def _clear(launch: Launch) -> None:
    """Remove the termination message of an earlier start."""
    for file in (launch.log, launch.message):
        file.parent.mkdir(parents=True, exist_ok=True)
    launch.folder.mkdir(parents=True, exist_ok=True)
    launch.message.unlink(missing_ok=True)


def _termination_message(spec: Object, launch: Launch, code: int) -> str:
    """The file's content, or the end of the log with `FallbackToLogsOnError`."""
    with contextlib.suppress(OSError):
        if content := launch.message.read_bytes()[:_MESSAGE_LIMIT]:
            return content.decode(errors="replace")
    if code and spec.get("terminationMessagePolicy") == "FallbackToLogsOnError":
        return launch.log.read_bytes()[-_LOG_TAIL:].decode(errors="replace")
    return ""


def _resident_bytes(pid: int) -> int:
    with contextlib.suppress(OSError):
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * _PAGE
    return 0
