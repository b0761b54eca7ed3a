"""Standard output that nobody takes: a full disk, a reader that went away, a stream that the caller closed."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[2]
COMMANDS = {
    "a value of CEL": ["dispatcher.cli", "eval", "cel", "1"],
    "the dispatcher's version": ["dispatcher.cli", "version"],
    "a completion of the dispatcher": ["dispatcher.cli", "completion", "bash"],
    "a completion of maestro-cli": ["maestro_cli", "completion", "bash"],
    "the version of maestro-cli": ["maestro_cli", "version"],
    "the help of the control plane adapter": ["controlplane_adapter", "--help"],
    "its check": ["controlplane_adapter", "check"],
    "the help of the status reporter": ["status_reporter", "--help"],
    "the schema of a report": ["status_reporter.writing", "schema"],
    "the help of the bridge": ["dpu_bridge", "--help"],
}
HELPS = {
    "hyperfleet-adapter": "dispatcher.cli",
    "maestro-cli": "maestro_cli",
    "adapter-report": "status_reporter.writing",
}
EVERY_COMMAND = pytest.mark.parametrize("arguments", COMMANDS.values(), ids=COMMANDS)


def command_line(arguments: list[str]) -> str:
    return f"{sys.executable} -m {' '.join(arguments)}"


def shell(line: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run it without a PYTHONUNBUFFERED of the CI, so that a short output is written at the end."""
    return subprocess.run(
        ["bash", "-c", f"set -o pipefail; {line}"],
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(PROJECT), **environment},
    )


@EVERY_COMMAND
@pytest.mark.parametrize("environment", [{}, {"PYTHONUNBUFFERED": "1"}], ids=["at its end", "while it writes"])
def test_a_full_disk_is_reported_in_one_line(arguments: list[str], environment: dict[str, str]) -> None:
    ended = shell(f"{command_line(arguments)} > /dev/full", **environment)
    assert ended.stderr.endswith(": standard output: No space left on device\n")
    assert (ended.returncode, ended.stderr.count("\n")) == (1, 1)


@EVERY_COMMAND
def test_a_reader_that_goes_away_is_no_failure(arguments: list[str]) -> None:
    read, left = shell(command_line(arguments)), shell(f"{command_line(arguments)} | true")
    assert (left.returncode, left.stderr) == (read.returncode, read.stderr)


@pytest.mark.parametrize("module", HELPS.values(), ids=HELPS)
def test_a_reader_that_goes_away_from_a_help_is_no_failure(module: str) -> None:
    ended = shell(f"{command_line([module, '--help'])} | true")
    assert (ended.returncode, ended.stderr) == (0, "")


@EVERY_COMMAND
def test_output_that_the_caller_closed_is_left_out(arguments: list[str]) -> None:
    open_ended, closed = shell(command_line(arguments)), shell(f"{command_line(arguments)} >&-")
    assert (closed.returncode, closed.stdout, closed.stderr) == (open_ended.returncode, "", open_ended.stderr)
