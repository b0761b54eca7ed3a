"""A HyperFleet API that answers from a file. The first endpoint that matches answers, with its responses in order."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import re2  # type: ignore[import-untyped]  # google-re2 ships no types

from dispatcher.dryrun.reading import MockEndpoint, MockResponse
from dispatcher.engine.ports import ApiRequest, ApiResponse
from shared.errors import Misconfigured, Problem

_EMPTY = MockResponse()


class MockApi:
    """`requests` are all that were made; `unmatched` those no endpoint answers, which get 200 and an empty object."""

    def __init__(self, endpoints: Sequence[MockEndpoint], resolve: Callable[[str], str]) -> None:
        """`resolve` gives the URL that the client would ask for."""
        self.requests: list[tuple[ApiRequest, ApiResponse]] = []
        self.unmatched: list[str] = []
        self.deleting = False
        self._resolve = resolve
        self._endpoints = [_Endpoint(each, number) for number, each in enumerate(endpoints)]

    async def send(self, request: ApiRequest) -> ApiResponse:
        url = self._resolve(request.url)
        endpoint = next((each for each in self._endpoints if each.matches(request.method, url)), None)
        if endpoint is None:
            self.unmatched.append(f"{request.method} {url}")
        mock = _EMPTY if endpoint is None else endpoint.next()
        self.deleting = self.deleting or _tells_of_deletion(mock.body)
        body = b"" if mock.status == 204 else json.dumps(mock.body).encode()  # noqa: PLR2004 - no content
        response = ApiResponse(status=mock.status, body=body, url=url)
        self.requests.append((request, response))
        return response


class _Endpoint:
    def __init__(self, endpoint: MockEndpoint, number: int) -> None:
        self._method = endpoint.method
        self._responses = endpoint.responses
        self._next = 0
        options = re2.Options()
        options.log_errors = False
        try:
            self._pattern = re2.compile(endpoint.pattern, options)
        except re2.error as error:
            problem = Problem(f"responses[{number}].match.urlPattern", f"is no regular expression: {_reason(error)}")
            raise Misconfigured("the API responses are refused", [problem]) from None

    def matches(self, method: str, url: str) -> bool:
        return self._method in ("*", method) and bool(self._pattern.search(url))

    def next(self) -> MockResponse:
        """The last response repeats."""
        response = self._responses[self._next]
        self._next = min(self._next + 1, len(self._responses) - 1)
        return response


def _tells_of_deletion(body: Any) -> bool:
    return isinstance(body, Mapping) and bool(body.get("deleted_time"))


def _reason(error: Exception) -> str:
    text = error.args[0] if error.args else error
    return text.decode(errors="replace") if isinstance(text, bytes) else str(text)
