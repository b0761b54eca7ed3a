"""The verbs of the Kubernetes API, on objects as JSON.

    async with KubernetesClient(access_source()) as client:
        await client.apply(manifest, manager="hyperfleet-adapter")

Each call is one request (a list is one per page) and is not tried again here: callers know their budget. Errors are
those of `shared.errors`.
"""

import json
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Literal, Self

from shared.errors import Invalid, Problem, ServerError, UnknownKind
from shared.kubernetes.credentials.access import Access, AccessSource
from shared.kubernetes.discovery import Discovery, ResourceKind
from shared.kubernetes.http.rate_limit import RateLimit
from shared.kubernetes.http.refusals import from_status
from shared.kubernetes.http.session import Http
from shared.kubernetes.objects import Object, ObjectRef, Selection

CALL_SECONDS = 30.0
CONNECTIONS = 64
PAGE_SIZE = 500
USER_AGENT = "hyperfleet-adapter"

DeletionPolicy = Literal["Background", "Foreground", "Orphan"]


class PatchType(StrEnum):
    """Strategic merges lists by their keys and works for built-in kinds only; merge replaces lists."""

    STRATEGIC = "application/strategic-merge-patch+json"
    MERGE = "application/merge-patch+json"
    JSON = "application/json-patch+json"


_APPLY = "application/apply-patch+yaml"


@dataclass(frozen=True, slots=True)
class Page:
    """`version` is the instant that all pages of a list show; a watch goes on from there."""

    items: list[Object]
    version: str


@dataclass(frozen=True, slots=True)
class StreamEvent:
    """One line of a watch: `change` is ADDED, MODIFIED, DELETED or BOOKMARK."""

    change: str
    object: Object


class KubernetesClient:
    """One API server. `timeout` is the deadline of a request that names no other; a `qps` of 0 is no limit."""

    def __init__(
        self,
        source: AccessSource,
        *,
        timeout: float = CALL_SECONDS,
        connections: int = CONNECTIONS,
        user_agent: str = USER_AGENT,
        qps: float = 0.0,
        burst: int = 0,
    ) -> None:
        self.timeout = timeout
        self._http = Http(source, user_agent=user_agent, connections=connections, limit=RateLimit(qps, burst))
        self._discovery = Discovery(self._http, timeout=timeout)

    async def __aenter__(self) -> Self:
        await self._http.__aenter__()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._http.__aexit__()

    @property
    def is_settled(self) -> bool:
        """False for some seconds after the server could not be reached: until then a Forbidden may be a mistake."""
        return self._http.is_settled

    async def access(self) -> Access:
        """Where the server is and who we are."""
        return await self._http.access()

    async def kind(self, api_version: str, kind: str) -> ResourceKind:
        """How the server serves this kind. Raises UnknownKind."""
        return await self._discovery.find(api_version, kind)

    async def get(self, ref: ObjectRef, *, timeout: float | None = None) -> Object:
        return await self._about(f"get {ref}", "GET", ref, timeout=timeout)

    async def pages(self, selection: Selection, *, size: int = PAGE_SIZE) -> AsyncGenerator[Page, None]:
        """All objects of a selection, page by page. Raises Expired when reading took too long to go on."""
        kind = await self.kind(selection.api_version, selection.kind)
        query = {"limit": str(size), **_selectors(selection)}
        while True:
            answer = await self._call(f"list {selection}", "GET", kind, kind.path(selection.namespace), query=query)
            metadata = answer.get("metadata") or {}
            items = [_typed(item, kind) for item in answer.get("items") or ()]
            yield Page(items, str(metadata.get("resourceVersion") or ""))
            if not metadata.get("continue"):
                return
            query["continue"] = metadata["continue"]

    async def list(self, selection: Selection) -> list[Object]:
        async with aclosing(self.pages(selection)) as pages:
            return [item async for page in pages for item in page.items]

    async def create(self, manifest: Object, *, manager: str = "", dry_run: bool = False) -> Object:
        """The stored object. The manifest may have a `generateName` instead of a name. Raises AlreadyExists."""
        metadata = manifest.get("metadata") or {}
        named = {**manifest, "metadata": {**metadata, "name": metadata.get("name") or metadata.get("generateName")}}
        ref = ObjectRef.of(named)
        kind = await self._kind_of(ref)
        query = _write_query(manager=manager, dry_run=dry_run)
        return await self._call(f"create {ref}", "POST", kind, kind.path(ref.namespace), query=query, body=manifest)

    async def apply(
        self, manifest: Object, *, manager: str, force: bool = True, dry_run: bool = False, subresource: str = ""
    ) -> Object:
        """Server-side apply: the stored object, which is created where it is missing.

        A `resourceVersion` in the manifest must be the stored one, a `uid` that of an object that is there; else
        Conflict is raised. A version on a missing object does not prevent its creation, a uid does.
        """
        ref = ObjectRef.of(manifest)
        query = _write_query(manager=manager, dry_run=dry_run) | ({"force": "true"} if force else {})
        return await self._about(
            f"apply {ref}",
            "PATCH",
            ref,
            query=query,
            body=_without_managed_fields(manifest),
            media_type=_APPLY,
            subresource=subresource,
        )

    async def replace(
        self, document: Object, *, manager: str = "", timeout: float | None = None, subresource: str = ""
    ) -> Object:
        """PUT of a whole object; its resourceVersion must be the stored one. Raises Conflict."""
        ref = ObjectRef.of(document)
        return await self._about(
            f"replace {ref}",
            "PUT",
            ref,
            query=_write_query(manager=manager),
            body=document,
            timeout=timeout,
            subresource=subresource,
        )

    async def patch(
        self,
        ref: ObjectRef,
        body: Any,
        *,
        type_: PatchType = PatchType.MERGE,
        manager: str = "",
        dry_run: bool = False,
        subresource: str = "",
    ) -> Object:
        return await self._about(
            f"patch {ref}",
            "PATCH",
            ref,
            query=_write_query(manager=manager, dry_run=dry_run),
            body=body,
            media_type=type_,
            subresource=subresource,
        )

    async def delete(
        self,
        ref: ObjectRef,
        *,
        policy: DeletionPolicy = "Background",
        uid: str = "",
        resource_version: str = "",
        dry_run: bool = False,
    ) -> Object | None:
        """What is left of it while finalizers hold it, None where it is gone. Raises NotFound.

        Raises Conflict where the object has another uid or version than the one given.
        """
        options: Object = {"apiVersion": "v1", "kind": "DeleteOptions", "propagationPolicy": policy}
        conditions = {"uid": uid, "resourceVersion": resource_version}
        if preconditions := {key: value for key, value in conditions.items() if value}:
            options["preconditions"] = preconditions
        if dry_run:
            options["dryRun"] = ["All"]
        answer = await self._about(f"delete {ref}", "DELETE", ref, body=options)
        return None if answer.get("kind") == "Status" and answer.get("apiVersion") == "v1" else answer

    @asynccontextmanager
    async def stream(
        self, selection: Selection, *, since: str, seconds: float
    ) -> AsyncIterator[AsyncIterator[StreamEvent]]:
        """What changes after version `since`, until the server ends it after `seconds`.

        Entered once the server has accepted it. Raises Expired, then or later, where the server has forgotten `since`.
        """
        kind = await self.kind(selection.api_version, selection.kind)
        query = {
            "watch": "true",
            "allowWatchBookmarks": "true",
            "resourceVersion": since,
            "timeoutSeconds": str(max(1, round(seconds))),
            **_selectors(selection),
        }
        what, path = f"watch {selection}", kind.path(selection.namespace)
        try:
            async with (
                self._http.stream(what, path, query=query, seconds=seconds) as lines,
                aclosing(_events(what, lines)) as events,
            ):
                yield events
        except UnknownKind:
            self._discovery.forget(selection.api_version)
            raise

    async def _about(
        self,
        what: str,
        method: str,
        ref: ObjectRef,
        *,
        query: Mapping[str, str] | None = None,
        body: Any = None,
        media_type: str = "application/json",
        subresource: str = "",
        timeout: float | None = None,
    ) -> Object:
        kind = await self._kind_of(ref)
        path = kind.path(ref.namespace, ref.name, subresource)
        return await self._call(
            what, method, kind, path, query=query or {}, body=body, media_type=media_type, timeout=timeout
        )

    async def _kind_of(self, ref: ObjectRef) -> ResourceKind:
        kind = await self.kind(ref.api_version, ref.kind)
        if kind.namespaced and not ref.namespace:
            raise Invalid(f"{ref} has no namespace", [Problem("metadata.namespace", f"a {ref.kind} needs one")])
        return kind

    async def _call(
        self, what: str, method: str, kind: ResourceKind, path: str, *, timeout: float | None = None, **request: Any
    ) -> Object:
        try:
            return await self._http.call(what, method, path, timeout=timeout or self.timeout, **request)
        except UnknownKind:
            self._discovery.forget(kind.api_version)
            raise


def _selectors(selection: Selection) -> dict[str, str]:
    named = {"labelSelector": selection.labels, "fieldSelector": selection.fields}
    return {key: value for key, value in named.items() if value}


def _write_query(*, manager: str = "", dry_run: bool = False) -> dict[str, str]:
    return ({"fieldManager": manager} if manager else {}) | ({"dryRun": "All"} if dry_run else {})


def _typed(item: Object, kind: ResourceKind) -> Object:
    """Objects in a list of a built-in kind do not say what they are."""
    return {"apiVersion": kind.api_version, "kind": kind.kind, **item}


def _without_managed_fields(manifest: Object) -> Object:
    metadata = manifest["metadata"]
    if "managedFields" not in metadata:
        return manifest
    return {**manifest, "metadata": {key: value for key, value in metadata.items() if key != "managedFields"}}


async def _events(what: str, lines: AsyncIterator[bytes]) -> AsyncGenerator[StreamEvent, None]:
    async for line in lines:
        yield _stream_event(what, line)


def _stream_event(what: str, line: bytes) -> StreamEvent:
    try:
        event = json.loads(line)
        change, document = str(event["type"]), event["object"]
    except (ValueError, KeyError, TypeError) as error:
        raise ServerError(f"cannot {what}", why=f"an event cannot be read: {line[:100]!r}") from error
    if change == "ERROR":
        raise from_status(what, int(document.get("code") or 500), document)
    return StreamEvent(change, document)
