"""Maestro's REST API: read and delete works, manage consumers, errors with Maestro's body."""

import asyncio
import json
import uuid
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from aiohttp import web

from lab.maestro.faults import Cut, FailRest, Faults, Hang
from lab.maestro.rest.listing import ListArguments, Page, select
from lab.maestro.search.matching import CONSUMERS, RESOURCES
from lab.maestro.search.terms import Record
from lab.maestro.storage import documents, go_types
from lab.maestro.storage.go_types import Shape
from lab.maestro.storage.refusals import Code, Refusal
from lab.maestro.storage.store import Consumer, Row, Store
from shared import times

BASE = "/api/maestro/v1"
_HEADERS = {"Vary": "Authorization"}
_SLASH = "{slash:/?}"
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class RestApi:
    def __init__(self, store: Store, faults: Faults) -> None:
        self._store = store
        self._faults = faults

    def application(self) -> web.Application:
        application = web.Application(middlewares=[self._middleware])
        bundles, consumers, one = f"{BASE}/resource-bundles", f"{BASE}/consumers", "/{id}"
        application.add_routes(
            [
                web.get(bundles + _SLASH, self._list_bundles, allow_head=False),
                web.get(bundles + one, self._get_bundle, allow_head=False),
                web.delete(bundles + one, self._delete_bundle),
                web.get(consumers + _SLASH, self._list_consumers, allow_head=False),
                web.post(consumers, self._create_consumer),
                web.get(consumers + one, self._get_consumer, allow_head=False),
                web.patch(consumers + one, self._patch_consumer),
                web.delete(consumers + one, self._delete_consumer),
            ]
        )
        return application

    @web.middleware
    async def _middleware(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        match self._faults.next_rest():
            case FailRest(status, body, headers):
                return _injected(status, body, headers)
            case Hang():
                await asyncio.Event().wait()
            case Cut():
                return _cut(request)
        try:
            return await handler(request)
        except Refusal as refusal:
            return _answer(_error(refusal, request), refusal.http_status)
        except (web.HTTPNotFound, web.HTTPMethodNotAllowed):
            return _answer(_no_such_path(request.path), 404)

    async def _list_bundles(self, request: web.Request) -> web.StreamResponse:
        if request.query.get("fields", "").strip():
            return _cut(request)  # the real handler panics
        wanted = ListArguments.of(request.query)
        found = select(self._store.rows.values(), _row_record, wanted, RESOURCES)
        return _answer(_list("ResourceBundleList", found, [bundle_of(row) for row in found.items]))

    async def _get_bundle(self, request: web.Request) -> web.StreamResponse:
        return _answer(bundle_of(self._store.get(request.match_info["id"])))

    async def _delete_bundle(self, request: web.Request) -> web.StreamResponse:
        self._store.mark_deleting(request.match_info["id"])
        return web.Response(status=204, content_type="application/json", headers=_HEADERS)

    async def _list_consumers(self, request: web.Request) -> web.StreamResponse:
        if request.query.get("fields", "").strip():
            return _cut(request)  # the real handler panics
        wanted = ListArguments.of(request.query)
        found = select(self._store.consumers.values(), _consumer_record, wanted, CONSUMERS)
        return _answer(_list("ConsumerList", found, [consumer_of(each) for each in found.items]))

    async def _create_consumer(self, request: web.Request) -> web.StreamResponse:
        body = await _body(request, go_types.CONSUMER)
        if body.get("id"):
            raise Refusal(Code.VALIDATION, "id must be empty")
        return _answer(consumer_of(self._store.add_consumer(body.get("name") or "", body.get("labels"))), 201)

    async def _get_consumer(self, request: web.Request) -> web.StreamResponse:
        return _answer(consumer_of(self._store.consumer(request.match_info["id"])))

    async def _patch_consumer(self, request: web.Request) -> web.StreamResponse:
        body = await _body(request, go_types.CONSUMER_PATCH)
        return _answer(consumer_of(self._store.relabel_consumer(request.match_info["id"], body.get("labels"))))

    async def _delete_consumer(self, request: web.Request) -> web.StreamResponse:
        self._store.remove_consumer(request.match_info["id"])
        return web.Response(status=204, content_type="application/json", headers=_HEADERS)


def bundle_of(row: Row) -> dict[str, Any]:
    """A row as REST shows it: without its source and executor, with its id as name."""
    spec = documents.payload(row.payload, go_types.MANIFEST_BUNDLE)
    bundle = {
        "id": row.id,
        "kind": "ResourceBundle",
        "href": f"{BASE}/resource-bundles/{row.id}",
        "name": row.id,
        "consumer_name": row.consumer_name,
        "version": row.version,
        "created_at": _moment(row.created_at),
        "updated_at": _moment(row.updated_at),
        "metadata": row.metadata or {},
        "manifests": spec["manifests"] or [],
        "manifest_configs": spec.get("manifestConfigs") or [],
        "delete_option": spec.get("deleteOption") or {},
    }
    if row.deleted_at:
        bundle["deleted_at"] = _moment(row.deleted_at)
    if row.status:
        bundle["status"] = {
            "ObservedVersion": documents.number(row.status, "resourceversion"),
            "SequenceID": documents.text(row.status, "sequenceid"),
            **documents.payload(row.status, go_types.BUNDLE_STATUS),
        }
    return bundle


def consumer_of(consumer: Consumer) -> dict[str, Any]:
    shown = {
        "id": consumer.id,
        "kind": "Consumer",
        "href": f"{BASE}/consumers/{consumer.id}",
        "name": consumer.name,
        "created_at": _moment(consumer.created_at),
        "updated_at": _moment(consumer.updated_at),
    }
    return {**shown, "labels": dict(consumer.labels)} if consumer.labels else shown


def _row_record(row: Row) -> Record:
    return {
        "id": row.id,
        "name": row.id,
        "source": row.source,
        "consumer_name": row.consumer_name,
        "version": row.version,
        "type": "",
        "payload": row.payload,
        "status": row.status or {},
        "created_at": row.created_at,
        "updated_at": row.updated_at,
        "deleted_at": row.deleted_at,
    }


def _consumer_record(consumer: Consumer) -> Record:
    return {
        "id": consumer.id,
        "name": consumer.name,
        "labels": consumer.labels,
        "created_at": consumer.created_at,
        "updated_at": consumer.updated_at,
        "deleted_at": None,
    }


def _list(kind: str, found: Page[Any], items: list[dict[str, Any]]) -> dict[str, Any]:
    return {"kind": kind, "page": found.number, "size": len(items), "total": found.total, "items": items}


async def _body(request: web.Request, shape: Shape) -> dict[str, Any]:
    try:
        body: dict[str, Any] = go_types.fit(documents.load(await request.read()), shape)
    except ValueError as error:
        raise Refusal(Code.MALFORMED, f"Invalid request format: {error}") from None
    return body


def _error(refusal: Refusal, request: web.Request) -> dict[str, str]:
    return {
        "kind": "Error",
        "id": str(int(refusal.code)),
        "href": f"{BASE}/errors/{refusal.code}",
        "code": f"maestro-{refusal.code}",
        "reason": refusal.reason,
        "operation_id": request.headers.get("X-Operation-ID") or uuid.uuid4().hex,
    }


def _no_such_path(path: str) -> dict[str, str]:
    return {
        "type": "Error",
        "id": "404",
        "href": f"{BASE}/errors/404",
        "code": "maestro-404",
        "reason": f"The requested resource '{path}' doesn't exist",
    }


def _answer(document: Mapping[str, Any], status: int = 200) -> web.Response:
    content = json.dumps(document, ensure_ascii=False).encode()
    return web.Response(body=content, status=status, content_type="application/json", headers=_HEADERS)


def _injected(status: int, body: Any, headers: Mapping[str, str]) -> web.Response:
    if isinstance(body, str | bytes | None):
        return web.Response(status=status, body=body, headers=dict(headers))
    return web.json_response(body, status=status, headers=dict(headers))


def _cut(request: web.Request) -> web.Response:
    if request.transport is not None:
        request.transport.abort()
    return web.Response()


def _moment(moment: Any) -> str:
    """Go's format, without trailing zeros in the fraction."""
    text = times.to_micros(moment).removesuffix("Z").rstrip("0").rstrip(".")
    return f"{text}Z"
