"""A call of the HyperFleet API: rendered, sent, recorded, and its refusals turned into errors.

A 404 means that the object is not there, unless its problem code says that there is no such endpoint: that is a mistake
in the URL.
"""

import json
from http import HTTPStatus
from typing import Any

from dispatcher.config.compiled import ApiCall
from dispatcher.engine.ports import ApiRequest, ApiResponse
from dispatcher.engine.running import Run
from dispatcher.engine.runs import CallRecord
from shared.errors import (
    Conflict,
    Forbidden,
    HyperFleetError,
    Invalid,
    NotFound,
    Permanent,
    ServerError,
    Unauthenticated,
)
from shared.untrusted_json import whole_characters

_NO_SUCH_ENDPOINT = "HYPERFLEET-NTF-000"
_WITH_BODY = frozenset({"POST", "PUT", "PATCH"})
_SHOWN_BODY = 300
_TRANSIENT = frozenset({HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_MANY_REQUESTS})
_REFUSALS: dict[int, type[Permanent]] = {
    HTTPStatus.BAD_REQUEST: Invalid,
    HTTPStatus.UNPROCESSABLE_ENTITY: Invalid,
    HTTPStatus.UNAUTHORIZED: Unauthenticated,
    HTTPStatus.FORBIDDEN: Forbidden,
    HTTPStatus.CONFLICT: Conflict,
}


def prepare(run: Run, call: ApiCall) -> ApiRequest:
    """The request the author wrote. Raises LanguageError where a template cannot be rendered."""
    return ApiRequest(
        method=call.method,
        url=run.render(call.url),
        headers={name: run.render(value) for name, value in call.headers},
        body=run.render(call.body) if call.body is not None and call.method in _WITH_BODY else None,
        timeout=call.timeout,
        retry_attempts=call.retry_attempts,
        retry_backoff=call.retry_backoff,
    )


async def send(run: Run, request: ApiRequest, records: list[CallRecord]) -> ApiResponse:
    """The answer, whatever its status. Raises Transient where nobody answered."""
    try:
        response = await run.ports.api.send(request)
    except HyperFleetError:
        records.append(CallRecord(method=request.method, url=request.url, status=None, request_body=request.body))
        raise
    records.append(
        CallRecord(
            method=request.method,
            url=response.url,
            status=response.status,
            request_body=request.body,
            response_body=response.body,
        )
    )
    return response


async def fetch(run: Run, call: ApiCall, records: list[CallRecord]) -> dict[str, Any]:
    """The JSON object a successful call answers with."""
    request = prepare(run, call)
    response = await send(run, request, records)
    ensure_success(request.method, response)
    return json_object(response.body, f"the answer to {request.method} {response.url}")


def ensure_success(method: str, response: ApiResponse) -> None:
    """Raises NotFound, Transient or another error for what is no success."""
    if is_success(response):
        return
    status, problem = response.status, _problem(response.body)
    tries = "" if response.attempts == 1 else f" after {response.attempts} attempts"
    what = f"{method} {response.url} answered {status} {_phrase(status)}".rstrip() + tries
    why = _explanation(problem, response.body)
    if status == HTTPStatus.NOT_FOUND:
        if problem.get("code") == _NO_SUCH_ENDPOINT:
            raise Permanent(what, why=why, remedy="correct the URL: the API has no such endpoint")
        raise NotFound(what, why=why)
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR or status in _TRANSIENT:
        raise ServerError(what, why=why)
    raise _REFUSALS.get(status, Permanent)(what, why=why)


def is_success(response: ApiResponse) -> bool:
    return HTTPStatus.OK <= response.status < HTTPStatus.MULTIPLE_CHOICES


def json_object(body: bytes | str, what: str) -> dict[str, Any]:
    try:
        document = _DECODER.decode(whole_characters(body if isinstance(body, str) else body.decode()))
    except (ValueError, RecursionError) as error:
        raise Invalid(f"{what} is not JSON", why=str(error)) from None
    if not isinstance(document, dict):
        raise Invalid(f"{what} is not a JSON object", why=f"it is {_kind(document)}")
    return document


def _problem(body: bytes) -> dict[str, Any]:
    try:
        return json_object(body, "the problem")
    except Invalid:
        return {}


def _explanation(problem: dict[str, Any], body: bytes) -> str:
    """What problem+json says, or the beginning of whatever came instead."""
    if "detail" not in problem and "title" not in problem:
        return body[:_SHOWN_BODY].decode(errors="replace").strip()
    errors = problem["errors"] if isinstance(problem.get("errors"), list) else []
    details = [f"{each.get('field', '')}: {each.get('message', '')}" for each in errors if isinstance(each, dict)]
    text = "; ".join([str(problem.get("detail") or problem.get("title")), *details])
    return f"{text} [{problem['code']}]" if problem.get("code") else text


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return ""


def _kind(document: Any) -> str:
    names = {list: "a list", str: "a text", bool: "a boolean", type(None): "null"}
    return names.get(type(document), "a number")


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not a JSON value")


_DECODER = json.JSONDecoder(parse_constant=_refuse_constant)
