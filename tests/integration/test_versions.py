"""Every command of the distribution says its version."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from shared import __version__

PROJECT = Path(__file__).parents[2]
DISTRIBUTION = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]
COMMANDS = DISTRIBUTION["scripts"]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_prints_its_name_and_its_version(command: str) -> None:
    outcome = subprocess.run(
        [Path(sys.executable).parent / command, "--version"],
        check=False,
        capture_output=True,
        text=True,
        timeout=240,
    )

    assert (outcome.returncode, outcome.stdout, outcome.stderr) == (
        0,
        f"{command} {__version__}\n",
        "",
    )


def test_the_bridge_prints_its_version_too() -> None:
    outcome = subprocess.run(
        [sys.executable, "-m", "dpu_bridge", "--version"], check=False, capture_output=True, text=True, timeout=240
    )

    assert (outcome.returncode, outcome.stdout) == (0, f"dpu-hcp-bridge {__version__}\n")


def test_what_is_printed_is_the_version_of_the_distribution() -> None:
    assert DISTRIBUTION["version"] == __version__
