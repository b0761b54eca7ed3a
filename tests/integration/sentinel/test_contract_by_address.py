"""The contract of Sentinel, tried on one that runs already, between an API and a broker that run already."""

import asyncio
import contextlib
import os
import sys
from collections.abc import AsyncIterator

from lab.api import LabApi
from lab.broker import LabBroker
from tests.support.hyperfleet_api import REQUIRED_ADAPTERS
from tests.support.sentinels import CLUSTERS, DEBOUNCE, NODEPOOLS, SELECTOR, STALE

DEADLINE = 240.0


@contextlib.asynccontextmanager
async def lab_sentinel(api: str, broker: str, topic: str, *options: str) -> AsyncIterator[None]:
    """The command, as it is configured for the contract."""
    [(label, value)] = SELECTOR.items()
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "lab.sentinel.command", "--api", api, "--broker", broker, "--topic", topic,
        "--selector", f"{label}={value}", "--poll-interval", "100ms",
        "--debounce", f"{DEBOUNCE.total_seconds()}s", "--stale", f"{STALE.total_seconds()}s", *options,
        stdout=asyncio.subprocess.DEVNULL,
    )  # fmt: skip
    try:
        yield
    finally:
        process.terminate()
        assert await process.wait() == 0


async def test_the_contract_is_tried_between_the_addresses_in_the_environment() -> None:
    async with (
        asyncio.timeout(DEADLINE),
        LabApi(required_adapters=REQUIRED_ADAPTERS) as api,
        LabBroker() as broker,
        lab_sentinel(api.url, broker.address, CLUSTERS),
        lab_sentinel(api.url, broker.address, NODEPOOLS, "--resource-type", "nodepools", "--owner-references"),
    ):
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-q", "--servers=real",
            "-k", "test_events or deletion or selected", "tests/contracts/sentinel",
            env={**os.environ, "CONTRACT_SENTINEL_API": f"{api.url}/", "CONTRACT_SENTINEL_BROKER": broker.address},
            stdout=asyncio.subprocess.PIPE,
        )  # fmt: skip
        output, _ = await process.communicate()

    assert "4 passed" in output.decode(), output.decode()
