"""How an object is changed by naming only what changes, and how a Job's status may and may not change."""

import json

import pytest

from tests.support.kubernetes import (
    JSON_PATCH,
    MERGE,
    Api,
    Document,
    condition,
    config_map,
    good,
    job,
    pod,
    set_conditions,
    types_of,
)

NOBODY = "11111111-1111-1111-1111-111111111111"
NOW = "2026-01-02T03:04:05Z"


@pytest.fixture
async def made(api: Api) -> Document:
    return good(await api.create("jobs", job("j")))


async def report(api: Api, *conditions: Document, **more: Document) -> Document:
    return good(await api.patch("jobs", "j", set_conditions(*conditions) | more, "status"))


def facts(document: Document) -> list[tuple[str, str]]:
    return [(each["type"], each["status"]) for each in document["status"]["conditions"]]


async def test_strategic_merge_joins_conditions_by_their_type(api: Api, made: Document) -> None:
    await report(api, condition("Applied", reason="A", message="m"), condition("Health"))

    after = await report(api, condition("Applied", "False"), condition("Available"))

    assert facts(after) == [("Applied", "False"), ("Available", "True"), ("Health", "True")]
    assert after["status"]["conditions"][0]["reason"] == "A"


async def test_an_annotation_travels_with_the_conditions_in_one_patch(api: Api, made: Document) -> None:
    annotation = {"hyperfleet.io/adapter-report": json.dumps({"endpoint": "https://x"})}

    after = await report(api, condition("Applied"), metadata={"annotations": annotation})

    assert after["metadata"]["annotations"] == annotation
    assert types_of(after) == ["Applied"]
    assert after["metadata"]["generation"] == 1
    assert good(await api.get("jobs", "j")) == after


async def test_a_patch_that_changes_nothing_keeps_the_version(api: Api, made: Document) -> None:
    first = await report(api, condition("Applied", lastTransitionTime=NOW))
    second = await report(api, condition("Applied", lastTransitionTime=NOW))

    assert first["metadata"]["resourceVersion"] == second["metadata"]["resourceVersion"]


async def test_a_condition_is_taken_away_by_a_directive(api: Api, made: Document) -> None:
    await report(api, condition("Applied"), condition("Health"))

    after = await report(api, {"type": "Applied", "$patch": "delete"})

    assert types_of(after) == ["Health"]


async def test_all_conditions_are_replaced_by_a_directive(api: Api, made: Document) -> None:
    await report(api, condition("Applied"), condition("Health"))

    after = await report(api, condition("Available"), {"$patch": "replace"})

    assert types_of(after) == ["Available"]


async def test_json_merge_replaces_the_whole_list(api: Api, made: Document) -> None:
    await report(api, condition("Applied"))

    after = good(await api.patch("jobs", "j", set_conditions(condition("Health")), "status", how=MERGE))

    assert types_of(after) == ["Health"]


async def test_a_patch_of_the_status_does_not_touch_the_spec(api: Api, made: Document) -> None:
    after = good(await api.patch("jobs", "j", {"spec": {"suspend": True}}, "status"))

    assert after["spec"]["suspend"] is False


async def test_a_patch_of_the_object_does_not_touch_the_status(api: Api, made: Document) -> None:
    after = good(await api.patch("jobs", "j", set_conditions(condition("Applied"))))

    assert after["status"] == {}


async def test_a_patch_that_names_another_uid_is_invalid(api: Api, made: Document) -> None:
    body = {"metadata": {"uid": NOBODY}, **set_conditions(condition("Applied"))}

    answer = await api.patch("jobs", "j", body, "status")

    why = f'Invalid value: "{NOBODY}": field is immutable'
    assert (answer.status_code, answer.json()["reason"]) == (422, "Invalid")
    assert answer.json()["message"] == f'Job.batch "j" is invalid: metadata.uid: {why}'
    cause = {"reason": "FieldValueInvalid", "message": why, "field": "metadata.uid"}
    assert all(each == cause for each in answer.json()["details"]["causes"])
    assert good(await api.get("jobs", "j"))["status"] == {}


async def test_a_patch_that_names_the_right_uid_is_taken(api: Api, made: Document) -> None:
    after = await report(api, condition("Applied"), metadata={"uid": made["metadata"]["uid"]})

    assert types_of(after) == ["Applied"]


async def test_a_patch_that_names_an_older_version_conflicts(api: Api, made: Document) -> None:
    await report(api, condition("Applied"))
    body = {"metadata": {"resourceVersion": made["metadata"]["resourceVersion"]}}

    answer = await api.patch("jobs", "j", body | set_conditions(condition("Health")), "status")

    assert (answer.status_code, answer.json()["reason"]) == (409, "Conflict")


async def test_a_patch_of_what_is_not_there_is_not_found(api: Api) -> None:
    answer = await api.patch("jobs", "j", set_conditions(condition("Applied")), "status")

    assert answer.status_code == 404
    assert answer.json()["details"] == {"name": "j", "group": "batch", "kind": "jobs"}


async def test_a_patch_in_an_unknown_form_is_refused(api: Api, made: Document) -> None:
    answer = await api.patch("jobs", "j", {}, how="application/json")

    assert (answer.status_code, answer.json()["reason"]) == (415, "UnsupportedMediaType")


async def test_a_patch_that_is_no_json_is_a_bad_request(api: Api, made: Document) -> None:
    answer = await api.patch("jobs", "j", b"{", "status")

    assert (answer.status_code, answer.json()["reason"]) == (400, "BadRequest")


async def test_a_condition_without_a_type_cannot_be_joined_to_others(api: Api, made: Document) -> None:
    await report(api, condition("Applied"))

    answer = await api.patch("jobs", "j", set_conditions({"status": "True"}), "status")

    assert answer.status_code == 500
    assert answer.json()["message"] == "map: map[status:True] does not contain declared merge key: type"


@pytest.mark.parametrize(
    "wrong",
    [
        {"message": 5},
        {"reason": ["a"]},
        {"status": True},
        {"lastTransitionTime": "yesterday"},
    ],
    ids=["message", "reason", "status", "time"],
)
async def test_a_condition_with_a_value_of_the_wrong_type_is_refused(api: Api, made: Document, wrong: Document) -> None:
    answer = await api.patch("jobs", "j", set_conditions(condition("Applied") | wrong), "status")

    assert (answer.status_code, answer.json()["reason"]) == (422, "Invalid")
    assert "conditions" not in good(await api.get("jobs", "j"))["status"]


async def test_an_annotation_that_is_no_text_is_refused(api: Api, made: Document) -> None:
    answer = await api.patch("jobs", "j", {"metadata": {"annotations": {"a": 1}}}, "status")

    assert (answer.status_code, answer.json()["reason"]) == (422, "Invalid")


async def test_times_are_kept_as_whole_seconds_in_utc_and_unknown_fields_not_at_all(api: Api, made: Document) -> None:
    sent = condition("Applied", lastTransitionTime="2026-01-02T03:04:05.678901+01:00", observedGeneration=1)

    after = await report(api, sent)

    assert after["status"]["conditions"] == [
        condition("Applied", lastProbeTime=None, lastTransitionTime="2026-01-02T02:04:05Z")
    ]


async def test_a_condition_may_have_any_content(api: Api, made: Document) -> None:
    unusual = condition("no such type!", "Perhaps", reason="r" * 5_000, message="m" * 100_000 + "\x00")

    after = await report(api, unusual)

    assert {key: after["status"]["conditions"][0][key] for key in unusual} == unusual


ENDED = {"startTime": NOW, "completionTime": NOW, "succeeded": 1}


def complete(**changes: object) -> Document:
    conditions = [condition("SuccessCriteriaMet"), condition("Complete")]
    return {"status": {"conditions": conditions, **ENDED, **changes}}


def failed(*types: str) -> Document:
    return {"status": {"conditions": [condition(each) for each in types], "startTime": NOW, "failed": 1}}


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        (
            {"status": {"conditions": [condition("Complete")], **ENDED}},
            "cannot set Complete=True condition without the SuccessCriteriaMet=true condition",
        ),
        (complete(completionTime=None), "completionTime is required for Complete jobs"),
        (complete(startTime=None), "startTime is required for finished job"),
        (complete(active=1), "active>0 is invalid for finished job"),
        (failed("Failed"), "cannot set Failed=True condition without the FailureTarget=true condition"),
        ({"status": {"completionTime": NOW}}, "cannot set completionTime when there is no Complete=True condition"),
        (failed("SuccessCriteriaMet", "FailureTarget"), "cannot set SuccessCriteriaMet=True and FailureTarget=true"),
    ],
    ids=[
        "complete without success",
        "complete without its time",
        "complete without a start",
        "complete while active",
        "failed without a target",
        "a time of completion without it",
        "success and failure",
    ],
)
async def test_a_job_ends_only_as_its_controller_ends_it(api: Api, made: Document, wrong: Document, why: str) -> None:
    answer = await api.patch("jobs", "j", wrong, "status")

    assert answer.status_code == 422
    assert why in answer.json()["message"]


async def test_a_job_may_complete(api: Api, made: Document) -> None:
    after = good(await api.patch("jobs", "j", complete(), "status"))

    assert types_of(after) == ["SuccessCriteriaMet", "Complete"]


async def test_a_job_may_fail(api: Api, made: Document) -> None:
    after = good(await api.patch("jobs", "j", failed("FailureTarget", "Failed"), "status"))

    assert types_of(after) == ["FailureTarget", "Failed"]


@pytest.mark.parametrize("terminal", ["Complete", "SuccessCriteriaMet"])
@pytest.mark.parametrize("change", [{"status": "False"}, {"$patch": "delete"}], ids=["turned", "taken away"])
async def test_a_job_that_has_ended_stays_ended(api: Api, made: Document, terminal: str, change: Document) -> None:
    good(await api.patch("jobs", "j", complete(), "status"))

    answer = await api.patch("jobs", "j", set_conditions({"type": terminal, **change}), "status")

    assert answer.status_code == 422
    adjective = "terminal " if terminal == "Complete" else ""
    assert f"cannot disable the {adjective}{terminal}=True condition" in answer.json()["message"]


async def test_a_job_that_has_ended_still_takes_other_conditions(api: Api, made: Document) -> None:
    good(await api.patch("jobs", "j", complete(), "status"))

    after = await report(api, condition("Applied"))

    assert types_of(after) == ["Applied", "SuccessCriteriaMet", "Complete"]


async def test_counted_pods_are_not_uncounted(api: Api, made: Document) -> None:
    good(await api.patch("jobs", "j", {"status": {"failed": 2, "succeeded": 1}}, "status"))

    answer = await api.patch("jobs", "j", {"status": {"failed": 1, "succeeded": 0}}, "status")

    assert answer.status_code == 422
    assert {cause["field"] for cause in answer.json()["details"]["causes"]} == {"status.failed", "status.succeeded"}


async def test_pod_conditions_merge_by_type_and_container_statuses_are_replaced(api: Api) -> None:
    good(await api.create("pods", pod("p")))
    running = {"name": "adapter", "image": "i", "imageID": "", "ready": True, "restartCount": 0}
    other = running | {"name": "other"}

    good(
        await api.patch(
            "pods", "p", set_conditions(condition("Ready")) | {"status": {"containerStatuses": [running]}}, "status"
        )
    )
    body = {"status": {"conditions": [condition("Initialized")], "containerStatuses": [other]}}
    after = good(await api.patch("pods", "p", body, "status"))

    assert set(types_of(after)) >= {"Initialized"}
    assert [each["name"] for each in after["status"]["containerStatuses"]] == ["other"]


async def test_owners_and_finalizers_are_joined(api: Api, made: Document) -> None:
    def owner(name: str, uid: str) -> Document:
        return {"apiVersion": "v1", "kind": "ConfigMap", "name": name, "uid": uid}

    first, second = owner("a", NOBODY), owner("b", NOBODY.replace("1", "2"))
    for reference, finalizer in ((first, "lab.example.com/a"), (second, "lab.example.com/b")):
        body = {"metadata": {"ownerReferences": [reference], "finalizers": [finalizer]}}
        after = good(await api.patch("jobs", "j", body))["metadata"]

    assert [each["name"] for each in after["ownerReferences"]] == ["b", "a"]
    assert after["finalizers"] == ["lab.example.com/b", "lab.example.com/a"]


@pytest.mark.parametrize(
    ("present", "patch", "result"),
    [
        ("ABC", "CDA", "BCDA"),
        ("AB", "C", "CAB"),
        ("CAB", "BD", "CABD"),
        ("AB", "BA", "BA"),
    ],
)
async def test_joined_items_come_as_the_patch_has_them(
    api: Api, made: Document, present: str, patch: str, result: str
) -> None:
    await report(api, *map(condition, present))

    after = await report(api, *map(condition, patch))

    assert "".join(types_of(after)) == result


async def test_the_order_of_joined_items_can_be_asked_for(api: Api, made: Document) -> None:
    await report(api, *map(condition, "ABC"))
    order = [{"type": each} for each in "CBA"]
    body = {"status": {"conditions": [condition("B", "False")], "$setElementOrder/conditions": order}}

    after = good(await api.patch("jobs", "j", body, "status"))

    assert facts(after) == [("C", "True"), ("B", "False"), ("A", "True")]


async def test_json_merge_takes_away_what_is_null(api: Api) -> None:
    good(await api.create("configmaps", config_map("c", a="1", b="2")))

    after = good(await api.patch("configmaps", "c", {"data": {"a": None, "c": "3"}}, how=MERGE))

    assert after["data"] == {"b": "2", "c": "3"}


async def test_a_json_patch_is_carried_out_step_by_step(api: Api) -> None:
    good(await api.create("configmaps", config_map("c", a="1", b="2")))
    steps = [
        {"op": "test", "path": "/data/a", "value": "1"},
        {"op": "replace", "path": "/data/a", "value": "9"},
        {"op": "replace", "path": "/data/f", "value": "made by replacing nothing"},
        {"op": "remove", "path": "/data/b"},
        {"op": "add", "path": "/data/c", "value": "3"},
        {"op": "copy", "from": "/data/c", "path": "/data/d"},
        {"op": "move", "from": "/data/c", "path": "/data/e"},
    ]

    after = good(await api.patch("configmaps", "c", steps, how=JSON_PATCH))

    assert after["data"] == {"a": "9", "d": "3", "e": "3", "f": "made by replacing nothing"}


@pytest.mark.parametrize(
    "step",
    [
        {"op": "test", "path": "/data/a", "value": "2"},
        {"op": "remove", "path": "/data/missing"},
        {"op": "dance", "path": "/data/a"},
    ],
    ids=["a test that fails", "a removal of nothing", "an unknown step"],
)
async def test_a_json_patch_that_does_not_fit_is_refused_as_a_whole(api: Api, step: Document) -> None:
    before = good(await api.create("configmaps", config_map("c", a="1")))
    change = {"op": "add", "path": "/data/b", "value": "2"}

    answer = await api.patch("configmaps", "c", [change, step], how=JSON_PATCH)

    assert (answer.status_code, answer.json()["reason"]) == (422, "Invalid")
    assert good(await api.get("configmaps", "c")) == before
