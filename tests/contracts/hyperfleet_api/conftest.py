"""The HyperFleet API: the lab's, or v0.3.0, which is expected to differ where a test says so.

`CONTRACT_HYPERFLEET_API` is the URL of a server that runs already, which then takes the place of v0.3.0.
"""

from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from lab.api import LabApi
from tests.support.hyperfleet_api import ADDRESS, REQUIRED_ADAPTERS, Api, expect_differences

_HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if isinstance(item, pytest.Function) and item.path.is_relative_to(_HERE):
            expect_differences(item)


@pytest.fixture
async def server(servers: str, request: pytest.FixtureRequest) -> AsyncIterator[str]:
    """The server's URL."""
    if servers == "real":
        yield ADDRESS or request.getfixturevalue("real_hyperfleet_api").url
        return
    async with LabApi(required_adapters=REQUIRED_ADAPTERS) as running:
        yield running.url


@pytest.fixture
async def api(server: str) -> AsyncIterator[Api]:
    async with httpx.AsyncClient(base_url=server, timeout=120) as http:
        yield Api(http)
