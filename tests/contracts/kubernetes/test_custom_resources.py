"""Kinds that a CustomResourceDefinition brings: what is the same as for built-in kinds, and what is not."""

import pytest

from tests.support.kubernetes import (
    MERGE,
    STRATEGIC,
    Api,
    Document,
    define_widgets,
    good,
    unique,
    widget,
)


@pytest.fixture
async def widgets(api: Api) -> Api:
    await define_widgets(api)
    return api


async def test_a_custom_object_is_kept_and_found(widgets: Api) -> None:
    made = good(await widgets.create("widgets", widget("w", size=3, anything={"a": [1, "b"]})))

    assert made["metadata"]["generation"] == 1
    assert made["spec"] == {"size": 3, "anything": {"a": [1, "b"]}}
    assert good(await widgets.get("widgets", "w")) == made


async def test_items_of_a_custom_list_name_their_kind(widgets: Api) -> None:
    good(await widgets.create("widgets", widget("w")))

    listed = good(await widgets.get("widgets"))

    assert (listed["kind"], listed["apiVersion"]) == ("WidgetList", "lab.example.com/v1")
    assert [each["kind"] for each in listed["items"]] == ["Widget"]


async def test_the_kind_is_discovered(widgets: Api) -> None:
    served = good(await widgets.send("GET", "/apis/lab.example.com/v1"))
    groups = good(await widgets.send("GET", "/apis"))["groups"]

    assert {each["name"] for each in served["resources"]} == {"widgets", "widgets/status"}
    assert "lab.example.com" in [group["name"] for group in groups]


async def test_strategic_merge_is_not_for_custom_kinds(widgets: Api) -> None:
    good(await widgets.create("widgets", widget("w")))

    answer = await widgets.patch("widgets", "w", {"spec": {"size": 1}}, how=STRATEGIC)

    assert (answer.status_code, answer.json()["reason"]) == (415, "UnsupportedMediaType")
    assert answer.json()["message"] == (
        "the body of the request was in an unknown format - accepted media types include:"
        " application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml"
    )


async def test_a_status_takes_nothing_but_the_status(widgets: Api) -> None:
    good(await widgets.create("widgets", widget("w", size=1)))
    body = {"metadata": {"annotations": {"a": "b"}}, "spec": {"size": 2}, "status": {"phase": "Ready"}}

    after = good(await widgets.patch("widgets", "w", body, "status", how=MERGE))

    assert after["status"] == {"phase": "Ready"}
    assert after["spec"] == {"size": 1}
    assert "annotations" not in after["metadata"]
    assert after["metadata"]["generation"] == 1


async def test_a_change_of_the_spec_is_a_new_generation(widgets: Api) -> None:
    good(await widgets.create("widgets", widget("w", size=1)))

    changed = good(await widgets.patch("widgets", "w", {"spec": {"size": 2}}, how=MERGE))
    labelled = good(await widgets.patch("widgets", "w", {"metadata": {"labels": {"a": "b"}}}, how=MERGE))

    assert (changed["metadata"]["generation"], labelled["metadata"]["generation"]) == (2, 2)


async def test_an_update_needs_the_version(widgets: Api) -> None:
    made = good(await widgets.create("widgets", widget("w", size=1)))

    careless = await widgets.update("widgets", widget("w", size=2))
    careful = good(await widgets.update("widgets", made | {"spec": {"size": 2}}))

    assert careless.status_code == 422
    assert careless.json()["details"]["causes"][0]["field"] == "metadata.resourceVersion"
    assert careful["spec"] == {"size": 2}


async def test_what_the_schema_forbids_is_refused(widgets: Api) -> None:
    wrong = widget("w", size="large", parts=[{"value": "no name"}])

    answer = await widgets.create("widgets", wrong)

    assert (answer.status_code, answer.json()["reason"]) == (422, "Invalid")
    causes = {(cause["field"], cause["reason"]) for cause in answer.json()["details"]["causes"]}
    assert ("spec.size", "FieldValueTypeInvalid") in causes
    assert ("spec.parts[0].name", "FieldValueRequired") in causes


async def test_what_the_schema_does_not_know_is_dropped(widgets: Api) -> None:
    made = good(await widgets.create("widgets", widget("w", parts=[{"name": "a", "colour": "red"}]) | {"extra": 1}))

    assert "extra" not in made
    assert made["spec"]["parts"] == [{"name": "a"}]


async def test_applied_lists_are_joined_by_the_keys_of_the_schema(widgets: Api) -> None:
    def parts(**values: str) -> Document:
        listed = [{"name": name, "value": value} for name, value in values.items()]
        return widget("w", parts=listed)

    good(await widgets.apply("widgets", parts(a="1"), fieldManager="m"))
    after = good(await widgets.apply("widgets", parts(b="2"), fieldManager="n"))
    refused = await widgets.apply("widgets", parts(a="3", b="2"), fieldManager="n")
    gone = good(await widgets.apply("widgets", widget("w"), fieldManager="m", force="true"))

    assert after["spec"]["parts"] == [{"name": "a", "value": "1"}, {"name": "b", "value": "2"}]
    assert refused.json()["details"]["causes"][0]["field"] == '.spec.parts[name="a"].value'
    assert gone["spec"]["parts"] == [{"name": "b", "value": "2"}]


async def test_applied_lists_without_keys_are_one_value(widgets: Api) -> None:
    good(await widgets.apply("widgets", widget("w", tags=["a"]), fieldManager="m"))

    refused = await widgets.apply("widgets", widget("w", tags=["b"]), fieldManager="n")
    after = good(await widgets.apply("widgets", widget("w", tags=["b"]), fieldManager="n", force="true"))

    assert refused.json()["details"]["causes"][0]["field"] == ".spec.tags"
    assert after["spec"]["tags"] == ["b"]


async def test_custom_objects_are_watched(widgets: Api) -> None:
    since = good(await widgets.get("widgets"))["metadata"]["resourceVersion"]
    name = unique("w")

    async with widgets.watch("widgets", resourceVersion=since) as watch:
        made = good(await widgets.create("widgets", widget(name)))
        assert await watch.next() == ("ADDED", made)


async def test_a_kind_that_nobody_defined_is_not_served(api: Api) -> None:
    answer = await api.send("GET", "/apis/never.example.com/v1/namespaces/default/gadgets")

    assert answer.status_code == 404
