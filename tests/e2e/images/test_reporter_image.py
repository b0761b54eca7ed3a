"""The sidecar's image, built and run for real under the restrictions of its Job: what is in it, and what is not."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from lab.real.artifacts import images
from lab.real.artifacts.images import Image
from tests.support.kubernetes import Api, KubernetesServer
from tests.support.reporter import APPLIED, Scene, scene_on

LOCKED = ("--read-only", "--cap-drop", "ALL", "--security-opt", "no-new-privileges")
VERSION, REVISION = "9.8.7", "0123abcd"
REPORT = {"conditions": [APPLIED], "data": {"a": 1}}

pytestmark = pytest.mark.skipif(
    images.what_is_missing() is not None, reason=f"no container can be built here: {images.what_is_missing()}"
)


@pytest.fixture(scope="module")
def image() -> Image:
    return images.built("Dockerfile.reporter", "status-reporter:test", VERSION=VERSION, REVISION=REVISION)


def run(image: Image, program: str, *arguments: str, options: tuple[str, ...] = ()) -> str:
    outcome = image.run(*arguments, options=(*LOCKED, "--entrypoint", program, *options))
    assert outcome.returncode == 0, outcome.stderr
    return outcome.stdout


def test_without_a_command_it_is_the_reporter(image: Image) -> None:
    outcome = image.run(options=LOCKED)
    assert outcome.returncode == 2, "there is no Job here"
    assert "KUBERNETES_SERVICE_HOST" in json.loads(outcome.stderr.splitlines()[-1])["msg"]


def test_it_explains_itself_under_the_restrictions_of_its_job(image: Image) -> None:
    assert "Exit codes:" in run(image, "status-reporter", "--help")
    assert json.loads(run(image, "adapter-report", "schema"))["$schema"]


def test_it_runs_as_nobody_in_particular(image: Image) -> None:
    assert image.facts()["Config"]["User"] == "65532:65532"
    assert run(image, "python3", "-c", "import os; print(os.getuid(), os.getgid(), os.getgroups())").split()[:2] == [
        "65532",
        "65532",
    ]


def test_its_labels_say_what_it_is(image: Image) -> None:
    prefix = "org.opencontainers.image."
    labels = {name.removeprefix(prefix): text for name, text in image.facts()["Labels"].items() if prefix in name}
    assert set(labels) == {"title", "description", "licenses", "version", "revision"}
    assert (labels["title"], labels["version"], labels["revision"]) == ("status-reporter", VERSION, REVISION)


@pytest.mark.parametrize("module", ["pip", "ensurepip", "setuptools", "grpc", "google", "pydantic", "kubernetes", "httpx", "yaml", "lab", "dispatcher", "shared.maestro"])  # fmt: skip
def test_what_it_does_not_need_is_not_inside(image: Image, module: str) -> None:
    search = (
        f"import importlib.util, sys; sys.path.insert(0, '/app'); sys.exit(bool(importlib.util.find_spec({module!r})))"
    )
    run(image, "python3", "-c", search)


@pytest.mark.parametrize("program", ["pip", "pip3", "gcc", "cc", "ld", "make", "go"])
def test_nothing_can_be_built_or_installed_in_it(image: Image, program: str) -> None:
    run(image, "python3", "-c", f"import shutil, sys; sys.exit(bool(shutil.which({program!r})))")


def test_no_layer_holds_what_was_removed(image: Image) -> None:
    assert len(image.facts()["RootFS"]["Layers"]) == 1


def test_every_module_starts_from_its_bytecode(image: Image) -> None:
    """A read-only root cannot keep what is compiled at the start, so it would be compiled at every start."""
    search = """
import importlib, pathlib, pkgutil, sys
sys.path.insert(0, "/app")
import status_reporter
for module in pkgutil.walk_packages(status_reporter.__path__, "status_reporter."):
    importlib.import_module(module.name)
for name, module in sorted(sys.modules.items()):
    cached = getattr(module, "__cached__", None)
    if cached and name != "__main__" and not pathlib.Path(cached).exists():
        print(name)
"""
    assert run(image, "python3", "-B", "-c", search) == ""


def test_the_environment_cannot_bring_in_other_code(image: Image, tmp_path: Path) -> None:
    (tmp_path / "json.py").write_text("raise SystemExit('a foreign module was imported')")
    options = (f"--volume={tmp_path}:/foreign:ro", "--env=PYTHONPATH=/foreign", "--workdir=/foreign")
    assert "Exit codes:" in run(image, "status-reporter", "--help", options=options)


def test_a_report_is_written_where_the_job_shares_a_folder(image: Image, tmp_path: Path) -> None:
    tmp_path.chmod(0o777)
    shared = (f"--volume={tmp_path}:/results",)
    run(image, "adapter-report", "write", "--condition", "Applied=True:Created", options=shared)
    assert run(image, "adapter-report", "validate", options=shared) == "Applied=True Created\n"


def test_a_full_disk_is_reported_in_one_line_and_the_former_report_stays_whole(image: Image) -> None:
    script = """
import os, subprocess, sys
def write(reason, size):
    command = ["adapter-report", "write", "--condition", f"Applied=True:{reason}", "--data", "x=" + "x" * size]
    return subprocess.run(command, capture_output=True, text=True)
assert write("First", 10).returncode == 0
failed = write("Second", 60_000)
print(failed.returncode, failed.stderr, end="")
print(os.listdir("/results"), subprocess.run(["adapter-report", "validate"], capture_output=True, text=True).stdout, end="")
"""
    options = ("--tmpfs=/results:size=16k,mode=1777",)
    assert run(image, "python3", "-c", script, options=options) == (
        "1 adapter-report: /results/adapter-report.json: No space left on device\n"
        "['adapter-report.json'] Applied=True First\n"
    )


def test_its_size_is_reported(image: Image, capsys: pytest.CaptureFixture[str]) -> None:
    size, base = (each.facts()["Size"] / 1e6 for each in (image, images.base_image()))
    with capsys.disabled():
        print(f"\nstatus-reporter image: {size:.0f} MB on a base of {base:.0f} MB", file=sys.stderr)  # noqa: T201 - the test's output
    assert size < base, "what is added is less than what is removed"


@pytest.fixture
async def scene(real_kubernetes: KubernetesServer, api: Api, tmp_path: Path) -> AsyncIterator[Scene]:
    async with scene_on(real_kubernetes, api, tmp_path) as standing:
        yield standing


async def test_a_whole_run_in_its_container_puts_the_report_on_a_real_job(image: Image, scene: Scene) -> None:
    for folder in (scene.folder, *scene.folder.rglob("*")):
        folder.chmod(0o755 if folder.is_dir() else 0o644)
    termination_log = scene.folder / "termination-log"
    termination_log.touch()
    termination_log.chmod(0o666)
    environment = [f"--env={name}={value}" for name, value in scene.environment.items()]
    volumes = (f"--volume={scene.folder}:{scene.folder}:ro", f"--volume={termination_log}:{termination_log}")
    run_ = asyncio.create_task(asyncio.to_thread(image.run, options=(*LOCKED, *volumes, *environment)))
    scene.write(REPORT)
    await scene.until_reason("Applied", "Created")
    await scene.ends()

    outcome = await run_
    assert outcome.returncode == 0, outcome.stderr
    assert await scene.data() == {"a": 1}
    assert "Applied=True (Created)" in scene.termination_message
