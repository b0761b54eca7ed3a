"""The real HyperFleet API v0.3.0, and a client of it."""

from collections.abc import AsyncIterator

import httpx
import pytest

from lab.real.servers.hyperfleet_api import RealHyperFleetApi
from tests.support.hyperfleet_api import Api
from tests.support.servers import real_hyperfleet_api, real_postgres

__all__ = ["real_hyperfleet_api", "real_postgres"]


@pytest.fixture
async def api(real_hyperfleet_api: RealHyperFleetApi) -> AsyncIterator[Api]:
    async with httpx.AsyncClient(base_url=real_hyperfleet_api.url, timeout=120) as http:
        yield Api(http)
