"""What comes along with an import: the sidecar starts with the light part, and short-lived containers pay for the rest."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]

SCRIPT = """
import importlib, json, sys
before = set(sys.modules)
importlib.import_module(sys.argv[1])
print(json.dumps(sorted({name.partition(".")[0] for name in set(sys.modules) - before})))
"""


def packages_imported_by(module: str) -> set[str]:
    command = [sys.executable, "-c", SCRIPT, module]
    outcome = subprocess.run(command, check=True, capture_output=True, text=True, timeout=240)
    return set(json.loads(outcome.stdout))


@pytest.mark.parametrize(
    "module",
    [
        "errors",
        "times",
        "files",
        "redaction",
        "model.conditions",
        "model.report",
        "model.manifestwork",
        "model.manifestwork_validation",
    ],
)
def test_the_vocabulary_needs_nothing_but_the_standard_library(module: str) -> None:
    assert packages_imported_by(f"shared.{module}") - sys.stdlib_module_names == {"shared"}


def test_the_maestro_client_brings_only_what_it_speaks_with() -> None:
    packages = packages_imported_by("shared.maestro")
    assert not packages & {"pydantic", "kubernetes", "aiohttp", "httpx", "yaml", "structlog", "requests"}
    assert "h11" in packages


def test_only_writers_and_watchers_load_grpc() -> None:
    assert not packages_imported_by("shared.maestro") & {"grpc", "google"}
    assert packages_imported_by("shared.maestro.grpc.connection") >= {"grpc", "google"}


@pytest.mark.parametrize("module", ["shared.retry", "shared.logs"])
def test_retry_and_logs_bring_no_client(module: str) -> None:
    assert not packages_imported_by(module) & {"grpc", "google", "h11", "yaml"}


def test_the_sidecar_makes_no_dataclass() -> None:
    """Each would cost a hundredth of its start, and the module that makes them another tenth."""
    code = "import sys, status_reporter.running; print(*{'dataclasses', 'inspect'} & sys.modules.keys())"
    command = [sys.executable, "-S", "-c", code]
    assert subprocess.check_output(command, cwd=ROOT, text=True, timeout=240).strip() == ""
