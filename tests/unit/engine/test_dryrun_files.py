"""What a dry run is given: events, mocks, overrides and secrets, and how each is refused."""

from typing import Any

import pytest

from dispatcher.dryrun.addresses import resolve_url
from dispatcher.dryrun.api import MockApi
from dispatcher.dryrun.comparing import differences
from dispatcher.dryrun.reading import read_environment, read_events, read_overrides, read_responses, read_secrets
from dispatcher.engine.ports import ApiRequest
from shared.errors import Invalid, Misconfigured

EVENT = {"specversion": "1.0", "id": "e", "type": "t", "source": "s", "data": {"id": "c1", "generation": 5}}


def test_one_event_or_a_list_of_them() -> None:
    (one,) = read_events(EVENT)
    two = read_events([EVENT, {**EVENT, "id": "f", "time": "2026-01-02T03:04:05Z", "traceparent": "00-1"}])

    assert (one.event.id, one.event.data, one.at) == ("e", {"id": "c1", "generation": 5}, None)
    assert [each.event.id for each in two] == ["e", "f"]
    assert two[1].at is not None
    assert two[1].event.extensions == {"traceparent": "00-1"}


def test_an_event_without_data_is_an_empty_object() -> None:
    (event,) = read_events({key: value for key, value in EVENT.items() if key != "data"})

    assert event.event.data == {}


@pytest.mark.parametrize(
    ("document", "problem"),
    [
        pytest.param([], "the list is empty", id="nothing"),
        pytest.param("x", "must be an object", id="a text"),
        pytest.param({**EVENT, "id": ""}, "id: is required", id="an empty id"),
        pytest.param([EVENT, {}], r"\[1\].specversion: is required", id="no version"),
        pytest.param({**EVENT, "data": []}, "data: must be an object", id="data that is a list"),
        pytest.param(
            {**EVENT, "data": {"generation": "5"}},
            "data.generation: must be a whole number",
            id="a generation that is a text",
        ),
        pytest.param(
            {**EVENT, "data": {"generation": True}},
            "data.generation: must be a whole number",
            id="a generation that is a boolean",
        ),
        pytest.param(
            {**EVENT, "data": {"owner_references": []}},
            "data.owner_references: must be an object",
            id="a list of owners",
        ),
        pytest.param({**EVENT, "time": "now"}, "time: ", id="a time that is none"),
    ],
)
def test_an_event_is_refused_with(document: Any, problem: str) -> None:
    with pytest.raises(Misconfigured, match=problem):
        read_events(document)


RESPONSES = {
    "responses": [
        {
            "match": {"method": "GET", "urlPattern": "/clusters/[^/]+$"},
            "responses": [{"statusCode": 200, "body": {"n": 1}}, {"body": {"n": 2}}],
        },
        {
            "match": {"method": "*", "urlPattern": "/any"},
            "responses": [{"statusCode": 204, "body": {"ignored": 1}}, {"statusCode": 503}],
        },
    ]
}


async def asked(api: MockApi, *calls: tuple[str, str]) -> list[tuple[int, bytes]]:
    answers = [await api.send(ApiRequest(method=method, url=url)) for method, url in calls]
    return [(each.status, each.body) for each in answers]


async def test_responses_come_in_order_and_the_last_repeats() -> None:
    api = MockApi(read_responses(RESPONSES), str)

    answers = await asked(api, *[("GET", "/clusters/c1")] * 3, ("PUT", "/any"), ("GET", "/any"), ("POST", "/other"))

    assert answers == [
        (200, b'{"n": 1}'),
        (200, b'{"n": 2}'),
        (200, b'{"n": 2}'),
        (204, b""),
        (503, b"{}"),
        (200, b"{}"),
    ]
    assert api.unmatched == ["POST /other"]


async def test_an_api_that_shows_a_deleted_object_is_noticed() -> None:
    api = MockApi(
        read_responses({"responses": [{"match": {"urlPattern": "x"}, "responses": [{"body": {"deleted_time": "t"}}]}]}),
        str,
    )

    await asked(api, ("GET", "/x"))

    assert api.deleting


@pytest.mark.parametrize(
    ("document", "problem"),
    [
        pytest.param({}, "responses: must be a list", id="no list"),
        pytest.param({"responses": [{}]}, r"responses\[0\].match.urlPattern: is required", id="no pattern"),
        pytest.param(
            {"responses": [{"match": {"urlPattern": "x"}, "responses": []}]},
            r"responses\[0\].responses: must be a list with at least one",
            id="no response",
        ),
        pytest.param(
            {"responses": [{"match": {"urlPattern": "x"}, "responses": [{"statusCode": "200"}]}]},
            "statusCode: must be a whole number",
            id="a status that is a text",
        ),
    ],
)
def test_mocks_are_refused_with(document: Any, problem: str) -> None:
    with pytest.raises(Misconfigured, match=problem):
        read_responses(document)


def test_a_pattern_that_is_no_regular_expression_of_go_is_refused_with_its_place() -> None:
    document = {"responses": [{"match": {"urlPattern": "(?=ahead)"}, "responses": [{}]}]}

    with pytest.raises(Misconfigured, match=r"responses\[0\].match.urlPattern: is no regular expression"):
        MockApi(read_responses(document), str)


OBJECT = {"apiVersion": "v1", "kind": "ConfigMap"}


@pytest.mark.parametrize(
    ("found", "problem"),
    [
        pytest.param({"apiVersion": "v1"}, r"abc\.kind: is required", id="no kind"),
        pytest.param({**OBJECT, "metadata": "x"}, r"abc\.metadata: must be an object", id="metadata that is a text"),
        pytest.param({**OBJECT, "metadata": {"labels": []}}, r"abc\.metadata\.labels: must be an object", id="labels"),
        pytest.param(
            {**OBJECT, "metadata": {"annotations": 5}},
            r"abc\.metadata\.annotations: must be an object",
            id="annotations",
        ),
    ],
)
def test_an_override_is_refused_with(found: Any, problem: str) -> None:
    with pytest.raises(Misconfigured, match=problem):
        read_overrides({"abc": found})


def test_what_an_override_leaves_empty_is_not_there() -> None:
    assert read_overrides({"abc": {**OBJECT, "metadata": {"labels": None}}}) == {"abc": {**OBJECT, "metadata": {}}}


@pytest.mark.parametrize("document", [None, 5, [], ["A"], {"A": 5}, {"A": None}])
def test_an_environment_is_refused_that_is_no_object_of_texts(document: Any) -> None:
    with pytest.raises(Misconfigured, match="must be"):
        read_environment(document)


def test_secrets_are_named_as_in_the_param_sources() -> None:
    values = read_secrets({"secret": {"ns": {"s": {"a.b": "1"}}}, "configmap": {"ns": {"c": {"k": "2"}}}})

    assert values == {("Secret", "ns", "s", "a.b"): "1", ("ConfigMap", "ns", "c", "k"): "2"}


@pytest.mark.parametrize(
    "document",
    [
        [],
        {"secrets": {}},
        {"secret": {"ns": "x"}},
        {"secrets": {"ns": {"s": {"k": "v"}}}},
        {"secret": {"ns": {"s": {"k": 5}}}},
    ],
)
def test_secrets_are_refused_otherwise(document: Any) -> None:
    with pytest.raises(Misconfigured, match=r"must be secret\|configmap"):
        read_secrets(document)


@pytest.mark.parametrize(
    ("base", "url", "asked_for"),
    [
        ("", "/clusters/c1", "/clusters/c1"),
        ("http://api:8000", "/clusters/c1", "/api/hyperfleet/v1/clusters/c1"),
        ("http://api:8000", "clusters/c1?size=1", "/api/hyperfleet/v1/clusters/c1?size=1"),
        ("http://api:8000", "/api/hyperfleet/v1/clusters/c1", "/api/hyperfleet/v1/clusters/c1"),
        ("http://api:8000/", "api/other", "/api/other"),
        ("http://api:8000/base", "http://api:8000/base/api/x", "/api/x"),
        ("http://api:8000", "https://elsewhere/x?y=1", "https://elsewhere/x?y=1"),
    ],
)
def test_urls_are_those_the_client_asks_for(base: str, url: str, asked_for: str) -> None:
    assert resolve_url(url, {"clients": {"hyperfleet_api": {"base_url": base}}}) == asked_for


@pytest.mark.parametrize("base", ["", "http://api:8000"])
@pytest.mark.parametrize("url", ["http://[bad", "http://api:port/x", "ftp://elsewhere/x", "//elsewhere/x"])
def test_a_url_that_the_client_refuses_is_refused(base: str, url: str) -> None:
    with pytest.raises(Invalid, match="the URL of a call is not valid"):
        resolve_url(url, {"clients": {"hyperfleet_api": {"base_url": base}}})


@pytest.mark.parametrize(
    ("expected", "actual", "found"),
    [
        pytest.param({"a": 1}, {"a": 1, "b": 2}, [], id="what is not expected may be there"),
        pytest.param({"a": {"b": [1]}}, {"a": {"b": [2]}}, ["a.b[0]: expected 1, found 2"], id="another value"),
        pytest.param({"a": 1}, {}, ["a: expected 1, but there is nothing"], id="nothing"),
        pytest.param([1], [1, 2], [": expected 1 elements, found 2: [1, 2]"], id="a longer list"),
        pytest.param({"a": True}, {"a": 1}, ["a: expected true, found 1"], id="a number is no boolean"),
    ],
)
def test_a_trace_differs_by(expected: Any, actual: Any, found: list[str]) -> None:
    assert list(differences(expected, actual)) == found
