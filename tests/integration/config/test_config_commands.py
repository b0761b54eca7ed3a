"""`validate`, `schema`, `config-dump` and `version` as a user runs them."""

import json
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from dispatcher.cli.main import main

ADAPTER = """\
adapter: {name: demo, version: 1.10}
clients:
  hyperfleet_api:
    base_url: http://api:8000
    default_headers: {X-Api-Token: hunter2}
  broker: {subscription_id: sub, topic: clusters}
"""
TASK = """\
params:
  - {name: clusterId, source: event.id}
resources:
  - name: clusterNamespace
    manifest:
      apiVersion: v1
      kind: Namespace
      metadata:
        name: "{{ .clusterId }}"
        annotations: {hyperfleet.io/generation: "{{ .clusterId }}"}
    discovery: {by_name: "{{ .clusterId }}"}
"""


@dataclass(frozen=True)
class Ended:
    returncode: int
    stdout: str
    stderr: str


Command = Callable[..., Ended]


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """Runs the program in a folder with two good files; `environment` is all the environment it has."""
    (tmp_path / "adapter.yaml").write_text(ADAPTER.replace("    default_headers: {X-Api-Token: hunter2}\n", ""))
    (tmp_path / "task.yaml").write_text(TASK)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["/usr/bin/hyperfleet-adapter"])

    def run(*arguments: str, **environment: str) -> Ended:
        monkeypatch.setattr(os, "environ", environment)
        try:
            code = main(arguments)
        except SystemExit as ended:
            code = int(str(ended.code or 0))
        captured = capsys.readouterr()
        return Ended(code, captured.out, captured.err)

    return run


FILES = ("-c", "adapter.yaml", "-t", "task.yaml")


def test_a_valid_configuration_ends_with_0(command: Command) -> None:
    ended = command("validate", *FILES)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "0 errors, 0 warnings\n", "")


def test_errors_end_with_1_and_show_the_line(command: Command, tmp_path: Path) -> None:
    (tmp_path / "task.yaml").write_text(TASK.replace("name: clusterId, source", "name: cluster, source"))
    ended = command("validate", *FILES)
    assert ended.returncode == 1
    assert ended.stdout.splitlines()[:4] == [
        "error: task.yaml:9:19: resources[0].manifest.metadata.name: there is no variable .clusterId",
        '            name: "{{ .clusterId }}"',
        "                      ^",
        "  hint: did you mean .cluster?",
    ]
    assert ended.stdout.splitlines()[-1] == "3 errors, 0 warnings"


def test_warnings_end_with_0_and_with_strict_they_are_errors(command: Command, tmp_path: Path) -> None:
    (tmp_path / "adapter.yaml").write_text("adapter: {name: a}\nclients: {kubernetes: {api_version: v1}}\n")
    assert command("validate", *FILES).returncode == 0
    assert command("validate", "--strict", *FILES).returncode == 1


def test_names_are_not_looked_at_without_the_semantic_checks(command: Command, tmp_path: Path) -> None:
    (tmp_path / "task.yaml").write_text(TASK.replace("name: clusterId, source", "name: cluster, source"))
    assert command("validate", "--skip-semantic", *FILES).returncode == 0


def test_misuse_and_files_that_cannot_be_read_end_with_2(command: Command) -> None:
    for arguments in (
        ("validate", "-c", "nothing.yaml", "-t", "task.yaml"),
        ("validate", "-t", "task.yaml"),
        ("validate", "-c", "adapter.yaml"),
        ("validate", *FILES, "-o", "xml"),
    ):
        ended = command(*arguments)
        assert ended.returncode == 2
        assert "Traceback" not in ended.stderr


def test_files_in_each_others_place_are_named_as_such(command: Command) -> None:
    ended = command("validate", "-c", "task.yaml", "-t", "adapter.yaml")
    assert ended.returncode == 1
    assert [line for line in ended.stdout.splitlines() if line.startswith(("error", "  hint"))] == [
        "error: adapter.yaml:1:1: this is an adapter config, not a task config",
        "  hint: name it with --config",
        "error: task.yaml:1:1: this is a task config, not an adapter config",
        "  hint: name it with --task-config",
    ]


def test_a_required_variable_of_the_deployment_is_only_a_warning_here(command: Command, tmp_path: Path) -> None:
    task = TASK.replace("params:", "params:\n  - {name: run, source: env.RUN_ID, required: true}")
    (tmp_path / "task.yaml").write_text(task)
    ended = command("validate", *FILES)
    assert ended.returncode == 0
    assert "RUN_ID is required and not set" in ended.stdout
    assert command("config-dump", *FILES).returncode == 2
    assert command("config-dump", *FILES, RUN_ID="1").returncode == 0


def test_the_files_can_be_named_by_variables(command: Command, tmp_path: Path) -> None:
    variables = {"HYPERFLEET_ADAPTER_CONFIG": "adapter.yaml", "HYPERFLEET_TASK_CONFIG": "task.yaml"}
    assert command("validate", **variables).returncode == 0
    (tmp_path / "configs").mkdir()
    (tmp_path / "adapter.yaml").rename(tmp_path / "configs" / "config.yaml")
    assert command("validate", "-t", "task.yaml").returncode == 0


def test_the_broker_config_is_checked_where_one_is_named(command: Command, tmp_path: Path) -> None:
    (tmp_path / "broker.yaml").write_text("broker: {type: kafka}\n")
    assert command("validate", *FILES).returncode == 0
    for ended in (
        command("validate", *FILES, "--broker-config", "broker.yaml"),
        command("validate", *FILES, BROKER_CONFIG_FILE="broker.yaml"),
    ):
        assert ended.returncode == 1
        assert "broker.yaml:1:16: broker.type: 'kafka' is not one of rabbitmq, googlepubsub, embedded" in ended.stdout


@pytest.fixture
def broken(tmp_path: Path, command: Command) -> Command:
    task = TASK.replace(
        "params:", "params:\n  - {name: password, source: env.P, default: hunter2}\n  - {name: a,b, source: x}"
    )
    (tmp_path / "task.yaml").write_text(task)
    return command


def test_findings_as_json(broken: Command) -> None:
    ended = broken("validate", *FILES, "-o", "json")
    assert ended.returncode == 1
    report: dict[str, Any] = json.loads(ended.stdout)
    assert (report["valid"], report["errors"], report["warnings"]) == (False, 2, 0)
    secret = report["findings"][0]
    assert secret["rule"] == "clear-text-secret"
    assert (secret["file"], secret["line"], secret["column"]) == ("task.yaml", 2, 46)
    assert secret["source"] == "  - {name: password, source: env.P, default: ***"
    assert "hunter2" not in ended.stdout


def test_findings_as_annotations_of_github(broken: Command) -> None:
    lines = broken("validate", *FILES, "-o", "github").stdout.splitlines()
    assert len(lines) == 2
    assert lines[0].startswith("::error file=task.yaml,line=2,col=46,title=clear-text-secret::params[0].default: ")
    assert "%0Ahint: " in lines[0]


def test_findings_as_sarif(broken: Command) -> None:
    report = json.loads(broken("validate", *FILES, "-o", "sarif").stdout)
    run = report["runs"][0]
    assert report["version"] == "2.1.0"
    assert {rule["id"] for rule in run["tool"]["driver"]["rules"]} == {result["ruleId"] for result in run["results"]}
    location = run["results"][0]["locations"][0]["physicalLocation"]
    assert location == {"artifactLocation": {"uri": "task.yaml"}, "region": {"startLine": 2, "startColumn": 46}}


def test_the_dump_shows_what_counts_and_no_secret(command: Command, tmp_path: Path) -> None:
    (tmp_path / "adapter.yaml").write_text(ADAPTER)
    ended = command(
        "config-dump", *FILES, "--log-level", "debug", "--debug-config",
        HYPERFLEET_API_TIMEOUT="2s", HYPERFLEET_MAESTRO_CA_FILE="/certs/ca.crt", LOG_LEVEL="error",
    )  # fmt: skip
    assert ended.returncode == 0
    dump = yaml.safe_load(ended.stdout)
    assert dump["adapter"] == {"name": "demo", "version": "1.10"}
    assert dump["debug_config"] is True
    assert dump["log"]["level"] == "debug"
    assert dump["clients"]["hyperfleet_api"]["timeout"] == "2s"
    assert dump["clients"]["hyperfleet_api"]["default_headers"] == {"X-Api-Token": "**REDACTED**"}
    assert dump["clients"]["maestro"]["auth"]["tls_config"]["ca_file"] == "**REDACTED**"
    assert dump["resources"][0]["manifest"]["metadata"]["name"] == "{{ .clusterId }}"
    assert "hunter2" not in ended.stdout + ended.stderr


def test_the_dump_can_be_loaded_again(command: Command, tmp_path: Path) -> None:
    dump = yaml.safe_load(command("config-dump", *FILES).stdout)
    phases = ("params", "preconditions", "resources", "post")
    (tmp_path / "adapter.yaml").write_text(yaml.safe_dump({key: dump[key] for key in dump if key not in phases}))
    (tmp_path / "task.yaml").write_text(yaml.safe_dump({key: dump[key] for key in dump if key in phases}))
    assert yaml.safe_load(command("config-dump", *FILES).stdout) == dump


def test_a_refused_configuration_is_explained_without_a_dump(command: Command, tmp_path: Path) -> None:
    (tmp_path / "task.yaml").write_text("parms: []\n")
    ended = command("config-dump", *FILES)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert "task.yaml:1:1: parms: there is no key 'parms' here" in ended.stderr
    assert "did you mean params?" in ended.stderr


def test_a_mistake_is_refused_by_strict_only(command: Command, tmp_path: Path) -> None:
    (tmp_path / "task.yaml").write_text("params: [{name: a, source: {expression: nothing}}]\n")
    assert command("config-dump", *FILES).returncode == 0
    assert command("config-dump", "--strict", *FILES).returncode == 2


@pytest.mark.parametrize(
    ("kind", "text"), [("adapter", ADAPTER), ("task", TASK), ("broker", "broker: {type: rabbitmq}\n")]
)
def test_the_schema_accepts_what_is_valid_and_no_unknown_key(kind: str, text: str, command: Command) -> None:
    schema = json.loads(command("schema", kind).stdout)
    jsonschema.Draft202012Validator.check_schema(schema)
    document = yaml.safe_load(text.replace("1.10", "'1.10'"))
    jsonschema.validate(document, schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**document, "unknown": 1}, schema)


def test_the_version_has_the_three_lines_of_the_go_program(command: Command) -> None:
    lines = command("version", HYPERFLEET_BUILD_COMMIT="abc").stdout.splitlines()
    assert [line.partition(":")[0] for line in lines] == ["Version", "Commit", "Build Date"]
    assert lines[1].endswith("abc")
    assert command("--version").stdout.startswith("hyperfleet-adapter ")


@pytest.mark.parametrize("name", ["validate", "config-dump", "schema", "version"])
def test_help_names_the_exit_codes_or_an_example(name: str, command: Command) -> None:
    ended = command(name, "--help")
    assert ended.returncode == 0
    assert "usage: hyperfleet-adapter" in ended.stdout
    if name in {"validate", "config-dump"}:
        assert "exit code: 0" in ended.stdout
        assert "$HYPERFLEET_API_TIMEOUT" in ended.stdout
