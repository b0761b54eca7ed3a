"""Three adapters beside each other, each by the same chart: ours, one with a Job that shares the status reporter's image,
and one that keeps a manifest and needs no Job. The new two are what `init` writes.
"""

import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import yaml

from dispatcher.scaffold.writing import NewAdapter, Work, write
from lab.hypershift.operator import Operator
from lab.real.installed.dependencies import Dependencies
from lab.real.installed.release import JOBS, AdapterFiles, Images, Releases, with_ttl
from lab.real.installed.services import Services
from tests.support.cluster import JobNamespace
from tests.support.installed import SOON, TTL_SECONDS, Clusters

REPORTER = "hyperfleet/status-reporter:0.1.0"


def new_adapter(folder: Path, name: str, work: Work, images: Images) -> AdapterFiles:
    write(NewAdapter(name=name, subject="cluster", work=work), folder)
    manifest = folder / "manifest.yaml"
    text = manifest.read_text().replace(REPORTER, images.reporter)
    manifest.write_text(with_ttl(text, TTL_SECONDS) if work == "job" else text)
    return AdapterFiles(
        adapter_config=folder / "adapter-config.yaml", task_config=folder / "task-config.yaml", others=(manifest,)
    )


def needed_rights(files: AdapterFiles) -> object:
    """As the README of a new adapter says."""
    command = ("rbac", "-c", str(files.adapter_config), "-t", str(files.task_config), "-o", "values")
    program = Path(sys.executable).with_name("hyperfleet-adapter")
    printed = subprocess.run([program, *command], check=True, capture_output=True, text=True).stdout
    return yaml.safe_load(printed)["rbac"]


@pytest.fixture(scope="module")
def _validation_and_dns(
    releases: Releases, system_images: Images, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[None]:
    folder = tmp_path_factory.mktemp("adapters")
    kinds: dict[str, Work] = {"validation": "job", "dns": "manifest"}
    for name, work in kinds.items():
        files = new_adapter(folder / name, name, work, system_images)
        subscription = {"topic": "hyperfleet-clusters", "subscriptionId": f"hyperfleet-clusters-{name}"}
        values = {"broker": subscription, "jobs": {"create": False}, "rbac": needed_rights(files)}
        releases.install(name, files, system_images, values)
    yield
    for name in kinds:
        releases.uninstall(name)


@pytest.fixture
async def dependencies(services: Services, _validation_and_dns: None) -> AsyncIterator[Dependencies]:
    """Only the pull secret is simulated here."""
    async with Dependencies(services.api.url, ("pullsecret",)) as dependencies:
        yield dependencies


@SOON
async def test_adapters_with_and_without_a_job_serve_the_same_cluster(
    clusters: Clusters, operator: Operator, jobs_namespace: JobNamespace
) -> None:
    cluster = await clusters.create()
    for adapter in ("validation", "dns"):
        await clusters.until(cluster, lambda seen: seen.says("Available", "True"), adapter, adapter)
    await clusters.until_available(cluster)
    kept = await jobs_namespace.kubectl.get("configmap", f"dns-{cluster['id']}", f"--namespace={JOBS}")
    assert kept["data"] == {"managed-by": "dns"}

    await clusters.upgrade(cluster)
    for adapter in ("validation", "dns"):
        await clusters.until(
            cluster, lambda seen: seen.generation == 2 and seen.says("Available", "True"), adapter, adapter
        )
    await clusters.until_upgraded(cluster)
    operator.check()
