"""Random environments and reports, each given to a real reporter: a documented exit code, a condition, no traceback.

`make soak` asks for more of them than a normal run. The seed is fixed, so that a failure can be repeated.
"""

import asyncio
import itertools
import os
from pathlib import Path

from shared.environment import positive_duration
from status_reporter.exits import Exit
from tests.support.kubernetes import Api, KubernetesServer
from tests.support.random_reports import ReporterCase, reporter_cases
from tests.support.reporter import scene_on

PROCESSES = 300 if os.environ.get("SOAK") else 40
AT_ONCE = 2
WAIT = "MAX_WAIT_TIME_SECONDS"
# Where these are set, another Job is meant, or none.
ELSEWHERE = {"JOB_NAME", "JOB_NAMESPACE", "POD_NAME"}


async def test_every_reporter_ends_with_a_documented_code_a_condition_and_no_traceback(
    server: KubernetesServer, api: Api, tmp_path: Path
) -> None:
    gate = asyncio.Semaphore(AT_ONCE)

    async def one(number: int, case: ReporterCase) -> None:
        async with gate:
            await run(server, api, made(tmp_path / str(number)), case)

    async with asyncio.TaskGroup() as group:
        for number, case in enumerate(itertools.islice(reporter_cases(seed=21), PROCESSES)):
            group.create_task(one(number, case))


async def run(server: KubernetesServer, api: Api, folder: Path, case: ReporterCase) -> None:
    async with scene_on(server, api, folder) as scene:
        if case.report is not None:
            scene.report_file.write_bytes(case.report)
        await scene.container(case.state)
        await scene.start(**environment_of(case))
        code = await scene.exit_code()
        seen = (code, case, scene.output[-5:])
        assert code in set(Exit), seen
        assert not any("Traceback" in line for line in scene.output), seen
        assert Exit(code).meaning in scene.termination_message, seen
        if not ELSEWHERE & set(case.environment):
            assert code in {Exit.REPORTED, Exit.MISCONFIGURED, Exit.TIMED_OUT}, seen
            assert await scene.conditions(), seen


def environment_of(case: ReporterCase) -> dict[str, str]:
    """Without what would let it wait for minutes: a pod that it is not given to see never ends."""
    short = {name: text for name, text in case.environment.items() if name != WAIT or not is_long(text)}
    return {WAIT: "3", "POLL_INTERVAL": "1", **short}


def is_long(text: str) -> bool:
    try:
        return positive_duration(text.strip()) > 3
    except ValueError:
        return False


def made(folder: Path) -> Path:
    folder.mkdir()
    return folder
