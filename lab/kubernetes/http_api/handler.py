"""Handles a request: authentication, injected faults, target, authorization, and the verb."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Any

from aiohttp import web

from lab.http_faults import Answer, Cut, Delay, Fault, Hang, Hold, LoseAnswer
from lab.kubernetes.api import refusals
from lab.kubernetes.api.kinds import JOB, Kinds
from lab.kubernetes.api.paths import Target, group_version, parse
from lab.kubernetes.api.refusals import Refusal
from lab.kubernetes.apply.patches import APPLY_PATCH
from lab.kubernetes.http_api import discovery, openapi, requests, reviews
from lab.kubernetes.http_api.auth import Access, Attributes, Identity
from lab.kubernetes.http_api.faults import Faults
from lab.kubernetes.storage import listing, watch
from lab.kubernetes.storage.resources import Resources
from lab.kubernetes.storage.selectors import selected_name, selector

_NAMED = {"GET": "get", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}
_COLLECTION = {"GET": "list", "POST": "create", "DELETE": "deletecollection"}
_ORPHANS_WARNING = (
    "child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set"
    " propagationPolicy=Orphan to suppress this warning"
)


@dataclass(frozen=True, slots=True)
class Seen:
    """A request that the server received; tests count them."""

    method: str
    path: str
    user: str


class Handler:
    """Handles every request of one server."""

    def __init__(self, resources: Resources, access: Access, faults: Faults, *, bookmark_seconds: float) -> None:
        self.seen: list[Seen] = []
        self.watches: set[asyncio.Transport] = set()
        self._resources, self._access, self._faults = resources, access, faults
        self._bookmark_seconds = bookmark_seconds
        self._verbs: dict[str, Callable[[web.Request, Target], Awaitable[web.StreamResponse]]] = {
            "get": self._get,
            "list": self._list,
            "watch": self._watch,
            "create": self._create,
            "update": self._update,
            "patch": self._patch,
            "delete": self._delete,
            "deletecollection": self._delete_collection,
        }

    async def handle(self, request: web.Request) -> web.StreamResponse:
        try:
            if request.path in discovery.HEALTH_PATHS:
                return web.Response(text="ok")
            identity = self._access.identify(request.headers.get("Authorization", ""))
            self.seen.append(Seen(request.method, request.path_qs, identity.user))
            fault = None if self._access.is_admin(identity) else self._faults.next(request.method, request.path)
            return await self._answer(request, identity, fault)
        except Refusal as refusal:
            return _json(refusal.document, refusal.code)

    async def _answer(self, request: web.Request, identity: Identity, fault: Fault | None) -> web.StreamResponse:
        match fault:
            case Answer(status, headers, body):
                usual = refusals.failure(status, "", "a fault of the stand-in")
                return _json(usual if body is None else body, status, dict(headers))
            case Hang():
                await asyncio.Event().wait()
            case Cut():
                _cut(request)
            case Delay(seconds):
                await asyncio.sleep(seconds)
            case Hold(released):
                await released.wait()
        answer = await self._carry_out(request, identity)
        if isinstance(fault, LoseAnswer):
            _cut(request)
        return answer

    async def _carry_out(self, request: web.Request, identity: Identity) -> web.StreamResponse:
        kinds = self._resources.kinds
        described = discovery.answer(kinds, request.path) or openapi.answer(kinds, request.path)
        if described and request.method == "GET":
            return _json(described)
        if request.path == reviews.ACCESS_REVIEW_PATH and request.method == "POST":
            return _json(reviews.access_review(self._access, identity, await requests.document(request)), 201)
        target = parse(kinds, request.path)
        if target is None:
            return _not_served(kinds, request.path)
        verb = _verb(request, target)
        name = target.name or (selected_name(requests.page(request).fields) if verb in ("list", "watch") else "")
        attributes = Attributes(
            verb=verb, kind=target.kind, subresource=target.subresource, namespace=target.namespace, name=name
        )
        self._access.authorize(identity, attributes)
        if verb == "patch" and request.content_type == APPLY_PATCH and not self._resources.exists(target):
            self._access.authorize(identity, replace(attributes, verb="create"))
        return await self._verbs[verb](request, target)

    async def _get(self, _: web.Request, target: Target) -> web.Response:
        return _json(self._resources.get(target))

    async def _list(self, request: web.Request, target: Target) -> web.Response:
        page = requests.page(request)
        return _json(listing.listed(self._resources.store, target.kind, target.namespace, page))

    async def _watch(self, request: web.Request, target: Target) -> web.StreamResponse:
        page = requests.page(request)
        watched = watch.Watched(
            kind=target.kind,
            namespace=target.namespace,
            matches=selector(target.kind, page.labels, page.fields),
            since=requests.watch_since(request),
            seconds=requests.watch_seconds(request),
            bookmark_seconds=self._bookmark_seconds if requests.wants_bookmarks(request) else None,
        )
        answer = web.StreamResponse(headers={"Content-Type": "application/json"})
        answer.enable_chunked_encoding()
        connection = request.transport
        assert connection is not None
        self.watches.add(connection)
        try:
            await answer.prepare(request)
            async for event in watch.events(self._resources.store, watched):
                await answer.write(json.dumps(event).encode() + b"\n")
        except ConnectionResetError:
            pass  # who watched has gone
        finally:
            self.watches.discard(connection)
        return answer

    async def _create(self, request: web.Request, target: Target) -> web.Response:
        document = await requests.document(request)
        if target.subresource == "token":
            self._resources.get(target)
            return _json(reviews.token(self._access, target, document), 201)
        if target.kind.namespaced and not target.namespace:
            raise refusals.method_not_allowed()
        return _json(self._resources.create(target, document, requests.write_options(request)), 201)

    async def _update(self, request: web.Request, target: Target) -> web.Response:
        document = await requests.document(request)
        stored, made = self._resources.update(target, document, requests.write_options(request))
        return _json(stored, 201 if made else 200)

    async def _patch(self, request: web.Request, target: Target) -> web.Response:
        if request.content_type == APPLY_PATCH:
            return await self._apply(request, target)
        body = await requests.body(request)
        options = requests.write_options(request)
        return _json(self._resources.patch(target, request.content_type, body, options))

    async def _apply(self, request: web.Request, target: Target) -> web.Response:
        if not request.query.get("fieldManager"):
            raise refusals.no_field_manager()
        wanted = await requests.document(request)
        stored, made = self._resources.apply(target, wanted, requests.write_options(request))
        return _json(stored, 201 if made else 200)

    async def _delete(self, request: web.Request, target: Target) -> web.Response:
        options = await requests.delete_options(request)
        deleted = self._resources.delete(target, options)
        warns = target.kind == JOB and not options.policy
        return _json(deleted, headers={"Warning": f'299 - "{_ORPHANS_WARNING}"'} if warns else None)

    async def _delete_collection(self, request: web.Request, target: Target) -> web.Response:
        options = await requests.delete_options(request)
        page = requests.page(request)
        matches = selector(target.kind, page.labels, page.fields)
        found = [each for each in self._resources.store.of_kind(target.kind, target.namespace) if matches(each)]
        for each in found:
            fields = each["metadata"]
            one = Target(kind=target.kind, namespace=fields.get("namespace", ""), name=fields["name"])
            self._resources.delete(one, options)
        return _json(listing.listing(target.kind, found, {"resourceVersion": str(self._resources.store.revision)}))


def _verb(request: web.Request, target: Target) -> str:
    if target.subresource == "token" and request.method == "POST":
        return "create"
    if target.name:
        verb = _NAMED.get(request.method)
    elif request.method == "GET" and requests.is_watch(request):
        verb = "watch"
    else:
        verb = _COLLECTION.get(request.method)
    if verb is None or (target.subresource == "status" and verb == "delete"):
        raise refusals.method_not_allowed()
    return verb


def _not_served(kinds: Kinds, path: str) -> web.Response:
    """A Status within a served group; plain text elsewhere."""
    if kinds.serves(*group_version(path)):
        raise refusals.no_such_path()
    return web.Response(text="404 page not found\n", status=404)


def _json(document: Any, status: int = 200, headers: dict[str, str] | None = None) -> web.Response:
    text = document if isinstance(document, str) else json.dumps(document)
    return web.Response(text=text, status=status, headers=headers, content_type="application/json")


def _cut(request: web.Request) -> None:
    if request.transport is not None:
        request.transport.abort()
    raise asyncio.CancelledError
