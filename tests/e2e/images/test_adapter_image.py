"""The images of the control plane adapter and of the dispatcher, built and run for real: what is in them, and what not."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from lab.maestro import LabMaestro
from lab.maestro.agent import Agent
from lab.real.artifacts import images
from lab.real.artifacts.images import Image
from shared.maestro import MaestroClient, MaestroSettings
from tests.support.adapter import Cluster

LOCKED = ("--read-only", "--cap-drop", "ALL", "--security-opt", "no-new-privileges")
VERSION, REVISION = "9.8.7", "0123abcd"
CONSUMER = "us-east-mgmt-01"
DOCKERFILE = "Dockerfile.adapter"
# Megabytes above the base. Half of the dispatcher's are the kubernetes package and the brokers' drivers.
LARGEST = {"controlplane-adapter": 60, "hyperfleet-adapter": 200}

pytestmark = pytest.mark.skipif(
    images.what_is_missing() is not None, reason=f"no container can be built here: {images.what_is_missing()}"
)


@pytest.fixture(scope="module")
def adapter() -> Image:
    return images.built(DOCKERFILE, "controlplane-adapter:test", VERSION=VERSION, REVISION=REVISION)


@pytest.fixture(scope="module")
def dispatcher() -> Image:
    return images.built(DOCKERFILE, "hyperfleet-adapter:test", target="dispatcher", VERSION=VERSION, REVISION=REVISION)


@pytest.fixture(params=["adapter", "dispatcher"])
def image(request: pytest.FixtureRequest) -> Image:
    found: Image = request.getfixturevalue(request.param)
    return found


def run(image: Image, program: str, *arguments: str, options: tuple[str, ...] = ()) -> str:
    outcome = image.run(*arguments, options=(*LOCKED, "--entrypoint", program, *options))
    assert outcome.returncode == 0, outcome.stderr
    return outcome.stdout


def test_the_adapter_explains_itself_under_the_restrictions_of_its_job(adapter: Image) -> None:
    outcome = adapter.run("--help", options=LOCKED)

    assert outcome.returncode == 0, outcome.stderr
    assert "CLUSTER_SNAPSHOT_PATH" in outcome.stdout


def test_the_dispatcher_evaluates_under_the_same_restrictions(dispatcher: Image) -> None:
    outcome = dispatcher.run("eval", "cel", "1 + 1", options=LOCKED)

    assert (outcome.returncode, outcome.stdout.strip()) == (0, "2"), outcome.stderr


def test_it_runs_as_nobody_in_particular(image: Image) -> None:
    assert image.facts()["Config"]["User"] == "65532:65532"
    assert run(image, "python3", "-c", "import os; print(os.getuid(), os.getgid())").split() == ["65532", "65532"]


def test_its_labels_say_what_it_is(adapter: Image, dispatcher: Image) -> None:
    for image, title in ((adapter, "controlplane-adapter"), (dispatcher, "hyperfleet-adapter")):
        labels = image.facts()["Labels"]
        prefix = "org.opencontainers.image."
        shown = {name.removeprefix(prefix): text for name, text in labels.items() if name.startswith(prefix)}
        assert shown.keys() == {"title", "description", "licenses", "version", "revision"}
        assert (shown["title"], shown["version"], shown["revision"]) == (title, VERSION, REVISION)


@pytest.mark.parametrize("program", ["pip", "pip3", "gcc", "cc", "ld", "make", "go"])
def test_nothing_can_be_built_or_installed_in_it(image: Image, program: str) -> None:
    run(image, "python3", "-c", f"import shutil, sys; sys.exit(bool(shutil.which({program!r})))")


def test_no_layer_holds_what_was_removed(image: Image) -> None:
    assert len(image.facts()["RootFS"]["Layers"]) == 1


@pytest.mark.parametrize(
    ("name", "modules"),
    [
        pytest.param("adapter", ["pip", "ensurepip", "pydantic", "kubernetes", "aiohttp", "rich", "lab", "dispatcher", "status_reporter"], id="adapter"),
        pytest.param("dispatcher", ["pip", "ensurepip", "rich", "lab", "controlplane_adapter", "status_reporter"], id="dispatcher"),
    ],
)  # fmt: skip
def test_what_it_does_not_need_is_not_inside(request: pytest.FixtureRequest, name: str, modules: list[str]) -> None:
    search = f"""
import importlib.util, sys
sys.path.insert(0, "/app")
print([each for each in {modules!r} if importlib.util.find_spec(each)])
"""
    assert run(request.getfixturevalue(name), "python3", "-c", search) == "[]\n"


def test_every_module_of_the_adapter_starts_from_its_bytecode(adapter: Image) -> None:
    """A read-only root cannot keep what is compiled at the start, so it would be compiled at every start."""
    search = """
import importlib, pathlib, pkgutil, sys
sys.path.insert(0, "/app")
import controlplane_adapter
for module in pkgutil.walk_packages(controlplane_adapter.__path__, "controlplane_adapter."):
    importlib.import_module(module.name)
import anyio._backends._asyncio, yaml
for name, module in sorted(sys.modules.items()):
    cached = getattr(module, "__cached__", None)
    if cached and name != "__main__" and not pathlib.Path(cached).exists():
        print(name)
"""
    assert run(adapter, "python3", "-B", "-c", search) == ""


def test_the_environment_cannot_bring_in_other_code(adapter: Image, tmp_path: Path) -> None:
    (tmp_path / "json.py").write_text("raise SystemExit('a foreign module was imported')")
    options = (f"--volume={tmp_path}:/foreign:ro", "--env=PYTHONPATH=/foreign", "--workdir=/foreign")

    assert "Exit codes:" in run(adapter, "controlplane-adapter", "--help", options=options)


def test_its_size_is_printed(image: Image, capsys: pytest.CaptureFixture[str]) -> None:
    size, base = (each.facts()["Size"] / 1e6 for each in (image, images.base_image()))
    with capsys.disabled():
        print(f"\n{image.name}: {size:.0f} MB on a base of {base:.0f} MB", file=sys.stderr)  # noqa: T201 - for the log
    assert size < base + LARGEST[image.name.partition(":")[0].rpartition("/")[2]]


@pytest.fixture
async def maestro() -> AsyncIterator[LabMaestro]:
    async with LabMaestro(heartbeat_seconds=1.0) as server:
        settings = MaestroSettings(
            grpc_server_address=server.grpc_address,
            http_server_address=server.rest_url,
            source_id="controlplane-adapter",
            insecure=True,
        )
        async with MaestroClient(settings) as client:
            await client.consumers.create(CONSUMER)
        yield server


async def deliver(adapter: Image, cluster: Cluster, maestro: LabMaestro, folder: Path) -> tuple[int, dict[str, Any]]:
    """One run in its container, on the machine's own network: its exit code and its report."""
    snapshot, results = folder / "snapshot.json", folder / "results"
    snapshot.write_text(json.dumps(cluster.snapshot()))
    results.mkdir(exist_ok=True)
    results.chmod(0o777)
    environment = {
        "CLUSTER_SNAPSHOT_PATH": "/etc/hyperfleet/snapshot.json",
        "MANAGEMENT_CLUSTER_CONSUMER": CONSUMER,
        "MAESTRO_API_URL": maestro.rest_url,
        "MAESTRO_GRPC_URL": maestro.grpc_address,
        "MAESTRO_INSECURE": "true",
    }
    options = (
        *LOCKED,
        f"--volume={snapshot}:/etc/hyperfleet/snapshot.json:ro",
        f"--volume={results}:/results",
        *(f"--env={name}={value}" for name, value in environment.items()),
    )
    outcome = await asyncio.to_thread(adapter.run, options=options)
    report = results / "adapter-report.json"
    assert report.exists(), outcome.stderr
    return outcome.returncode, json.loads(report.read_text())


async def test_whole_runs_in_its_container_create_a_work_and_see_it_gone(
    adapter: Image, maestro: LabMaestro, tmp_path: Path
) -> None:
    cluster = Cluster()
    async with Agent(maestro.broker_address, CONSUMER):
        created = await deliver(adapter, cluster, maestro, tmp_path)
        cluster.delete()
        deleted = await deliver(adapter, cluster, maestro, tmp_path)

    code, report = created
    assert code == 0
    assert report["conditions"][0]["reason"] == "ManifestWorkCreated"
    assert report["data"]["management_cluster"] == CONSUMER
    code, report = deleted
    assert code == 0
    assert {each["type"]: each["status"] for each in report["conditions"]}["Finalized"] == "True"


async def test_maestro_cli_applies_and_waits_in_the_same_image_and_leaves_its_report(
    adapter: Image, maestro: LabMaestro, tmp_path: Path
) -> None:
    manifests, results = tmp_path / "manifests", tmp_path / "results"
    manifests.mkdir()
    results.mkdir()
    results.chmod(0o777)
    (manifests / "web.json").write_text(
        json.dumps({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "web", "namespace": "default"}})
    )
    options = (
        f"--volume={manifests}:/config:ro",
        f"--volume={results}:/results",
        "--env=RESULTS_PATH=/results/adapter-report.json",
    )
    reach = ("--http-endpoint", maestro.rest_url, "--grpc-endpoint", maestro.grpc_address, "--grpc-insecure")
    command = ("apply", "-f", "/config", "--name", "web", "-c", CONSUMER, "--wait", *reach)
    async with Agent(maestro.broker_address, CONSUMER):
        printed = await asyncio.to_thread(run, adapter, "maestro-cli", *command, options=options)

    assert printed == f"work web on {CONSUMER} is created; Available is met\n"
    report = json.loads((results / "adapter-report.json").read_text())
    assert report["data"]["manifestWorkName"] == "web"
    assert {each["type"]: each["status"] for each in report["conditions"]}["Available"] == "True"


async def test_a_bad_configuration_is_reported_from_its_container(
    adapter: Image, maestro: LabMaestro, tmp_path: Path
) -> None:
    cluster = Cluster()
    cluster.cluster_id = ""

    code, report = await deliver(adapter, cluster, maestro, tmp_path)

    assert code == 2
    assert "cluster.id" in report["message"]
