"""Many works and writers on the stand-in Maestro."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager

import pytest

from tests.contracts.maestro_ground import Ground
from tests.contracts.maestro_load_suite import *  # noqa: F403 - the suite's tests and fixtures are collected here


@pytest.fixture
async def maestro(standing: Callable[[str], AbstractAsyncContextManager[Ground]]) -> AsyncIterator[Ground]:
    async with standing("plain") as ground:
        yield ground
