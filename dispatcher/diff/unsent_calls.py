"""The HyperFleet API, read only: what would change something is kept and answered as if it were done."""

from http import HTTPStatus

from dispatcher.engine.ports import ApiRequest, ApiResponse, HyperFleetApi

_READING = frozenset({"GET", "HEAD"})


class UnsentCalls:
    """`requests` are those that were not sent, in their order."""

    def __init__(self, api: HyperFleetApi) -> None:
        self._api = api
        self.requests: list[ApiRequest] = []

    async def send(self, request: ApiRequest) -> ApiResponse:
        if request.method in _READING:
            return await self._api.send(request)
        self.requests.append(request)
        return ApiResponse(status=HTTPStatus.OK, body=(request.body or "{}").encode(), url=request.url)
