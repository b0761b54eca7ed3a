"""`lab-kubernetes` from a shell: its kubeconfig, its signals, and what it says when it cannot start."""

import json
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import yaml

COMMAND = [sys.executable, "-m", "lab.kubernetes.command"]
TIMEOUT = 240.0


@contextmanager
def running(*arguments: str | Path) -> Iterator[subprocess.Popen[str]]:
    command = [*COMMAND, *map(str, arguments)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def first_line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline()


def refused(*arguments: str | Path) -> str:
    """What it prints when it does not start."""
    ended = subprocess.run(
        [*COMMAND, *map(str, arguments)], capture_output=True, text=True, timeout=TIMEOUT, check=False
    )
    assert (ended.returncode, ended.stdout) == (1, "")
    assert "Traceback" not in ended.stderr
    return ended.stderr


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_serves_until_it_is_stopped_and_removes_its_kubeconfig(number: signal.Signals, tmp_path: Path) -> None:
    config = tmp_path / "kubeconfig"
    with running("--kubeconfig", config, "--output", "json") as process:
        started = json.loads(first_line(process))
        server = yaml.safe_load(config.read_text())["clusters"][0]["cluster"]["server"]
        assert started == {"url": server, "kubeconfig": str(config)}
        process.send_signal(number)
        assert process.wait(TIMEOUT) == 0
        assert process.communicate() == ("", "")
    assert not config.exists()


def test_only_its_owner_can_read_the_admins_token(tmp_path: Path) -> None:
    config = tmp_path / "kubeconfig"
    with running("--kubeconfig", config) as process:
        assert first_line(process).startswith("Kubernetes is up at https://127.0.0.1:")
        assert stat.S_IMODE(config.stat().st_mode) == 0o600


def test_a_busy_port_is_named_and_no_kubeconfig_is_written(tmp_path: Path) -> None:
    config = tmp_path / "kubeconfig"
    with socket.create_server(("127.0.0.1", 0)) as busy:
        port = busy.getsockname()[1]
        assert refused("--port", str(port), "--kubeconfig", config) == (
            f"lab-kubernetes: port {port} on 127.0.0.1 is not available: Address already in use\n"
        )
    assert not config.exists()


def test_the_kubeconfig_of_another_instance_is_left_alone(tmp_path: Path) -> None:
    config = tmp_path / "kubeconfig"
    config.write_text("another's")
    assert refused("--kubeconfig", config) == (
        f"lab-kubernetes: {config} exists: another lab-kubernetes may use it; remove it, or choose another with"
        " --kubeconfig\n"
    )
    assert config.read_text() == "another's"


def test_a_folder_that_does_not_exist_is_named(tmp_path: Path) -> None:
    config = tmp_path / "missing" / "kubeconfig"
    assert refused("--kubeconfig", config) == f"lab-kubernetes: {config}: No such file or directory\n"
