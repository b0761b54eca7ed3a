"""Clusters and node pools: how they are created, read and changed, and what is refused."""

import uuid
from datetime import timedelta
from typing import Any

import pytest

from shared import times
from tests.support.hyperfleet_api import BASE, MICROSECOND, Api, condition_of, not_in_v0_3_0, problem, unique


async def test_a_new_cluster_is_at_generation_one_and_not_reconciled(api: Api) -> None:
    name = unique("c")
    cluster = await api.create_cluster(name, spec={"gcp_project_id": "p"}, labels={"env": "dev"})

    assert uuid.UUID(cluster["id"]).version == 7
    assert cluster["href"] == f"{BASE}/clusters/{cluster['id']}"
    assert (cluster["kind"], cluster["name"], cluster["generation"]) == ("Cluster", name, 1)
    assert (cluster["spec"], cluster["labels"]) == ({"gcp_project_id": "p"}, {"env": "dev"})
    assert not {"deleted_time", "deleted_by", "owner_references"} & cluster.keys()
    reconciled, last_known = condition_of(cluster, "Reconciled"), condition_of(cluster, "LastKnownReconciled")
    assert (reconciled["status"], reconciled["reason"]) == ("False", "ReconciledMissingAdapters")
    assert reconciled["observed_generation"] == 1
    assert (last_known["status"], last_known["reason"]) == ("False", "AdaptersMissingReports")
    assert len(cluster["status"]["conditions"]) == 2


async def test_a_cluster_is_read_as_it_was_created(api: Api) -> None:
    cluster = await api.create_cluster(spec={"nested": {"list": [1, "two", None, True]}})

    read = await api.reread(cluster)

    assert read["spec"] == {"nested": {"list": [1, "two", None, True]}}
    assert read["id"] == cluster["id"]
    assert times.parse(read["created_time"]) == pytest.approx(times.parse(cluster["created_time"]), abs=MICROSECOND)


async def test_the_message_names_who_is_waited_for(api: Api) -> None:
    cluster = await api.create_cluster()
    await api.accept(cluster, "dns")

    message = condition_of(await api.reread(cluster), "Reconciled")["message"]

    assert message == "Required adapters not reporting Available=True: [controlplane]. Currently reporting: [dns]"


@pytest.mark.parametrize(
    "members",
    [
        pytest.param({"kind": None}, id="no kind"),
        pytest.param({"kind": "NodePool"}, id="another kind"),
        pytest.param({"spec": None}, id="no spec"),
        pytest.param({"name": None}, id="no name"),
        pytest.param({"name": "ab"}, id="a name of two letters"),
        pytest.param({"name": "a" * 54}, id="a name of 54 letters"),
        pytest.param({"name": "Upper"}, id="capitals"),
        pytest.param({"name": "-abc"}, id="a leading hyphen"),
        pytest.param({"name": "abc-"}, id="a trailing hyphen"),
        pytest.param({"name": "a.b.c"}, id="dots"),
    ],
)
async def test_a_cluster_that_breaks_a_rule_is_refused(api: Api, members: dict[str, Any]) -> None:
    body = {"kind": "Cluster", "name": unique("c"), "spec": {}, **members}

    await api.refused(400, "VAL-000", "POST", "/clusters", body)


@pytest.mark.parametrize("name", ["abc", "a" * 40 + "-0123456789-z"])
async def test_the_shortest_and_the_longest_name_are_accepted(api: Api, name: str) -> None:
    cluster = await api.create_cluster(name)

    assert cluster["name"] == name
    await api.delete(cluster)


@not_in_v0_3_0("accepts any label")
@pytest.mark.parametrize("labels", [{"a b": "x"}, {"key": "x" * 64}, {"key": "<script>"}, {"UP.example/k": "v"}])
async def test_labels_must_be_those_of_kubernetes(api: Api, labels: dict[str, str]) -> None:
    body = {"kind": "Cluster", "name": unique("c"), "spec": {}, "labels": labels}

    refusal = await api.refused(400, "VAL-000", "POST", "/clusters", body)

    assert refusal["errors"][0]["field"].startswith("labels")


@pytest.mark.parametrize("content", [b"", b"{", b"[", b"\xff", b'{"kind": "Cluster",}'])
async def test_a_body_that_is_no_json_is_malformed(api: Api, content: bytes) -> None:
    await api.refused(400, "VAL-006", "POST", "/clusters", content)


async def test_a_number_that_nobody_can_store_is_refused(api: Api) -> None:
    body = b'{"kind": "Cluster", "name": "%s", "spec": {"a": 1e999}}' % unique("c").encode()

    answer = await api.http.post(f"{BASE}/clusters", content=body)

    assert answer.status_code == 400


async def test_a_name_in_use_is_a_conflict_until_its_cluster_is_deleted(api: Api) -> None:
    name = unique("c")
    cluster = await api.create_cluster(name)
    await api.refused(409, "CNF-001", "POST", "/clusters", {"kind": "Cluster", "name": name, "spec": {}})

    await api.delete(cluster)

    assert (await api.create_cluster(name))["id"] != cluster["id"]


async def test_an_unknown_cluster_is_a_problem_with_all_its_members(api: Api) -> None:
    path = f"/clusters/{uuid.uuid4()}"

    refusal = await api.refused(404, "NTF-001", "GET", path)

    assert refusal["type"] == "https://api.hyperfleet.io/errors/not-found"
    assert refusal["title"] == "Resource Not Found"
    assert refusal["instance"] == BASE + path
    assert refusal["detail"] == f"Cluster with id='{path.rsplit('/', 1)[1]}' not found"
    assert abs(times.parse(refusal["timestamp"]) - times.now()) < timedelta(minutes=1)
    assert refusal["trace_id"]


@not_in_v0_3_0("answers HYPERFLEET-NTF-001")
async def test_a_path_that_does_not_exist_has_a_code_of_its_own(api: Api) -> None:
    await api.refused(404, "NTF-000", "GET", "/nothing")


async def test_a_trailing_slash_is_tolerated(api: Api) -> None:
    cluster = await api.create_cluster()

    assert (await api.get(f"/clusters/{cluster['id']}/"))["id"] == cluster["id"]
    assert (await api.get("/clusters/", size=1))["size"] == 1


async def test_a_patch_replaces_the_whole_spec_and_starts_a_generation(api: Api) -> None:
    cluster = await api.create_cluster(spec={"a": 1, "b": 2}, labels={"env": "dev"})

    patched = await api.patch(cluster, spec={"c": 3})

    assert (patched["generation"], patched["spec"], patched["labels"]) == (2, {"c": 3}, {"env": "dev"})
    assert condition_of(patched, "Reconciled")["observed_generation"] == 2


async def test_a_patch_of_labels_alone_starts_a_generation(api: Api) -> None:
    cluster = await api.create_cluster(spec={"a": 1}, labels={"env": "dev", "team": "x"})

    patched = await api.patch(cluster, labels={"env": "prod"})

    assert (patched["generation"], patched["spec"], patched["labels"]) == (2, {"a": 1}, {"env": "prod"})


async def test_a_patch_that_changes_nothing_keeps_the_generation(api: Api) -> None:
    cluster = await api.create_cluster(spec={"a": {"b": [1, 2]}}, labels={"env": "dev"})

    patched = await api.patch(cluster, spec={"a": {"b": [1, 2]}}, labels={"env": "dev"})

    assert patched["generation"] == 1


async def test_a_patch_of_a_number_to_a_truth_value_is_a_change(api: Api) -> None:
    cluster = await api.create_cluster(spec={"a": [{"on": 1}]})

    patched = await api.patch(cluster, spec={"a": [{"on": True}]})

    assert (patched["generation"], patched["spec"]["a"][0]["on"]) == (2, True)


async def test_a_patch_without_a_field_is_refused(api: Api) -> None:
    cluster = await api.create_cluster()

    await api.refused(400, "VAL-005", "PATCH", f"/clusters/{cluster['id']}", {})


@not_in_v0_3_0("ignores what it does not know")
async def test_a_patch_of_an_unknown_or_immutable_field_is_refused(api: Api) -> None:
    cluster = await api.create_cluster()

    await api.refused(400, "VAL-006", "PATCH", f"/clusters/{cluster['id']}", {"spec": {}, "name": "other"})


async def test_a_patch_turns_reconciled_to_false_at_once(api: Api) -> None:
    cluster = await api.create_cluster()
    assert condition_of(await api.reconcile(cluster), "Reconciled")["status"] == "True"

    patched = await api.patch(cluster, spec={"a": 1})

    reconciled = condition_of(patched, "Reconciled")
    assert (reconciled["status"], reconciled["observed_generation"]) == ("False", 2)
    assert condition_of(patched, "LastKnownReconciled")["status"] == "True"


@not_in_v0_3_0("answers an empty object")
async def test_labels_are_absent_where_there_are_none(api: Api) -> None:
    assert "labels" not in await api.create_cluster()


async def test_a_node_pool_knows_its_cluster(api: Api) -> None:
    cluster = await api.create_cluster()

    pool = await api.create_nodepool(cluster, spec={"replicas": 2})

    assert pool["href"] == f"{cluster['href']}/nodepools/{pool['id']}"
    assert pool["owner_references"] == {"id": cluster["id"], "kind": "Cluster", "href": cluster["href"]}
    assert (pool["kind"], pool["generation"], pool["spec"]) == ("NodePool", 1, {"replicas": 2})
    assert (await api.reread(pool))["id"] == pool["id"]
    assert condition_of(pool, "Reconciled")["status"] == "False"


async def test_a_node_pool_has_its_own_generation(api: Api) -> None:
    cluster = await api.create_cluster()
    pool = await api.create_nodepool(cluster)

    assert (await api.patch(pool, spec={"replicas": 3}))["generation"] == 2
    assert (await api.reread(cluster))["generation"] == 1


async def test_names_of_node_pools_are_unique_in_their_cluster_and_at_most_15_letters(api: Api) -> None:
    one, other = await api.create_cluster(), await api.create_cluster()
    await api.create_nodepool(one, "workers")
    await api.create_nodepool(other, "workers")

    path, body = f"/clusters/{one['id']}/nodepools", {"kind": "NodePool", "spec": {}}
    await api.refused(409, "CNF-001", "POST", path, body | {"name": "workers"})
    await api.refused(400, "VAL-000", "POST", path, body | {"name": "w" * 16})


async def test_a_node_pool_of_another_cluster_is_not_found(api: Api) -> None:
    one, other = await api.create_cluster(), await api.create_cluster()
    pool = await api.create_nodepool(one)

    path = f"/clusters/{other['id']}/nodepools/{pool['id']}"
    for method in ("GET", "DELETE"):
        await api.refused(404, "NTF-001", method, path)
    await api.refused(404, "NTF-001", "PATCH", path, {"spec": {"a": 1}})


async def test_a_node_pool_of_an_unknown_cluster_is_refused(api: Api) -> None:
    body = {"kind": "NodePool", "name": "workers", "spec": {}}

    await api.refused(404, "NTF-001", "POST", f"/clusters/{uuid.uuid4()}/nodepools", body)
    await api.refused(404, "NTF-001", "GET", f"/clusters/{uuid.uuid4()}/nodepools")


@not_in_v0_3_0("serves only the list of node pools")
async def test_a_node_pool_is_reached_without_its_cluster_as_well(api: Api) -> None:
    pool = await api.create_nodepool(await api.create_cluster())

    assert (await api.get(f"/nodepools/{pool['id']}"))["href"] == pool["href"]
    answer = await api.http.put(f"{BASE}/nodepools/{pool['id']}/statuses", json=api.report("nodepool"))
    assert answer.status_code == 201
    assert condition_of(await api.reread(pool), "Reconciled")["status"] == "True"


@not_in_v0_3_0("has no such route")
async def test_a_node_pool_is_created_below_its_cluster_only(api: Api) -> None:
    body = {"kind": "NodePool", "name": "workers", "spec": {}}

    for path in ("/nodepools", "/resources"):
        await api.refused(422, "VAL-000", "POST", path, body)


@not_in_v0_3_0("has no /resources")
async def test_every_kind_is_reached_through_resources(api: Api) -> None:
    cluster = await api.expect(201, "POST", "/resources", {"kind": "Cluster", "name": unique("c"), "spec": {}})
    pool = await api.create_nodepool(cluster)

    assert (await api.get(f"/resources/{pool['id']}"))["kind"] == "NodePool"
    answer = await api.http.put(f"{BASE}/resources/{pool['id']}/statuses", json=api.report("nodepool"))
    assert answer.status_code == 201
    assert (await api.get(f"/resources/{pool['id']}/statuses"))["total"] == 1
    listed = await api.get("/resources", kind="NodePool", search=f"owner_id = '{cluster['id']}'")
    assert [each["id"] for each in listed["items"]] == [pool["id"]]
    await api.refused(400, "VAL-000", "GET", "/resources?kind=Nothing")
    await api.refused(404, "NTF-001", "GET", f"/resources/{uuid.uuid4()}")


async def test_statuses_are_put_and_not_posted(api: Api) -> None:
    cluster = await api.create_cluster()

    answer = await api.http.post(f"{cluster['href']}/statuses", json=api.report())

    assert answer.status_code == 405


async def test_every_answer_has_a_request_id(api: Api) -> None:
    answer = await api.http.get(f"{BASE}/clusters/{uuid.uuid4()}")

    assert answer.headers["X-Request-ID"]
    problem(answer, 404, "NTF-001")
