"""A real management cluster, a real hosted cluster with a signer, a simulated HyperShift, and the operator."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from dpu_bridge.operator.running import run
from dpu_bridge.plan import PlanSettings
from dpu_bridge.settings import Settings
from lab.dpf import definitions
from lab.dpf.kubeconfigs import publish_kubeconfigs
from lab.hypershift.operator import Operator
from lab.kubeconfig import kubeconfig
from lab.real.artifacts.crds import hypershift_crds, install
from lab.real.servers.certificate_signer import CertificateSigner
from lab.real.servers.kubernetes import RealKubernetes
from shared.kubernetes import KubernetesClient, access_source
from tests.support.bridge_lab import METALLB_NAMESPACE, OPERATOR_NAMESPACE, BridgeLab, bridge_definition
from tests.support.kubernetes import unique
from tests.support.published_crds import origin, preferred

SPEED = 2000.0
STOPS_WITHIN = 120.0
ASKING = {
    "apiVersion": "rbac.authorization.k8s.io/v1",
    "kind": "ClusterRoleBinding",
    "metadata": {"name": "everybody-asks"},
    "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "system:node-bootstrapper"},
    "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "Group", "name": "system:authenticated"}],
}


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    terminalreporter.write_line(f"DPU bridge: {origin([*hypershift_crds(), *definitions.ALL])}")


@dataclass(frozen=True)
class Clusters:
    management: RealKubernetes
    hosted: RealKubernetes
    signer: CertificateSigner


@pytest.fixture(scope="session")
def clusters(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Clusters]:
    with contextlib.ExitStack() as stack:
        started = []
        for name in ("management", "hosted"):
            server = RealKubernetes(tmp_path_factory.mktemp(name))
            stack.callback(server.stop)
            server.prepare()
            server.start()
            started.append(server)
        management, hosted = started
        install(management, [*preferred([*hypershift_crds(), *definitions.ALL]), bridge_definition()])
        signer = CertificateSigner(tmp_path_factory.mktemp("signer"), hosted.kubeconfig)
        stack.callback(signer.stop)
        signer.start()
        yield Clusters(management, hosted, signer)


@pytest.fixture
async def hosted(clusters: Clusters) -> AsyncIterator[KubernetesClient]:
    """Everybody there may ask for certificates."""
    async with KubernetesClient(access_source(str(clusters.hosted.kubeconfig))) as client:
        await client.apply(ASKING, manager="test")
        yield client


@pytest.fixture
async def lab(clusters: Clusters) -> AsyncIterator[BridgeLab]:
    """With HyperShift, without the operator under test."""
    management = clusters.management
    async with (
        KubernetesClient(access_source(str(management.kubeconfig))) as client,
        Operator(management.url, management.admin_token, management.ca_file, speed=SPEED),
    ):
        made = BridgeLab(client, unique("t"))
        await made.prepare()
        content = kubeconfig(clusters.hosted.url, clusters.hosted.admin_token, clusters.hosted.ca_file)
        async with running(publish_kubeconfigs(client, content)):
            yield made


@pytest.fixture
async def operator(clusters: Clusters, lab: BridgeLab, tmp_path: Path) -> AsyncIterator[None]:
    async with operating(settings(clusters, tmp_path)):
        yield


@contextlib.asynccontextmanager
async def operating(chosen: Settings) -> AsyncIterator[None]:
    """The operator under test."""
    stop = asyncio.Event()
    task = asyncio.create_task(run(chosen, stop=stop))
    try:
        yield
    finally:
        stop.set()
        async with asyncio.timeout(STOPS_WITHIN):
            await task


def settings(clusters: Clusters, files: Path) -> Settings:
    planning = PlanSettings(metallb_namespace=METALLB_NAMESPACE, images_namespace=OPERATOR_NAMESPACE)
    return Settings(
        kubeconfig=str(clusters.management.kubeconfig), namespace=OPERATOR_NAMESPACE, files=files, planning=planning
    )


@contextlib.asynccontextmanager
async def running(coroutine: object) -> AsyncIterator[None]:
    task = asyncio.ensure_future(coroutine)  # type: ignore[call-overload]
    try:
        yield
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
