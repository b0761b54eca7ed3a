"""The whole way of a control plane on real servers: Maestro, its agents, API servers that know HostedClusters.

The servers live as long as the session. The HyperShift operator is played in each test's own loop, with scripts of that
test; what it writes is kept by the API server, so it goes on where another test's operator stopped.
"""

from collections.abc import AsyncIterator, Callable, Iterator

import pytest
import yaml

from lab.hypershift.operator import Operator
from lab.real.artifacts import crds
from lab.real.artifacts.go_modules import module_folder
from lab.real.servers.maestro import RealMaestro
from lab.real.servers.management import ManagementCluster
from lab.real.servers.postgres import Postgres
from shared.maestro import MaestroClient, MaestroSettings

# Ten minutes of a roll-out pass in a third of a second.
SPEED = 2000.0


@pytest.fixture(scope="session")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Postgres]:
    database = Postgres(tmp_path_factory.mktemp("database"))
    database.start()
    yield database
    database.stop()


@pytest.fixture(scope="session")
def maestro(postgres: Postgres, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealMaestro]:
    server = RealMaestro(tmp_path_factory.mktemp("maestro"), postgres, "controlplane")
    server.prepare()
    server.start()
    yield server
    server.stop()


@pytest.fixture(scope="session")
def management_cluster(maestro: RealMaestro, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ManagementCluster]:
    """HyperShift with the feature set that knows GCP."""
    cluster = ManagementCluster(tmp_path_factory.mktemp("management"), maestro, "mgmt-01")
    try:
        cluster.start()
        yield cluster
    finally:
        cluster.stop()


@pytest.fixture(scope="session")
def management_cluster_without_gcp(
    maestro: RealMaestro, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ManagementCluster]:
    """HyperShift as it is installed by default."""
    folder = module_folder(crds.HYPERSHIFT) / crds.HYPERSHIFT_ASSETS / "zz_generated.crd-manifests"
    text = (folder / "hostedclusters-Hypershift-Default.crd.yaml").read_bytes()
    default: crds.Definition = yaml.load(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    cluster = ManagementCluster(tmp_path_factory.mktemp("management-default"), maestro, "mgmt-default", [default])
    try:
        cluster.start()
        yield cluster
    finally:
        cluster.stop()


@pytest.fixture
def maestro_settings(maestro: RealMaestro) -> Callable[[str], MaestroSettings]:
    """The settings of a client that is this source."""

    def of(source_id: str) -> MaestroSettings:
        return MaestroSettings(
            grpc_server_address=f"127.0.0.1:{maestro.grpc_port}",
            http_server_address=f"http://127.0.0.1:{maestro.rest_port}",
            source_id=source_id,
            insecure=True,
        )

    return of


@pytest.fixture
async def client(maestro_settings: Callable[[str], MaestroSettings]) -> AsyncIterator[MaestroClient]:
    async with MaestroClient(maestro_settings("controlplane-adapter")) as connected:
        yield connected


@pytest.fixture
async def operator(management_cluster: ManagementCluster) -> AsyncIterator[Operator]:
    server = management_cluster.server
    async with Operator(server.url, server.admin_token, server.ca_file, speed=SPEED) as playing:
        yield playing
