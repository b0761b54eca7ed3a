"""Listing works and knowing management clusters."""

import asyncio
from dataclasses import replace

import pytest

from shared.errors import (
    AlreadyExists,
    Conflict,
    Invalid,
    UnknownConsumer,
)
from shared.maestro import MaestroClient, Works
from tests.support.maestro import some_work, unique

LABELLED = {"one": {"tier": "gold"}, "two": {"tier": "silver", "canary": ""}, "three": {}}


@pytest.mark.parametrize(
    ("selector", "expected"),
    [
        ("tier=gold", {"one"}),
        ("tier==gold", {"one"}),
        ("tier!=gold", {"two", "three"}),
        ("tier in (gold, silver)", {"one", "two"}),
        ("tier notin (gold, bronze)", {"two", "three"}),
        ("tier", {"one", "two"}),
        ("!tier", {"three"}),
        ("tier,!canary", {"one"}),
        ("canary=", {"two"}),
        ("tier=gold,tier=silver", set()),
        ("", {"one", "two", "three"}),
        (",".join(["tier=gold"] * 14), {"one"}),
    ],
)
async def test_label_selectors_mean_what_kubernetes_means(works: Works, selector: str, expected: set[str]) -> None:
    for name, labels in LABELLED.items():
        await works.create(some_work(name, labels=labels))

    assert {work.name for work in await works.list(selector)} == expected


async def test_consumers_are_created_found_and_deleted_by_name(client: MaestroClient) -> None:
    name = unique("mgmt")
    created = await client.consumers.create(name, {"region": "us-east1"})

    assert await client.consumers.get(name) == created
    assert created.labels == {"region": "us-east1"}
    assert name in {consumer.name for consumer in await client.consumers.list()}
    assert await client.consumers.delete(name) is True
    assert await client.consumers.delete(name) is False
    with pytest.raises(UnknownConsumer, match=name):
        await client.consumers.get(name)


async def test_a_consumer_is_created_once_however_often_it_is_ensured(client: MaestroClient) -> None:
    name = unique("mgmt")

    ensured = await asyncio.gather(*(client.consumers.ensure(name) for _ in range(8)))

    assert len({consumer.id for consumer in ensured}) == 1
    with pytest.raises(AlreadyExists):
        await client.consumers.create(name)


async def test_a_consumer_with_works_is_not_deleted(client: MaestroClient, works: Works) -> None:
    await works.create(some_work("w"))

    with pytest.raises(Conflict, match="still has works"):
        await client.consumers.delete(works.consumer)


async def test_a_name_no_consumer_can_have_is_refused_here(client: MaestroClient) -> None:
    for attempt in (client.consumers.create("Bad_Name"), client.consumers.get("it's")):
        with pytest.raises(Invalid, match="lower-case"):
            await attempt


async def test_works_are_found_by_name_or_labels_wherever_they_are_and_whoever_made_them(
    client: MaestroClient, works: Works
) -> None:
    elsewhere = client.works((await client.consumers.create(unique("mgmt"))).name)
    name, labels = unique("w"), {"hyperfleet.io/cluster-id": unique("id"), "hyperfleet.io/adapter": "it"}
    await works.create(replace(some_work("other"), labels={**labels, "hyperfleet.io/cluster-id": "another"}))
    await elsewhere.create(some_work(name))
    async with MaestroClient(replace(client._settings, source_id=unique("source"))) as another:
        await another.works(works.consumer).create(replace(some_work(unique("labelled")), labels=labels))

    found = await client.find(name, labels)

    assert {(work.consumer, client.is_ours(work)) for work in found} == {
        (elsewhere.consumer, True),
        (works.consumer, False),
    }
    assert await client.find(unique("w"), {"hyperfleet.io/cluster-id": "it's no label"}) == []
