"""Many works, and many writers of one work."""

import asyncio
import tracemalloc
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from shared.errors import Conflict
from shared.maestro import Action, MaestroClient, Works
from tests.support.maestro import MaestroServer, config_map, some_work, unique

MEGABYTE = 1024 * 1024


@pytest.fixture
async def works(server: MaestroServer) -> AsyncIterator[Works]:
    async with MaestroClient(server.settings()) as client:
        yield client.works((await client.consumers.create(unique("mgmt"))).name)


async def create_many(works: Works, count: int, text: str) -> None:
    turns = asyncio.Semaphore(16)

    async def create(number: int) -> None:
        async with turns:
            await works.create(some_work(f"w{number}", manifests=(config_map(key=text),)))

    async with asyncio.TaskGroup() as group:
        for number in range(count):
            group.create_task(create(number))


async def test_listing_is_complete_over_several_pages_and_stops_at_the_limit(works: Works) -> None:
    await create_many(works, 230, "x")

    listed = await works.list()

    assert sorted(work.name for work in listed) == sorted(f"w{number}" for number in range(230))
    assert len(await works.list(limit=150)) == 150
    assert await works.list(limit=0) == []


async def test_a_thousand_works_are_listed_completely_with_the_memory_of_a_page(works: Works) -> None:
    await create_many(works, 1000, "x" * 20_000)

    names = set()
    tracemalloc.start()
    try:
        async for work in works.scan():
            names.add(work.name)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert len(names) == 1000
    assert peak < 12 * MEGABYTE, "all works together have more than 20 MB, a page of 100 has 2 MB"


async def test_fifty_writers_of_the_same_work_create_it_once(works: Works) -> None:
    outcomes = await asyncio.gather(*(works.apply(some_work("w")) for _ in range(50)))

    actions = [outcome.action for outcome in outcomes]
    assert actions.count(Action.CREATED) == 1
    assert actions.count(Action.UNCHANGED) == 49
    assert (await works.get("w")).generation == 1


async def test_fifty_writers_of_different_parts_lose_no_update(works: Works) -> None:
    await works.create(some_work("w"))
    refused: list[Conflict] = []

    async def add_label(number: int) -> None:
        while True:
            read = await works.get("w")
            try:
                await works.apply(replace(read, labels={**read.labels, f"writer-{number}": "yes"}))
            except Conflict as conflict:
                refused.append(conflict)
            else:
                return

    await asyncio.gather(*(add_label(number) for number in range(50)))

    stored = await works.get("w")
    assert stored.labels == {f"writer-{number}": "yes" for number in range(50)}
    assert stored.generation == 51
    assert all(conflict.latest_version is not None for conflict in refused)
