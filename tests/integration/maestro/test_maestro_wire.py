"""Maestro's protocol to the letter, on the stand-in."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager

import pytest

from tests.contracts.maestro_ground import Ground
from tests.contracts.maestro_wire import *  # noqa: F403 - the suite is collected here
from tests.contracts.maestro_wire_publishing_suite import *  # noqa: F403 - the suite is collected here
from tests.contracts.maestro_wire_rest_suite import *  # noqa: F403 - the suite is collected here
from tests.contracts.maestro_wire_search_suite import *  # noqa: F403 - the suite is collected here
from tests.contracts.maestro_wire_status_suite import *  # noqa: F403 - the suite is collected here


@pytest.fixture
async def maestro(standing: Callable[[str], AbstractAsyncContextManager[Ground]]) -> AsyncIterator[Ground]:
    async with standing("plain") as ground:
        yield ground
