"""`controlplane-adapter check` as a user runs it, on the stand-in Maestro."""

import asyncio
import json
import os
import signal
import sys
from pathlib import Path

import pytest

from lab.maestro.agent import Agent, Script
from shared.maestro import Works
from tests.support.adapter import Adapter, Cluster


async def check(adapter: Adapter, *arguments: str, **environment: str) -> tuple[int, str, str]:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "controlplane_adapter", "check", *arguments),
        env={**os.environ, **adapter.environment, **environment},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    output, errors = await process.communicate()
    assert process.returncode is not None
    assert b"Traceback" not in errors
    return process.returncode, output.decode(), errors.decode()


async def test_a_management_cluster_without_works_is_registered_and_the_rest_is_unknown(
    adapter: Adapter, works: Works
) -> None:
    code, output, _ = await check(adapter)

    assert code == 0
    lines = [line.split(maxsplit=2) for line in output.splitlines() if "→" not in line]
    assert [line[:2] for line in lines] == [
        ["ok", "settings"],
        ["ok", "maestro"],
        ["ok", "maestro"],
        ["ok", "consumer"],
        ["unknown", "agent"],
        ["unknown", "hypershift"],
    ]
    assert "--probe" in output


async def test_a_cluster_that_was_applied_shows_the_agent_and_hypershift(
    adapter: Adapter, works: Works, agent: Agent
) -> None:
    await adapter.run(Cluster())

    code, output, _ = await check(adapter, "--output", "json")

    assert code == 0
    states = {each["name"]: each["state"] for each in json.loads(output)["checks"]}
    assert (states["agent"], states["hypershift"]) == ("ok", "ok")


async def test_a_refusal_for_gcp_is_shown_with_its_remedy(adapter: Adapter, works: Works, agent: Agent) -> None:
    agent.script = Script(refuse='spec.platform.type: Unsupported value: "GCP": supported values: "AWS"')
    await adapter.run(Cluster())

    code, output, _ = await check(adapter)

    assert code == 3
    assert "TechPreviewNoUpgrade" in output


async def test_a_management_cluster_that_is_not_registered_is_missing(adapter: Adapter, works: Works) -> None:
    code, output, _ = await check(adapter, MANAGEMENT_CLUSTER_CONSUMER="mgmt-99")

    assert code == 3
    assert "maestro-cli consumer ensure mgmt-99" in output


async def test_a_maestro_that_is_away_is_unreachable(adapter: Adapter) -> None:
    code, output, _ = await check(adapter, MAESTRO_API_URL="http://127.0.0.1:1")

    assert code == 4
    assert "unreachable" in output


async def test_invalid_settings_are_named_and_secrets_are_not_shown(adapter: Adapter, works: Works) -> None:
    code, output, errors = await check(
        adapter, MAESTRO_TIMEOUT="soon", MANAGEMENT_CLUSTERS_URL="ftp://me:s3cr3t-Value@host"
    )

    assert code == 2
    assert "MAESTRO_TIMEOUT" in output
    assert "s3cr3t-Value" not in output + errors


async def test_the_cluster_and_the_overlay_are_checked_where_they_are_given(
    adapter: Adapter, works: Works, tmp_path: Path
) -> None:
    cluster = Cluster()
    cluster.spec["gcp_region"] = "nowhere"

    code, output, _ = await check(adapter, CLUSTER_SNAPSHOT=json.dumps(cluster.snapshot()))

    assert code == 3
    assert "spec.gcp_region" in output


async def test_an_argument_that_is_unknown_is_refused_with_the_usage(adapter: Adapter) -> None:
    code, output, errors = await check(adapter, "--nonsense")

    assert code == 2
    assert output == ""
    assert "--probe" in errors


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 128 + signal.SIGTERM)], ids=["Ctrl-C", "SIGTERM"]
)
async def test_a_check_that_waits_for_an_answer_can_be_stopped(
    adapter: Adapter, number: signal.Signals, code: int
) -> None:
    asked = asyncio.Event()

    async def keep_silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.set()
        await reader.read()
        writer.close()

    async with await asyncio.start_server(keep_silent, "127.0.0.1", 0) as silent:
        host, port = silent.sockets[0].getsockname()
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "controlplane_adapter", "check"),
            env={
                **os.environ,
                **adapter.environment,
                "MAESTRO_API_URL": f"http://{host}:{port}",
                "MAESTRO_TIMEOUT": "1h",
                "MAESTRO_RETRY_BUDGET": "1h",
            },
            stderr=asyncio.subprocess.PIPE,
        )
        try:
            async with asyncio.timeout(240):
                await asked.wait()
                process.send_signal(number)
                _, errors = await process.communicate()
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
    assert (process.returncode, errors) == (code, b"")
