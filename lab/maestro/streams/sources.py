"""The sources' port: sources create, update and delete works here, and subscribe to their status.

Application errors have the code UNKNOWN and a text, because the real server returns plain Go errors.
"""

import asyncio
import contextlib
from collections.abc import Iterator

import grpc
from google.protobuf.empty_pb2 import Empty

from lab.maestro.faults import FailPublish, Faults, Hang, LoseAnswer, PublishFault
from lab.maestro.storage import documents, go_types
from lab.maestro.storage.documents import Document, NotAnEvent, Unreadable
from lab.maestro.storage.refusals import Refusal
from lab.maestro.storage.store import Row, Store, Wanted
from lab.maestro.streams.auth import Auth
from lab.maestro.streams.broadcast import Streams
from lab.maestro.streams.calls import Context, Failed, require_size
from shared.maestro.wire.cloudevent_pb2 import CloudEvent, PublishRequest, SubscriptionRequest
from shared.maestro.wire.cloudevent_pb2_grpc import CloudEventServiceServicer


def status_event(row: Row) -> CloudEvent:
    """The status event for a source: the agent's event, with the work's current spec beside the status."""
    assert row.status is not None
    data = documents.payload(row.status, go_types.BUNDLE_STATUS)
    data["manifestBundle"] = documents.payload(row.payload, go_types.MANIFEST_BUNDLE)
    return documents.event_of({**row.status, "datacontenttype": "application/json", "data": data})


class SourceService(CloudEventServiceServicer):
    def __init__(self, store: Store, streams: Streams, auth: Auth, faults: Faults) -> None:
        self._store = store
        self._streams = streams
        self._auth = auth
        self._faults = faults

    async def Publish(self, request: PublishRequest, context: Context) -> Empty:  # noqa: N802 - the protocol's name
        try:
            require_size(request)
            self._auth.identify(context)
            fault = self._faults.next_publish()
            await _fail_before(fault)
            self._take(request.event)
            _fail_after(fault)
        except Failed as error:
            await context.abort(error.code, error.details)
        return Empty()

    async def Subscribe(  # type: ignore[override]  # noqa: N802 - a coroutine that writes, so that its end is its own
        self, request: SubscriptionRequest, context: Context
    ) -> None:
        try:
            self._auth.identify(context)
            self._auth.require(request.source, "subscribe")
        except Failed as error:
            await context.abort(error.code, error.details)
        await self._streams.serve(request.source, context)

    def _take(self, event: CloudEvent) -> None:
        try:
            document = documents.document_of(event)
            self._auth.require(document["source"], "publish")
            action = documents.event_type(document).action
            if action == "resync_request":
                self._resync(document)
            else:
                self._carry_out(action, _wanted(document))
        except NotAnEvent as error:
            raise Failed(grpc.StatusCode.UNKNOWN, f"failed to convert to cloudevent: {error}") from error
        except Unreadable as error:
            raise Failed(grpc.StatusCode.UNKNOWN, str(error)) from error

    def _carry_out(self, action: str, wanted: Wanted) -> None:
        match action:
            case "create_request":
                with _doing("create"):
                    self._store.create(wanted)
            case "update_request":
                with _doing("get"):
                    row = self._store.get(wanted.id)
                if self._faults.next_update_conflicts():
                    self._store.bump(row.id, row.payload)
                with _doing("update"):
                    self._store.update(wanted)
            case "delete_request":
                self._store.mark_deleting(wanted.id)
            case _:
                raise Unreadable(f"unsupported action {action}")

    def _resync(self, document: Document) -> None:
        """Send the status of works whose hash differs from the source's; of all works if it lists none."""
        data = document.get("data", b"")
        try:
            known = go_types.fit(documents.load(data), go_types.HASH_LIST)["statusHashes"] or ()
        except ValueError as error:
            content = data.decode(errors="replace")
            doing = "failed to respond resync status request: failed to decode status resync request: "
            raise Unreadable(f"{doing}failed to unmarshal status resync request payload {content}, {error}") from None
        hashes = {each["resourceID"]: each["statusHash"] for each in reversed(known)}
        for row in self._store.of_source(document["source"]):
            if row.status and (not known or hashes.get(row.id, row.status_hash) != row.status_hash):
                self._streams.post(row.source, status_event(row))


@contextlib.contextmanager
def _doing(action: str) -> Iterator[None]:
    """Add the action to the error text."""
    try:
        yield
    except Refusal as error:
        raise Failed(grpc.StatusCode.UNKNOWN, f"failed to {action} resource: {error}") from error


def _wanted(document: Document) -> Wanted:
    try:
        return Wanted.of(document)
    except Unreadable as error:
        raise Unreadable(f"failed to decode cloudevent: {error}") from error


async def _fail_before(fault: PublishFault | None) -> None:
    match fault:
        case FailPublish(code, details):
            raise Failed(code, details)
        case Hang():
            await asyncio.Event().wait()


def _fail_after(fault: PublishFault | None) -> None:
    if isinstance(fault, LoseAnswer):
        raise Failed(grpc.StatusCode.UNAVAILABLE, "Socket closed")
