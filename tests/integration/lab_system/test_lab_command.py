"""`hyperfleet-lab` as those who start it from a shell see it: parts alone, and an interrupted demonstration."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support.leftovers import processes_with
from tests.support.pages import blocks

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "lab.md").read_text()
PROGRAMS = Path(sys.executable).parent
TIMEOUT = 300


@contextmanager
def running(temporary: Path, *arguments: str, launcher: Sequence[str] = ()) -> Iterator["subprocess.Popen[str]"]:
    """The command, with a folder for temporary files of its own, in a process group of its own as in a terminal."""
    with subprocess.Popen(
        [*launcher, PROGRAMS / "hyperfleet-lab", *arguments],
        cwd=ROOT,
        env={**os.environ, "TMPDIR": str(temporary)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def lines_until(process: "subprocess.Popen[str]", text: str) -> str:
    assert process.stdout is not None
    seen = ""
    for line in process.stdout:
        seen += line
        if text in line:
            return seen
    raise AssertionError(f"{text!r} was not printed:\n{seen}")


def until_none_is_left(folder: Path) -> None:
    """A process that was killed is gone a moment later."""
    deadline = time.monotonic() + TIMEOUT
    while left := processes_with(folder):
        assert time.monotonic() < deadline, left
        time.sleep(0.05)


def shell(script: str, folder: Path) -> str:
    environment = {**os.environ, "PATH": f"{PROGRAMS}:{os.environ['PATH']}", "HOME": str(folder)}
    done = subprocess.run(
        ["sh", "-euc", script],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_parts_alone_answer_at_the_addresses_that_a_shell_can_source(tmp_path: Path) -> None:
    """The commands of docs/lab.md."""
    (tmp_path / "temporary").mkdir()
    client = PAGE.split("```sh\n")[1].split("```")[0]
    with running(tmp_path / "temporary", "up", "--only", "maestro,api", "-o", "env") as process:
        printed = lines_until(process, "stop them with Ctrl-C")
        (tmp_path / "lab.env").write_text("".join(f"{each}\n" for each in printed.splitlines() if "export" in each))
        answered = shell(client, tmp_path)
        process.send_signal(signal.SIGTERM)
        assert process.wait(TIMEOUT) == 0
    assert "us-east-mgmt-01" in answered
    assert '"items"' in answered
    assert "KUBECONFIG" not in printed
    assert list((tmp_path / "temporary").iterdir()) == []


def test_a_part_brings_the_parts_that_it_needs(tmp_path: Path) -> None:
    with running(tmp_path, "up", "--only", "sentinel", "-o", "json") as process:
        printed = lines_until(process, "stop them with Ctrl-C")
        process.send_signal(signal.SIGINT)
        assert process.wait(TIMEOUT) == 0
    addresses = json.loads(next(each for each in printed.splitlines() if each.startswith("{")))
    assert addresses.keys() == {"HYPERFLEET_API_BASE_URL", "LAB_BROKER", "BROKER_CONFIG_FILE"}


def test_an_unknown_part_is_named_with_those_that_exist(tmp_path: Path) -> None:
    with running(tmp_path, "up", "--only", "maestro,sentinal") as process:
        printed = lines_until(process, "error:")
        assert process.wait(TIMEOUT) == 2
    assert "'sentinal'" in printed
    assert "sentinel, adapters" in printed


@pytest.mark.parametrize(
    "launcher",
    [
        pytest.param((), id="in a terminal"),
        pytest.param(("sh", "-c", 'trap "" INT; exec "$0" "$@"'), id="in the background of a shell"),
    ],
)
def test_an_interrupted_demonstration_leaves_nothing(tmp_path: Path, launcher: Sequence[str]) -> None:
    with running(tmp_path, launcher=launcher) as process:
        lines_until(process, "is created")  # the Job, whose containers are starting
        assert len(processes_with(tmp_path)) > 1
        process.send_signal(signal.SIGINT)
        assert process.stdout is not None
        rest = process.stdout.read()
        assert process.wait(TIMEOUT) == 130, rest
    assert "Traceback" not in rest
    until_none_is_left(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_the_fixtures_of_the_page_work_in_a_project_of_ones_own(tmp_path: Path) -> None:
    (content,) = (text for language, text in blocks(PAGE) if language == "python")
    (tmp_path / "test_with_the_lab.py").write_text(content)
    (tmp_path / "pytest.ini").write_text("[pytest]\nasyncio_mode = auto\n")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tmp_path)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=TIMEOUT, check=False)
    assert "1 passed" in done.stdout, done.stdout + done.stderr
