"""`adapter-report` as a real process: what it writes, what it refuses, and that it fails in one line and leaves no half."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from shared import __version__
from shared.model.report import AdapterReport

Outcome = subprocess.CompletedProcess[str]


def adapter_report(
    *arguments: str | Path, results: Mapping[str, str] = MappingProxyType({}), max_bytes: int = 0
) -> Outcome:
    """Run it; `results` are variables that say where a report belongs, `max_bytes` limits the size of a file."""
    known = {name: value for name, value in os.environ.items() if not name.startswith("RESULTS_")}
    limited = ("prlimit", f"--fsize={max_bytes}", "--") if max_bytes else ()
    return subprocess.run(
        [*limited, sys.executable, "-m", "status_reporter.writing", *map(str, arguments)],
        check=False,
        capture_output=True,
        text=True,
        timeout=240,
        env={**known, **results},
    )


def complaint(outcome: Outcome, *, code: int = 1) -> str:
    """What a failed run prints: one line, and no traceback."""
    assert outcome.returncode == code, outcome.stderr
    assert outcome.stdout == ""
    assert "Traceback" not in outcome.stderr
    return outcome.stderr


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "adapter-report.json"


def read(file: Path) -> Any:
    return json.loads(file.read_text())


def test_a_report_is_written_with_all_that_was_said(file: Path) -> None:
    outcome = adapter_report(
        *("write", "--file", file),
        *("--condition", "Applied=True:Created:the object is there: really"),
        *("--condition", "Available=False:Waiting", "--condition", "Health=Unknown"),
        *("--data", "endpoint=https://api.example:443/?a=b", "--data", "empty="),
        *("--data-json", "ports=[80, 443]", "--data-json", "none=null"),
        *("--observed-generation", "7"),
    )

    assert (outcome.returncode, outcome.stdout, outcome.stderr) == (0, "", "")
    report = AdapterReport.read(file)
    assert [(each.type, str(each.status), each.reason, each.message) for each in report.conditions] == [
        ("Applied", "True", "Created", "the object is there: really"),
        ("Available", "False", "Waiting", ""),
        ("Health", "Unknown", "", ""),
    ]
    assert report.data == {
        "endpoint": "https://api.example:443/?a=b",
        "empty": "",
        "ports": [80, 443],
        "none": None,
    }
    assert report.observed_generation == 7
    assert all(each.last_transition_time for each in report.conditions)
    assert file.stat().st_mode & 0o777 == 0o644, "the sidecar runs as another user"
    assert list(file.parent.iterdir()) == [file]


@pytest.mark.parametrize("variable", ["RESULTS_OUTPUT_PATH", "RESULTS_PATH"])
def test_the_environment_says_where_the_report_belongs(file: Path, variable: str) -> None:
    results = {variable: str(file)}
    assert adapter_report("write", "--condition", "Applied=True", results=results).returncode == 0
    assert read(file)["conditions"][0]["type"] == "Applied"
    assert adapter_report("validate", results=results).stdout == "Applied=True\n"


def test_a_later_report_replaces_the_earlier_one(file: Path) -> None:
    for reason in ("First", "Second"):
        assert adapter_report("write", "--file", file, "--condition", f"Applied=True:{reason}").returncode == 0
    assert read(file)["conditions"][0]["reason"] == "Second"


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        pytest.param(["--condition", "Applied"], "'Applied' must be TYPE=STATUS:REASON:MESSAGE", id="no status"),
        pytest.param(["--condition", "Applied=Maybe"], 'must be "True", "False" or "Unknown"', id="a status that is none"),
        pytest.param(["--condition", "very good=True"], "must be a name such as Available", id="a type that is no name"),
        pytest.param(["--condition", "A=True", "--condition", "A=False"], "'A' is there twice", id="a type twice"),
        pytest.param(["--condition", "Complete=True"], "belongs to the Job controller", id="a type of the Job controller"),
        pytest.param(["--condition", "A=True", "--data", "x"], "'x' must be NAME=VALUE", id="a fact with no value"),
        pytest.param(["--condition", "A=True", "--data", "=x"], "'=x' must be NAME=VALUE", id="a fact with no name"),
        pytest.param(["--condition", "A=True", "--data-json", "x={"], "--data-json x", id="JSON that is none"),
        pytest.param(["--condition", "A=True", "--data-json", "x=NaN"], "NaN is not a JSON value", id="a number that is none"),
        pytest.param(["--condition", "A=True", "--observed-generation", "-1"], "observedGeneration", id="a generation below 0"),
        pytest.param(["--condition", b"A=True:\xff"], "half a surrogate pair", id="bytes that are no text"),
        pytest.param([each for n in range(101) for each in ("--condition", f"C{n}=True")], "at most 100", id="too many"),
        pytest.param(["--condition", "A=True", "--data-json", f"x={'[' * 60_000}"], "nested too deeply", id="brackets without end"),
        pytest.param(["--condition", "A=True", "--data-json", f"x={'9' * 5000}"], "more than 400 digits", id="a number without end"),
    ],
)  # fmt: skip
def test_a_report_that_would_be_refused_is_not_written(file: Path, arguments: list[Any], expected: str) -> None:
    printed = complaint(adapter_report("write", "--file", file, *map(os.fsdecode, arguments)))
    assert expected in printed
    assert printed.startswith("adapter-report: ")
    assert printed.count("\n") == 1
    assert not file.exists()


@pytest.mark.parametrize(
    "arguments",
    [[], ["write"], ["paint"], ["write", "--condition", "A=True", "--observed-generation", "many"]],
    ids=["no command", "no condition", "an unknown command", "a generation that is no number"],
)
def test_wrong_usage_is_explained(arguments: list[str]) -> None:
    assert "usage: adapter-report" in complaint(adapter_report(*arguments), code=2)


@pytest.mark.parametrize("arguments", [["--help"], ["write", "--help"], ["validate", "--help"], ["schema", "--help"]])
def test_help_is_given_where_it_is_asked_for(arguments: list[str]) -> None:
    outcome = adapter_report(*arguments)
    assert outcome.returncode == 0
    assert outcome.stdout.startswith("usage: adapter-report")


def test_the_help_shows_examples_and_exit_codes() -> None:
    printed = adapter_report("--help").stdout
    assert "adapter-report write --condition" in printed
    assert "exit codes: 0 done" in printed


def test_a_folder_that_is_not_there_is_reported_in_one_line(tmp_path: Path) -> None:
    missing = tmp_path / "nowhere" / "report.json"
    printed = complaint(adapter_report("write", "--file", missing, "--condition", "Applied=True"))
    assert printed == f"adapter-report: {missing}: No such file or directory\n"


def test_a_disk_that_is_full_is_reported_in_one_line_and_the_former_report_stays_whole(file: Path) -> None:
    assert adapter_report("write", "--file", file, "--condition", "Applied=True:First").returncode == 0
    before = file.read_bytes()
    outcome = adapter_report(
        *("write", "--file", file, "--condition", "Applied=True:Second", "--data", f"large={'x' * 9000}"),
        max_bytes=4096,
    )

    assert complaint(outcome) == f"adapter-report: {file}: File too large\n"
    assert file.read_bytes() == before
    assert list(file.parent.iterdir()) == [file], "no half is left behind"


@pytest.mark.parametrize("command", ["schema", "validate"])
def test_output_that_cannot_be_written_is_reported_in_one_line(file: Path, command: str) -> None:
    assert adapter_report("write", "--file", file, "--condition", "Applied=True:First").returncode == 0
    arguments = [command] if command == "schema" else [command, str(file)]
    with Path("/dev/full").open("w") as full:
        outcome = subprocess.run(
            [sys.executable, "-m", "status_reporter.writing", *arguments],
            check=False,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
        )
    assert outcome.returncode == 1
    assert outcome.stderr == "adapter-report: standard output: No space left on device\n"


def test_the_version_is_shown() -> None:
    assert adapter_report("--version").stdout == f"adapter-report {__version__}\n"


def test_a_link_is_replaced_and_what_it_leads_to_is_left_alone(tmp_path: Path, file: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_text("precious")
    file.symlink_to(elsewhere)
    assert adapter_report("write", "--file", file, "--condition", "Applied=True").returncode == 0
    assert not file.is_symlink()
    assert elsewhere.read_text() == "precious"


def test_what_a_report_says_is_shown(file: Path) -> None:
    document = {"conditions": [{"type": "Applied", "status": "True", "reason": "Created", "message": "it is there"}]}
    file.write_text(json.dumps(document))
    outcome = adapter_report("validate", file)
    assert (outcome.returncode, outcome.stdout) == (0, "Applied=True Created: it is there\n")


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ('{"conditions": [}', "line 1, column 17"),
        ("", "empty"),
        ('{"conditions": [{"type": "Applied", "status": "yes"}]}', "conditions[0].status"),
        ("[" * 60_000, "nested too deeply"),
        (json.dumps({"conditions": [{"type": f"C{n}", "status": "True"} for n in range(101)]}), "at most 100"),
        ('{"conditions": ' + "9" * 5000 + "}", "more than 400 digits"),
        ('{"conditions": [{"type": "Failed", "status": "True"}]}', "Failed: belongs to the Job controller"),
    ],
)
def test_what_is_wrong_with_a_report_is_reported(file: Path, content: str, expected: str) -> None:
    file.write_text(content)
    assert expected in complaint(adapter_report("validate", file))


def test_a_report_that_is_not_there_is_reported(file: Path) -> None:
    assert complaint(adapter_report("validate", file)) == f"adapter-report: {file}: No such file or directory\n"


def test_the_schema_is_printed_and_takes_what_is_written(file: Path) -> None:
    outcome = adapter_report("schema")
    assert outcome.returncode == 0
    validator = Draft202012Validator(json.loads(outcome.stdout))
    assert adapter_report("write", "--file", file, "--condition", "Applied=True:R:M", "--data", "a=b").returncode == 0
    validator.validate(read(file))
