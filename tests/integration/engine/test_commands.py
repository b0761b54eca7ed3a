"""`serve --dry-run-…`, `render` and `test` as an author runs them."""

import io
import json
import logging
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
import structlog

from dispatcher.cli.main import main

CORPUS = Path(__file__).parents[2] / "conformance" / "adapters"
GUIDE = CORPUS / "namespace-and-configmap"
CASE = GUIDE / "as-in-the-guide"


@dataclass(frozen=True)
class Done:
    returncode: int
    stdout: str
    stderr: str


def run(*arguments: object, **environment: str) -> Done:
    """The command in this process, because most of a command's time is its start."""
    out, err = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
        for name, value in environment.items():
            patch.setenv(name, value)
        try:
            code = main([str(each) for each in arguments])
        except SystemExit as end:
            code = int(end.code or 0)
    return Done(code, out.getvalue(), err.getvalue())


@pytest.fixture(autouse=True)
def _logging_as_it_was() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)
    structlog.reset_defaults()


def rehearsed(adapter: Path, case: Path, *more: object, command: str = "serve", **environment: str) -> Done:
    files = {
        "event": "--dry-run-event",
        "api-responses": "--dry-run-api-responses",
        "discovery": "--dry-run-discovery",
        "secrets": "--dry-run-secrets",
    }
    given = [
        part
        for name, flag in files.items()
        if (case / f"{name}.json").is_file()
        for part in (flag, case / f"{name}.json")
    ]
    return run(
        command, "-c", adapter / "adapter-config.yaml", "-t", adapter / "task-config.yaml", *given, *more, **environment
    )


def test_the_text_trace_goes_to_standard_output() -> None:
    done = rehearsed(GUIDE, CASE)

    assert done.returncode == 0
    assert done.stdout == (CASE / "expected.txt").read_text()
    assert "deprecated" in done.stderr


def test_the_program_itself_runs_it() -> None:
    command = [sys.executable, "-m", "dispatcher.cli", "test", str(GUIDE), "-c", str(GUIDE / "adapter-config.yaml")]

    done = subprocess.run(command, capture_output=True, text=True, check=False, env={"PATH": os.environ["PATH"]})

    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.endswith("passed, 0 failed\n")


def test_the_same_trace_comes_out_every_time() -> None:
    assert rehearsed(GUIDE, CASE, "--dry-run-verbose").stdout == rehearsed(GUIDE, CASE, "--dry-run-verbose").stdout


def test_json_has_bodies_only_where_asked_for() -> None:
    quiet = json.loads(rehearsed(GUIDE, CASE, "--dry-run-output", "json").stdout)
    verbose = json.loads(rehearsed(GUIDE, CASE, "--dry-run-output", "json", "--dry-run-verbose").stdout)

    assert set(quiet) <= {
        "event",
        "status",
        "params",
        "preconditions",
        "resources",
        "discoveredResources",
        "postActions",
        "apiRequests",
        "transportOperations",
        "errors",
        "warnings",
        "skipReason",
        "requeue",
    }
    assert "requestBody" not in quiet["apiRequests"][1]
    assert json.loads(verbose["apiRequests"][1]["requestBody"])["observed_generation"] == 5


def test_a_failed_run_exits_with_1_and_says_why() -> None:
    """Row 16: the Go program exits with 0."""
    done = rehearsed(GUIDE, GUIDE / "status-refused")

    assert done.returncode == 1
    assert done.stdout.endswith("Result: FAILED\n")
    assert "Error in post_actions: reportStatus: PUT" in done.stderr
    assert rehearsed(GUIDE, GUIDE / "status-refused", "--dry-run-exit-zero").returncode == 0


def test_neither_the_environment_nor_the_configuration_is_shown() -> None:
    """Row 16: the Go program prints both."""
    done = rehearsed(GUIDE, CASE, "--dry-run-verbose", HARMLESS_NAME="do-not-show-me")

    assert "do-not-show-me" not in done.stdout
    assert "base_url" not in done.stdout


def test_several_events_run_against_the_same_state() -> None:
    adapter = CORPUS / "two-step-deletion"

    traces = json.loads(
        rehearsed(adapter, adapter / "over-three-events-with-finalizers", "--dry-run-output", "json").stdout
    )

    assert [[each["operation"] for each in trace["resources"]] for trace in traces] == [
        ["delete", "update"],
        ["delete", "delete"],
        ["delete", "delete"],
    ]
    assert "discoveredResources" not in traces[2]


def test_the_time_can_be_set(tmp_path: Path) -> None:
    event = json.loads((CASE / "event.json").read_text())
    del event["time"]
    (tmp_path / "event.json").write_text(json.dumps(event))
    shutil.copy(CASE / "api-responses.json", tmp_path)

    done = rehearsed(GUIDE, tmp_path, "--dry-run-now", "2030-01-02T03:04:05Z", "--dry-run-verbose")

    assert '"observed_time": "2030-01-02T03:04:05.000000Z"' in done.stdout


def test_secrets_are_used_and_not_shown() -> None:
    adapter = CORPUS / "secrets"

    done = rehearsed(adapter, adapter / "shown-nowhere", "--dry-run-verbose")

    assert done.returncode == 0
    assert "s3cr3t" not in done.stdout + done.stderr
    assert 'apiKey           = "***"' in done.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        pytest.param(
            ["--dry-run-api-responses", CASE / "api-responses.json"],
            "give --dry-run-event FILE",
            id="mocks without an event",
        ),
        *(
            pytest.param(option, "give --dry-run-event FILE", id=f"{option[0]} without an event")
            for option in (
                ["--dry-run-discovery", CASE / "api-responses.json"],
                ["--dry-run-secrets", CASE / "api-responses.json"],
                ["--dry-run-now", "2026-01-02T03:04:05Z"],
                ["--dry-run-output", "json"],
                ["--dry-run-verbose"],
                ["--dry-run-exit-zero"],
            )
        ),
        pytest.param(["--health-port", "x"], "--health-port: must be a port from 0 to 65535, not 'x'", id="no port"),
        pytest.param(
            ["--metrics-port", "65536"], "--metrics-port: must be a port from 0", id="a port that is too large"
        ),
        pytest.param(["--dry-run-event", CASE / "nowhere.json"], "No such file", id="a file that is not there"),
        pytest.param(
            ["--dry-run-event", CASE / "api-responses.json"], "specversion: is required", id="a file that is no event"
        ),
        pytest.param(
            ["--dry-run-event", CASE / "event.json", "--dry-run-now", "noon"],
            "--dry-run-now: 'noon' is not an RFC 3339 time",
            id="a time that is none",
        ),
    ],
)
def test_what_is_refused_exits_with_2(arguments: list[object], message: str) -> None:
    done = run("serve", "-c", GUIDE / "adapter-config.yaml", "-t", GUIDE / "task-config.yaml", *arguments)

    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_a_configuration_that_is_refused_shows_each_place(tmp_path: Path) -> None:
    task = tmp_path / "task.yaml"
    task.write_text("params:\n  - name: a\n    source: {expression: '1 +'}\n    required: true\nresources: 5\n")

    done = run("serve", "-c", GUIDE / "adapter-config.yaml", "-t", task, "--dry-run-event", CASE / "event.json")

    assert done.returncode == 2
    assert f"{task}:5:12" in done.stderr


def test_a_flag_wins_over_the_file() -> None:
    done = rehearsed(GUIDE, CASE, "--hyperfleet-api-version", "v2", "--dry-run-output", "json")

    assert json.loads(done.stdout)["apiRequests"][0]["url"] == "/api/hyperfleet/v1/clusters/abc123"
    relative = CORPUS / "params-by-api-call"
    done = rehearsed(
        relative, relative / "created", "--hyperfleet-api-version", "v2", "--dry-run-output", "json", RUN_ID="r1"
    )
    assert json.loads(done.stdout)["apiRequests"][0]["url"] == "/api/hyperfleet/v2/clusters/abc123"


def test_render_prints_what_would_be_applied_and_reported() -> None:
    done = rehearsed(GUIDE, CASE, command="render")

    assert done.returncode == 0
    assert done.stdout.count("---\n") == 3
    assert "# resource clusterConfig\napiVersion: v1\nkind: ConfigMap\n" in done.stdout
    assert "# payload statusPayload\nadapter: namespace-and-configmap\n" in done.stdout
    assert "payload" not in rehearsed(GUIDE, CASE, "--only", "manifests", command="render").stdout
    assert "kind: Namespace" not in rehearsed(GUIDE, CASE, "--only", "payloads", command="render").stdout


def test_the_help_teaches() -> None:
    for command in ("serve", "render", "test"):
        done = run(command, "--help")
        assert done.returncode == 0
        assert "examples:" in done.stdout
        assert "exit code" in done.stdout


# test DIR


@pytest.fixture
def cases(tmp_path: Path) -> Path:
    folder = tmp_path / "cases"
    for name in ("as-in-the-guide", "not-met"):
        shutil.copytree(GUIDE / name, folder / name)
    for name in ("adapter-config.yaml", "task-config.yaml"):
        shutil.copy(GUIDE / name, folder)
    return folder


def test_cases_that_pass_are_a_table_and_exit_with_0(cases: Path, tmp_path: Path) -> None:
    done = run("test", cases, "--junit", tmp_path / "results.xml")

    assert (done.returncode, done.stdout.splitlines()) == (
        0,
        ["as-in-the-guide  passed", "not-met          passed", "2 passed, 0 failed"],
    )
    suite = ET.parse(tmp_path / "results.xml").getroot()
    assert (suite.get("tests"), suite.get("failures"), [each.get("name") for each in suite]) == (
        "2",
        "0",
        ["as-in-the-guide", "not-met"],
    )


def test_results_that_cannot_be_written_are_a_mistake_of_the_user(cases: Path, tmp_path: Path) -> None:
    done = run("test", cases, "--junit", tmp_path / "nowhere" / "results.xml")

    assert done.returncode == 2
    assert "No such file or directory; name a file in a folder that exists" in done.stderr


def test_a_case_that_fails_says_where_it_differs(cases: Path, tmp_path: Path) -> None:
    (cases / "not-met" / "expected.json").write_text(
        '{"status": "success", "resources": [], "postActions": [{"name": "other"}]}'
    )

    done = run("test", cases, "--junit", tmp_path / "results.xml")

    assert done.returncode == 1
    assert '  postActions[0].name: expected "other", found "reportStatus"' in done.stdout.splitlines()
    assert "  resources: expected [], but there is nothing" in done.stdout.splitlines()
    failure = ET.parse(tmp_path / "results.xml").getroot().find("testcase/failure")
    assert failure is not None
    assert failure.text is not None
    assert "postActions[0].name" in failure.text


def test_an_expectation_may_name_only_what_matters(cases: Path) -> None:
    (cases / "not-met" / "expected.json").write_text(
        '{"apiRequests": [{}, {"requestBody": {"observed_generation": 5}}]}'
    )
    (cases / "not-met" / "expected.txt").unlink()

    assert run("test", cases).returncode == 0


def test_update_makes_what_happens_what_is_expected(cases: Path) -> None:
    (cases / "not-met" / "expected.json").write_text("{}")
    (cases / "not-met" / "expected.txt").write_text("")

    assert run("test", cases, "--update").returncode == 0
    assert (cases / "not-met" / "expected.json").read_text() == (GUIDE / "not-met" / "expected.json").read_text()
    assert (cases / "not-met" / "expected.txt").read_text() == (GUIDE / "not-met" / "expected.txt").read_text()


def test_a_case_without_a_configuration_is_a_mistake_of_the_user(cases: Path) -> None:
    (cases / "task-config.yaml").unlink()

    done = run("test", cases)

    assert done.returncode == 2
    assert "has no task-config.yaml" in done.stderr
    assert run("test", cases, "-t", GUIDE / "task-config.yaml").returncode == 0


def test_a_folder_without_cases_is_one_too(tmp_path: Path) -> None:
    assert run("test", tmp_path).returncode == 2
    assert f"there is no folder {tmp_path / 'nowhere'}" in run("test", tmp_path / "nowhere").stderr


def test_a_case_whose_configuration_is_refused_fails(cases: Path) -> None:
    (cases / "not-met" / "task-config.yaml").write_text("params: 5\n")

    done = run("test", cases)

    assert done.returncode == 1
    assert "not-met          FAILED" in done.stdout
    assert "the configuration is refused" in done.stdout


@pytest.mark.parametrize("name", ["event", "api-responses", "discovery", "secrets", "environment", "expected"])
@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"\xff", b"[" * 100_000, b"null", b"5", b'["x"]', b"9" * 5_000],
    ids=lambda each: repr(each[:6]),
)
def test_a_file_of_a_case_that_cannot_be_read_fails_the_case(cases: Path, name: str, content: bytes) -> None:
    (cases / "not-met" / f"{name}.json").write_bytes(content)

    done = run("test", cases)

    assert done.returncode == 1
    assert "as-in-the-guide  passed" in done.stdout
    assert "not-met          FAILED" in done.stdout


def test_an_expected_text_that_is_not_text_fails_the_case(cases: Path) -> None:
    (cases / "not-met" / "expected.txt").write_bytes(b"\xff")

    done = run("test", cases)

    assert done.returncode == 1
    assert "expected.txt cannot be read" in done.stdout


def test_an_expectation_that_cannot_be_written_is_a_mistake_of_the_user(cases: Path) -> None:
    expected = cases / "not-met" / "expected.json"
    expected.unlink()
    expected.symlink_to("/proc/version")

    done = run("test", cases, "--update")

    assert done.returncode == 2
    assert f"{expected} cannot be written" in done.stderr


def test_half_a_character_in_a_file_of_a_case_stands_for_itself(cases: Path) -> None:
    """JSON allows it, and no text does."""
    responses = cases / "not-met" / "api-responses.json"
    responses.write_text(responses.read_text().replace('"urlPattern": "', '"urlPattern": "\\ud800|', 1))

    assert run("test", cases).returncode == 0
