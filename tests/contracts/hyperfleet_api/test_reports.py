"""The twelve rules that a status report passes, in their order, and what follows from them."""

import uuid
from datetime import timedelta
from typing import Any

import pytest

from shared import times
from tests.support.hyperfleet_api import (
    Api,
    condition,
    condition_of,
    conditions,
    not_in_v0_3_0,
    problem,
    unique,
)


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(b"", id="nothing"),
        pytest.param(b"{", id="half a body"),
        pytest.param(b"adapter: x", id="another language"),
    ],
)
async def test_rule_1_a_body_that_is_no_json_is_malformed(api: Api, content: bytes) -> None:
    problem(await api.put(await api.create_cluster(), content), 400, "VAL-006")


@pytest.mark.parametrize(
    "time",
    [
        pytest.param("2026-01-02T03:04:05", id="without a zone"),
        pytest.param("yesterday", id="a text"),
        pytest.param(1767322800, id="a number"),
    ],
)
async def test_rule_1_a_time_that_is_not_rfc_3339_is_malformed(api: Api, time: Any) -> None:
    problem(await api.put(await api.create_cluster(), api.report(observed_time=time)), 400, "VAL-006")


@not_in_v0_3_0("answers HYPERFLEET-VAL-006")
@pytest.mark.parametrize(
    ("members", "complaint"),
    [
        pytest.param({"observed_generation": "1"}, "'observed_generation' must be a number", id="a generation as text"),
        pytest.param({"observed_generation": 1.0}, "'observed_generation' must be a number", id="a generation as 1.0"),
        pytest.param({"adapter": 7}, "'adapter' must be a string", id="an adapter that is a number"),
        pytest.param({"data": []}, "'data' must be an object", id="data that is a list"),
        pytest.param({"conditions": {}}, "'conditions' must be an array", id="conditions that are an object"),
    ],
)
async def test_rule_2_a_member_of_another_type_is_refused(api: Api, members: dict[str, Any], complaint: str) -> None:
    refusal = problem(await api.put(await api.create_cluster(), api.report(**members)), 400, "VAL-000")

    assert complaint in refusal["detail"]


@pytest.mark.parametrize(
    "members",
    [
        pytest.param({"adapter": ""}, id="no adapter"),
        pytest.param({"conditions": [*conditions(), condition("", "True")]}, id="a condition without a type"),
        pytest.param({"conditions": [*conditions(), condition("Health", "True")]}, id="a condition twice"),
        pytest.param({"conditions": [*conditions(), condition("X", "true")]}, id="a status in small letters"),
        pytest.param({"conditions": [*conditions(), condition("X", "")]}, id="a condition without a status"),
    ],
)
async def test_rule_3_a_report_that_makes_no_sense_is_refused(api: Api, members: dict[str, Any]) -> None:
    problem(await api.put(await api.create_cluster(), api.report(**members)), 400, "VAL-000")


@not_in_v0_3_0("takes any generation that is not ahead")
@pytest.mark.parametrize("generation", [0, -1])
async def test_rule_3_generations_begin_at_one(api: Api, generation: int) -> None:
    problem(await api.put(await api.create_cluster(), api.report(generation=generation)), 400, "VAL-000")


@not_in_v0_3_0("has no window for observed_time")
@pytest.mark.parametrize("minutes", [6, -31])
async def test_rule_4_an_observation_far_from_now_is_refused(api: Api, minutes: int) -> None:
    moment = times.now() + timedelta(minutes=minutes)

    problem(
        await api.put(await api.create_cluster(), api.report(observed_time=times.to_micros(moment))), 400, "VAL-000"
    )


@pytest.mark.parametrize("minutes", [4, -29])
async def test_rule_4_an_observation_near_now_is_accepted(api: Api, minutes: int) -> None:
    moment = times.now() + timedelta(minutes=minutes)

    stored = await api.accept(await api.create_cluster(), observed_time=times.to_micros(moment))

    assert times.parse(stored["last_report_time"]) == moment


async def test_rule_5_a_report_on_an_unknown_cluster_is_not_found(api: Api) -> None:
    nowhere = {"href": f"/api/hyperfleet/v1/clusters/{uuid.uuid4()}"}

    problem(await api.put(nowhere, api.report()), 404, "NTF-001")


@not_in_v0_3_0("does not look at the cluster of a node pool")
async def test_rule_5_a_report_on_the_node_pool_of_another_cluster_is_not_found(api: Api) -> None:
    pool = await api.create_nodepool(await api.create_cluster())
    other = await api.create_cluster()

    answer = await api.put({"href": f"{other['href']}/nodepools/{pool['id']}"}, api.report("nodepool"))

    problem(answer, 404, "NTF-001")


async def test_rule_5_comes_after_what_is_wrong_with_the_report_itself(api: Api) -> None:
    nowhere = {"href": f"/api/hyperfleet/v1/clusters/{uuid.uuid4()}"}

    problem(await api.put(nowhere, api.report(adapter="")), 400, "VAL-000")


async def test_rule_6_a_generation_that_is_not_there_yet_is_discarded(api: Api) -> None:
    cluster = await api.create_cluster()

    answer = await api.put(cluster, api.report(generation=2))

    assert (answer.status_code, answer.content) == (204, b"")
    assert await api.statuses(cluster) == {}


async def test_rule_7_a_generation_older_than_the_adapters_last_is_discarded(api: Api) -> None:
    cluster = await api.create_cluster()
    await api.patch(cluster, spec={"a": 1})
    await api.accept(cluster, generation=2, data={"kept": True})

    answer = await api.put(cluster, api.report(generation=1, data={"kept": False}))

    assert answer.status_code == 204
    assert (await api.statuses(cluster))["controlplane"]["data"] == {"kept": True}


async def test_rule_8_an_observation_earlier_than_the_last_is_discarded(api: Api) -> None:
    cluster = await api.create_cluster()
    early = api.report(data={"kept": False})
    await api.accept(cluster, data={"kept": True})

    answer = await api.put(cluster, early)

    assert answer.status_code == 204
    assert (await api.statuses(cluster))["controlplane"]["data"] == {"kept": True}


async def test_rule_8_holds_within_a_generation_only(api: Api) -> None:
    cluster = await api.create_cluster()
    early = api.report(generation=2, data={"kept": True})
    await api.accept(cluster)
    await api.patch(cluster, spec={"a": 1})

    answer = await api.put(cluster, early)

    assert answer.status_code == 201
    assert (await api.statuses(cluster))["controlplane"]["data"] == {"kept": True}


@pytest.mark.parametrize("missing", ["Available", "Applied", "Health"])
async def test_rule_9_a_missing_mandatory_condition_is_refused(api: Api, missing: str) -> None:
    listed = [each for each in conditions() if each["type"] != missing]

    refusal = problem(await api.put(await api.create_cluster(), api.report(conditions=listed)), 400, "VAL-000")

    assert f"missing mandatory condition '{missing}'" in refusal["detail"]


async def test_rule_9_comes_after_the_discards(api: Api) -> None:
    answer = await api.put(await api.create_cluster(), api.report(generation=2, conditions=[]))

    assert answer.status_code == 204


async def test_rule_10_unknown_after_any_report_is_discarded_and_changes_nothing(api: Api) -> None:
    cluster = await api.create_cluster()
    stored = await api.accept(cluster, data={"kept": True})

    answer = await api.put(cluster, api.report(conditions=conditions("Unknown"), data={"kept": False}))

    assert answer.status_code == 204
    assert (await api.statuses(cluster))["controlplane"] == stored


async def test_rule_10_unknown_at_a_new_generation_leaves_the_adapter_at_the_old_one(api: Api) -> None:
    cluster = await api.create_cluster()
    await api.accept(cluster)
    await api.patch(cluster, spec={"a": 1})

    answer = await api.put(cluster, api.report(generation=2, conditions=conditions("Unknown")))

    assert answer.status_code == 204
    assert (await api.statuses(cluster))["controlplane"]["observed_generation"] == 1


async def test_rule_10_unknown_after_unknown_is_discarded(api: Api) -> None:
    cluster = await api.create_cluster()
    await api.accept(cluster, conditions=conditions("Unknown"))

    assert (await api.put(cluster, api.report(conditions=conditions("Unknown")))).status_code == 204


async def test_rule_11_unknown_as_the_first_report_is_stored_and_does_not_count(api: Api) -> None:
    cluster = await api.create_cluster()
    before = await api.reread(cluster)

    await api.accept(cluster, conditions=conditions("Unknown"))

    assert (await api.statuses(cluster))["controlplane"]["observed_generation"] == 1
    assert (await api.reread(cluster))["status"] == before["status"]


async def test_rule_12_a_report_is_stored_and_counts(api: Api) -> None:
    cluster = await api.create_cluster()
    listed = [condition("Applied", "True", reason="JobApplied", message="done"), *conditions("False")[1:]]
    report = api.report(conditions=listed, data={"any": {"nested": [1, 2]}})

    answer = await api.put(cluster, report)

    assert answer.status_code == 201
    stored = answer.json()
    assert stored["adapter"] == "controlplane"
    assert stored["observed_generation"] == 1
    assert stored["data"] == {"any": {"nested": [1, 2]}}
    assert [{**each, "last_transition_time": ...} for each in stored["conditions"]] == [
        {**each, "last_transition_time": ...} for each in listed
    ]
    for time in (stored["created_time"], stored["last_report_time"], stored["conditions"][0]["last_transition_time"]):
        assert times.parse(time) == times.parse(report["observed_time"])
    assert condition_of(await api.reread(cluster), "ControlplaneSuccessful")["status"] == "False"


async def test_the_same_instant_again_is_answered_with_what_is_stored_and_changes_nothing(api: Api) -> None:
    cluster = await api.create_cluster()
    first = api.report(data={"first": True})
    assert (await api.put(cluster, first)).status_code == 201

    again = await api.put(cluster, first | {"conditions": conditions("False"), "data": {"first": False}})

    assert again.status_code == 201
    assert again.json()["data"] == {"first": True}
    assert (await api.statuses(cluster))["controlplane"]["data"] == {"first": True}
    assert condition_of(await api.reread(cluster), "ControlplaneSuccessful")["status"] == "True"


async def test_a_report_without_a_time_gets_the_servers(api: Api) -> None:
    report = api.report()
    del report["observed_time"]

    answer = await api.put(await api.create_cluster(), report)

    assert answer.status_code == 201
    assert abs(times.parse(answer.json()["last_report_time"]) - times.now()) < timedelta(minutes=1)


async def test_only_available_may_not_be_unknown_again(api: Api) -> None:
    cluster = await api.create_cluster()
    await api.accept(cluster)
    listed = [condition("Applied", "Unknown"), condition("Available", "True"), condition("Health", "Unknown")]

    stored = await api.accept(cluster, conditions=listed)

    assert [each["status"] for each in stored["conditions"]] == ["Unknown", "True", "Unknown"]


async def test_an_adapter_that_never_reported_may_report_an_older_generation(api: Api) -> None:
    cluster = await api.create_cluster()
    await api.patch(cluster, spec={"a": 1})

    await api.accept(cluster, generation=1)

    read = await api.reread(cluster)
    assert condition_of(read, "ControlplaneSuccessful")["observed_generation"] == 1
    assert condition_of(read, "Reconciled")["status"] == "False"


async def test_an_adapter_that_is_not_required_is_listed_and_does_not_count(api: Api) -> None:
    cluster = await api.create_cluster()
    before = await api.reread(cluster)

    await api.accept(cluster, "somebody")

    assert "somebody" in await api.statuses(cluster)
    assert (await api.reread(cluster))["status"] == before["status"]


async def test_what_the_api_does_not_know_is_ignored(api: Api) -> None:
    listed = [{**each, "last_transition_time": "2020-01-01T00:00:00Z", "extra": 1} for each in conditions()]

    stored = await api.accept(await api.create_cluster(), conditions=listed, unknown={"a": 1}, metadata={"pod": "x"})

    assert "unknown" not in stored
    assert stored.get("metadata", {}) == {}
    assert {each["last_transition_time"] for each in stored["conditions"]} == {stored["last_report_time"]}


async def test_metadata_says_which_run_reported(api: Api) -> None:
    metadata = {
        "job_name": "job",
        "job_namespace": "jobs",
        "attempt": 2,
        "started_time": "2026-01-02T03:04:05Z",
        "completed_time": "2026-01-02T03:04:06.5Z",
        "duration": "1.5s",
    }

    assert (await api.accept(await api.create_cluster(), metadata=metadata))["metadata"] == metadata


async def test_data_is_replaced_and_never_merged(api: Api) -> None:
    cluster = await api.create_cluster()
    await api.accept(cluster, data={"a": 1})
    await api.accept(cluster, data={"b": 2})
    assert (await api.statuses(cluster))["controlplane"]["data"] == {"b": 2}

    await api.accept(cluster)

    assert (await api.statuses(cluster))["controlplane"]["data"] == {}


async def test_half_a_character_is_stored_as_the_sign_for_it(api: Api) -> None:
    cluster = await api.create_cluster()

    stored = await api.accept(cluster, data={"text": "cut \ud83d"})

    assert stored["data"] == {"text": "cut \ufffd"}
    assert (await api.statuses(cluster))["controlplane"]["data"] == {"text": "cut \ufffd"}


async def test_a_condition_keeps_its_time_while_its_status_stays(api: Api) -> None:
    cluster = await api.create_cluster()
    first = await api.accept(cluster)
    listed = [
        condition("Applied", "False"),
        condition("Available", "True", reason="Other"),
        condition("Health", "True"),
    ]

    second = await api.accept(cluster, conditions=listed)

    since = {each["type"]: times.parse(each["last_transition_time"]) for each in second["conditions"]}
    assert since["Available"] == since["Health"] == times.parse(first["last_report_time"])
    assert since["Applied"] == times.parse(second["last_report_time"])
    assert times.parse(second["created_time"]) == times.parse(first["created_time"])


async def test_statuses_are_listed_page_by_page(api: Api) -> None:
    cluster = await api.create_cluster()
    for adapter in ("controlplane", "dns", "other"):
        await api.accept(cluster, adapter)
    path = f"/clusters/{cluster['id']}/statuses"

    first, second = await api.get(path, page=1, size=2), await api.get(path, page=2, size=2)

    assert [(each["page"], each["size"], each["total"]) for each in (first, second)] == [(1, 2, 3), (2, 1, 3)]
    assert {each["adapter"] for each in first["items"] + second["items"]} == {"controlplane", "dns", "other"}


async def test_node_pools_have_statuses_of_their_own(api: Api) -> None:
    cluster = await api.create_cluster()
    pool = await api.create_nodepool(cluster)

    await api.accept(pool, "nodepool")

    assert list(await api.statuses(pool)) == ["nodepool"]
    assert await api.statuses(cluster) == {}
    assert condition_of(await api.reread(pool), "Reconciled")["status"] == "True"


async def test_statuses_of_an_unknown_cluster_are_not_found(api: Api) -> None:
    await api.refused(404, "NTF-001", "GET", f"/clusters/{uuid.uuid4()}/statuses")


async def test_the_longest_name_of_an_adapter_is_kept(api: Api) -> None:
    name = unique("adapter").ljust(255, "x")

    assert (await api.accept(await api.create_cluster(), name))["adapter"] == name
