"""Who the stand-in Maestro lets in by token."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager

import pytest

from tests.contracts.maestro_ground import Ground
from tests.contracts.maestro_token_suite import *  # noqa: F403 - the suite's tests and fixtures are collected here


@pytest.fixture
async def maestro(standing: Callable[[str], AbstractAsyncContextManager[Ground]]) -> AsyncIterator[Ground]:
    async with standing("token") as ground:
        yield ground
