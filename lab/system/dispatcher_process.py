"""A dispatcher as a process of its own, as it runs in its pod: it can be stopped, killed and started again."""

import asyncio
import os
import signal
import sys
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path

from lab.loopback import ReservedPort
from lab.signals import send_signal

_READY_SECONDS = 240.0
_STOP_SECONDS = 40.0


@dataclass(slots=True, kw_only=True)
class DispatcherProcess:
    """`environment` is what the Deployment would set. Its log goes to `<folder>/<name>.log`.

    Its ports stay its own until `release`.
    """

    name: str
    adapter_config: Path
    task_config: Path
    broker_file: Path
    api_url: str
    kubeconfig: Path
    folder: Path
    environment: Mapping[str, str] = field(default_factory=dict)
    process: asyncio.subprocess.Process | None = None
    _health: ReservedPort = field(default_factory=ReservedPort)
    _metrics: ReservedPort = field(default_factory=ReservedPort)

    @property
    def log(self) -> Path:
        return self.folder / f"{self.name}.log"

    @property
    def health_port(self) -> int:
        return self._health.number

    @property
    def metrics_port(self) -> int:
        return self._metrics.number

    def release(self) -> None:
        self._health.release()
        self._metrics.release()

    async def start(self) -> None:
        """Return when it says that it is ready."""
        with self.log.open("ab") as log:
            self.process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "dispatcher.cli", "serve"),
                *("--config", str(self.adapter_config), "--task-config", str(self.task_config)),
                env=self._environment(),
                stdout=log,
                stderr=log,
            )
        await self._until_ready()

    async def stop(self) -> None:
        """SIGTERM, as the kubelet sends it; SIGKILL where that is not enough."""
        if self.process is None:
            return
        send_signal(self.process, signal.SIGTERM)
        try:
            async with asyncio.timeout(_STOP_SECONDS):
                await self.process.wait()
        except TimeoutError:
            await self.kill()

    async def kill(self) -> None:
        if self.process is not None and self.process.returncode is None:
            self.process.kill()
            await self.process.wait()

    async def _until_ready(self) -> None:
        assert self.process is not None
        try:
            async with asyncio.timeout(_READY_SECONDS):
                while not await asyncio.to_thread(self._is_ready):
                    if self.process.returncode is not None:
                        raise RuntimeError(f"dispatcher {self.name} ended: {self.tail()}")
                    await asyncio.sleep(0.05)
        except TimeoutError:
            raise RuntimeError(
                f"dispatcher {self.name} is not ready after {_READY_SECONDS:g} s: {self.tail()}"
            ) from None

    def tail(self) -> str:
        return self.log.read_text(errors="replace")[-2000:]

    def _is_ready(self) -> bool:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.health_port}/readyz", timeout=5) as answer:
                return bool(answer.status == HTTPStatus.OK)
        except OSError:
            return False

    def _environment(self) -> dict[str, str]:
        return {
            **os.environ,
            "BROKER_CONFIG_FILE": str(self.broker_file),
            "HYPERFLEET_API_BASE_URL": self.api_url,
            "HYPERFLEET_KUBERNETES_KUBE_CONFIG_PATH": str(self.kubeconfig),
            "HYPERFLEET_LISTEN_HOST": "127.0.0.1",
            "HYPERFLEET_HEALTH_PORT": str(self.health_port),
            "HYPERFLEET_METRICS_PORT": str(self.metrics_port),
            "HYPERFLEET_LEASE_NAMESPACE": "hyperfleet-adapters",
            "HYPERFLEET_OBJECTS_ENABLED": "true",
            "POD_NAME": self.name,
            **self.environment,
        }
