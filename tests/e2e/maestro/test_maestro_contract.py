"""The Maestro contract on the real server, in each way it lets clients in."""

from collections.abc import Callable

import pytest

from tests.contracts.maestro_deletion_suite import *  # noqa: F403 - the suite is collected here
from tests.contracts.maestro_fixtures import *  # noqa: F403 - the suite is collected here
from tests.contracts.maestro_ground import Ground
from tests.contracts.maestro_reading_suite import *  # noqa: F403 - the suite is collected here
from tests.contracts.maestro_refusal_suite import *  # noqa: F403 - the suite is collected here
from tests.contracts.maestro_watching_suite import *  # noqa: F403 - the suite is collected here
from tests.contracts.maestro_writing_suite import *  # noqa: F403 - the suite is collected here


@pytest.fixture(params=["plain", "token", "mtls"])
def maestro(request: pytest.FixtureRequest, ground: Callable[[str], Ground]) -> Ground:
    return ground(request.param)
