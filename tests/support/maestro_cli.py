"""`cli` runs a command of maestro-cli as the program would, against a Maestro that other tests may use as well.

Each test has a consumer and a source of its own. It calls its consumer `mgmt-01`; the real name takes its place on the way
in and goes back to `mgmt-01` on the way out.
"""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml

from lab.maestro.agent import Agent
from maestro_cli.command_line import parse
from maestro_cli.running import execute
from shared.maestro import MaestroClient
from tests.support.maestro import MaestroServer, unique

CONSUMER = "mgmt-01"
TO = ("-c", CONSUMER)


@dataclass(frozen=True, slots=True)
class Printed:
    """How a command ended and what it printed."""

    code: int
    out: str
    err: str


@dataclass(frozen=True, slots=True)
class Cli:
    """Calls it: `await cli("list", "-o", "name", RESULTS_PATH="...")`."""

    environment: dict[str, str]
    consumer: str
    capsys: pytest.CaptureFixture[str]

    async def __call__(self, *arguments: str, **more: str) -> Printed:
        self.capsys.readouterr()
        named = [each.replace(CONSUMER, self.consumer) for each in arguments]
        code = await execute(parse(named), {**self.environment, **more})
        printed = self.capsys.readouterr()
        return Printed(code, printed.out.replace(self.consumer, CONSUMER), printed.err.replace(self.consumer, CONSUMER))


@dataclass(slots=True)
class Files:
    """Manifest files of a test."""

    folder: Path
    count: int = field(default=0)

    def write(self, *documents: object) -> str:
        self.count += 1
        path = self.folder / f"{self.count}.yaml"
        path.write_text(yaml.safe_dump_all(documents))
        return str(path)


@pytest.fixture
def files(tmp_path: Path) -> Files:
    folder = tmp_path / "files"
    folder.mkdir()
    return Files(folder)


@pytest.fixture
async def client(server: MaestroServer) -> AsyncIterator[MaestroClient]:
    async with MaestroClient(server.settings()) as connected:
        yield connected


@pytest.fixture
async def consumer(client: MaestroClient) -> str:
    return (await client.consumers.create(unique("mgmt"))).name


@pytest.fixture
def cli(
    server: MaestroServer,
    client: MaestroClient,
    consumer: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> Cli:
    environment = {
        "MAESTRO_GRPC_ENDPOINT": server.grpc_address,
        "MAESTRO_HTTP_ENDPOINT": server.rest_url,
        "MAESTRO_GRPC_INSECURE": "true",
        "MAESTRO_SOURCE_ID": client.source_id,
        "MAESTRO_CONFIG": str(tmp_path / "config.yaml"),
    }
    return Cli(environment, consumer, capsys)


@pytest.fixture
async def agent(server: MaestroServer, consumer: str) -> AsyncIterator[Agent]:
    async with Agent(server.broker_address, consumer) as connected:
        yield connected


def config_map(name: str = "a", **data: str) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": "default"},
        "data": data or {"x": "1"},
    }


def manifest_work(name: str, *manifests: object) -> dict[str, Any]:
    return {
        "apiVersion": "work.open-cluster-management.io/v1",
        "kind": "ManifestWork",
        "metadata": {"name": name},
        "spec": {"workload": {"manifests": list(manifests)}},
    }
