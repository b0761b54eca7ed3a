"""The guide for authors: what it shows is what happens."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from dispatcher.config.loading import inspect
from dispatcher.dryrun.cases import Case, play, trace_of
from dispatcher.dryrun.rehearsing import Rehearsal
from dispatcher.dryrun.text_trace import text_trace
from dispatcher.engine.metadata import Metadata
from dispatcher.engine.runs import Phase, Status
from tests.support.pages import blocks, run_console

GUIDE = Path(__file__).parents[2] / "docs" / "writing-an-adapter.md"
TEXT = GUIDE.read_text()
FILES = dict(re.findall(r"```\w+\n(?:#|//) ([\w.-]+)\n(.*?)```", TEXT, re.DOTALL))


@pytest.fixture
def case(tmp_path: Path) -> Case:
    for name, content in FILES.items():
        (tmp_path / name).write_text(content)
    return Case(
        name="guide",
        folder=tmp_path,
        adapter_config=tmp_path / "adapter-config.yaml",
        task_config=tmp_path / "task-config.yaml",
    )


async def test_the_example_gives_the_trace_that_is_shown(case: Case) -> None:
    rehearsals = await play(case, {})

    trace = text_trace(rehearsals, verbose=False)
    before, after = re.search(r"```text\n(Dry-Run.*?)…\n(.*?)```", TEXT, re.DOTALL).groups()  # type: ignore[union-attr]
    assert rehearsals[0].result.status is Status.SUCCESS
    assert trace.startswith(before)
    assert trace.endswith(after)


def test_the_example_has_no_findings(case: Case) -> None:
    assert inspect(case.adapter_config, case.task_config, environment={}).findings == ()


def test_every_variable_of_adapter_is_described() -> None:
    assert [name for name in Metadata().values if f"`adapter.{name}`" not in TEXT] == []
    assert [phase for phase in Phase if f"`{phase}`" not in TEXT] == []


def test_every_option_of_a_dry_run_is_described() -> None:
    options = Path(__file__).parents[2] / "dispatcher" / "cli" / "rehearsing.py"
    assert [name for name in re.findall(r'"(--dry-run-[\w-]+)"', options.read_text()) if f"`{name}" not in TEXT] == []


def test_every_command_prints_what_is_shown(case: Case) -> None:
    (case.folder / "expected.json").unlink()
    consoles = [block for language, block in blocks(TEXT) if language == "console"]
    for block in consoles:
        if "adapter test" in block:
            (case.folder / "expected.json").write_text(FILES["expected.json"])
        run_console(block, case.folder)
    assert len(consoles) == 3


PATTERNS = {block.partition("\n")[0].strip("# ."): block for _, block in blocks(TEXT) if re.match(r"# \w+ \w", block)}
COMMON = """
params:
  - {name: clusterId, source: event.id, required: true}
  - {name: cluster, source: {api_call: {method: GET, url: "/clusters/{{ .clusterId }}"}}, required: true}
  - {name: generation, source: cluster.generation, required: true}
  - {name: isDeleting, source: {expression: "cluster.?deleted_time.orValue(null) != null"}, required: true}
"""
CLUSTER = {"id": "c1", "name": "one", "generation": 3}
DNS = {"adapter": "dns", "observed_generation": 3, "conditions": [{"type": "Available", "status": "True"}]}


def operations(rehearsal: Rehearsal) -> list[str]:
    return [f"{each['operation']} {each['name']}" for each in trace_of((rehearsal,)).get("resources", ())]


def write_pattern(case: Case, pattern: str, cluster: dict[str, Any], statuses: list[Any]) -> None:
    config, common = yaml.safe_load(PATTERNS[pattern]), yaml.safe_load(COMMON)
    config["params"] = common["params"] + config.get("params", [])
    case.task_config.write_text(yaml.safe_dump(config))
    answers = {"/clusters/c1$": cluster, "/statuses": {"items": statuses}}
    responses = [{"match": {"urlPattern": url}, "responses": [{"body": body}]} for url, body in answers.items()]
    (case.folder / "api-responses.json").write_text(json.dumps({"responses": responses}))
    (case.folder / "secrets.json").write_text(
        json.dumps({"secret": {"hyperfleet-adapters": {"provider": {"token": "s3cr3t"}}}})
    )


@pytest.mark.parametrize(
    ("pattern", "cluster", "statuses", "outcome"),
    [
        ("Wait for the adapter dns", {}, [], "precondition 'dnsIsAvailable' not met"),
        ("Wait for the adapter dns", {}, [DNS], []),
        ("Wait for the adapter dns", {"generation": 4}, [DNS], "precondition 'dnsIsAvailable' not met"),
        ("A Job for each generation", {}, [], ["create job"]),
        ("Delete in order", {}, [], ["create zone", "create settings"]),
        ("Use a Secret", {}, [], ["create credentials"]),
    ],
)
async def test_a_pattern_does_what_it_is_for(
    case: Case, pattern: str, cluster: dict[str, Any], statuses: list[Any], outcome: str | list[str]
) -> None:
    write_pattern(case, pattern, {**CLUSTER, **cluster}, statuses)

    assert inspect(case.adapter_config, case.task_config, environment={}).findings == ()
    rehearsals = await play(case, {})

    assert rehearsals[0].result.status is Status.SUCCESS
    assert "s3cr3t" not in text_trace(rehearsals, verbose=True)
    if isinstance(outcome, str):
        assert outcome in trace_of(rehearsals)["skipReason"]
    else:
        assert operations(rehearsals[0]) == outcome


async def test_what_is_deleted_in_order_goes_one_after_the_other(case: Case) -> None:
    write_pattern(case, "Delete in order", {**CLUSTER, "deleted_time": "2026-01-01T00:00:00Z"}, [])
    event = json.loads((case.folder / "event.json").read_text())
    (case.folder / "event.json").write_text(json.dumps([event, event]))
    generation = {"hyperfleet.io/generation": "3"}
    zone = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "zone-c1", "annotations": generation}}
    names = {"name": "settings", "namespace": "zone-c1", "annotations": generation}
    settings = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": names}
    (case.folder / "discovery.json").write_text(json.dumps({"zone-c1": zone, "settings": settings}))

    first, second = await play(case, {})

    assert operations(first) == ["skip zone", "delete settings"]
    assert operations(second) == ["delete zone", "delete settings"]


def test_every_folder_of_the_shipped_cases_is_described() -> None:
    folders = {each.name for each in (GUIDE.parents[1] / "jobs" / "controlplane" / "tests").iterdir()}
    assert set(re.findall(r"^\| `(\w+)` \|", TEXT.split("## An adapter in full")[1], re.MULTILINE)) == folders
