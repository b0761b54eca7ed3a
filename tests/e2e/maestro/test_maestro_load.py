"""Many works and writers on the real Maestro."""

from collections.abc import Callable

import pytest

from tests.contracts.maestro_ground import Ground
from tests.contracts.maestro_load_suite import *  # noqa: F403 - the suite's tests and fixtures are collected here


@pytest.fixture
def maestro(ground: Callable[[str], Ground]) -> Ground:
    return ground("plain")
