"""REST beside the works themselves: pages, orders, consumers, and what an error looks like."""

from typing import Any

import httpx
import pytest

from tests.support.maestro import unique
from tests.support.maestro_wire import Wire

LABEL = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with "
    "an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
)
FORMAT = "Invalid request format: "


def refusal(answer: httpx.Response) -> tuple[int, str, str]:
    body = answer.json()
    assert body["id"] == body["code"].removeprefix("maestro-") == body["href"].removeprefix("/api/maestro/v1/errors/")
    return answer.status_code, body["code"], body["reason"]


@pytest.mark.parametrize(
    ("parameters", "page", "versions"),
    [
        ({}, 1, [1, 2, 3, 4, 5]),
        ({"size": "2"}, 1, [1, 2]),
        ({"size": "2", "page": "2"}, 2, [3, 4]),
        ({"size": "2", "page": "3"}, 3, [5]),
        ({"size": "2", "page": "4"}, 4, []),
        ({"size": "2", "page": "0"}, 0, [1, 2]),
        ({"size": "2", "page": "-1"}, -1, [1, 2]),
        ({"size": "2", "page": "x"}, 0, [1, 2]),
        ({"size": "2", "page": ""}, 1, [1, 2]),
        ({"size": " 2 "}, 1, [1, 2]),
        ({"size": "0"}, 1, []),
        ({"size": "x"}, 1, []),
        ({"size": "-1"}, 1, [1, 2, 3, 4, 5]),
        ({"size": "99999"}, 1, [1, 2, 3, 4, 5]),
        ({"orderBy": "version desc"}, 1, [5, 4, 3, 2, 1]),
        ({"orderBy": " version desc "}, 1, [5, 4, 3, 2, 1]),
        ({"orderBy": "consumer_name,version desc"}, 1, [5, 4, 3, 2, 1]),
        ({"orderBy": "deleted_at,version"}, 1, [1, 2, 3, 4, 5]),
        ({"orderBy": "resources.VERSION desc"}, 1, [5, 4, 3, 2, 1]),
    ],
    ids=str,
)
async def test_a_page_is_what_was_asked_for(
    wire: Wire, parameters: dict[str, str], page: int, versions: list[int]
) -> None:
    for version in (3, 1, 5, 2, 4):
        await wire.publish(wire.event(f"w{version}", version=version))
    wanted = {"search": f"consumer_name='{wire.consumer}'", "orderBy": "version"} | parameters

    shown = await wire.get("/resource-bundles", **wanted)

    assert [item["version"] for item in shown.pop("items")] == versions
    assert shown == {"kind": "ResourceBundleList", "page": page, "size": len(versions), "total": 5}


@pytest.mark.parametrize(
    ("order", "refused"),
    [
        ("bogus", (500, "maestro-9", 'Unable to list resources: ERROR: column "bogus" does not exist (SQLSTATE 42703)')),
        ("foo.version", (500, "maestro-9", 'Unable to list resources: ERROR: missing FROM-clause entry for table "foo" (SQLSTATE 42P01)')),
        ("version sideways", (400, "maestro-21", "bad order value 'version sideways'")),
        ("version ASC", (400, "maestro-21", "bad order value 'version ASC'")),
        ("version  desc", (400, "maestro-21", "bad order value 'version  desc'")),
        ("a.b.c", (400, "maestro-21", "bad order value 'a.b.c'")),
    ],
)  # fmt: skip
async def test_an_order_that_makes_no_sense_is_refused(wire: Wire, order: str, refused: tuple[int, str, str]) -> None:
    assert refusal(await wire.http.get("/resource-bundles", params={"orderBy": order})) == refused


@pytest.mark.parametrize("path", ["/resource-bundles", "/consumers"])
async def test_asking_for_fields_ends_the_connection_without_an_answer(wire: Wire, path: str) -> None:
    with pytest.raises(httpx.RemoteProtocolError):
        await wire.http.get(path, params={"fields": "id"})


async def test_an_error_carries_the_operation_id_that_was_sent(wire: Wire) -> None:
    answer = await wire.http.get("/resource-bundles/zzz", headers={"X-Operation-ID": "mine"})

    assert answer.json() == {
        "kind": "Error",
        "id": "7",
        "href": "/api/maestro/v1/errors/7",
        "code": "maestro-7",
        "reason": "Resource with id='zzz' not found",
        "operation_id": "mine",
    }
    assert (await wire.http.get("/resource-bundles/zzz")).json()["operation_id"]


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/nowhere"),
        ("POST", "/resource-bundles"),
        ("PATCH", "/resource-bundles/x"),
        ("PUT", "/consumers"),
        ("DELETE", "/consumers"),
        ("GET", "/resource-bundles/a/b"),
    ],
)
async def test_what_has_no_route_is_not_there(wire: Wire, method: str, path: str) -> None:
    answer = await wire.http.request(method, path)

    assert answer.status_code == 404
    assert answer.json() == {
        "type": "Error",
        "id": "404",
        "href": "/api/maestro/v1/errors/404",
        "code": "maestro-404",
        "reason": f"The requested resource '/api/maestro/v1{path}' doesn't exist",
    }


async def test_a_list_may_be_asked_for_with_a_slash(wire: Wire) -> None:
    assert (await wire.get("/consumers/", search=f"name='{wire.consumer}'"))["total"] == 1


async def test_a_work_is_marked_for_deletion_by_rest_too_and_what_is_not_there_does_not_matter(wire: Wire) -> None:
    await wire.publish(wire.event("w"))
    path = f"/resource-bundles/{wire.id_of('w')}"

    assert [(await wire.http.delete(each)).status_code for each in (path, path, "/resource-bundles/zzz")] == [204] * 3
    assert (await wire.get(path))["deleted_at"]


async def test_every_change_of_a_work_is_a_change_of_its_date(wire: Wire) -> None:
    await wire.publish(wire.event("w"))
    dates = [(await wire.bundle("w"))["updated_at"]]
    for change in (wire.publish(wire.event("w", "update_request")), wire.report(wire.status("w", version=2))):
        await change
        dates.append((await wire.bundle("w"))["updated_at"])

    assert sorted(set(dates)) == dates
    assert dates[0] == (await wire.bundle("w"))["created_at"]


async def test_a_consumer_lives_from_its_creation_to_its_deletion(wire: Wire) -> None:
    name = unique("consumer")
    created = (await wire.http.post("/consumers", json={"name": name, "labels": {"a": "b"}})).json()
    path = f"/consumers/{created['id']}"

    assert {key: created[key] for key in ("kind", "name", "labels", "href")} == {
        "kind": "Consumer",
        "name": name,
        "labels": {"a": "b"},
        "href": f"/api/maestro/v1{path}",
    }
    patches: list[Any] = [{}, {"name": "other"}, {"labels": None}, {"labels": {"c": "d"}}, {"labels": {}}]
    relabelled = [(await wire.http.patch(path, json=patch)).json().get("labels") for patch in patches]
    assert relabelled == [{"a": "b"}, {"a": "b"}, {"a": "b"}, {"c": "d"}, None]
    listed = await wire.get("/consumers", search=f"name = '{name}'")
    assert (listed["kind"], listed["total"], [each["id"] for each in listed["items"]]) == (
        "ConsumerList",
        1,
        [created["id"]],
    )
    assert (await wire.http.delete(path)).status_code == 204
    assert refusal(await wire.http.get(path)) == (404, "maestro-7", f"Consumer with id='{created['id']}' not found")
    assert (await wire.http.delete(path)).status_code == 204


async def test_a_consumer_without_a_name_is_named_by_its_id(wire: Wire) -> None:
    created = (await wire.http.post("/consumers", json={})).json()

    assert created["name"] == created["id"]
    assert "labels" not in created


@pytest.mark.parametrize(
    ("body", "refused"),
    [
        (b"", (400, "maestro-17", FORMAT + "unexpected end of JSON input")),
        (b"x", (400, "maestro-17", FORMAT + "invalid character 'x' looking for beginning of value")),
        (b"[]", (400, "maestro-17", FORMAT + "json: cannot unmarshal array into Go value of type openapi.Consumer")),
        (b'{"name":5}', (400, "maestro-17", FORMAT + "json: cannot unmarshal number into Go struct field Consumer.name of type string")),
        (b'{"labels":[]}', (400, "maestro-17", FORMAT + "json: cannot unmarshal array into Go struct field Consumer.labels of type map[string]string")),
        (b'{"labels":{"a":1}}', (400, "maestro-17", FORMAT + "json: cannot unmarshal number into Go struct field Consumer.labels of type string")),
        (b'{"id":"x"}', (400, "maestro-8", "id must be empty")),
        (b'{"name":"Bad_"}', (500, "maestro-9", f'Unable to create Consumer: consumer.name: Invalid value: "Bad_": {LABEL}')),
        (b'{"name":"a.b"}', (500, "maestro-9", 'Unable to create Consumer: consumer.name: Invalid value: "a.b": must not contain dots')),
        (b'{"name":"' + b"a" * 64 + b'"}', (500, "maestro-9", f'Unable to create Consumer: consumer.name: Invalid value: "{"a" * 64}": must be no more than 63 characters')),
    ],
)  # fmt: skip
async def test_a_consumer_that_cannot_be_is_refused(wire: Wire, body: bytes, refused: tuple[int, str, str]) -> None:
    assert refusal(await wire.http.post("/consumers", content=body)) == refused


async def test_a_name_is_taken_once(wire: Wire) -> None:
    answer = await wire.http.post("/consumers", json={"name": wire.consumer})

    assert refusal(answer) == (409, "maestro-6", "This Consumer already exists")


@pytest.mark.parametrize("deleting", [False, True])
async def test_a_consumer_with_works_cannot_be_deleted(*, wire: Wire, deleting: bool) -> None:
    await wire.publish(wire.event("w"))
    if deleting:
        await wire.publish(wire.event("w", "delete_request"))
    consumer: dict[str, Any] = (await wire.get("/consumers", search=f"name='{wire.consumer}'"))["items"][0]

    broken = (
        'update or delete on table "consumers" violates foreign key constraint "fk_resources_consumers" '
        'on table "resources" (SQLSTATE 23503)'
    )
    refused = (403, "maestro-4", f"Unable to delete Consumer: ERROR: {broken}")
    assert refusal(await wire.http.delete(f"/consumers/{consumer['id']}")) == refused


@pytest.mark.parametrize("method", ["GET", "PATCH"])
async def test_a_consumer_is_known_by_its_id_not_by_its_name(wire: Wire, method: str) -> None:
    answer = await wire.http.request(method, f"/consumers/{wire.consumer}", json={} if method == "PATCH" else None)

    assert refusal(answer) == (404, "maestro-7", f"Consumer with id='{wire.consumer}' not found")
