"""Works that go, at once, slowly or not at all."""

import pytest

from lab.maestro.agent import Agent
from lab.maestro.verdicts import Script
from shared.errors import (
    AlreadyExists,
    DeadlineExceeded,
    Deleting,
    NotFound,
)
from shared.maestro import Action, Works
from tests.contracts.maestro_fixtures import is_applied, publish
from tests.contracts.maestro_ground import PATIENCE, Ground, some_work


async def test_deleting_what_is_not_there_is_no_error(works: Works) -> None:
    assert await works.delete("w") is False


async def test_a_deleted_work_is_visible_as_deleting_until_the_agent_confirms(works: Works, maestro: Ground) -> None:
    await works.create(some_work("w"))

    assert await works.delete("w") is True
    assert await works.delete("w") is True

    assert (await works.get("w")).deleting
    assert [work.deleting for work in await works.list()] == [True]
    with pytest.raises(DeadlineExceeded, match="being deleted since"):
        await works.wait_gone("w", patience=0.5)
    async with Agent(maestro.broker_address, works.consumer):
        await works.wait_gone("w", patience=PATIENCE)
    with pytest.raises(NotFound):
        await works.get("w")


async def test_a_deleting_work_takes_no_change_and_no_successor(maestro: Ground, works: Works) -> None:
    await works.create(some_work("w"))
    await works.delete("w")

    for attempt in (works.apply(some_work("w", labels={"a": "b"})), works.create(some_work("w"))):
        with pytest.raises(Deleting):
            await attempt
    with pytest.raises(Deleting):
        await publish(maestro, works, "update", some_work("w", generation=1))
    with pytest.raises(AlreadyExists):
        await publish(maestro, works, "create", some_work("w"))


async def test_a_name_can_be_used_again_when_the_work_is_gone(works: Works, agent: Agent) -> None:
    for round_ in range(2):
        assert (await works.apply(some_work("w", labels={"round": str(round_)}))).action is Action.CREATED
        await works.wait_until("w", is_applied, patience=PATIENCE)
        await works.delete("w")
        await works.wait_gone("w", patience=PATIENCE)


async def test_a_slow_deletion_is_waited_for(works: Works, agent: Agent) -> None:
    agent.script = Script(stuck=True)
    await works.create(some_work("w"))
    await works.wait_until("w", is_applied, patience=PATIENCE)
    await works.delete("w")
    stuck = await works.wait_until(
        "w", lambda work: work is not None and work.status.condition("Deleting") is not None, patience=PATIENCE
    )
    assert stuck is not None
    agent.freed.set()

    await works.wait_gone("w", patience=PATIENCE)
