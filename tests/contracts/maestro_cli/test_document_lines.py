"""Command lines as the user's document writes them."""

import shlex
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import yaml

from lab.maestro.agent import Agent
from tests.support.maestro import MaestroServer
from tests.support.maestro_cli import Cli, config_map, manifest_work

WORK = "hyperfleet-cluster-west-1-job"

# In the order in which they make sense one after the other.
LINES = [
    "maestro-cli validate --manifest-file=job.yaml --consumer=cluster-west-1",
    "maestro-cli apply --manifest-file=job.yaml --consumer=cluster-west-1",
    "maestro-cli apply --manifest-file=job-updated.yaml --consumer=cluster-west-1",
    f"maestro-cli wait --name={WORK} --consumer=cluster-west-1 --condition=Applied --watch",
    f"maestro-cli wait --name={WORK} --consumer=cluster-west-1 --condition=Applied --timeout=10m",
    f"maestro-cli get --name={WORK} --consumer=cluster-west-1",
    "maestro-cli list --consumer=cluster-west-1",
    "maestro-cli list --consumer=cluster-west-1 --status=Applied",
    f"maestro-cli describe --name={WORK} --consumer=cluster-west-1",
    f"maestro-cli diff --name={WORK} --consumer=cluster-west-1 --manifest-file=job-updated.yaml",
    f"maestro-cli delete --name={WORK} --consumer=cluster-west-1 --all --watch",
    "maestro-cli apply --manifest-file=job.yaml --consumer=cluster-west-1 --watch --timeout=5m",
    "maestro-cli apply --manifest-file=job-updated.yaml --consumer=cluster-west-1 --watch",
    f"maestro-cli delete --name={WORK} --consumer=cluster-west-1 --all",
    "maestro-cli apply --name=hyperfleet-cluster-1-nodepool --manifest-file=nodepool.yaml --consumer=cluster-1",
    "maestro-cli apply --name=hyperfleet-cluster-1-idp --manifest-file=idp.yaml --consumer=cluster-1",
    "maestro-cli apply --name=hyperfleet-cluster-1-ingress --manifest-file=ingress.yaml --consumer=cluster-1",
    "maestro-cli apply --name=cluster-1-nodepool-workers --manifest-file=nodepool-1.yaml --consumer=cluster-1",
    "maestro-cli apply --name=cluster-1-nodepool-gpu --manifest-file=nodepool-2.yaml --consumer=cluster-1",
    "maestro-cli apply --name=cluster-1-pullsecret --manifest-file=idp.yaml --consumer=cluster-1",
    "maestro-cli apply --name=cluster-1-ingress --manifest-file=ingress.yaml --consumer=cluster-1",
    "maestro-cli apply --name=hyperfleet-cluster-1 --manifest-file=cluster-1-complete.yaml --consumer=cluster-1",
]
FILES = ("nodepool", "idp", "ingress", "nodepool-1", "nodepool-2", "cluster-1-complete")


@pytest.fixture
async def clusters(server: MaestroServer, cli: Cli) -> AsyncIterator[None]:
    await cli("consumer", "ensure", "cluster-west-1")
    await cli("consumer", "ensure", "cluster-1")
    async with Agent(server.broker_address, "cluster-west-1"):
        yield


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, version in (("job", "1"), ("job-updated", "2")):
        work = manifest_work(WORK, config_map(version=version))
        (tmp_path / f"{name}.yaml").write_text(yaml.safe_dump(work))
    for name in FILES:
        (tmp_path / f"{name}.yaml").write_text(yaml.safe_dump(config_map(name)))
    monkeypatch.chdir(tmp_path)


async def test_every_command_line_of_the_document_works_as_written(cli: Cli, clusters: None, folder: None) -> None:
    for line in LINES:
        printed = await cli(*shlex.split(line)[1:])
        assert printed.code == 0, f"{line}\n{printed.err}"
