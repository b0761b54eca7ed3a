"""The web application: everything a request passes before and after its endpoint."""

import asyncio
import json
import uuid
from collections.abc import Awaitable, Callable
from datetime import datetime

from aiohttp import web

from lab.api.entities import BASE, Entities
from lab.api.http_api.documents import moment
from lab.api.http_api.endpoints import DISCARD, answer, endpoints
from lab.api.http_api.openapi import openapi_document
from lab.api.http_api.seen import Journal, Seen
from lab.api.problems import NO_CREDENTIALS, NO_ENDPOINT, Kind, Problem
from lab.api.store import Store
from lab.http_faults import Answer, Cut, Delay, Fault, Faults, Hang, Hold, LoseAnswer

Next = Callable[[web.Request], Awaitable[web.StreamResponse]]
_METADATA = "/api/hyperfleet"
_OPENAPI = f"{BASE}/openapi"
_PUBLIC = {_METADATA, _OPENAPI}


class Api:
    """`tokens` are the bearer tokens that are let in; None lets everybody in."""

    def __init__(self, store: Store, entities: Entities, clock: Callable[[], datetime]) -> None:
        self.faults = Faults()
        self.journal = Journal()
        self.tokens: set[str] | None = None
        self._store, self._entities, self._clock = store, entities, clock

    def application(self) -> web.Application:
        application = web.Application(middlewares=[self._middleware])
        for endpoint in endpoints(self._store, self._entities, self._clock):
            application.add_routes(endpoint.routes())
        application.router.add_get(_OPENAPI, _openapi, allow_head=False)
        application.router.add_get(_METADATA, _metadata, allow_head=False)
        return application

    @web.middleware
    async def _middleware(self, request: web.Request, handler: Next) -> web.StreamResponse:
        body = await request.read()
        fault = self.faults.next(request.method, request.path)
        response = await self._under(fault, request, handler)
        self._note(request, body, response)
        if response is not None:
            response.headers.setdefault("X-Request-ID", str(uuid.uuid4()))
            return response
        if request.transport is not None:
            request.transport.abort()
        return web.Response()

    async def _under(self, fault: Fault | None, request: web.Request, handler: Next) -> web.StreamResponse | None:
        """The answer, None where there is to be none."""
        match fault:
            case Answer():
                return self._made_up(request, fault)
            case Cut():
                return None
            case Hang():
                self._note(request, await request.read(), None)
                await asyncio.Event().wait()
            case Delay(seconds):
                await asyncio.sleep(seconds)
            case Hold(released):
                self._note(request, await request.read(), None)
                await released.wait()
            case LoseAnswer():
                await self._carry_out(request, handler)
                return None
        return await self._carry_out(request, handler)

    async def _carry_out(self, request: web.Request, handler: Next) -> web.StreamResponse:
        try:
            self._let_in(request)
            return await handler(request)
        except Problem as problem:
            return self._refusal(request, problem)
        except web.HTTPNotFound:
            return self._refusal(
                request, Problem(NO_ENDPOINT, f"The requested resource '{request.path}' doesn't exist")
            )
        except web.HTTPMethodNotAllowed:
            return web.Response(status=405, text="Method Not Allowed")

    def _let_in(self, request: web.Request) -> None:
        if self.tokens is None or request.path in _PUBLIC:
            return
        scheme, _, token = request.headers.get("Authorization", "").partition(" ")
        if scheme.lower() != "bearer" or token not in self.tokens:
            raise Problem(NO_CREDENTIALS, "Account authentication could not be verified")

    def _refusal(self, request: web.Request, problem: Problem) -> web.Response:
        request_id = str(uuid.uuid4())
        document = problem.document(instance=request.path, timestamp=moment(self._clock()), trace_id=request_id)
        return web.Response(
            body=json.dumps(document).encode(),
            status=problem.kind.status,
            content_type="application/problem+json",
            headers={"X-Request-ID": request_id},
        )

    def _made_up(self, request: web.Request, fault: Answer) -> web.Response:
        if fault.body is None:
            kind = Kind("HYPERFLEET-INT-001", fault.status, "internal-error", "Fault of the stand-in")
            response = self._refusal(request, Problem(kind, "a test asked for this"))
            response.headers.update(fault.headers)
            return response
        body = fault.body if isinstance(fault.body, str | bytes) else json.dumps(fault.body)
        return web.Response(status=fault.status, body=body, headers=dict(fault.headers))

    def _note(self, request: web.Request, body: bytes, response: web.StreamResponse | None) -> None:
        self.journal.add(
            Seen(
                method=request.method,
                path=request.path,
                query=dict(request.query),
                headers=dict(request.headers),
                body=body,
                status=response.status if response else None,
                discard=response.get(DISCARD) if response else None,
            )
        )


async def _openapi(_request: web.Request) -> web.Response:
    return answer(openapi_document())


async def _metadata(_request: web.Request) -> web.Response:
    return answer({"id": "hyperfleet", "kind": "API", "href": _METADATA, "version": "lab"})
