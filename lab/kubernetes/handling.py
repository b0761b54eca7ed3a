"""The way of a request through the API server: fault, who, what, may they, and the verb that carries it out."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Any

from aiohttp import web

from lab.kubernetes import discovery, listing, refusals, requests, reviews, watching
from lab.kubernetes.access import Access, Identity, Wish
from lab.kubernetes.addressing import Target, group_version, target
from lab.kubernetes.faults import Answer, Cut, Delay, Fault, Faults, Hang, LoseAnswer
from lab.kubernetes.kinds import JOB, Kinds
from lab.kubernetes.patching import APPLY_PATCH
from lab.kubernetes.refusals import Refusal
from lab.kubernetes.resources import Resources
from lab.kubernetes.selectors import selected_name, selector

_NAMED = {"GET": "get", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}
_COLLECTION = {"GET": "list", "POST": "create", "DELETE": "deletecollection"}
_ORPHANS_WARNING = (
    "child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set"
    " propagationPolicy=Orphan to suppress this warning"
)


@dataclass(frozen=True, slots=True)
class Seen:
    """A request that came in, for tests that count them."""

    method: str
    path: str
    user: str


class Handler:
    """Answers every request of one server."""

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
                usual = refusals.failure(status, "", "the stand-in was told to fail")
                return _json(usual if body is None else body, status, dict(headers))
            case Hang():
                await asyncio.Event().wait()
            case Cut():
                _cut(request)
            case Delay(seconds):
                await asyncio.sleep(seconds)
        answer = await self._carry_out(request, identity)
        if isinstance(fault, LoseAnswer):
            _cut(request)
        return answer

    async def _carry_out(self, request: web.Request, identity: Identity) -> web.StreamResponse:
        if request.method == "GET" and (told := discovery.answer(self._resources.kinds, request.path)):
            return _json(told)
        if request.path == reviews.MAY_I_PATH and request.method == "POST":
            return _json(reviews.may_i(self._access, identity, await requests.document(request)), 201)
        meant = target(self._resources.kinds, request.path)
        if meant is None:
            return _nothing_there(self._resources.kinds, request.path)
        verb = _verb(request, meant)
        name = meant.name or (selected_name(requests.page(request).fields) if verb in ("list", "watch") else "")
        wish = Wish(verb=verb, kind=meant.kind, subresource=meant.subresource, namespace=meant.namespace, name=name)
        self._access.authorize(identity, wish)
        if verb == "patch" and request.content_type == APPLY_PATCH and not self._resources.exists(meant):
            self._access.authorize(identity, replace(wish, verb="create"))
        return await self._verbs[verb](request, meant)

    async def _get(self, _: web.Request, meant: Target) -> web.Response:
        return _json(self._resources.get(meant))

    async def _list(self, request: web.Request, meant: Target) -> web.Response:
        page = requests.page(request)
        return _json(listing.listed(self._resources.store, meant.kind, meant.namespace, page))

    async def _watch(self, request: web.Request, meant: Target) -> web.StreamResponse:
        page = requests.page(request)
        watched = watching.Watched(
            kind=meant.kind,
            namespace=meant.namespace,
            matches=selector(meant.kind, page.labels, page.fields),
            since=requests.watch_since(request),
            seconds=requests.watch_seconds(request),
            bookmark_seconds=self._bookmark_seconds if requests.wants_bookmarks(request) else None,
        )
        answer = web.StreamResponse(headers={"Content-Type": "application/json"})
        answer.enable_chunked_encoding()
        await answer.prepare(request)
        connection = request.transport
        assert connection is not None
        self.watches.add(connection)
        try:
            async for event in watching.events(self._resources.store, watched):
                await answer.write(json.dumps(event).encode() + b"\n")
        finally:
            self.watches.discard(connection)
        return answer

    async def _create(self, request: web.Request, meant: Target) -> web.Response:
        document = await requests.document(request)
        if meant.subresource == "token":
            self._resources.get(meant)
            return _json(reviews.token(self._access, meant, document), 201)
        if meant.kind.namespaced and not meant.namespace:
            raise refusals.method_not_allowed()
        return _json(self._resources.create(meant, document, requests.write_options(request)), 201)

    async def _update(self, request: web.Request, meant: Target) -> web.Response:
        document = await requests.document(request)
        stored, made = self._resources.update(meant, document, requests.write_options(request))
        return _json(stored, 201 if made else 200)

    async def _patch(self, request: web.Request, meant: Target) -> web.Response:
        if request.content_type == APPLY_PATCH:
            return await self._apply(request, meant)
        body = await requests.body(request)
        options = requests.write_options(request)
        return _json(self._resources.patch(meant, request.content_type, body, options))

    async def _apply(self, request: web.Request, meant: Target) -> web.Response:
        if not request.query.get("fieldManager"):
            raise refusals.no_field_manager()
        wanted = await requests.document(request)
        stored, made = self._resources.apply(meant, wanted, requests.write_options(request))
        return _json(stored, 201 if made else 200)

    async def _delete(self, request: web.Request, meant: Target) -> web.Response:
        options = await requests.delete_options(request)
        told = self._resources.delete(meant, options)
        warns = meant.kind == JOB and not options.policy
        return _json(told, headers={"Warning": f'299 - "{_ORPHANS_WARNING}"'} if warns else None)

    async def _delete_collection(self, request: web.Request, meant: Target) -> web.Response:
        options = await requests.delete_options(request)
        page = requests.page(request)
        matches = selector(meant.kind, page.labels, page.fields)
        found = [each for each in self._resources.store.of_kind(meant.kind, meant.namespace) if matches(each)]
        for each in found:
            fields = each["metadata"]
            one = Target(kind=meant.kind, namespace=fields.get("namespace", ""), name=fields["name"])
            self._resources.delete(one, options)
        return _json(listing.listing(meant.kind, found, {"resourceVersion": str(self._resources.store.revision)}))


def _verb(request: web.Request, meant: Target) -> str:
    if meant.subresource == "token" and request.method == "POST":
        return "create"
    if meant.name:
        verb = _NAMED.get(request.method)
    elif request.method == "GET" and requests.is_watch(request):
        verb = "watch"
    else:
        verb = _COLLECTION.get(request.method)
    if verb is None or (meant.subresource == "status" and verb == "delete"):
        raise refusals.method_not_allowed()
    return verb


def _nothing_there(kinds: Kinds, path: str) -> web.Response:
    """Within a group that is served it is a refusal, elsewhere it is a path like any other on the web."""
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
