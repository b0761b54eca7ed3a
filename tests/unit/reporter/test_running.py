"""The command around the sidecar's life: help, wrong usage, and the sentence it leaves behind."""

import subprocess
import sys
from pathlib import Path

import pytest

from status_reporter.running import _write_termination_message


def status_reporter(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "status_reporter", *arguments]
    return subprocess.run(command, check=False, capture_output=True, text=True, timeout=60)


@pytest.mark.parametrize("option", ["--help", "-h"])
def test_help_is_given_where_it_is_asked_for(option: str) -> None:
    outcome = status_reporter(option)
    assert (outcome.returncode, outcome.stderr) == (0, "")
    assert "Exit codes:" in outcome.stdout


def test_arguments_are_explained_away() -> None:
    outcome = status_reporter("--poll=2")
    assert (outcome.returncode, outcome.stdout) == (2, "")
    assert "It takes no arguments" in outcome.stderr


def test_the_last_sentence_is_cut_between_characters_to_what_the_kubelet_shows(tmp_path: Path) -> None:
    _write_termination_message(tmp_path / "log", "x" + "\u00e9" * 5000)
    assert (tmp_path / "log").read_text(encoding="utf-8") == "x" + "\u00e9" * 1999
