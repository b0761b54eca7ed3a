"""The command around the sidecar's loop: help, wrong usage, and the termination message."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from shared import __version__
from status_reporter.running import _write_termination_message


def status_reporter(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "status_reporter", *arguments]
    environment = {**os.environ, **variables}
    return subprocess.run(command, check=False, capture_output=True, text=True, timeout=240, env=environment)


@pytest.mark.parametrize("option", ["--help", "-h"])
def test_help_is_given_where_it_is_asked_for(option: str) -> None:
    outcome = status_reporter(option)
    assert (outcome.returncode, outcome.stderr) == (0, "")
    assert "Exit codes:" in outcome.stdout


def test_arguments_are_explained_away() -> None:
    outcome = status_reporter("--poll=2")
    assert (outcome.returncode, outcome.stdout) == (2, "")
    assert "It takes no arguments" in outcome.stderr


def test_the_termination_message_is_cut_between_characters_to_what_the_kubelet_shows(tmp_path: Path) -> None:
    _write_termination_message(tmp_path / "log", "x" + "\u00e9" * 5000)
    assert (tmp_path / "log").read_text(encoding="utf-8") == "x" + "\u00e9" * 1999


def test_the_version_is_shown() -> None:
    outcome = status_reporter("--version")
    assert (outcome.returncode, outcome.stdout) == (0, f"status-reporter {__version__}\n")


def test_every_log_line_names_cluster_generation_consumer_and_job() -> None:
    context = {"CLUSTER_ID": "c-1", "GENERATION": "3", "MANAGEMENT_CLUSTER_CONSUMER": "mgmt-01", "JOB_NAME": "a-job"}
    outcome = status_reporter(**context, CONDITION_TYPE="Failed")
    lines = [json.loads(line) for line in outcome.stderr.splitlines()]
    assert lines
    for line in lines:
        assert [line[key] for key in ("cluster_id", "generation", "consumer", "job")] == list(context.values())
