"""What is refused, by us or by the server, and with which error."""

from dataclasses import replace

import pytest

from shared import times
from shared.errors import (
    DeadlineExceeded,
    Invalid,
    TooLarge,
    Unavailable,
)
from shared.maestro import MaestroClient, Works
from shared.maestro.wire.codec import DATA_TYPE, spec_request
from tests.support.maestro import Cutter, MaestroServer, config_map, some_work
from tests.support.maestro_works import publish, send


async def test_an_invalid_work_is_refused_before_it_is_sent_with_all_its_problems(works: Works) -> None:
    broken = some_work("Bad_Name", manifests=({"apiVersion": "v1", "metadata": {"generateName": "x-"}},))

    with pytest.raises(Invalid) as caught:
        await works.create(broken)

    paths = [problem.path for problem in caught.value.problems]
    assert paths == [
        "metadata.name",
        "spec.workload.manifests[0].kind",
        "spec.workload.manifests[0].metadata.name",
        "spec.workload.manifests[0].metadata.generateName",
    ]
    assert await works.list() == []


@pytest.mark.parametrize("action", ["create", "update"])
async def test_the_servers_own_refusal_of_content_names_the_fields(
    server: MaestroServer, works: Works, action: str
) -> None:
    if action == "update":
        await works.create(some_work("w"))
    broken = some_work("w", manifests=({"apiVersion": "v1", "metadata": {}},))

    with pytest.raises(Invalid) as caught:
        await publish(server, works, action, broken)

    assert {problem.path for problem in caught.value.problems} >= {"kind", "metadata.name"}


async def test_the_server_refuses_the_same_object_twice_in_a_work(server: MaestroServer, works: Works) -> None:
    with pytest.raises(Invalid, match="duplicate manifest"):
        await publish(server, works, "create", some_work("w", manifests=(config_map(), config_map())))


async def test_a_message_beyond_the_servers_limit_is_too_large(server: MaestroServer, works: Works) -> None:
    huge = some_work("w", manifests=(config_map(key="x" * (4 * 1024 * 1024)),))
    with pytest.raises(TooLarge):
        await publish(server, works, "create", huge)


@pytest.mark.parametrize("missing", ["clustername", "resourceid", "resourceversion"])
async def test_an_event_without_what_it_must_carry_is_refused(
    server: MaestroServer, works: Works, missing: str
) -> None:
    work = replace(some_work("w"), consumer=works.consumer, uid=works.id_of("w"))
    envelope = spec_request("create", work, source=works.settings.source_id, at=times.now())
    extensions = {name: value for name, value in envelope.extensions.items() if name != missing}

    with pytest.raises(Invalid, match=missing):
        await send(server, replace(envelope, extensions=extensions))


@pytest.mark.parametrize(
    "type_", ["a.b", f"{DATA_TYPE}.foo.create_request", f"{DATA_TYPE}.spec.foo"], ids=["short", "subresource", "action"]
)
async def test_an_event_of_a_type_nobody_knows_is_refused(server: MaestroServer, works: Works, type_: str) -> None:
    work = replace(some_work("w"), consumer=works.consumer, uid=works.id_of("w"))
    envelope = spec_request("create", work, source=works.settings.source_id, at=times.now())

    with pytest.raises(Invalid, match="could not read the event"):
        await send(server, replace(envelope, type=type_))


async def test_a_version_sent_as_text_is_understood(server: MaestroServer, works: Works) -> None:
    work = replace(some_work("w"), consumer=works.consumer, uid=works.id_of("w"))
    envelope = spec_request("create", work, source=works.settings.source_id, at=times.now())

    await send(server, replace(envelope, extensions={**envelope.extensions, "resourceversion": "0"}))

    assert (await works.get("w")).generation == 1


async def test_a_server_that_is_not_there_is_unavailable(server: MaestroServer, works: Works) -> None:
    settings = server.settings(grpc_server_address="127.0.0.1:1", retry_attempts=1)
    async with MaestroClient(settings) as nowhere:
        with pytest.raises(Unavailable):
            await nowhere.works(works.consumer).create(some_work("w"))


async def test_a_server_that_does_not_answer_in_time_is_reported(server: MaestroServer, works: Works) -> None:
    async with Cutter(server.grpc_address) as cutter:
        settings = server.settings(
            grpc_server_address=cutter.address, source_id=works.settings.source_id, timeout=5.0, retry_attempts=1
        )
        async with MaestroClient(settings) as client:
            await client.works(works.consumer).create(some_work("first"))
            cutter.stall()
            with pytest.raises(DeadlineExceeded):
                await client.works(works.consumer).create(some_work("second"))
