"""The verbs on one collection: of a kind, of a kind below its parent, or of every kind."""

import json
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from aiohttp import web

from lab.api.entities import BASE, Entities, Entity
from lab.api.http_api import bodies
from lab.api.http_api.documents import Document, list_document, resource_document, status_document
from lab.api.lists import fields
from lab.api.lists.selection import selection
from lab.api.problems import invalid
from lab.api.rules.evaluation import Discard
from lab.api.rules.reports import read_report
from lab.api.rules.values import Resource
from lab.api.store import Store

_SLASH = "{slash:/?}"
DISCARD = web.ResponseKey("discard", Discard)


class Endpoint:
    """`entity` None stands for `/resources`; `path` may hold `{parent}`, whose child the resource must then be."""

    def __init__(
        self, store: Store, entities: Entities, clock: Callable[[], datetime], path: str, entity: Entity | None = None
    ) -> None:
        self._store, self._entities, self._clock = store, entities, clock
        self._path, self._entity = path, entity

    def routes(self) -> list[web.RouteDef]:
        one = self._path + "/{id}"
        return [
            web.get(self._path + _SLASH, self._list, allow_head=False),
            web.post(self._path + _SLASH, self._create),
            web.get(one + _SLASH, self._get, allow_head=False),
            web.patch(one + _SLASH, self._patch),
            web.delete(one + _SLASH, self._delete),
            web.post(f"{one}/force-delete{_SLASH}", self._force_delete),
            web.get(f"{one}/statuses{_SLASH}", self._list_statuses, allow_head=False),
            web.put(f"{one}/statuses{_SLASH}", self._put_status),
        ]

    async def _list(self, request: web.Request) -> web.Response:
        wanted = selection(request.query)
        parent = request.match_info.get("parent")
        if parent is not None:
            self._parent(parent)
        page, total = wanted.of(self._store.find(self._kind_asked(request), parent))
        documents = [_projected(resource, wanted.fields) for resource in page]
        return answer(list_document(documents, page=wanted.page, total=total))

    async def _create(self, request: web.Request) -> web.Response:
        parent = request.match_info.get("parent")
        content = await request.read()
        if self._entity is None:
            entity, new = bodies.new_of_any_kind(content, self._entities)
        else:
            entity, new = self._entity, bodies.new_resource(content, self._entity)
            if parent is None:
                bodies.require_root(entity, self._entities)
        return answer(resource_document(self._store.create(entity, new, parent)), 201)

    async def _get(self, request: web.Request) -> web.Response:
        return answer(_projected(self._resource(request), fields.chosen(request.query.getall("fields", []))))

    async def _patch(self, request: web.Request) -> web.Response:
        spec, labels = bodies.patch(await request.read())
        return answer(resource_document(self._store.patch(self._resource(request), spec, labels)))

    async def _delete(self, request: web.Request) -> web.Response:
        return answer(resource_document(self._store.delete(self._resource(request))), 202)

    async def _force_delete(self, request: web.Request) -> web.Response:
        bodies.require_reason(await request.read())
        self._store.force_delete(self._resource(request))
        return web.Response(status=204)

    async def _list_statuses(self, request: web.Request) -> web.Response:
        wanted = selection(request.query)
        statuses = self._store.statuses(self._resource(request).id)
        page = [status_document(status) for status in wanted.cut(statuses)]
        return answer(list_document(page, page=wanted.page, total=len(statuses)))

    async def _put_status(self, request: web.Request) -> web.Response:
        report = read_report(await request.read(), self._clock())
        outcome = self._store.report(self._resource(request), report)
        if isinstance(outcome, Discard):
            response = web.Response(status=204)
            response[DISCARD] = outcome
            return response
        return answer(status_document(outcome), 201)

    def _resource(self, request: web.Request) -> Resource:
        kind = self._entity.kind if self._entity else None
        return self._store.get(request.match_info["id"], kind, request.match_info.get("parent"))

    def _parent(self, identifier: str) -> None:
        assert self._entity is not None
        self._store.get(identifier, self._entity.parent_kind)

    def _kind_asked(self, request: web.Request) -> str | None:
        if self._entity is not None:
            return self._entity.kind
        kind = request.query.get("kind")
        if kind and self._entities.get(kind) is None:
            raise invalid(f"Unknown entity kind: {kind}")
        return kind or None


def endpoints(store: Store, entities: Entities, clock: Callable[[], datetime]) -> list[Endpoint]:
    """All collections of an API."""
    found = [Endpoint(store, entities, clock, f"{BASE}/resources")]
    for entity in entities:
        if parent := entities.parent(entity):
            nested = f"{BASE}/{parent.plural}/{{parent}}/{entity.plural}"
            found.append(Endpoint(store, entities, clock, nested, entity))
        found.append(Endpoint(store, entities, clock, f"{BASE}/{entity.plural}", entity))
    return found


def answer(document: Mapping[str, Any], status: int = 200) -> web.Response:
    content = json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode()
    headers = {"Vary": "Authorization"}
    return web.Response(body=content, status=status, content_type="application/json", headers=headers)


def _projected(resource: Resource, chosen: tuple[str, ...]) -> Document:
    document = resource_document(resource)
    return fields.project(document, chosen) if chosen else document
