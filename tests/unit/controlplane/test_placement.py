"""Which management cluster a new control plane gets, from a list that anybody may have written."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from controlplane_adapter.reconcile.errors import NoManagementCluster, PlacementUnavailable
from controlplane_adapter.reconcile.placement import FixedPlacement, ListedPlacement, choose_consumer
from shared.errors import HyperFleetError, Misconfigured
from shared.retry import RetryPolicy

REGION = "us-central1"
ONCE = RetryPolicy(attempts=1)
SOON_AGAIN = RetryPolicy(attempts=5, first_delay=0.001, max_delay=0.001)


def listed(name: Any, *, region: Any = REGION, status: Any = "healthy", **more: Any) -> dict[str, Any]:
    return {"name": name, "region": region, "status": status, **more}


@pytest.mark.parametrize(
    ("items", "chosen"),
    [
        pytest.param([listed("a")], "a", id="the only one"),
        pytest.param([listed("a", region="eu-west1"), listed("b")], "b", id="the one of the region"),
        pytest.param([listed("a", region=None)], "a", id="one that does not say its region"),
        pytest.param([listed("a", status="degraded"), listed("b")], "b", id="the healthy one"),
        pytest.param([listed("a", status=None), listed("b")], "b", id="not one of unknown health"),
        pytest.param([listed("a", load=9), listed("b", load=2), listed("c", load=5)], "b", id="the least loaded"),
        pytest.param([listed("a", load=0.9), listed("b", load=0.2)], "b", id="the least loaded, by share"),
        pytest.param([listed("a", hosted_clusters=9), listed("b", hosted_clusters=2)], "b", id="by hosted clusters"),
        pytest.param([listed("a", load=1, hosted_clusters=9), listed("b", load=2)], "a", id="load before number"),
        pytest.param([listed("c"), listed("a"), listed("b")], "a", id="by name where nothing else tells"),
        pytest.param([listed("c", load=1), listed("a", load=1), listed("b", load=2)], "a", id="by name among equals"),
        pytest.param([listed("a", load="much"), listed("b", load=1)], "a", id="a load that is no number is none"),
        pytest.param([listed("a", load=float("nan")), listed("b", load=1)], "a", id="not a number is none"),
        pytest.param([listed("a", load=10**400), listed("b", load=1e300)], "b", id="however large the numbers are"),
        pytest.param([None, 7, "x", [], listed("a")], "a", id="what is no management cluster is passed over"),
        pytest.param([listed(""), listed(None), listed(7), listed("A B"), listed("x")], "x", id="as is one without a name"),
    ],
)  # fmt: skip
def test_the_best_of_a_list(items: list[Any], chosen: str) -> None:
    assert choose_consumer(items, REGION) == chosen
    assert choose_consumer({"items": items, "total": len(items)}, REGION) == chosen


@pytest.mark.parametrize("items", [[], [listed("a", region="eu-west1")], [listed("a", status="down")]])
def test_a_region_without_a_healthy_management_cluster_is_reported(items: list[Any]) -> None:
    with pytest.raises(NoManagementCluster, match=REGION):
        choose_consumer(items, REGION)


@pytest.mark.parametrize("document", [None, 7, "a list", {}, {"items": None}, {"items": {"a": 1}}, True])
def test_a_list_that_is_none_is_reported_as_trouble_of_the_list(document: Any) -> None:
    with pytest.raises(PlacementUnavailable, match="has no items"):
        choose_consumer(document, REGION)


async def test_a_given_name_is_the_place_whatever_the_region() -> None:
    assert await FixedPlacement("us-east-mgmt-01").choose("anywhere") == "us-east-mgmt-01"


class Lister:
    """A server that gives its answers one after the other, the last one for ever."""

    def __init__(self, *answers: bytes) -> None:
        self._answers = list(answers)
        self.url = ""
        self.asked: list[str] = []

    def will(self, *answers: bytes) -> None:
        self._answers[:] = answers

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        request = await reader.readuntil(b"\r\n\r\n")
        self.asked.append(request.split()[1].decode())
        writer.write(self._answers.pop(0) if len(self._answers) > 1 else self._answers[0])
        await writer.drain()
        writer.close()


def answer(status: int, body: bytes) -> bytes:
    return b"HTTP/1.1 %d X\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s" % (status, len(body), body)


BROKEN_GZIP = b"HTTP/1.1 200 X\r\nContent-Encoding: gzip\r\nContent-Length: 3\r\nConnection: close\r\n\r\nabc"
GOOD = answer(200, json.dumps({"items": [listed("b", load=3), listed("a", load=7)]}).encode())


@pytest.fixture
async def lister() -> AsyncIterator[Lister]:
    served = Lister(GOOD)
    server = await asyncio.start_server(served.serve, "127.0.0.1", 0)
    async with server:
        served.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/management-clusters"
        yield served


def listing(lister: Lister, retry: RetryPolicy = ONCE, *, query: str = "") -> ListedPlacement:
    return ListedPlacement(lister.url + query, 10.0, retry)


async def test_the_list_is_asked_for_healthy_ones_of_the_region(lister: Lister) -> None:
    assert await listing(lister).choose(REGION) == "b"
    assert lister.asked == ["/management-clusters?region=us-central1&status=healthy"]


async def test_what_the_address_asks_for_itself_is_kept(lister: Lister) -> None:
    await listing(lister, query="?tenant=red").choose(REGION)

    assert lister.asked == ["/management-clusters?tenant=red&region=us-central1&status=healthy"]


@pytest.mark.parametrize(
    ("given", "kind", "message"),
    [
        pytest.param(answer(500, b"oops"), PlacementUnavailable, "HTTP 500", id="a server in trouble"),
        pytest.param(answer(503, b""), PlacementUnavailable, "HTTP 503", id="a server that is away"),
        pytest.param(answer(429, b""), PlacementUnavailable, "HTTP 429", id="too many requests"),
        pytest.param(answer(200, b"<html>"), PlacementUnavailable, "not JSON", id="nonsense"),
        pytest.param(answer(200, b"\xff"), PlacementUnavailable, "not JSON", id="bytes that are no text"),
        pytest.param(answer(200, b"[" * 100_000), PlacementUnavailable, "not JSON", id="a list that never ends"),
        pytest.param(answer(200, b"7"), PlacementUnavailable, "has no items", id="a number"),
        pytest.param(BROKEN_GZIP, PlacementUnavailable, "cannot be read", id="broken compression"),
        pytest.param(b"what?\r\n\r\n", PlacementUnavailable, "cannot be read", id="no HTTP"),
        pytest.param(b"", PlacementUnavailable, "cannot be read", id="no answer"),
        pytest.param(answer(200, b"[]"), NoManagementCluster, REGION, id="an empty list"),
        pytest.param(answer(401, b""), Misconfigured, "MANAGEMENT_CLUSTERS_URL", id="not allowed"),
        pytest.param(answer(404, b""), Misconfigured, "MANAGEMENT_CLUSTERS_URL", id="not there"),
        pytest.param(answer(302, b""), Misconfigured, "MANAGEMENT_CLUSTERS_URL", id="elsewhere"),
    ],
)
async def test_a_list_that_cannot_be_used_is_reported(
    lister: Lister, given: bytes, kind: type[HyperFleetError], message: str
) -> None:
    lister.will(given)

    with pytest.raises(kind, match=message):
        await listing(lister).choose(REGION)


async def test_a_list_that_nobody_serves_is_reported() -> None:
    with pytest.raises(PlacementUnavailable, match=r"127\.0\.0\.1:1/ cannot be read"):
        await ListedPlacement("http://127.0.0.1:1/", 10.0, ONCE).choose(REGION)


async def test_a_password_in_the_address_is_not_reported() -> None:
    with pytest.raises(PlacementUnavailable) as caught:
        await ListedPlacement("http://me:hunter2@127.0.0.1:1/", 10.0, ONCE).choose(REGION)

    assert "hunter2" not in str(caught.value)


async def test_passing_trouble_of_the_list_is_not_noticed(lister: Lister) -> None:
    lister.will(answer(503, b""), answer(200, b"<html>"), b"", GOOD)

    assert await listing(lister, SOON_AGAIN).choose(REGION) == "b"


async def test_lasting_trouble_is_not_tried_again(lister: Lister) -> None:
    lister.will(answer(404, b""), GOOD)

    with pytest.raises(Misconfigured):
        await listing(lister, SOON_AGAIN).choose(REGION)
