"""The contract of the HyperFleet API, tried on a server that runs already."""

import asyncio
import os
import sys

from lab.api import LabApi
from tests.support.hyperfleet_api import REQUIRED_ADAPTERS

DEADLINE = 240.0


async def test_the_contract_is_tried_on_the_server_whose_address_is_in_the_environment() -> None:
    async with asyncio.timeout(DEADLINE), LabApi(required_adapters=REQUIRED_ADAPTERS) as server:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-q", "--servers=real", "-k", "rule_4 or rule_6",
            "tests/contracts/hyperfleet_api/test_reports.py",
            env={**os.environ, "CONTRACT_HYPERFLEET_API": f"{server.url}/"},
            stdout=asyncio.subprocess.PIPE,
        )  # fmt: skip
        output, _ = await process.communicate()

    # Rule 4 is expected to fail on v0.3.0, and not on what is newer.
    assert "5 passed" in output.decode(), output.decode()
    assert len([seen for seen in server.journal.entries if seen.path.endswith("/statuses")]) >= 5
