"""The Maestro contract on the real server, in each way it lets clients in."""

from collections.abc import Callable

import pytest

from tests.contracts.maestro_ground import Ground
from tests.contracts.maestro_suite import *  # noqa: F403 - the suite's tests and fixtures are collected here


@pytest.fixture(params=["plain", "token", "mtls"])
def maestro(request: pytest.FixtureRequest, ground: Callable[[str], Ground]) -> Ground:
    return ground(request.param)
