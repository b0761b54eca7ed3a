"""The operator's image, built and run for real: it starts under the chart's restrictions, and has only what it needs."""

import pytest

from lab.real.artifacts import images
from lab.real.artifacts.images import Image

LOCKED = ("--read-only", "--cap-drop", "ALL", "--security-opt", "no-new-privileges", "--tmpfs", "/tmp")

pytestmark = pytest.mark.skipif(
    images.what_is_missing() is not None, reason=f"no container can be built here: {images.what_is_missing()}"
)


@pytest.fixture(scope="module")
def image() -> Image:
    return images.built("Dockerfile.bridge", "dpu-hcp-bridge:test", VERSION="9.8.7", REVISION="0123abcd")


def python(image: Image, program: str) -> str:
    outcome = image.run("-c", program, options=(*LOCKED, "--entrypoint", "python3"))
    assert outcome.returncode == 0, outcome.stderr
    return outcome.stdout


def test_it_explains_itself_under_the_restrictions_of_its_pod(image: Image) -> None:
    outcome = image.run("--help", options=LOCKED)
    assert outcome.returncode == 0, outcome.stderr
    assert "BRIDGE_NAMESPACES" in outcome.stdout


def test_the_whole_operator_can_be_imported(image: Image) -> None:
    assert python(image, "import sys; sys.path.insert(0, '/app'); import dpu_bridge.operator.running; print('ok')")


def test_without_a_cluster_it_fails_with_a_reason_and_no_traceback(image: Image) -> None:
    outcome = image.run(options=LOCKED)
    assert outcome.returncode == 1
    assert "kubeconfig" in outcome.stderr
    assert "Traceback" not in outcome.stderr


def test_it_runs_as_nobody_in_particular(image: Image) -> None:
    assert image.facts()["Config"]["User"] == "65532:65532"


def test_no_other_program_of_the_project_is_in_it(image: Image) -> None:
    listed = python(image, "import os; print(*os.listdir('/app'))").split()
    assert {"dpu_bridge", "shared"} <= set(listed)
    assert not {"dispatcher", "controlplane_adapter", "lab", "grpc", "kubernetes", "pydantic", "requests"} & set(listed)
