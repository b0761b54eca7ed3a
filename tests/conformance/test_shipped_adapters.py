"""The shipped adapters do what the test cases beside them say. The command does the same:

hyperfleet-adapter test jobs/nodepool/tests -c jobs/nodepool/nodepool-adapter-config.yaml \
  -t jobs/nodepool/nodepool-task-config.yaml
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from dispatcher.dryrun.cases import Case, find_cases, run_case

JOBS = Path(__file__).parents[2] / "jobs"
ADAPTERS = {"controlplane": "hypershift-controlplane", "nodepool": "nodepool"}


def cases(folder: str) -> list[Case]:
    files = (
        JOBS / folder / f"{ADAPTERS[folder]}-adapter-config.yaml",
        JOBS / folder / f"{ADAPTERS[folder]}-task-config.yaml",
    )
    return list(find_cases(JOBS / folder / "tests", adapter_config=files[0], task_config=files[1]))


def all_cases() -> Iterator[object]:
    for folder in ADAPTERS:
        for case in cases(folder):
            yield pytest.param(case, id=f"{folder}/{case.name}")


@pytest.mark.parametrize("case", list(all_cases()))
async def test_a_case_ends_as_expected(case: Case) -> None:
    assert (await run_case(case, {})).differences == ()


@pytest.mark.parametrize(("folder", "number"), [("controlplane", 40), ("nodepool", 12)])
def test_no_case_is_overlooked(folder: str, number: int) -> None:
    assert len(cases(folder)) >= number
