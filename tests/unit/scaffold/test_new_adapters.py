"""What `init` writes: every kind of adapter validates, passes its own tests, and says which rights it needs."""

import shlex
from pathlib import Path

import pytest
import yaml

from dispatcher.cli.main import main
from dispatcher.config.loading import load
from dispatcher.scaffold.writing import SUBJECTS, WORKS, NewAdapter, files_of, write
from shared.errors import AlreadyExists

EVERY = [(subject, work) for subject in SUBJECTS for work in WORKS]


@pytest.fixture(params=EVERY, ids=" with ".join)
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    subject, work = request.param
    write(NewAdapter(name="landing-zone", subject=subject, work=work), tmp_path / "new")
    return tmp_path / "new"


def files(folder: Path) -> list[str]:
    return ["-c", str(folder / "adapter-config.yaml"), "-t", str(folder / "task-config.yaml")]


def test_nothing_is_found_wrong(folder: Path) -> None:
    loaded = load(folder / "adapter-config.yaml", folder / "task-config.yaml", environment={}, strict=True)
    assert [str(each) for each in loaded.warnings] == []


@pytest.mark.parametrize("case", ["created", "deleted"])
def test_its_cases_can_be_rehearsed(folder: Path, case: str, capsys: pytest.CaptureFixture[str]) -> None:
    mocks = folder / "tests" / case
    arguments = ["--dry-run-event", str(mocks / "event.json")]
    arguments += ["--dry-run-api-responses", str(mocks / "api-responses.json")]
    assert main(["serve", *files(folder), *arguments]) == 0
    assert ("CREATE" if case == "created" else "DELETE") in capsys.readouterr().out


def test_the_commands_of_its_readme_succeed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    block = (folder / "README.md").read_text().split("```")[1].removeprefix("sh\n")
    commands = [shlex.split(line) for line in block.replace("\\\n", " ").splitlines()]
    assert [main(arguments) for _, *arguments in commands] == [0, 0, 0, 0]
    assert [arguments[0] for _, *arguments in commands] == ["validate", "test", "render", "rbac"]


def test_the_reporter_of_a_new_job_has_what_it_needs() -> None:
    written = files_of(NewAdapter(name="a", subject="cluster", work="job"))
    job = yaml.safe_load(written["manifest.yaml"])
    _, reporter = job["spec"]["template"]["spec"]["containers"]
    environment = {each["name"]: each.get("value") for each in reporter["env"]}
    assert environment["JOB_NAME"] == job["metadata"]["name"]
    assert {"JOB_NAMESPACE", "POD_NAME", "ADAPTER_CONTAINER_NAME"} <= environment.keys()
    assert "account" in {each["name"] for each in reporter["volumeMounts"]}


def test_a_new_job_is_replaced_for_a_new_generation() -> None:
    written = files_of(NewAdapter(name="a", subject="cluster", work="job"))
    assert yaml.safe_load(written["task-config.yaml"])["resources"][0]["recreate_on_change"]


def test_a_folder_with_something_in_it_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(AlreadyExists):
        write(NewAdapter(name="a", subject="cluster", work="job"), tmp_path)
    assert [each.name for each in tmp_path.iterdir()] == ["mine.txt"]


def test_a_name_that_cannot_be_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["init", "Not A Name"]) == 2
    assert "lower-case" in capsys.readouterr().err


def test_every_adapter_has_a_readme_and_values() -> None:
    written = files_of(NewAdapter(name="a", subject="cluster", work="job"))
    assert {"README.md", "values.yaml", "manifest.yaml"} <= written.keys()
