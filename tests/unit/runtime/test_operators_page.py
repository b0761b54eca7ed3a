"""docs/operating-the-dispatcher.md says what the code says."""

import re
import shlex
from pathlib import Path

import pytest
import yaml
from prometheus_client import CollectorRegistry

from dispatcher.cli.main import main
from dispatcher.observability.identity import Identity
from dispatcher.observability.metrics import Metrics, QueueCollector
from dispatcher.runtime.objects_view import QueueView
from dispatcher.runtime.scheduling.schedule import Schedule
from dispatcher.runtime.settings import SETTINGS
from dispatcher.runtime.watching.awaiting import AwaitedDeletions

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "operating-the-dispatcher.md").read_text()


def rows(heading: str) -> dict[str, list[str]]:
    """The rows of the table below a heading, by their first cell."""
    section = PAGE.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    cells = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in section.splitlines() if line.startswith("| `")
    ]
    return {first.strip("`"): rest for first, *rest in cells}


def test_every_setting_is_described_with_its_default() -> None:
    described = {name: row[-1].strip("`") for name, row in rows("Settings").items()}
    assert described == {setting.name: setting.shown for setting in SETTINGS}


async def test_every_metric_is_described_with_its_labels() -> None:
    identity = Identity(component="c", version="v", commit="x")
    metrics, queue = Metrics(identity, topic="t"), CollectorRegistry()
    queue.register(QueueCollector(QueueView(Schedule(), AwaitedDeletions()), identity))
    families = [family for registry in (metrics.registry, queue) for family in registry.collect()]
    ours = {
        family.name + ("_total" if family.type == "counter" else "")
        for family in families
        if family.name.startswith("hyperfleet_")
    }
    assert set(rows("Metrics")) == ours


def test_every_alert_has_its_section() -> None:
    alerts = re.findall(r"alert: (\w+)", (ROOT / "charts" / "hyperfleet-adapter" / "files" / "alerts.yaml").read_text())
    assert alerts
    assert re.findall(r"^### (\w+)$", PAGE, re.MULTILINE) == alerts


@pytest.mark.parametrize("anchor", sorted(set(re.findall(r"\]\(#([\w-]+)\)", PAGE))))
def test_every_link_within_the_page_leads_somewhere(anchor: str) -> None:
    headings = {heading.lower().replace(" ", "-") for heading in re.findall(r"^##+ (.+)$", PAGE, re.MULTILINE)}
    assert anchor in headings


def commands(page: str) -> list[str]:
    blocks = re.findall(r"^( *)```sh\n(.*?)^ *```$", page, re.MULTILINE | re.DOTALL)
    joined = "\n".join(
        re.sub(r"\\\n\s*", "", re.sub(rf"^{indent}", "", block, flags=re.MULTILINE)) for indent, block in blocks
    )
    return joined.splitlines()


@pytest.mark.parametrize(
    "command", [each for each in commands(PAGE) if re.match("hyperfleet-adapter (validate|rbac)", each)]
)
def test_the_shown_commands_succeed(command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    assert main(shlex.split(command)[1:]) == 0


def test_the_chart_is_installed_as_its_own_page_says() -> None:
    chart = (ROOT / "charts" / "hyperfleet-adapter" / "README.md").read_text()
    shown = [each for each in commands(PAGE) if each.startswith("helm ")]
    assert shown == [each for each in commands(chart) if each.startswith("helm ")]
    for file in re.findall(r"(?:-f |=)(\S+\.yaml)", " ".join(shown)):
        assert (ROOT / file).is_file()


def section(heading: str) -> str:
    return PAGE.split(f"\n## {heading}\n")[1].split("\n## ")[0]


def test_troubleshooting_quotes_lines_that_are_logged() -> None:
    quoted = re.findall(r"log says `([^`]+)`(?: or `([^`]+)`)?", section("Troubleshooting"))
    lines = [line for pair in quoted for line in pair if line]
    sources = "".join(path.read_text() for path in (ROOT / "dispatcher").rglob("*.py"))
    assert len(lines) > 5
    assert [line for line in lines if f'"{line}"' not in sources] == []


def test_troubleshooting_names_reasons_that_are_reported() -> None:
    shipped = (ROOT / "jobs" / "controlplane" / "hypershift-controlplane-task-config.yaml").read_text()
    reasons = set(re.findall(r'"reason": "(\w+)"|orValue\("(JobFailed)"\)', shipped))
    assert [each for pair in reasons for each in pair if each and f"`{each}`" not in section("Troubleshooting")] == []


def test_scaling_names_values_of_the_chart() -> None:
    values = yaml.safe_load((ROOT / "charts" / "hyperfleet-adapter" / "values.yaml").read_text())
    for name in re.findall(r"^\| `([\w.]+)`", section("Scaling"), re.MULTILINE):
        found = values
        for key in name.split("."):
            found = found[key]


def test_the_ttl_is_the_job_s() -> None:
    (ttl,) = re.findall(r"ttlSecondsAfterFinished: (\d+)", (ROOT / "jobs" / "controlplane" / "job.yaml").read_text())
    assert f"| {ttl} s |" in section("TTL and pulses")
