"""A machine that cannot run a cluster gets the reasons and the remedies."""

import os
import sys
from pathlib import Path

import pytest

from lab.real.cluster import command
from lab.real.cluster.host import cgroup, requirements
from lab.real.cluster.place import Place
from lab.real.servers import rabbitmq

PLACE = Place("nowhere", 199)
PACKAGES = "containerd debootstrap iproute2 mount podman runc util-linux"


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only folder in which programs are looked for."""
    monkeypatch.setenv("PATH", str(tmp_path))
    return tmp_path


@pytest.fixture
def as_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)


def install(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).touch(mode=0o755)


def test_all_packages_are_named_in_one_line_that_can_be_typed(programs: Path) -> None:
    problems = requirements.missing()

    assert problems[0].endswith(f"apt-get install {PACKAGES}")
    assert any("Go is missing" in each for each in problems)


def test_what_is_there_is_not_asked_for(programs: Path) -> None:
    install(programs, *(set(requirements._PACKAGES) - {"ctr"}), "go")

    assert [each for each in requirements.missing() if "plugins" not in each] == [
        "programs are missing (ctr): apt-get install containerd"
    ]


def test_somebody_who_is_not_root_gets_only_that_reason(monkeypatch: pytest.MonkeyPatch, programs: Path) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)

    with pytest.raises(requirements.CannotRun) as error:
        requirements.check(PLACE)

    assert str(error.value).splitlines()[1:] == ["  - it needs root: use sudo, or a virtual machine"]


@pytest.mark.usefixtures("as_root", "programs")
def test_a_machine_without_cgroups_gets_that_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cgroup, "ROOT", tmp_path / "none")

    (problem,) = requirements.obstacles(PLACE)

    assert "there are no cgroups" in problem


@pytest.mark.usefixtures("as_root")
def test_another_system_needs_a_virtual_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")

    assert requirements.obstacles(PLACE) == ["it needs Linux, not darwin: use a virtual machine"]


@pytest.mark.parametrize("what", ["up", "down", "maestro", "system"])
def test_the_command_refuses_without_a_trace_of_the_program(
    what: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setattr(sys, "argv", ["cluster", what])

    assert command.main() == 1
    output = capsys.readouterr()
    assert output.err.startswith("a cluster cannot run here:\n") or "is needed" in output.err
    assert output.out == ""


def test_a_missing_rabbitmq_is_named_before_anything_is_built(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(rabbitmq, "_SERVER", tmp_path / "none")
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setattr(sys, "argv", ["cluster", "system"])

    assert command.main() == 1
    assert capsys.readouterr().err.endswith("is needed: apt-get install rabbitmq-server\n")
