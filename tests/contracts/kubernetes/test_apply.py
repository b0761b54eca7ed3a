"""Server-side apply: who owns which field, and what happens when two want the same."""

import pytest

from tests.support.kubernetes import (
    APPLY,
    STRATEGIC,
    Api,
    Document,
    condition,
    config_map,
    good,
    job,
    set_conditions,
    types_of,
)


def labelled(name: str, data: Document | None = None, **labels: str) -> Document:
    document = config_map(name)
    document["data"] = data or {}
    document["metadata"]["labels"] = labels
    return document


def owned(document: Document, manager: str) -> Document:
    """The entry of a manager in the object's managedFields."""
    return next(each for each in document["metadata"]["managedFields"] if each["manager"] == manager)


async def test_apply_makes_what_is_not_there(api: Api) -> None:
    made = await api.apply("configmaps", config_map("c", a="1"), fieldManager="m")
    again = await api.apply("configmaps", config_map("c", a="1"), fieldManager="m")

    assert (made.status_code, again.status_code) == (201, 200)
    assert made.json()["data"] == {"a": "1"}
    assert made.json()["metadata"]["uid"]


async def test_apply_of_the_same_content_keeps_the_version(api: Api) -> None:
    made = good(await api.apply("configmaps", config_map("c", a="1"), fieldManager="m"))

    again = good(await api.apply("configmaps", config_map("c", a="1"), fieldManager="m"))

    assert again == made


async def test_apply_records_who_owns_what(api: Api) -> None:
    made = good(await api.apply("configmaps", labelled("c", {"a": "1"}, x="y"), fieldManager="m"))

    entry = owned(made, "m")
    assert (entry["operation"], entry["apiVersion"], entry["fieldsType"]) == ("Apply", "v1", "FieldsV1")
    assert entry["fieldsV1"] == {"f:data": {"f:a": {}}, "f:metadata": {"f:labels": {"f:x": {}}}}


async def test_a_field_that_is_no_longer_applied_goes(api: Api) -> None:
    good(await api.apply("configmaps", config_map("c", a="1", b="2"), fieldManager="m"))

    after = good(await api.apply("configmaps", config_map("c", a="1"), fieldManager="m"))

    assert after["data"] == {"a": "1"}


async def test_a_field_that_another_applies_too_stays(api: Api) -> None:
    good(await api.apply("configmaps", config_map("c", a="1", b="2"), fieldManager="m"))
    good(await api.apply("configmaps", config_map("c", b="2"), fieldManager="n"))

    after = good(await api.apply("configmaps", config_map("c", a="1"), fieldManager="m"))

    assert after["data"] == {"a": "1", "b": "2"}


async def test_managers_of_different_fields_do_not_meet(api: Api) -> None:
    good(await api.apply("configmaps", config_map("c", a="1"), fieldManager="m"))

    after = good(await api.apply("configmaps", config_map("c", b="2"), fieldManager="n"))

    assert after["data"] == {"a": "1", "b": "2"}


async def test_two_managers_of_one_field_conflict(api: Api) -> None:
    good(await api.apply("configmaps", config_map("c", a="1", b="1"), fieldManager="m"))

    answer = await api.apply("configmaps", config_map("c", a="2", b="1"), fieldManager="n")

    assert answer.status_code == 409
    body = answer.json()
    assert body["reason"] == "Conflict"
    assert body["details"]["causes"] == [
        {"reason": "FieldManagerConflict", "message": 'conflict with "m"', "field": ".data.a"}
    ]
    assert body["message"] == 'Apply failed with 1 conflict: conflict with "m": .data.a'
    assert good(await api.get("configmaps", "c"))["data"] == {"a": "1", "b": "1"}


async def test_several_conflicts_are_reported_together(api: Api) -> None:
    good(await api.apply("configmaps", config_map("c", a="1", b="1"), fieldManager="m"))

    answer = await api.apply("configmaps", config_map("c", a="2", b="2"), fieldManager="n")

    assert [cause["field"] for cause in answer.json()["details"]["causes"]] == [".data.a", ".data.b"]
    assert answer.json()["message"] == 'Apply failed with 2 conflicts: conflicts with "m":\n- .data.a\n- .data.b'


async def test_force_takes_a_field_over(api: Api) -> None:
    good(await api.apply("configmaps", config_map("c", a="1", b="1"), fieldManager="m"))

    after = good(await api.apply("configmaps", config_map("c", a="2"), fieldManager="n", force="true"))
    back = await api.apply("configmaps", config_map("c", a="1", b="1"), fieldManager="m")

    assert after["data"] == {"a": "2", "b": "1"}
    assert owned(after, "m")["fieldsV1"] == {"f:data": {"f:b": {}}}
    assert owned(after, "n")["fieldsV1"] == {"f:data": {"f:a": {}}}
    assert back.status_code == 409


@pytest.mark.parametrize("how", [STRATEGIC, "update"])
async def test_a_field_written_in_another_way_is_owned_by_its_writer(api: Api, how: str) -> None:
    good(await api.apply("configmaps", config_map("c", a="1", b="1"), fieldManager="m"))
    if how == "update":
        good(await api.update("configmaps", config_map("c", a="2", b="1"), fieldManager="w"))
    else:
        good(await api.patch("configmaps", "c", {"data": {"a": "2"}}, fieldManager="w"))

    answer = await api.apply("configmaps", config_map("c", a="1", b="1"), fieldManager="m")

    assert answer.status_code == 409
    [cause] = answer.json()["details"]["causes"]
    assert cause["field"] == ".data.a"
    assert cause["message"].startswith('conflict with "w" using v1')


async def test_a_created_object_is_owned_by_its_creator(api: Api) -> None:
    made = good(await api.create("configmaps", config_map("c", a="1"), fieldManager="w"))

    entry = owned(made, "w")
    assert (entry["operation"], entry["fieldsV1"]) == ("Update", {"f:data": {".": {}, "f:a": {}}})


async def test_apply_needs_a_manager(api: Api) -> None:
    answer = await api.apply("configmaps", config_map("c"))

    assert (answer.status_code, answer.json()["reason"]) == (422, "Invalid")
    why = "fieldManager: Required value: is required for apply patch"
    assert answer.json()["message"] == f'PatchOptions.meta.k8s.io "" is invalid: {why}'


async def test_what_is_applied_must_name_its_kind(api: Api) -> None:
    nameless = {"metadata": {"name": "c"}, "data": {"a": "1"}}

    answer = await api.patch("configmaps", "c", nameless, how=APPLY, fieldManager="m")

    assert answer.status_code == 400
    assert answer.json()["message"] == "invalid object type: /, Kind="


async def test_apply_takes_yaml(api: Api) -> None:
    text = b"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata:\n  a: '1'\n"

    made = good(await api.patch("configmaps", "c", text, how=APPLY, fieldManager="m"))

    assert made["data"] == {"a": "1"}


async def test_applied_conditions_of_a_job_are_one_value_and_replace_each_other(api: Api) -> None:
    good(await api.create("jobs", job("j")))
    good(await api.patch("jobs", "j", set_conditions(condition("Applied")), "status", fieldManager="w"))
    wanted = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "j"}}
    wanted |= set_conditions(condition("Health"))

    refused = await api.apply("jobs", wanted, "status", fieldManager="m")
    after = good(await api.apply("jobs", wanted, "status", fieldManager="m", force="true"))

    assert [cause["field"] for cause in refused.json()["details"]["causes"]] == [".status.conditions"]
    assert types_of(after) == ["Health"]
    assert owned(after, "m")["subresource"] == "status"


async def test_applied_containers_are_joined_by_name(api: Api) -> None:
    wanted = job("j")
    wanted["spec"]["template"]["spec"]["containers"][0]["env"] = [{"name": "A", "value": "1"}]
    wanted["metadata"]["labels"] = {"x": "y"}

    made = good(await api.apply("jobs", wanted, fieldManager="m"))
    again = good(await api.apply("jobs", wanted, fieldManager="m"))

    env: Document = {'k:{"name":"A"}': {".": {}, "f:name": {}, "f:value": {}}}
    container: Document = {".": {}, "f:env": env, "f:image": {}, "f:name": {}}
    spec = {"f:containers": {'k:{"name":"adapter"}': container}, "f:restartPolicy": {}}
    assert owned(made, "m")["fieldsV1"] == {
        "f:metadata": {"f:labels": {"f:x": {}}},
        "f:spec": {"f:template": {"f:spec": spec}},
    }
    assert again == made


async def test_an_applied_job_keeps_the_defaults_it_was_given(api: Api) -> None:
    made = good(await api.apply("jobs", job("j"), fieldManager="m"))

    after = good(await api.apply("jobs", job("j", suspend=True), fieldManager="m"))
    back = good(await api.apply("jobs", job("j"), fieldManager="m"))

    assert made["spec"]["suspend"] is False
    assert (after["spec"]["suspend"], after["metadata"]["generation"]) == (True, 2)
    assert back["spec"]["suspend"] is False


async def test_apply_to_an_object_with_another_uid_is_invalid(api: Api) -> None:
    good(await api.apply("configmaps", config_map("c", a="1"), fieldManager="m"))
    other = config_map("c", a="1")
    other["metadata"]["uid"] = "11111111-1111-1111-1111-111111111111"

    answer = await api.apply("configmaps", other, fieldManager="m")

    assert (answer.status_code, answer.json()["reason"]) == (422, "Invalid")
    assert {cause["field"] for cause in answer.json()["details"]["causes"]} == {"metadata.uid"}


async def test_apply_that_is_only_tried_is_not_kept(api: Api) -> None:
    tried = await api.apply("configmaps", config_map("c", a="1"), fieldManager="m", dryRun="All")

    assert tried.status_code == 201
    assert (await api.get("configmaps", "c")).status_code == 404
