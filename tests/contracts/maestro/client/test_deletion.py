"""Works that go, at once, slowly or not at all."""

import pytest

from lab.maestro.agent import Agent, Script
from shared.errors import (
    AlreadyExists,
    DeadlineExceeded,
    Deleting,
    NotFound,
)
from shared.maestro import Action, Works
from tests.support.maestro import TIMEOUT, MaestroServer, some_work
from tests.support.maestro_works import is_applied, publish


async def test_deleting_what_is_not_there_is_no_error(works: Works) -> None:
    assert await works.delete("w") is False


async def test_a_deleted_work_is_visible_as_deleting_until_the_agent_confirms(
    works: Works, server: MaestroServer
) -> None:
    await works.create(some_work("w"))

    assert await works.delete("w") is True
    assert await works.delete("w") is True

    assert (await works.get("w")).deleting
    assert [work.deleting for work in await works.list()] == [True]
    with pytest.raises(DeadlineExceeded, match="being deleted since"):
        await works.wait_gone("w", timeout=3.0)
    async with Agent(server.broker_address, works.consumer):
        await works.wait_gone("w", timeout=TIMEOUT)
    with pytest.raises(NotFound):
        await works.get("w")


async def test_a_deleting_work_takes_no_change_and_no_successor(server: MaestroServer, works: Works) -> None:
    await works.create(some_work("w"))
    await works.delete("w")

    for attempt in (works.apply(some_work("w", labels={"a": "b"})), works.create(some_work("w"))):
        with pytest.raises(Deleting):
            await attempt
    with pytest.raises(Deleting):
        await publish(server, works, "update", some_work("w", generation=1))
    with pytest.raises(AlreadyExists):
        await publish(server, works, "create", some_work("w"))


async def test_a_name_can_be_used_again_when_the_work_is_gone(works: Works, agent: Agent) -> None:
    for round_ in range(2):
        assert (await works.apply(some_work("w", labels={"round": str(round_)}))).action is Action.CREATED
        await works.wait_until("w", is_applied, timeout=TIMEOUT)
        await works.delete("w")
        await works.wait_gone("w", timeout=TIMEOUT)


async def test_a_slow_deletion_is_waited_for(works: Works, agent: Agent) -> None:
    agent.script = Script(stuck=True)
    await works.create(some_work("w"))
    await works.wait_until("w", is_applied, timeout=TIMEOUT)
    await works.delete("w")
    stuck = await works.wait_until(
        "w", lambda work: work is not None and work.status.condition("Deleting") is not None, timeout=TIMEOUT
    )
    assert stuck is not None
    agent.freed.set()

    await works.wait_gone("w", timeout=TIMEOUT)
