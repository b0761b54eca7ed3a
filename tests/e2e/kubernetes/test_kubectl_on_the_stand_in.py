"""The real kubectl on the stand-in API server, with no option that makes it easier."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from lab.real.artifacts.kubernetes import program

TIMEOUT = 240
RIGHTS = Path(__file__).parents[3] / "jobs" / "controlplane" / "rbac.yaml"

Kubectl = Callable[..., str]


@pytest.fixture(scope="module")
def kubectl(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kubectl]:
    folder = tmp_path_factory.mktemp("kubectl")
    config = folder / "kubeconfig"
    command = [sys.executable, "-m", "lab.kubernetes.command", "--kubeconfig", str(config)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            assert server.stdout.readline()

            def run(*arguments: str, stdin: str = "") -> str:
                options = (f"--kubeconfig={config}", f"--cache-dir={folder}")
                ended = subprocess.run(
                    [program("kubectl"), *options, *arguments],
                    input=stdin,
                    capture_output=True,
                    text=True,
                    timeout=TIMEOUT,
                    check=False,
                )
                assert ended.returncode == 0, ended.stderr
                return ended.stdout

            yield run
        finally:
            server.terminate()


@pytest.mark.parametrize(
    ("arguments", "printed"),
    [
        pytest.param(("create", "namespace", "demo"), "namespace/demo created\n", id="a namespace"),
        pytest.param(("create", "serviceaccount", "x"), "serviceaccount/x created\n", id="a service account"),
        pytest.param(("create", "configmap", "c", "--from-literal=a=b"), "configmap/c created\n", id="a ConfigMap"),
        pytest.param(("create", "secret", "generic", "s", "--from-literal=a=b"), "secret/s created\n", id="a Secret"),
        pytest.param(("create", "job", "j", "--image=x", "--", "echo", "hi"), "job.batch/j created\n", id="a Job"),
        pytest.param(("auth", "can-i", "list", "pods"), "yes\n", id="a right"),
    ],
)
def test_a_command_works(kubectl: Kubectl, arguments: tuple[str, ...], printed: str) -> None:
    assert kubectl(*arguments) == printed


def test_apply_works_with_validation_on_both_sides(kubectl: Kubectl) -> None:
    document = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "applied"}, "data": {"a": "b"}}
    assert kubectl("apply", "--filename=-", stdin=json.dumps(document)) == "configmap/applied created\n"
    assert kubectl("apply", "--filename=-", stdin=json.dumps(document)) == "configmap/applied unchanged\n"
    applied = kubectl("apply", "--server-side", "--filename=-", stdin=json.dumps(document))
    assert applied == "configmap/applied serverside-applied\n"


def test_the_rights_that_we_ship_can_be_applied(kubectl: Kubectl) -> None:
    kubectl("create", "namespace", "hyperfleet-adapters")
    applied = kubectl("apply", f"--filename={RIGHTS}").splitlines()
    assert [line.rpartition(" ")[2] for line in applied] == ["created"] * len(applied)
