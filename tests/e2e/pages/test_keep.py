"""What `hyperfleet-lab --keep` prints works as it is printed, and Ctrl-C leaves nothing."""

import os
import signal
import subprocess
import sys
from pathlib import Path

from lab.real.artifacts.kubernetes import program
from tests.support.leftovers import processes_with

TIMEOUT = 600
# A part of what each line prints, in their order. A Job may be gone for a moment, when its TTL has passed.
EXPECTED = (
    '"name":"yours"',
    "ControlPlaneReady",
    "Cluster",
    "hyperfleet_adapter_up",
    "",
    "us-east-mgmt-01",
    "hostedcluster-",
    "",
)


def commands(process: "subprocess.Popen[str]") -> list[str]:
    """The lines after the announcement, until the last one."""
    assert process.stdout is not None
    found: list[str] = []
    seen = ""
    for line in process.stdout:
        seen += line
        if line.startswith("  ") and "In another terminal:" in seen:
            found.append(line.strip())
        if line.startswith("  tail "):
            return found
    raise AssertionError(seen)


def test_every_line_works_as_printed_and_ctrl_c_leaves_nothing(tmp_path: Path) -> None:
    kubectl = Path(program("kubectl")).parent
    environment = {**os.environ, "PATH": f"{kubectl}:{os.environ['PATH']}", "TMPDIR": str(tmp_path)}
    with subprocess.Popen(
        [sys.executable, "-m", "lab.demo", "--scenario", "invalid-spec", "--keep"],
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        try:
            printed = commands(process)
            for command, expected in zip(printed, EXPECTED, strict=True):
                done = subprocess.run(
                    command, shell=True, env=environment, capture_output=True, text=True, timeout=TIMEOUT, check=False
                )
                assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
                assert expected in done.stdout.replace(" ", ""), f"{command}\n{done.stdout}"
            process.send_signal(signal.SIGINT)
            assert process.wait(TIMEOUT) == 0
        finally:
            if process.poll() is None:
                process.terminate()
                process.wait(TIMEOUT)
    assert processes_with(tmp_path) == []
    assert list(tmp_path.iterdir()) == []
