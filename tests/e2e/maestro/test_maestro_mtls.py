"""Who the real Maestro lets in by certificate."""

from collections.abc import Callable

import pytest

from tests.contracts.maestro_ground import Ground
from tests.contracts.maestro_mtls_suite import *  # noqa: F403 - the suite's tests and fixtures are collected here


@pytest.fixture
def maestro(ground: Callable[[str], Ground]) -> Ground:
    return ground("mtls")
