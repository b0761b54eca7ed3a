"""A report, an exit code and a plain message on a bad day: files that block, a full disk, signals, and no secret anywhere."""

import asyncio
import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

import pytest

from lab.maestro import LabMaestro
from lab.maestro.agent import Agent, Script
from shared.maestro import Works
from tests.support.adapter import TIMEOUT, Adapter, Cluster

DOCUMENTED = {0, 2, 3, 4, 5}


@pytest.fixture
def termination_log(tmp_path: Path) -> Path:
    file = tmp_path / "termination-log"
    file.touch()
    return file


@pytest.mark.parametrize(
    "name",
    [
        "CLUSTER_SNAPSHOT_PATH",
        "HOSTED_CLUSTER_OVERLAY_PATH",
        "MAESTRO_TOKEN_FILE",
        "MAESTRO_HTTP_TOKEN_FILE",
        "MAESTRO_CA_FILE",
        "MAESTRO_CERT_FILE",
        "MAESTRO_KEY_FILE",
    ],
)
async def test_a_pipe_instead_of_a_file_is_refused_by_its_setting_and_blocks_nothing(
    adapter: Adapter, tmp_path: Path, name: str
) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    file = tmp_path / "file"
    file.touch()
    environment = {
        "MAESTRO_INSECURE": "false",
        "MAESTRO_API_URL": "https://127.0.0.1:1",
        "MAESTRO_GRPC_URL": "https://127.0.0.1:1",
        "MAESTRO_CERT_FILE": str(file),
        "MAESTRO_KEY_FILE": str(file),
    }

    run = await adapter.run(Cluster(), **{**environment, name: str(pipe)})

    assert run.exit_code == 2
    assert f"{name}: " in run.message("Applied")
    assert "not a regular file" in run.message("Applied")


async def test_a_snapshot_with_thousands_of_mistakes_is_reported_with_those_that_fit_and_their_number(
    adapter: Adapter, works: Works
) -> None:
    cluster = Cluster()
    cluster.spec["service_account_emails"] = {f"role{index}": "x@y.z" for index in range(3000)}

    run = await adapter.run(cluster)

    assert run.exit_code == 3
    assert run.reason("Applied") == "InvalidSpec"
    assert "spec.service_account_emails.role0" in run.message("Applied")
    assert " more; correct these values" in run.message("Applied")


async def test_a_report_that_cannot_be_written_is_in_the_log_in_full_and_in_the_termination_message(
    adapter: Adapter, works: Works, termination_log: Path, tmp_path: Path
) -> None:
    cluster = Cluster()
    cluster.spec["gcp_region"] = "nowhere"
    nowhere = tmp_path / "no-such-folder" / "report.json"

    process = await adapter.start(
        cluster, RESULTS_OUTPUT_PATH=str(nowhere), TERMINATION_MESSAGE_PATH=str(termination_log)
    )
    _, log = await process.communicate()

    assert process.returncode == 5
    (line,) = [json.loads(each) for each in log.splitlines() if b"cannot write the report" in each]
    assert line["error"] == "No such file or directory"
    assert "RESULTS_OUTPUT_PATH" in line["remedy"]
    assert {each["type"] for each in line["report"]["conditions"]} == {"Applied", "Available", "Health"}
    assert "spec.gcp_region" in json.dumps(line["report"])
    assert "Applied=False InvalidSpec: spec.gcp_region" in written_to(termination_log)


async def test_missing_settings_are_in_the_log_and_in_the_termination_message_though_no_report_can_be_written(
    termination_log: Path, tmp_path: Path
) -> None:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "controlplane_adapter"),
        env={
            "PATH": os.environ["PATH"],
            "RESULTS_OUTPUT_PATH": str(tmp_path / "no-such-folder" / "report.json"),
            "TERMINATION_MESSAGE_PATH": str(termination_log),
        },
        stderr=asyncio.subprocess.PIPE,
    )
    _, log = await process.communicate()

    assert process.returncode == 5
    for name in ("CLUSTER_SNAPSHOT", "MANAGEMENT_CLUSTER_CONSUMER", "MAESTRO_API_URL", "MAESTRO_GRPC_URL"):
        assert f"{name}: must be set" in written_to(termination_log)
        assert f"{name}: must be set".encode() in log
    assert b"Traceback" not in log


async def test_a_failure_is_in_the_termination_message_and_a_success_is_not(
    adapter: Adapter, works: Works, agent: Agent, termination_log: Path
) -> None:
    await adapter.run(Cluster(), TERMINATION_MESSAGE_PATH=str(termination_log))
    after_success = written_to(termination_log)
    await adapter.run(Cluster(), TERMINATION_MESSAGE_PATH=str(termination_log), MAESTRO_TIMEOUT="soon")

    assert after_success == ""
    assert "MAESTRO_TIMEOUT: 'soon' is not a duration" in written_to(termination_log)


@pytest.mark.parametrize("moment", ["when the report was written", "when the interpreter ends"])
async def test_a_signal_after_the_report_was_written_does_not_change_the_exit_code(
    adapter: Adapter, works: Works, tmp_path: Path, moment: str
) -> None:
    program = """
import atexit, os, signal, sys
from controlplane_adapter import run
from controlplane_adapter.__main__ import main

def stop():
    os.kill(os.getpid(), signal.SIGTERM)

if sys.argv.pop() == "when the interpreter ends":
    atexit.register(stop)
else:
    end = run.end
    run.end = lambda *arguments: (end(*arguments), stop())[0]
sys.exit(main())
"""
    snapshot = tmp_path / "snapshot.json"
    snapshot.write_text(json.dumps(Cluster(spec={}).snapshot()))
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", program, moment),
        env={
            **os.environ,
            **adapter.environment,
            "CLUSTER_SNAPSHOT_PATH": str(snapshot),
            "RESULTS_OUTPUT_PATH": str(tmp_path / "report.json"),
        },
        stderr=asyncio.subprocess.PIPE,
    )
    await process.communicate()

    assert process.returncode == 3
    assert json.loads((tmp_path / "report.json").read_text())["conditions"][0]["reason"] == "InvalidSpec"


async def test_a_stopped_run_reports_what_it_had_observed(
    adapter: Adapter, works: Works, agent: Agent, maestro: LabMaestro
) -> None:
    cluster = Cluster()
    await adapter.run(cluster)
    cluster.change(openshift_version="4.22.3")
    maestro.faults.hang_publish()
    process = await adapter.start(cluster)
    async with asyncio.timeout(TIMEOUT):
        await maestro.faults.have_occurred()
    process.send_signal(signal.SIGTERM)

    run = await adapter.ended(process)

    assert run.exit_code == 4
    assert (run.statuses["Applied"], run.reason("Applied")) == ("Unknown", "AdapterStopped")
    assert (run.statuses["Available"], run.reason("Available")) == ("False", "Provisioning")
    assert run.report["data"]["management_cluster"] == "us-east-mgmt-01"


MISTAKES: dict[str, tuple[dict[str, str], str]] = {
    "a host with an empty label": ({"MAESTRO_API_URL": "https://maestro..svc:8000"}, "MAESTRO_API_URL"),
    "a host that is not ASCII": ({"MAESTRO_API_URL": "https://\u00fc.example:8000"}, "MAESTRO_API_URL"),
    "a proxy without a port": ({"MAESTRO_API_URL": "https://127.0.0.1:1", "https_proxy": "http://p:x"}, "https_proxy"),
    "a source id that is not ASCII": ({"MAESTRO_SOURCE_ID": "\u00fcn\u00ef"}, "MAESTRO_SOURCE_ID"),
    "a snapshot of another cluster": ({"CLUSTER_ID": "another"}, "CLUSTER_ID"),
}


@pytest.mark.parametrize(("environment", "named"), MISTAKES.values(), ids=MISTAKES)
async def test_a_mistake_that_hides_the_control_plane_is_not_called_a_bug_and_leaves_it_unknown(
    adapter: Adapter, environment: dict[str, str], named: str
) -> None:
    run = await adapter.run(Cluster(), **environment)

    assert run.exit_code == 2
    assert (run.statuses["Applied"], run.reason("Applied")) == ("False", "AdapterError")
    assert named in run.message("Applied")
    assert (run.statuses["Available"], run.statuses["Health"]) == ("Unknown", "Unknown")
    assert "Traceback" not in run.log


TUNING: dict[str, tuple[dict[str, str], str]] = {
    "keepalive beyond gRPC's counter": ({"MAESTRO_KEEPALIVE_TIME": "600h"}, "MAESTRO_KEEPALIVE_TIME"),
    "a list at a host with an empty label": ({"MANAGEMENT_CLUSTERS_URL": "https://a..b/"}, "MANAGEMENT_CLUSTERS_URL"),
    "a budget that retries would exceed": ({"ADAPTER_TIME_BUDGET": "9000000h"}, "ADAPTER_TIME_BUDGET"),
}


@pytest.mark.parametrize(("environment", "named"), TUNING.values(), ids=TUNING)
async def test_a_mistake_in_a_setting_is_not_called_a_bug_and_creates_nothing(
    adapter: Adapter, works: Works, environment: dict[str, str], named: str
) -> None:
    run = await adapter.run(Cluster(), **environment)

    assert run.exit_code == 2
    assert (run.statuses["Applied"], run.reason("Applied")) == ("False", "AdapterError")
    assert named in run.message("Applied")
    assert (run.statuses["Available"], run.statuses["Health"]) == ("False", "False")
    assert "Traceback" not in run.log
    assert await works.list() == []


async def test_all_mistakes_are_named_at_once(adapter: Adapter) -> None:
    wrong = {
        "MAESTRO_TIMEOUT": "soon",
        "MAESTRO_API_URL": "nonsense",
        "MAESTRO_RETRY_ATTEMPTS": "x",
        "CONFIRMATION_WAIT": "x",
        "LOG_FORMAT": "x",
        "HOSTED_CLUSTER_OVERLAY_PATH": "/nowhere",
    }

    run = await adapter.run(Cluster(), **wrong)

    assert run.exit_code == 2
    for name in wrong:
        assert f"{name}: " in run.message("Applied")


async def test_deeply_nested_json_from_maestro_is_trouble_of_maestro(
    adapter: Adapter, works: Works, maestro: LabMaestro
) -> None:
    maestro.faults.fail_rest(200, "[" * 100_000, times=100)

    run = await adapter.run(Cluster(), MAESTRO_RETRY_BUDGET="1s")

    assert run.exit_code == 4
    assert run.reason("Applied") == "MaestroError"
    assert "Traceback" not in run.log


SECRET = "s3cr3t-Value"
PLANTED: dict[str, dict[str, str]] = {
    "user info of the REST URL": {"MAESTRO_API_URL": f"http://admin:{SECRET}@127.0.0.1:1"},
    "user info of an invalid REST URL": {"MAESTRO_API_URL": f"ftp://admin:{SECRET}@127.0.0.1"},
    "user info of the gRPC address": {"MAESTRO_GRPC_URL": f"grpc://admin:{SECRET}@127.0.0.1:1"},
    "user info of the list of management clusters": {
        "MANAGEMENT_CLUSTER_CONSUMER": "",
        "MANAGEMENT_CLUSTERS_URL": f"http://admin:{SECRET}@127.0.0.1:1/",
        "ADAPTER_TIME_BUDGET": "7s",
    },
    "query of the list of management clusters": {
        "MANAGEMENT_CLUSTER_CONSUMER": "",
        "MANAGEMENT_CLUSTERS_URL": f"http://127.0.0.1:1/?token={SECRET}",
        "ADAPTER_TIME_BUDGET": "7s",
    },
    "proxy": {"https_proxy": f"http://admin:{SECRET}@127.0.0.1:notaport", "MAESTRO_API_URL": "https://127.0.0.1:1"},
    "labels": {"HOSTED_CLUSTER_LABELS": f"password={SECRET}/"},
    "issuer": {"HOSTED_CLUSTER_ISSUER_URL": f"https://admin:{SECRET}@issuer.example.com"},
    "duration": {"MAESTRO_TIMEOUT": f"password={SECRET}"},
    "snapshot": {"CLUSTER_SNAPSHOT_PATH": "", "CLUSTER_SNAPSHOT": f'{{"cluster": "token={SECRET}"}}'},
}


def written_to(file: Path) -> str:
    return file.read_text()


def outputs(folder: Path, log: str) -> str:
    """All that a run left behind."""
    files = [each for each in folder.iterdir() if each.is_file() and each.name != "snapshot.json"]
    return "\n".join([log, *(each.read_text() for each in files)])


@pytest.mark.parametrize("planted", PLANTED.values(), ids=PLANTED)
async def test_a_secret_in_a_setting_is_nowhere_in_what_comes_out(
    adapter: Adapter, works: Works, termination_log: Path, planted: dict[str, str]
) -> None:
    run = await adapter.run(
        Cluster(),
        **{"ADAPTER_TIME_BUDGET": "7s", **planted},
        TERMINATION_MESSAGE_PATH=str(termination_log),
        LOG_LEVEL="debug",
    )

    assert run.exit_code in DOCUMENTED
    assert SECRET not in outputs(adapter.folder, run.log)


async def test_a_token_file_of_two_lines_is_refused_without_its_content(
    adapter: Adapter, tmp_path: Path, termination_log: Path
) -> None:
    token = tmp_path / "token"
    token.write_text(f"{SECRET}\n{SECRET}\n")

    run = await adapter.run(
        Cluster(),
        MAESTRO_TOKEN_FILE=str(token),
        MAESTRO_HTTP_TOKEN_FILE=str(token),
        TERMINATION_MESSAGE_PATH=str(termination_log),
    )
    token.unlink()

    assert run.exit_code == 2
    assert "MAESTRO_TOKEN_FILE" in run.message("Applied")
    assert SECRET not in outputs(adapter.folder, run.log)


async def test_a_secret_in_an_answer_of_maestro_is_nowhere_in_what_comes_out(
    adapter: Adapter, works: Works, maestro: LabMaestro, termination_log: Path
) -> None:
    body: dict[str, Any] = {"code": "maestro-8", "reason": f"bad request with password: {SECRET} and token={SECRET}"}
    maestro.faults.fail_rest(400, body, times=100)

    run = await adapter.run(Cluster(), TERMINATION_MESSAGE_PATH=str(termination_log))

    assert run.exit_code == 3
    assert SECRET not in outputs(adapter.folder, run.log)


async def test_a_secret_in_a_message_of_the_management_cluster_is_nowhere_in_what_comes_out(
    adapter: Adapter, works: Works, agent: Agent, termination_log: Path
) -> None:
    agent.script = Script(refuse=f"webhook https://admin:{SECRET}@hook/ denied password: {SECRET}")

    run = await adapter.run(Cluster(), TERMINATION_MESSAGE_PATH=str(termination_log))

    assert run.reason("Applied") == "AppliedManifestWorkFailed"
    assert SECRET not in outputs(adapter.folder, run.log)
