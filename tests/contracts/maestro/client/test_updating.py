"""Writes on a work that was read: one request each, refused where the work has changed since."""

from dataclasses import replace
from datetime import timedelta

import pytest

from lab.maestro.agent import Agent
from shared import times
from shared.errors import Conflict, Deleting, NotFound, NotOwned
from shared.maestro import MaestroClient, Works
from tests.support.maestro import TIMEOUT, MaestroServer, some_work


async def test_an_update_replaces_the_content_and_keeps_the_identity(works: Works) -> None:
    await works.create(some_work("w", labels={"a": "1"}))
    stored = await works.get("w")

    sent = await works.update(stored, some_work("w", labels={"a": "2"}))
    read = await works.get("w")

    assert sent.generation == read.generation == stored.generation + 1
    assert read.labels == sent.labels == {"a": "2"}
    assert (read.uid, read.created_at) == (stored.uid, stored.created_at)


async def test_an_update_of_an_old_reading_is_a_conflict(works: Works) -> None:
    await works.create(some_work("w"))
    stored = await works.get("w")
    await works.update(stored, some_work("w", labels={"a": "1"}))

    with pytest.raises(Conflict):
        await works.update(stored, some_work("w", labels={"a": "2"}))

    assert (await works.get("w")).labels == {"a": "1"}


async def test_an_update_of_what_has_gone_is_refused(works: Works, agent: Agent) -> None:
    await works.create(some_work("w"))
    stored = await works.get("w")
    await works.delete("w")
    await works.wait_gone("w", timeout=TIMEOUT)

    with pytest.raises(NotFound):
        await works.update(stored, some_work("w", labels={"a": "1"}))


async def test_an_update_of_what_is_being_deleted_is_refused(works: Works) -> None:
    await works.create(some_work("w"))
    await works.delete("w")

    with pytest.raises(Deleting):
        await works.update(await works.get("w"), some_work("w", labels={"a": "1"}))


async def test_neither_update_nor_deletion_touches_another_sources_work(server: MaestroServer, works: Works) -> None:
    async with MaestroClient(server.settings()) as other:
        theirs = await other.works(works.consumer).create(some_work("w"))

        with pytest.raises(NotOwned):
            await works.update(theirs, some_work("w", labels={"a": "1"}))
        with pytest.raises(NotOwned):
            await works.request_deletion(theirs)

        assert not (await other.works(works.consumer).get("w")).deleting


async def test_a_deletion_is_requested_once_and_again_after_a_minute(works: Works) -> None:
    await works.create(some_work("w"))
    assert await works.request_deletion(await works.get("w"))

    stored = await works.get("w")
    assert stored.deleting
    assert not await works.request_deletion(stored)
    assert await works.request_deletion(replace(stored, deleted_at=times.now() - timedelta(minutes=2)))


async def test_a_deletion_of_what_has_gone_meanwhile_is_no_error(works: Works, agent: Agent) -> None:
    await works.create(some_work("w"))
    stored = await works.get("w")
    await works.delete("w")
    await works.wait_gone("w", timeout=TIMEOUT)
    await works.request_deletion(stored)
    with pytest.raises(NotFound):
        await works.get("w")
