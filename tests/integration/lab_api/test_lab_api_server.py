"""The stand-in API as a test's instrument: its clock, its faults, its crashes, its journal and its command."""

import asyncio
import json
import re
import signal
import sys
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import httpx
import jsonschema
import pytest

from lab.api import Discard, LabApi

DEADLINE = 240.0
CLUSTERS = "/api/hyperfleet/v1/clusters"


class Clock:
    def __init__(self) -> None:
        self.now = datetime(2026, 1, 1, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def server(clock: Clock) -> AsyncIterator[LabApi]:
    async with LabApi(clock=clock) as server:
        yield server


@pytest.fixture
async def http(server: LabApi) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(base_url=server.url, timeout=DEADLINE) as http:
        yield http


def report(clock: Clock, available: str = "True") -> dict[str, object]:
    conditions = [{"type": kind, "status": available} for kind in ("Applied", "Available", "Health")]
    observed_time = clock.now.isoformat()
    return {
        "adapter": "controlplane",
        "observed_generation": 1,
        "observed_time": observed_time,
        "conditions": conditions,
    }


async def test_times_are_those_of_its_clock(server: LabApi, http: httpx.AsyncClient, clock: Clock) -> None:
    cluster = server.add_cluster("demo")
    clock.now += timedelta(hours=2)
    answer = await http.patch(cluster.href, json={"spec": {"a": 1}})

    assert answer.json()["created_time"] == "2026-01-01T00:00:00Z"
    assert answer.json()["updated_time"] == "2026-01-01T02:00:00Z"


async def test_clusters_and_node_pools_can_be_there_from_the_start(server: LabApi, http: httpx.AsyncClient) -> None:
    cluster = server.add_cluster("demo", {"a": 1}, {"env": "dev"})
    pool = server.add_nodepool(cluster.id, "workers")

    assert (await http.get(cluster.href)).json()["labels"] == {"env": "dev"}
    assert (await http.get(pool.href)).json()["owner_references"]["id"] == cluster.id


async def test_the_journal_says_what_was_asked_and_which_rule_discarded_a_report(
    server: LabApi, http: httpx.AsyncClient, clock: Clock
) -> None:
    cluster = server.add_cluster("demo")
    await http.put(f"{cluster.href}/statuses", json=report(clock))
    await http.put(f"{cluster.href}/statuses?try=2", json=report(clock, "Unknown"), headers={"X-Who": "test"})

    first, second = server.journal.entries
    assert (first.method, first.path, first.status, first.discard) == ("PUT", f"{cluster.href}/statuses", 201, None)
    assert (second.status, second.discard) == (204, Discard.UNKNOWN_AGAIN)
    assert (second.query, second.headers["X-Who"]) == ({"try": "2"}, "test")
    assert second.json["adapter"] == "controlplane"


async def test_a_request_can_be_awaited(server: LabApi, http: httpx.AsyncClient) -> None:
    awaited = asyncio.create_task(server.journal.until(lambda seen: seen.path.endswith("/late")))
    await http.get(f"{CLUSTERS}/early")
    assert not awaited.done()

    await http.get(f"{CLUSTERS}/late")

    async with asyncio.timeout(DEADLINE):
        assert (await awaited).status == 404


async def test_a_planned_failure_strikes_once_and_only_what_is_meant(server: LabApi, http: httpx.AsyncClient) -> None:
    server.faults.fail(503, method="PUT", path="statuses$", headers={"Retry-After": "7"})

    assert (await http.get(CLUSTERS)).status_code == 200
    struck = await http.put(f"{CLUSTERS}/x/statuses")
    assert (struck.status_code, struck.headers["Retry-After"]) == (503, "7")
    assert struck.headers["Content-Type"] == "application/problem+json"
    assert (await http.put(f"{CLUSTERS}/x/statuses")).status_code == 400


async def test_a_failure_may_have_any_body_and_last_until_it_is_cleared(
    server: LabApi, http: httpx.AsyncClient
) -> None:
    server.faults.fail(502, body="<html>", times=0)
    assert [(await http.get(CLUSTERS)).text for _ in range(3)] == ["<html>"] * 3

    server.faults.clear()

    assert (await http.get(CLUSTERS)).status_code == 200


async def test_a_cut_does_nothing_and_a_lost_answer_does_it(server: LabApi, http: httpx.AsyncClient) -> None:
    body = {"kind": "Cluster", "name": "demo", "spec": {}}
    server.faults.cut(method="POST")
    server.faults.lose_answer(method="POST")

    with pytest.raises(httpx.HTTPError):
        await http.post(CLUSTERS, json=body)
    assert (await http.get(CLUSTERS)).json()["total"] == 0
    with pytest.raises(httpx.HTTPError):
        await http.post(CLUSTERS, json=body)
    assert (await http.get(CLUSTERS)).json()["total"] == 1
    assert [seen.status for seen in server.journal.entries if seen.method == "POST"] == [None, None]


async def test_a_hanging_request_gets_no_answer_and_a_delayed_one_does(server: LabApi, http: httpx.AsyncClient) -> None:
    server.faults.hang()
    hanging = asyncio.create_task(http.get(CLUSTERS))
    async with asyncio.timeout(DEADLINE):
        await server.journal.until(lambda seen: seen.status is None)
    hanging.cancel()

    server.faults.delay(0.01)
    assert (await http.get(CLUSTERS)).status_code == 200


async def test_a_crash_keeps_the_port_and_the_resources(server: LabApi, http: httpx.AsyncClient) -> None:
    cluster = server.add_cluster("demo")
    server.faults.hang(method="DELETE")
    hanging = asyncio.create_task(http.delete(cluster.href))
    async with asyncio.timeout(DEADLINE):
        await server.journal.until(lambda seen: seen.method == "DELETE")

    await server.kill()

    with pytest.raises(httpx.HTTPError):
        await hanging
    with pytest.raises(httpx.ConnectError):
        await http.get(CLUSTERS)
    await server.start()
    assert (await http.get(cluster.href)).json()["name"] == "demo"


async def test_only_known_tokens_are_let_in(server: LabApi, http: httpx.AsyncClient) -> None:
    server.let_in("good")

    for headers in ({}, {"Authorization": "Bearer bad"}, {"Authorization": "Basic good"}):
        answer = await http.get(CLUSTERS, headers=headers)
        assert (answer.status_code, answer.json()["code"]) == (401, "HYPERFLEET-AUT-001")
    assert (await http.get(CLUSTERS, headers={"Authorization": "Bearer good"})).status_code == 200
    server.let_in("new")
    assert (await http.get(CLUSTERS, headers={"Authorization": "Bearer good"})).status_code == 401
    for public in ("/api/hyperfleet", "/api/hyperfleet/v1/openapi"):
        assert (await http.get(public)).status_code == 200


async def test_a_kind_without_required_adapters_is_gone_when_it_is_deleted() -> None:
    async with (
        LabApi(required_adapters={"NodePool": ()}) as server,
        httpx.AsyncClient(base_url=server.url, timeout=DEADLINE) as http,
    ):
        pool = server.add_nodepool(server.add_cluster("demo").id, "workers")

        assert (await http.delete(pool.href)).status_code == 202
        assert (await http.get(pool.href)).status_code == 404


async def test_the_openapi_document_names_every_route(server: LabApi, http: httpx.AsyncClient) -> None:
    document = (await http.get("/api/hyperfleet/v1/openapi")).json()

    described = {
        (verb.upper(), re.sub(r"{\w+}", "{}", path))
        for path, item in document["paths"].items()
        for verb in item.keys() - {"parameters"}
    }
    served = {
        (route.method, re.sub(r"{\w+}", "{}", route.resource.canonical.removesuffix("{slash}")))
        for route in server._api.application().router.routes()
        if route.resource is not None and route.resource.canonical.endswith("{slash}")
    }
    refused = {("POST", "/api/hyperfleet/v1/nodepools")}
    assert described == served - refused


async def test_a_list_is_one_of_the_openapi_document(server: LabApi, http: httpx.AsyncClient) -> None:
    document = (await http.get("/api/hyperfleet/v1/openapi")).json()
    cluster = server.add_cluster("demo")
    server.add_nodepool(cluster.id, "workers")

    for path, schema in (
        (CLUSTERS, "ClusterList"),
        (f"{cluster.href}/nodepools", "NodePoolList"),
        (f"{cluster.href}/statuses", "AdapterStatusList"),
        ("/api/hyperfleet/v1/resources", "ResourceList"),
    ):
        described = {**document["components"]["schemas"][schema], "components": document["components"]}
        jsonschema.validate((await http.get(path)).json(), described)


async def test_the_command_serves_until_it_is_interrupted() -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "lab.api.command", "--output", "json", "--cluster-adapter", "one",
        stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    try:
        assert process.stdout is not None
        async with asyncio.timeout(DEADLINE):
            url = json.loads(await process.stdout.readline())["api"]
        async with httpx.AsyncClient(base_url=url, timeout=DEADLINE) as http:
            answer = await http.post(CLUSTERS, json={"kind": "Cluster", "name": "demo", "spec": {}})
    finally:
        process.send_signal(signal.SIGINT)

    assert "[one]" in answer.json()["status"]["conditions"][0]["message"]
    assert await process.wait() == 0
