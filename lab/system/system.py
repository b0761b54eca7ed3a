"""The assembled lab. Everything but our own programs is a stand-in; our own programs are real processes.

Sentinel ─▶ broker ─▶ dispatcher ─▶ Kubernetes (Job runner) ─▶ adapter + reporter ─▶ Maestro ─▶ agent ─▶ HyperShift
└──────────────▶ HyperFleet API ◀── statuses ─┘
"""

import asyncio
import json
import os
import sys
import tempfile
from collections.abc import Collection, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from lab.api import LabApi
from lab.broker import LabBroker
from lab.certificates import self_signed
from lab.hypershift.on_agent import HyperShiftOnAgent
from lab.kubeconfig import kubeconfig
from lab.kubernetes import LabKubernetes
from lab.kubernetes.jobs import JobRunner
from lab.maestro import LabMaestro
from lab.maestro.agent import Agent
from lab.sentinel import EmbeddedPublisher, LabSentinel, Sentinel
from lab.system import regional
from lab.system.dispatcher_process import DispatcherProcess
from lab.system.pace import Pace
from lab.system.parts import ALL, Part, with_needed
from lab.system.stub_adapter import StubAdapter

CONSUMER: Final = "us-east-mgmt-01"
CLUSTERS, NODEPOOLS = "hyperfleet-clusters", "hyperfleet-nodepools"
# A pod is two Python processes that start; more at once only take longer, up to their deadlines.
_PODS_PER_CPU: Final = 4
STUBS: Final = {"validation": {}, "dns": {"zone": "demo.example.com"}, "pullsecret": {}}


class LabSystem:
    """Entered, its parts run; left, nothing of them does. `folder` keeps logs and files."""

    def __init__(self, *, pace: Pace | None = None, folder: Path | None = None, parts: Collection[Part] = ALL) -> None:
        self.pace = pace or Pace()
        self.parts = with_needed(parts)
        self._folder = folder
        self._running = AsyncExitStack()
        # The registry: what each image runs. A scenario may take an image away or replace it.
        self.images: dict[str, Sequence[str]] = {
            regional.ADAPTER_IMAGE: (sys.executable, "-m", "controlplane_adapter"),
            regional.REPORTER_IMAGE: (sys.executable, "-m", "status_reporter"),
        }
        self.api = LabApi(required_adapters={"Cluster": [*STUBS, "controlplane"], "NodePool": ["nodepool"]})
        self.broker = LabBroker()
        self.maestro = LabMaestro(heartbeat_seconds=1.0)
        self.dispatchers: dict[str, DispatcherProcess] = {}
        self.sentinels: list[LabSentinel] = []

    async def __aenter__(self) -> Self:
        starts = {
            Part.API: self._start_api,
            Part.BROKER: self._start_broker,
            Part.KUBERNETES: self._start_kubernetes,
            Part.MAESTRO: self._start_maestro,
            Part.HYPERSHIFT: self._start_hypershift,
            Part.ADAPTERS: self._start_adapters,
            Part.SENTINEL: self._start_sentinels,
        }
        async with AsyncExitStack() as running:
            self.folder = self._folder or Path(
                running.enter_context(tempfile.TemporaryDirectory(prefix="hyperfleet-lab-"))
            )
            for part, start in starts.items():
                if part in self.parts:
                    await start(running)
            self._running = running.pop_all()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._running.__aexit__(kind, error, trace)

    def check(self) -> None:
        """Raise where a dispatcher has ended by itself."""
        for each in self.dispatchers.values():
            if each.process is not None and each.process.returncode is not None:
                raise RuntimeError(f"dispatcher {each.name} ended with {each.process.returncode}: {each.tail()}")

    async def _start_api(self, running: AsyncExitStack) -> None:
        await running.enter_async_context(self.api)

    async def _start_broker(self, running: AsyncExitStack) -> None:
        await running.enter_async_context(self.broker)
        self.broker_file = self.folder / "broker.yaml"
        content = {"broker": {"type": "embedded", "embedded": {"address": self.broker.address}}}
        self.broker_file.write_text(json.dumps(content))

    async def _start_kubernetes(self, running: AsyncExitStack) -> None:
        certificates = self.folder / "certificates"
        certificates.mkdir()
        # kubectl sends its token only over TLS.
        self.kubernetes = await running.enter_async_context(LabKubernetes(tls=self_signed(certificates)))
        self.kubeconfig = self.folder / "kubeconfig"
        self.kubeconfig.touch(mode=0o600)
        content = kubeconfig(self.kubernetes.url, self.kubernetes.admin_token, self.kubernetes.ca_file)
        self.kubeconfig.write_text(content)
        await regional.prepare(self.kubernetes)
        (self.folder / "pods").mkdir()
        places = _PODS_PER_CPU * (os.cpu_count() or 1)
        runner = JobRunner(self.kubernetes, images=self.images, folder=self.folder / "pods", max_pods=places)
        await running.enter_async_context(runner)

    async def _start_maestro(self, running: AsyncExitStack) -> None:
        self.maestro.store.add_consumer(CONSUMER)
        await running.enter_async_context(self.maestro)

    async def _start_hypershift(self, running: AsyncExitStack) -> None:
        self.agent = await running.enter_async_context(Agent(self.maestro.broker_address, CONSUMER))
        operator = HyperShiftOnAgent(self.agent, speed=self.pace.hypershift_speed)
        self.hypershift = await running.enter_async_context(operator)

    async def _start_adapters(self, running: AsyncExitStack) -> None:
        self.stubs = {name: await running.enter_async_context(self._stub(name)) for name in STUBS}
        self.dispatchers = {each.name: each for each in (self._control_plane(), self._node_pool())}
        for dispatcher in self.dispatchers.values():
            running.callback(dispatcher.release)
            running.push_async_callback(dispatcher.stop)
        await asyncio.gather(*(each.start() for each in self.dispatchers.values()))

    async def _start_sentinels(self, running: AsyncExitStack) -> None:
        self.sentinels = [await running.enter_async_context(each) for each in self._sentinels()]

    def _stub(self, name: str) -> StubAdapter:
        return StubAdapter(name, api_url=self.api.url, broker=self.broker.address, topic=CLUSTERS, data=STUBS[name])

    def _control_plane(self) -> DispatcherProcess:
        folder = regional.copy_adapter("controlplane", self.folder, job_ttl=self.pace.job_ttl)
        return self._dispatcher(
            "controlplane",
            folder / "hypershift-controlplane-adapter-config.yaml",
            folder / "hypershift-controlplane-task-config.yaml",
            {
                "MAESTRO_API_URL": self.maestro.rest_url,
                "MAESTRO_GRPC_URL": self.maestro.grpc_address,
                "ADAPTER_IMAGE": regional.ADAPTER_IMAGE,
                "REPORTER_IMAGE": regional.REPORTER_IMAGE,
            },
        )

    def _node_pool(self) -> DispatcherProcess:
        folder = regional.copy_adapter("nodepool", self.folder, job_ttl=self.pace.job_ttl)
        return self._dispatcher(
            "nodepool",
            folder / "nodepool-adapter-config.yaml",
            folder / "nodepool-task-config.yaml",
            {
                "HYPERFLEET_MAESTRO_HTTP_SERVER_ADDRESS": self.maestro.rest_url,
                "HYPERFLEET_MAESTRO_GRPC_SERVER_ADDRESS": self.maestro.grpc_address,
                "HYPERFLEET_MAESTRO_INSECURE": "true",
            },
        )

    def _dispatcher(
        self, name: str, adapter_config: Path, task_config: Path, environment: dict[str, str]
    ) -> DispatcherProcess:
        return DispatcherProcess(
            name=name,
            adapter_config=adapter_config,
            task_config=task_config,
            broker_file=self.broker_file,
            api_url=self.api.url,
            kubeconfig=self.kubeconfig,
            folder=self.folder,
            environment={"MANAGEMENT_CLUSTER_CONSUMER": CONSUMER, **environment},
        )

    def _sentinels(self) -> list[LabSentinel]:
        pace = self.pace
        return [
            LabSentinel(
                Sentinel(
                    api_url=self.api.url,
                    topic=topic,
                    resource_type=resource_type,
                    poll_interval=pace.poll,
                    debounce=pace.debounce,
                    stale=pace.stale,
                    owner_references=resource_type == "nodepools",
                ),
                EmbeddedPublisher(self.broker.address),
            )
            for resource_type, topic in (("clusters", CLUSTERS), ("nodepools", NODEPOOLS))
        ]
