"""The guide and the command's help know every variable, exit code and reason that the code knows."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from shared.errors import Misconfigured
from shared.model.report import AdapterReport
from status_reporter.exits import Exit
from status_reporter.pod.container import CANNOT_START_REASONS
from status_reporter.settings import RESERVED_TYPES, load
from tests.support.reporter import ROLE

ROOT = Path(__file__).parents[3]
GUIDE = (ROOT / "docs" / "status-reporter.md").read_text()
PROSE = re.sub(r"^```.*?^```", "", GUIDE, flags=re.DOTALL | re.MULTILINE)
NAMED = set(re.findall(r"`([^`\n]+)`", PROSE))
BLOCKS = [yaml.safe_load(text) for text in re.findall(r"^```yaml\n(.*?)^```", GUIDE, re.DOTALL | re.MULTILINE)]


class Asked(dict[str, str]):
    """An environment that remembers what it was asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.names: set[str] = set()

    def get(self, key: str, default: Any = None) -> Any:
        self.names.add(key)
        return super().get(key, default)


def variables() -> set[str]:
    environment = Asked()
    with pytest.raises(Misconfigured):
        load(environment)
    return environment.names


def document(kind: str) -> dict[str, Any]:
    (found,) = (block for block in BLOCKS if block.get("kind") == kind)
    return dict(found)


def test_every_variable_is_explained() -> None:
    assert len(variables()) > 15
    assert variables() <= NAMED


def test_every_variable_stands_in_the_commands_help() -> None:
    command = [sys.executable, "-m", "status_reporter", "--help"]
    printed = subprocess.run(command, check=True, capture_output=True, text=True, timeout=240).stdout
    of_kubernetes = {"KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT"}
    assert variables() - of_kubernetes <= set(re.findall(r"[A-Z_]{5,}", printed))


def test_every_reason_is_explained() -> None:
    source = (ROOT / "status_reporter" / "verdict.py").read_text()
    reasons = set(re.findall(r'"((?:Adapter|Reporter|Invalid)[A-Z]\w+)"', source))
    assert len(reasons) == 7
    assert reasons | CANNOT_START_REASONS <= NAMED


def test_every_exit_code_is_explained_with_its_own_meaning() -> None:
    for code in Exit:
        assert f"| {code.value} | {code.meaning}" in GUIDE


def test_every_reserved_type_is_named() -> None:
    assert RESERVED_TYPES <= NAMED


def test_the_role_is_the_one_that_is_tried_on_a_real_server() -> None:
    assert document("Role")["rules"] == list(ROLE)


def test_the_job_sets_what_the_reporter_knows() -> None:
    containers = {each["name"]: each for each in document("Job")["spec"]["template"]["spec"]["containers"]}
    assert {each["name"] for each in containers["status-reporter"]["env"]} <= variables()


def test_the_report_is_one_that_the_reporter_takes() -> None:
    (report,) = re.findall(r"^```json\n(.*?)^```", GUIDE, re.DOTALL | re.MULTILINE)
    assert [each.type for each in AdapterReport.parse(report.encode()).conditions] == ["Applied", "Available"]
