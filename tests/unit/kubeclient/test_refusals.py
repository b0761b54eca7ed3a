"""What an answer of the API server means."""

import json
from typing import Any

import pytest

from shared import errors
from shared.kubernetes.http.refusals import Expired, from_status, refusal

MISSING = {"reason": "NotFound", "message": 'jobs.batch "a" not found', "details": {"name": "a", "kind": "jobs"}}
TYPO = (
    "failed to create typed patch object (n/a; apps/v1, Kind=Deployment): .spec.replica: field not declared in schema"
)
CASES = [
    (404, MISSING, errors.NotFound),
    (404, {"reason": "NotFound", "message": "the server could not find the requested resource", "details": {}}, errors.UnknownKind),
    (404, "404 page not found", errors.UnknownKind),
    (409, {"reason": "AlreadyExists"}, errors.AlreadyExists),
    (409, {"reason": "Conflict"}, errors.Conflict),
    (410, {"reason": "Expired"}, Expired),
    (410, {"reason": "Gone"}, Expired),
    (422, {"reason": "Invalid"}, errors.Invalid),
    (422, {"reason": "Invalid", "details": {"causes": [{"field": "metadata.uid"}]}}, errors.Conflict),
    (400, {"reason": "BadRequest"}, errors.Invalid),
    (415, {"reason": "UnsupportedMediaType"}, errors.Invalid),
    (401, {"reason": "Unauthorized"}, errors.Unauthenticated),
    (403, {"reason": "Forbidden"}, errors.Forbidden),
    (403, {"reason": "Forbidden", "details": {"causes": [{"reason": "NamespaceTerminating"}]}}, errors.Deleting),
    (413, {"reason": "RequestEntityTooLarge"}, errors.TooLarge),
    (429, {"reason": "TooManyRequests", "message": "storage is (re)initializing"}, errors.Unavailable),
    (500, {"reason": "InternalError"}, errors.ServerError),
    (500, {"message": "etcdserver: request is too large"}, errors.TooLarge),
    (500, {"message": TYPO}, errors.Invalid),
    (502, "<html>bad gateway</html>", errors.Unavailable),
    (503, {"reason": "ServiceUnavailable"}, errors.Unavailable),
    (504, {"reason": "Timeout"}, errors.DeadlineExceeded),
    (408, "", errors.DeadlineExceeded),
    (302, "", errors.Invalid),
    (599, "[1]", errors.ServerError),
]  # fmt: skip


@pytest.mark.parametrize(("code", "body", "kind"), CASES, ids=[f"{code} {body!s:.40}" for code, body, _ in CASES])
def test_each_answer_is_one_error(code: int, body: Any, kind: type[errors.HyperFleetError]) -> None:
    content = body if isinstance(body, str) else json.dumps(body)
    error = refusal("get Job n/a", code, content.encode(), {})
    assert type(error) is kind
    assert str(error).startswith("cannot get Job n/a: ")


def test_what_is_wrong_with_an_object_is_listed_by_field() -> None:
    causes = [{"field": "spec.a", "message": "Required value"}, {"field": "spec.b", "message": "Invalid value"}]
    error = from_status("apply Job n/a", 422, {"reason": "Invalid", "message": "no", "details": {"causes": causes}})
    assert isinstance(error, errors.Invalid)
    assert [str(problem) for problem in error.problems] == ["spec.a: Required value", "spec.b: Invalid value"]


@pytest.mark.parametrize(
    ("headers", "status", "seconds"),
    [
        ({"Retry-After": "3"}, {"details": {"retryAfterSeconds": 9}}, 3.0),
        ({}, {"details": {"retryAfterSeconds": 2}}, 2.0),
        ({"Retry-After": "Wed, 21 Oct 2026 07:28:00 GMT"}, {}, None),
        ({"Retry-After": "-5"}, {}, 0.0),
        ({}, {}, None),
    ],
    ids=["the header first", "the status", "a date is not understood", "never negative", "nothing said"],
)
def test_a_wait_that_the_server_names_is_kept(headers: dict[str, str], status: Any, seconds: float | None) -> None:
    error = from_status("list Jobs", 429, status, headers)
    assert isinstance(error, errors.Transient)
    assert error.retry_after == seconds
