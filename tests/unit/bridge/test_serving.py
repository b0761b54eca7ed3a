"""What ends the operator besides a signal."""

import asyncio

import pytest

from dpu_bridge.operator.serving import lost_watch
from shared.errors import ServerError


async def test_a_watch_that_kopf_gave_up_ends_the_operator() -> None:
    watching = asyncio.create_task(asyncio.Event().wait(), name="watcher for dpus.v1alpha1@None")
    losing = asyncio.create_task(lost_watch(every=0.0))
    for _ in range(10):
        await asyncio.sleep(0)
    assert not losing.done()
    watching.cancel()
    async with asyncio.timeout(240):
        with pytest.raises(ServerError, match="dpus"):
            await losing
