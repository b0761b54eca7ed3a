"""The Maestro contract on the stand-in, in each way it lets clients in."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager

import pytest

from tests.contracts.maestro_deletion_suite import *  # noqa: F403 - the suite is collected here
from tests.contracts.maestro_fixtures import *  # noqa: F403 - the suite is collected here
from tests.contracts.maestro_ground import Ground
from tests.contracts.maestro_reading_suite import *  # noqa: F403 - the suite is collected here
from tests.contracts.maestro_refusal_suite import *  # noqa: F403 - the suite is collected here
from tests.contracts.maestro_watching_suite import *  # noqa: F403 - the suite is collected here
from tests.contracts.maestro_writing_suite import *  # noqa: F403 - the suite is collected here


@pytest.fixture(params=["plain", "token", "mtls"])
async def maestro(
    request: pytest.FixtureRequest, standing: Callable[[str], AbstractAsyncContextManager[Ground]]
) -> AsyncIterator[Ground]:
    async with standing(request.param) as ground:
        yield ground
