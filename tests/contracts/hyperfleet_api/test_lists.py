"""Lists: pages, order, fields and the search language. Each test has labels of its own, as the server may hold more."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest

from shared import times
from tests.support.hyperfleet_api import Api, Document, not_in_v0_3_0, unique


@dataclass(frozen=True, slots=True)
class Fleet:
    """Three clusters under one label: `a` in dev, `b` in prod and reconciled, `c` in prod and being deleted."""

    label: str
    clusters: dict[str, Document]

    @property
    def search(self) -> str:
        return f"labels.fleet = '{self.label}'"

    def letters(self, listed: Document) -> str:
        by_id = {cluster["id"]: letter for letter, cluster in self.clusters.items()}
        return "".join(by_id[each["id"]] for each in listed["items"])


@pytest.fixture
async def fleet(api: Api) -> Fleet:
    label = unique("fleet")
    clusters = {}
    for letter, env in (("a", "dev"), ("b", "prod"), ("c", "prod")):
        labels = {"fleet": label, "env": env}
        clusters[letter] = await api.create_cluster(f"{letter}-{label}", labels=labels, spec={"size": letter})
    clusters["b"] = await api.reconcile(clusters["b"])
    clusters["c"] = await api.delete(clusters["c"])
    return Fleet(label, clusters)


async def test_the_newest_come_first(api: Api, fleet: Fleet) -> None:
    assert fleet.letters(await api.get("/clusters", search=fleet.search)) == "cba"


async def test_a_list_says_which_page_it_is(api: Api, fleet: Fleet) -> None:
    first = await api.get("/clusters", search=fleet.search, size=2)
    second = await api.get("/clusters", search=fleet.search, size=2, page=2)
    third = await api.get("/clusters", search=fleet.search, size=2, page=3)

    assert [(each["page"], each["size"], each["total"]) for each in (first, second, third)] == [
        (1, 2, 3),
        (2, 1, 3),
        (3, 0, 3),
    ]
    assert fleet.letters(first) + fleet.letters(second) == "cba"
    assert third["items"] == []


@not_in_v0_3_0("adds the kind of the list")
async def test_a_list_has_no_kind(api: Api, fleet: Fleet) -> None:
    assert (await api.get("/clusters", search=fleet.search)).keys() == {"items", "page", "size", "total"}


@not_in_v0_3_0("gives 100 items where no size is asked for")
async def test_a_page_has_twenty_items_where_no_size_is_asked_for(api: Api) -> None:
    label = unique("many")
    for _ in range(21):
        await api.create_cluster(labels={"fleet": label})

    listed = await api.get("/clusters", search=f"labels.fleet = '{label}'")

    assert (listed["size"], listed["total"]) == (20, 21)


@not_in_v0_3_0("takes any size")
@pytest.mark.parametrize("query", ["size=101", "size=0", "size=-1", "size=x", "page=0", "page=x", "page=100001"])
async def test_a_page_that_cannot_be_is_refused(api: Api, query: str) -> None:
    refusal = await api.refused(400, "VAL-000", "GET", f"/clusters?{query}")

    assert refusal["errors"][0]["field"] == query.partition("=")[0]


@not_in_v0_3_0("calls the parameter orderBy")
async def test_a_list_is_sorted_as_asked(api: Api, fleet: Fleet) -> None:
    assert fleet.letters(await api.get("/clusters", search=fleet.search, order="name asc")) == "abc"
    assert fleet.letters(await api.get("/clusters", search=fleet.search, order="name desc")) == "cba"
    assert fleet.letters(await api.get("/clusters", search=fleet.search, order="generation desc,name")) == "cab"


@not_in_v0_3_0("calls the parameter orderBy")
@pytest.mark.parametrize("order", ["nothing", "name up", "name asc desc"])
async def test_an_order_that_cannot_be_is_refused(api: Api, order: str) -> None:
    await api.refused(400, "VAL-005", "GET", f"/clusters?order={order}")


async def test_only_the_fields_asked_for_come_with_the_id(api: Api, fleet: Fleet) -> None:
    listed = await api.get("/clusters", search=fleet.search, fields="name,generation,status.conditions", size=1)

    [cluster] = listed["items"]
    assert cluster.keys() == {"id", "name", "generation", "status"}
    assert {each["type"] for each in cluster["status"]["conditions"]} == {"Reconciled", "LastKnownReconciled"}


async def test_times_lose_their_fractions_when_fields_are_asked_for(api: Api, fleet: Fleet) -> None:
    listed = await api.get("/clusters", search=fleet.search, fields="created_time", size=1)

    assert times.parse(listed["items"][0]["created_time"]).microsecond == 0


@pytest.mark.parametrize("name", ["nothing", "status", "status.phase", "spec.size"])
async def test_fields_that_no_cluster_has_are_refused(api: Api, fleet: Fleet, name: str) -> None:
    await api.refused(400, "VAL-000", "GET", f"/clusters?fields=name,{name}&search={fleet.search}")


@not_in_v0_3_0("answers all fields of a single cluster")
async def test_fields_work_for_one_cluster_as_well(api: Api, fleet: Fleet) -> None:
    path = f"/clusters/{fleet.clusters['a']['id']}"

    assert (await api.get(path, fields="name")).keys() == {"id", "name"}
    await api.refused(400, "VAL-000", "GET", f"{path}?fields=status")


@pytest.mark.parametrize(
    ("search", "letters"),
    [
        pytest.param("labels.env = 'prod'", "cb", id="a label"),
        pytest.param("labels.env != 'prod'", "a", id="another label"),
        pytest.param("labels.env in ('dev', 'test')", "a", id="one of several"),
        pytest.param("generation = 2", "c", id="a number"),
        pytest.param("generation > 1", "c", id="a larger number"),
        pytest.param("generation <= 1", "ba", id="a smaller number"),
        pytest.param("deleted_time is null", "ba", id="nothing there"),
        pytest.param("deleted_time is not null", "c", id="something there"),
        pytest.param("not generation = 2", "ba", id="not"),
        pytest.param("not (generation = 2 or generation = 3)", "ba", id="not before a parenthesis"),
        pytest.param("generation = 2 or labels.env = 'dev'", "ca", id="or"),
        pytest.param("(generation = 1 or generation = 2) and deleted_time is null", "ba", id="parentheses"),
        pytest.param("generation = 2 OR generation = 7", "c", id="capitals"),
        pytest.param("status.conditions.Reconciled = 'True'", "b", id="a condition"),
        pytest.param("status.conditions.Reconciled.observed_generation = 2", "c", id="a condition's generation"),
        pytest.param("status.conditions.Nothing = 'True'", "", id="a condition that is nowhere"),
    ],
)
async def test_a_search_finds(api: Api, fleet: Fleet, search: str, letters: str) -> None:
    listed = await api.get("/clusters", search=f"{fleet.search} and ({search})")

    assert fleet.letters(listed) == letters
    assert listed["total"] == len(letters)


async def test_a_search_compares_times(api: Api, fleet: Fleet) -> None:
    created = times.parse(fleet.clusters["b"]["created_time"])
    hour = timedelta(hours=1)

    async def found(search: str) -> str:
        return fleet.letters(await api.get("/clusters", search=f"{fleet.search} and {search}"))

    assert await found(f"created_time > '{times.to_micros(created - hour)}'") == "cba"
    assert await found(f"created_time < '{times.to_micros(created - hour)}'") == ""
    updated = "status.conditions.Reconciled.last_updated_time"
    assert await found(f"{updated} < '{times.to_seconds(created + hour)}'") == "cba"
    assert await found(f"{updated} > '{times.to_seconds(created + hour)}'") == ""


async def test_a_search_finds_one_by_its_id_or_name(api: Api, fleet: Fleet) -> None:
    for search in (f"id = '{fleet.clusters['a']['id']}'", f"name = '{fleet.clusters['a']['name']}'"):
        assert fleet.letters(await api.get("/clusters", search=search)) == "a"


@not_in_v0_3_0("refuses to look into a cluster's spec")
async def test_a_search_looks_into_the_spec(api: Api, fleet: Fleet) -> None:
    listed = await api.get("/clusters", search=f"{fleet.search} and spec.size = 'b'")

    assert fleet.letters(listed) == "b"


@pytest.mark.parametrize(
    "search",
    [
        pytest.param("name =", id="half a search"),
        pytest.param("name 'x'", id="no operator"),
        pytest.param("(name = 'x'", id="an open parenthesis"),
        pytest.param("name = 'x", id="an open quote"),
        pytest.param("status.conditions.Reconciled != 'True'", id="a condition that is not"),
        pytest.param("status.conditions.Reconciled = 'Maybe'", id="a status that does not exist"),
        pytest.param("status.conditions.Reconciled in ('True')", id="a condition in a list"),
        pytest.param("status.conditions.Reconciled.observed_generation in (1, 2)", id="a condition's member in a list"),
        pytest.param("not status.conditions.Reconciled = 'True'", id="not before a condition"),
        pytest.param("not (name = 'x' and status.conditions.Reconciled = 'True')", id="not around a condition"),
        pytest.param("status.conditions.Reconciled.reason = 'x'", id="a member that is not searched"),
        pytest.param("name = '" + "x" * 4090 + "'", id="more than 4096 letters"),
    ],
)
async def test_a_search_that_cannot_be_is_refused(api: Api, search: str) -> None:
    answer = await api.http.get("/api/hyperfleet/v1/clusters", params={"search": search})

    assert (answer.status_code, answer.json()["code"]) == (400, "HYPERFLEET-VAL-005"), answer.text


@not_in_v0_3_0("takes it")
async def test_not_before_a_label_is_refused(api: Api) -> None:
    await api.refused(400, "VAL-005", "GET", "/clusters?search=not labels.env = 'dev'")


async def test_the_node_pools_of_one_cluster_are_listed_and_searched(api: Api) -> None:
    cluster, other = await api.create_cluster(), await api.create_cluster()
    pools = [await api.create_nodepool(cluster, name) for name in ("one", "two")]
    await api.create_nodepool(other, "one")
    path = f"/clusters/{cluster['id']}/nodepools"

    everything: dict[str, Any] = await api.get(path)
    assert [each["id"] for each in everything["items"]] == [pools[1]["id"], pools[0]["id"]]
    assert [each["id"] for each in (await api.get(path, search="name = 'one'"))["items"]] == [pools[0]["id"]]
    listed = await api.get("/nodepools", search=f"owner_id = '{cluster['id']}'")
    assert listed["total"] == 2
