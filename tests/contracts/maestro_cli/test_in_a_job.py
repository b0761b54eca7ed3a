"""maestro-cli as a Job's container: a result on every way it can end, in the form the sidecar reads."""

import asyncio
import json
import signal
import sys
from pathlib import Path
from typing import Any

import pytest

from lab.maestro.agent import Agent
from maestro_cli.__main__ import main
from maestro_cli.exits import Exit
from shared.model.report import AdapterReport
from tests.support.maestro import TIMEOUT, MaestroServer
from tests.support.maestro_cli import TO, Cli, Files, config_map


def conditions(path: Path) -> dict[str, tuple[str, str]]:
    return {each.type: (each.status.value, each.reason) for each in AdapterReport.read(path).conditions}


def read_json(path: Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(path.read_text())
    return document


@pytest.fixture
def results(tmp_path: Path) -> Path:
    return tmp_path / "results.json"


async def test_a_work_that_is_applied_and_available(cli: Cli, files: Files, agent: Agent, results: Path) -> None:
    await cli("apply", "-f", files.write(config_map()), "--name", "w", *TO, "--wait", RESULTS_PATH=str(results))
    found = conditions(results)
    assert found["Applied"][0] == found["Available"][0] == "True"
    data = AdapterReport.read(results).data
    assert (data["manifestWorkName"], data["consumer"], data["status"]) == ("w", cli.consumer, "Applied")


@pytest.mark.parametrize(
    ("arguments", "code", "expected"),
    [
        pytest.param(["-c", "nope"], Exit.NOT_FOUND, ("Applied", "False", "UnknownConsumer"), id="unknown consumer"),
        pytest.param([*TO, "--wait", "A AND"], Exit.USAGE, ("Applied", "False", "InvalidExpression"), id="bad wait"),
        pytest.param(
            [*TO, "--wait", "Available", "--timeout", "3s"],
            Exit.TIMEOUT,
            ("Available", "False", "TimedOut"),
            id="the time is over",
        ),
    ],
)
async def test_a_result_is_written_however_it_ends(
    cli: Cli, files: Files, results: Path, arguments: list[str], code: int, expected: tuple[str, str, str]
) -> None:
    printed = await cli("apply", "-f", files.write(config_map()), "--name", "w", *arguments, RESULTS_PATH=str(results))
    assert printed.code == code
    type_, status, reason = expected
    assert conditions(results)[type_] == (status, reason)


async def test_a_file_that_cannot_be_read_leaves_a_result(cli: Cli, results: Path) -> None:
    await cli("apply", "-f", "missing.yaml", "--name", "w", *TO, "--results-path", str(results))
    assert conditions(results) == {"Applied": ("False", "UsageError")}


async def test_a_maestro_that_is_not_there_leaves_a_result(cli: Cli, files: Files, results: Path) -> None:
    printed = await cli(
        *("apply", "-f", files.write(config_map()), "--name", "w", *TO, "--timeout", "1s"),
        RESULTS_PATH=str(results),
        MAESTRO_HTTP_ENDPOINT="http://127.0.0.1:1",
    )
    assert printed.code == Exit.UNREACHABLE
    assert conditions(results)["Applied"] == ("False", "Unavailable")


async def test_a_deletion_is_finalized_only_when_it_is_seen(
    cli: Cli, files: Files, agent: Agent, results: Path
) -> None:
    await cli("apply", "-f", files.write(config_map()), "--name", "w", *TO, "--wait", "Applied")
    await cli("delete", "w", *TO, RESULTS_PATH=str(results))
    assert conditions(results) == {"Finalized": ("False", "Deleting")}
    await cli("delete", "w", *TO, "--wait", RESULTS_PATH=str(results))
    assert conditions(results) == {"Finalized": ("True", "Deleted")}


async def test_the_go_form_on_request(cli: Cli, files: Files, results: Path) -> None:
    arguments = ("apply", "-f", files.write(config_map()), "--name", "w", *TO, "--results-format", "go")
    await cli(*arguments, RESULTS_PATH=str(results))
    document = read_json(results)
    assert (document["name"], document["manifestWorkName"], document["consumer"]) == ("w", "w", cli.consumer)
    assert document["status"] == "InProgress"


async def test_sigterm_leaves_a_result(server: MaestroServer, cli: Cli, files: Files, results: Path) -> None:
    process = await asyncio.create_subprocess_exec(
        *(
            sys.executable,
            "-m",
            "maestro_cli",
            "apply",
            "-f",
            files.write(config_map()),
            "--name",
            "w",
            "-c",
            cli.consumer,
        ),
        *("--wait", "--timeout", "240s", "--results-path", str(results)),
        *("--grpc-endpoint", server.grpc_address, "--http-endpoint", server.rest_url, "--grpc-insecure"),
        stderr=asyncio.subprocess.PIPE,
    )
    assert process.stderr is not None
    async with asyncio.timeout(TIMEOUT):
        while b"waiting for" not in await process.stderr.readline():
            assert process.returncode is None
        process.send_signal(signal.SIGTERM)
        assert await process.wait() == Exit.TERMINATED
    assert conditions(results) == {"Available": ("False", "Terminated")}


def test_a_command_line_that_cannot_be_understood_leaves_a_result(
    results: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("RESULTS_PATH", str(results))
    assert main(["apply", "--nonsense"]) == Exit.USAGE
    assert conditions(results)["Applied"] == ("False", "UsageError")
    assert capsys.readouterr().err.count("\n") == 1
