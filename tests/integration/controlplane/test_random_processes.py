"""Random environments and snapshots, each given to a real process: a documented exit code, a report, no traceback.

`make soak` asks for more of them than a normal run. The seed is fixed, so that a failure can be repeated.
"""

import asyncio
import itertools
import json
import os
import sys
from pathlib import Path

import pytest

from tests.support.random_runs import Case, cases

PROCESSES = 300 if os.environ.get("SOAK") else 40
AT_ONCE = 2


async def test_every_process_ends_with_a_documented_code_a_report_and_no_traceback(tmp_path: Path) -> None:
    gate = asyncio.Semaphore(AT_ONCE)

    async def one(number: int, case: Case) -> None:
        async with gate:
            await run(tmp_path / str(number), *case)

    async with asyncio.TaskGroup() as group:
        for number, case in enumerate(itertools.islice(cases(seed=12), PROCESSES)):
            group.create_task(one(number, case))


async def run(folder: Path, environment: dict[str, str], snapshot: bytes) -> None:
    report = prepared(folder, snapshot)
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "controlplane_adapter"),
        env={
            "PATH": os.environ["PATH"],
            "MANAGEMENT_CLUSTER_CONSUMER": "mgmt-01",
            "MAESTRO_API_URL": "http://127.0.0.1:1",
            "MAESTRO_GRPC_URL": "127.0.0.1:1",
            "MAESTRO_INSECURE": "true",
            **environment,
            "ADAPTER_TIME_BUDGET": environment.get("ADAPTER_TIME_BUDGET") or "6s",
            "MAESTRO_RETRY_BUDGET": "0s",
            "CLUSTER_SNAPSHOT_PATH": str(folder / "snapshot.json"),
            "RESULTS_OUTPUT_PATH": str(report),
        },
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        async with asyncio.timeout(600):
            output, log = await process.communicate()
    except TimeoutError:
        process.kill()
        await process.communicate()
        pytest.fail(f"the process does not end: {environment} {snapshot!r}")
    seen = (process.returncode, environment, snapshot, log.decode(errors="replace"))
    assert process.returncode in {0, 2, 3, 4}, seen
    assert b"Traceback" not in output + log, seen
    assert json.loads(written_to(report))["conditions"], seen


def prepared(folder: Path, snapshot: bytes) -> Path:
    folder.mkdir()
    (folder / "snapshot.json").write_bytes(snapshot)
    return folder / "report.json"


def written_to(file: Path) -> str:
    return file.read_text()
