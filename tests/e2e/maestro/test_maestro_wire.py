"""Maestro's protocol to the letter, on the real server: what the stand-in is held to."""

from collections.abc import Callable

import pytest

from tests.contracts.maestro_ground import Ground
from tests.contracts.maestro_wire import *  # noqa: F403 - the suite is collected here
from tests.contracts.maestro_wire_publishing_suite import *  # noqa: F403 - the suite is collected here
from tests.contracts.maestro_wire_rest_suite import *  # noqa: F403 - the suite is collected here
from tests.contracts.maestro_wire_search_suite import *  # noqa: F403 - the suite is collected here
from tests.contracts.maestro_wire_status_suite import *  # noqa: F403 - the suite is collected here


@pytest.fixture
def maestro(ground: Callable[[str], Ground]) -> Ground:
    return ground("plain")
