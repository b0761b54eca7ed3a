"""Who the stand-in Maestro lets in by certificate."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager

import pytest

from tests.contracts.maestro_ground import Ground
from tests.contracts.maestro_mtls_suite import *  # noqa: F403 - the suite's tests and fixtures are collected here


@pytest.fixture
async def maestro(standing: Callable[[str], AbstractAsyncContextManager[Ground]]) -> AsyncIterator[Ground]:
    async with standing("mtls") as ground:
        yield ground
