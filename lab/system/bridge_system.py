"""A management cluster with HyperShift, DPF and the DPU bridge operator, and one hosted cluster that DPUs join.

The operator is a real process. Both clusters are stand-in API servers; HyperShift and DPF are simulated.
"""

import asyncio
import contextlib
import os
import signal
import sys
import tempfile
from contextlib import AsyncExitStack
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

import yaml

from lab.dpf import definitions as dpf
from lab.dpf.kubeconfigs import publish_kubeconfigs
from lab.hypershift import definitions as hypershift
from lab.hypershift.operator import Operator
from lab.kubeconfig import kubeconfig
from lab.kubernetes import LabKubernetes
from lab.signals import send_signal
from shared.kubernetes import KubernetesClient, access_source

NAMESPACE, DPF_NAMESPACE, METALLB = "clusters", "dpf", "metallb-system"
OPERATOR_NAMESPACE = "dpu-hcp-bridge"
VERSION: Final = "4.22.0"
_DEFINITION = Path(__file__).parents[2] / "charts" / "dpu-hcp-bridge" / "templates" / "dpuhcpbridges.crd.yaml"
_STOP_SECONDS = 30.0


class BridgeSystem:
    """Entered, everything runs. `client` speaks to the management cluster, `hosted_client` to the hosted one."""

    def __init__(self, *, hypershift_speed: float = 100.0) -> None:
        self.management, self.hosted = LabKubernetes(), LabKubernetes()
        self._speed = hypershift_speed
        self._running = AsyncExitStack()
        self._process: asyncio.subprocess.Process | None = None

    async def __aenter__(self) -> Self:
        async with AsyncExitStack() as running:
            self.folder = Path(running.enter_context(tempfile.TemporaryDirectory(prefix="hyperfleet-bridge-")))
            for each in (self.management, self.hosted):
                await running.enter_async_context(each)
            for definition in (*dpf.ALL, *hypershift.ALL, yaml.safe_load(_DEFINITION.read_text(encoding="utf-8"))):
                self.management.define(definition)
            self.client = await running.enter_async_context(self._client_of(self.management, "management"))
            self.hosted_client = await running.enter_async_context(self._client_of(self.hosted, "hosted"))
            await self._prepare()
            operator = Operator(self.management.url, self.management.admin_token, speed=self._speed)
            await running.enter_async_context(operator)
            kubeconfigs = (self.folder / "hosted").read_text()
            publishing = asyncio.create_task(publish_kubeconfigs(self.client, kubeconfigs), name="kubeconfigs")
            running.push_async_callback(_cancelled, publishing)
            await self._start_operator()
            running.push_async_callback(self._stop_operator)
            self._running = running.pop_all()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._running.__aexit__(kind, error, trace)

    @property
    def log(self) -> Path:
        return self.folder / "operator.log"

    def check(self) -> None:
        """Raise where the operator has ended by itself."""
        if self._process is not None and self._process.returncode is not None:
            raise RuntimeError(f"the bridge operator ended: {self.log.read_text(errors='replace')[-2000:]}")

    def _client_of(self, server: LabKubernetes, name: str) -> KubernetesClient:
        config = self.folder / name
        config.touch(mode=0o600)
        config.write_text(kubeconfig(server.url, server.admin_token))
        return KubernetesClient(access_source(str(config)))

    async def _prepare(self) -> None:
        """What an administrator sets up once: namespaces, the BlueField image, the SSH key and the pull secret."""
        for name in (NAMESPACE, DPF_NAMESPACE, METALLB, OPERATOR_NAMESPACE):
            await self.client.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
        images = {"name": "ocp-bluefield-images", "namespace": OPERATOR_NAMESPACE}
        data = {VERSION: f"registry.example.com/bluefield:{VERSION}"}
        await self.client.create({"apiVersion": "v1", "kind": "ConfigMap", "metadata": images, "data": data})
        await self.client.create(_secret("ssh", {"id_rsa.pub": "ssh-ed25519 AAAA"}))
        await self.client.create(_secret("pull", {".dockerconfigjson": '{"auths": {}}'}))

    async def _start_operator(self) -> None:
        environment = {
            "BRIDGE_KUBECONFIG": str(self.folder / "management"),
            "POD_NAMESPACE": OPERATOR_NAMESPACE,
            "METALLB_NAMESPACE": METALLB,
            "BRIDGE_FILES_DIR": str(self.folder),
            "HEALTH_PORT": "0",
            "METRICS_PORT": "0",
        }
        with self.log.open("ab") as log:
            self._process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "dpu_bridge"), env={**os.environ, **environment}, stdout=log, stderr=log
            )

    async def _stop_operator(self) -> None:
        process = self._process
        if process is None:
            return
        send_signal(process, signal.SIGTERM)
        try:
            async with asyncio.timeout(_STOP_SECONDS):
                await process.wait()
        except TimeoutError:
            process.kill()
            await process.wait()


async def _cancelled(task: "asyncio.Task[None]") -> None:
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task


def _secret(name: str, content: dict[str, str]) -> dict[str, Any]:
    metadata = {"name": name, "namespace": NAMESPACE}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "stringData": content}
