"""Objects by the many: lists, selectors and pages, and how objects go."""

import pytest

from tests.support.kubernetes import Api, config_map, good, job, pod, unique, version_of


async def test_a_list_holds_the_objects_by_name_and_its_own_version(api: Api) -> None:
    made = [good(await api.create("configmaps", config_map(name))) for name in ("b", "a")]

    listed = good(await api.get("configmaps"))

    assert (listed["kind"], listed["apiVersion"]) == ("ConfigMapList", "v1")
    assert [each["metadata"]["name"] for each in listed["items"]] == ["a", "b"]
    assert int(listed["metadata"]["resourceVersion"]) >= max(map(version_of, made))
    assert all("kind" not in each for each in listed["items"])


async def test_a_list_of_all_namespaces_holds_those_of_each(api: Api) -> None:
    label = unique("here")
    labelled = config_map("c")
    labelled["metadata"]["labels"] = {"where": label}
    good(await api.create("configmaps", labelled))

    listed = good(await api.send("GET", "/api/v1/configmaps", labelSelector=f"where={label}"))

    assert [each["metadata"]["namespace"] for each in listed["items"]] == [api.namespace]


@pytest.mark.parametrize(
    ("selector", "names"),
    [
        ("tier=front", ["a"]),
        ("tier==front", ["a"]),
        ("tier!=front", ["b", "c"]),
        ("tier", ["a", "b"]),
        ("!tier", ["c"]),
        ("tier in (front,back)", ["a", "b"]),
        ("tier notin (front)", ["b", "c"]),
        ("tier,zone=1", ["b"]),
        ("", ["a", "b", "c"]),
    ],
)
async def test_labels_select(api: Api, selector: str, names: list[str]) -> None:
    for name, labels in (("a", {"tier": "front"}), ("b", {"tier": "back", "zone": "1"}), ("c", {"zone": "2"})):
        good(await api.create("pods", pod(name, labels=labels)))

    listed = good(await api.get("pods", labelSelector=selector))

    assert [each["metadata"]["name"] for each in listed["items"]] == names


@pytest.mark.parametrize(
    ("selector", "names"),
    [
        ("metadata.name=a", ["a"]),
        ("metadata.name!=a", ["b"]),
        ("status.phase=Pending,metadata.name=b", ["b"]),
        ("status.phase=Running", []),
    ],
)
async def test_fields_select(api: Api, selector: str, names: list[str]) -> None:
    for name in ("a", "b"):
        good(await api.create("pods", pod(name)))

    listed = good(await api.get("pods", fieldSelector=selector))

    assert [each["metadata"]["name"] for each in listed["items"]] == names


async def test_a_field_that_cannot_be_selected_by_is_a_bad_request(api: Api) -> None:
    answer = await api.get("jobs", fieldSelector="spec.suspend=true")

    assert (answer.status_code, answer.json()["reason"]) == (400, "BadRequest")
    assert answer.json()["message"] == 'field label "spec.suspend" not supported for Job'


async def test_pages_together_show_the_moment_of_the_first(api: Api) -> None:
    for name in "abcde":
        good(await api.create("configmaps", config_map(name)))

    first = good(await api.get("configmaps", limit=2))
    good(await api.delete("configmaps", "c"))
    good(await api.create("configmaps", config_map("bb")))
    second = good(await api.get("configmaps", limit=2, **{"continue": first["metadata"]["continue"]}))
    third = good(await api.get("configmaps", limit=2, **{"continue": second["metadata"]["continue"]}))

    assert [[each["metadata"]["name"] for each in page["items"]] for page in (first, second, third)] == [
        ["a", "b"],
        ["c", "d"],
        ["e"],
    ]
    assert (first["metadata"]["remainingItemCount"], second["metadata"]["remainingItemCount"]) == (3, 1)
    assert "continue" not in third["metadata"]
    assert len({page["metadata"]["resourceVersion"] for page in (first, second, third)}) == 1


async def test_a_page_that_was_never_promised_is_a_bad_request(api: Api) -> None:
    answer = await api.get("configmaps", limit=2, **{"continue": "nonsense"})

    assert (answer.status_code, answer.json()["reason"]) == (400, "BadRequest")


async def test_a_deleted_object_is_gone(api: Api) -> None:
    made = good(await api.create("configmaps", config_map("c")))

    answer = await api.delete("configmaps", "c")

    assert answer.json() == {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Success",
        "details": {"name": "c", "kind": "configmaps", "uid": made["metadata"]["uid"]},
    }
    assert (await api.get("configmaps", "c")).status_code == 404
    assert (await api.delete("configmaps", "c")).status_code == 404


@pytest.mark.parametrize("which", ["uid", "resourceVersion"])
async def test_a_deletion_can_be_bound_to_one_state(api: Api, which: str) -> None:
    made = good(await api.create("configmaps", config_map("c")))["metadata"]
    wrong = "11111111-1111-1111-1111-111111111111" if which == "uid" else "1"

    refused = await api.delete("configmaps", "c", {"preconditions": {which: wrong}})
    shown = {"uid": "UID", "resourceVersion": "ResourceVersion"}[which]

    assert (refused.status_code, refused.json()["reason"]) == (409, "Conflict")
    why = f"the {shown} in the precondition ({wrong}) does not match the {shown} in record ({made[which]})."
    assert refused.json()["message"].startswith(f'Operation cannot be fulfilled on ConfigMap "c": {why}')
    good(await api.delete("configmaps", "c", {"preconditions": {which: made[which]}}))
    assert (await api.get("configmaps", "c")).status_code == 404


async def test_a_finalizer_holds_an_object_until_it_is_taken_away(api: Api) -> None:
    held = config_map("c")
    held["metadata"]["finalizers"] = ["lab.example.com/hold"]
    made = good(await api.create("configmaps", held))

    marked = good(await api.delete("configmaps", "c"))
    again = good(await api.delete("configmaps", "c"))
    released = good(await api.patch("configmaps", "c", {"metadata": {"finalizers": None}}))

    assert marked["metadata"]["uid"] == made["metadata"]["uid"]
    assert marked["metadata"]["deletionTimestamp"]
    assert again["metadata"]["deletionTimestamp"] == marked["metadata"]["deletionTimestamp"]
    assert released["metadata"]["uid"] == made["metadata"]["uid"]
    assert (await api.get("configmaps", "c")).status_code == 404


@pytest.mark.parametrize(
    ("policy", "finalizer"), [("Foreground", "foregroundDeletion"), ("Orphan", "orphan"), (None, "orphan")]
)
async def test_a_job_waits_for_its_pods_where_the_policy_asks_for_it(
    api: Api, policy: str | None, finalizer: str
) -> None:
    good(await api.create("jobs", job("j")))

    answer = await api.delete("jobs", "j", {"propagationPolicy": policy} if policy else None)
    marked = good(answer)

    assert marked["kind"] == "Job"
    assert marked["metadata"]["finalizers"] == [finalizer]
    assert marked["metadata"]["deletionTimestamp"]
    assert marked["metadata"]["generation"] == 2
    assert ("child pods are preserved by default" in answer.headers.get("Warning", "")) == (policy is None)


async def test_a_job_deleted_in_the_background_is_gone_at_once(api: Api) -> None:
    good(await api.create("jobs", job("j")))

    answer = good(await api.delete("jobs", "j", propagationPolicy="Background"))

    assert answer["status"] == "Success"
    assert (await api.get("jobs", "j")).status_code == 404


async def test_a_pod_on_a_node_is_given_time_and_one_on_no_node_is_not(api: Api) -> None:
    waiting, placed = pod("waiting"), pod("placed")
    placed["spec"] |= {"nodeName": "n", "terminationGracePeriodSeconds": 7}
    for each in (waiting, placed):
        good(await api.create("pods", each))

    good(await api.delete("pods", "waiting"))
    marked = good(await api.delete("pods", "placed"))

    assert (await api.get("pods", "waiting")).status_code == 404
    assert marked["metadata"]["deletionGracePeriodSeconds"] == 7
    assert good(await api.get("pods", "placed"))["metadata"]["deletionTimestamp"]
    good(await api.delete("pods", "placed", gracePeriodSeconds=0))
    assert (await api.get("pods", "placed")).status_code == 404


async def test_a_collection_is_deleted_by_its_labels(api: Api) -> None:
    for name, labels in (("a", {"go": "1"}), ("b", {"go": "1"}), ("c", {})):
        good(await api.create("pods", pod(name, labels=labels)))

    answer = good(await api.delete("pods", labelSelector="go=1"))

    assert sorted(each["metadata"]["name"] for each in answer["items"]) == ["a", "b"]
    assert [each["metadata"]["name"] for each in good(await api.get("pods"))["items"]] == ["c"]


async def test_a_namespace_on_its_way_out_takes_no_new_objects(api: Api) -> None:
    held = config_map("c")
    held["metadata"]["finalizers"] = ["lab.example.com/hold"]
    good(await api.create("configmaps", held))

    marked = good(await api.send("DELETE", f"/api/v1/namespaces/{api.namespace}"))
    refused = await api.create("configmaps", config_map("d"))

    assert marked["status"]["phase"] == "Terminating"
    assert (refused.status_code, refused.json()["reason"]) == (403, "Forbidden")
    assert refused.json()["details"]["causes"][0]["reason"] == "NamespaceTerminating"
