"""The lab's API, broker and Kubernetes around a dispatcher."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.support.dispatcher import LabSystem, lab_system


@pytest.fixture
async def system(tmp_path: Path) -> AsyncIterator[LabSystem]:
    async with lab_system(tmp_path) as running:
        yield running
