"""The agents' port: agents fetch the works of their cluster and report their status."""

import json
import uuid
from datetime import datetime

import grpc
from google.protobuf.empty_pb2 import Empty

from lab.maestro.storage import documents, go_types
from lab.maestro.storage.documents import Document, NotAnEvent, Unreadable
from lab.maestro.storage.store import SERVER_SOURCE, Row, Store
from lab.maestro.streams.broadcast import Streams
from lab.maestro.streams.calls import Context, Failed, require_size
from shared import times
from shared.maestro.wire.cloudevent_pb2 import CloudEvent, PublishRequest, SubscriptionRequest
from shared.maestro.wire.cloudevent_pb2_grpc import CloudEventServiceServicer
from shared.maestro.wire.codec import DATA_TYPE, timestamp

_DATA_TYPE_PARTS = 3


def spec_event(action: str, row: Row) -> CloudEvent:
    """The spec event for an agent: the source's event, with the server's source name and version.

    The metadata has the server's timestamps in requests, but not in resync responses.
    """
    document = {
        **row.payload,
        "source": SERVER_SOURCE,
        "type": f"{DATA_TYPE}.spec.{action}",
        "resourceid": row.id,
        "resourceversion": row.version,
        "clustername": row.consumer_name,
    }
    metadata = row.payload.get("metadata") if action == "resync_response" else row.metadata
    if metadata is not None:
        document["metadata"] = {**metadata, "name": row.id}
    if row.deleted_at:
        document |= _deletion(row.deleted_at)
    return documents.event_of(document)


class AgentService(CloudEventServiceServicer):
    def __init__(self, store: Store, streams: Streams) -> None:
        self._store = store
        self._streams = streams

    async def Publish(self, request: PublishRequest, context: Context) -> Empty:  # noqa: N802 - the protocol's name
        try:
            require_size(request)
            self._take(request.event)
        except Failed as error:
            await context.abort(error.code, error.details)
        return Empty()

    async def Subscribe(  # type: ignore[override]  # noqa: N802 - a coroutine that writes, so that its end is its own
        self, request: SubscriptionRequest, context: Context
    ) -> None:
        if not request.cluster_name:
            await context.abort(grpc.StatusCode.UNKNOWN, "invalid subscription request: missing cluster name")
        if request.data_type.count(".") < _DATA_TYPE_PARTS - 1:
            problem = "invalid data type unsupported cloudevents data type format"
            await context.abort(grpc.StatusCode.UNKNOWN, f"invalid subscription request: {problem}")
        await self._streams.serve((request.cluster_name, request.data_type), context)

    def _take(self, event: CloudEvent) -> None:
        try:
            document = documents.document_of(event)
            data_type, action = documents.event_type(document)
        except NotAnEvent as error:
            text = f"failed to convert protobuf to cloudevent: {error}"
            raise Failed(grpc.StatusCode.INVALID_ARGUMENT, text) from error
        except Unreadable as error:
            raise Failed(grpc.StatusCode.INVALID_ARGUMENT, str(error)) from error
        if action == "resync_request":
            self._resync(data_type, document)
        elif data_type != DATA_TYPE:
            text = f"failed to find service for event type {data_type}"
            raise Failed(grpc.StatusCode.INVALID_ARGUMENT, text)
        else:
            self._report(document)

    def _report(self, document: Document) -> None:
        try:
            self._store.report(document)
        except Unreadable as error:
            # Go's error has no public member, so its JSON form is all that the agent gets.
            raise Failed(grpc.StatusCode.FAILED_PRECONDITION, "{}") from error

    def _resync(self, data_type: str, document: Document) -> None:
        """Send the works that are newer here, those being deleted, and a deletion for each unknown one."""
        try:
            consumer, held = _held_versions(data_type, document)
        except Unreadable as error:
            text = f"failed to respond resync spec request: {error}"
            raise Failed(grpc.StatusCode.FAILED_PRECONDITION, text) from error
        rows = {row.id: row for row in self._store.of_consumer(consumer)}
        for row in rows.values():
            if row.deleted_at or row.version > held.get(row.id, 0) or row.version == 0:
                self._streams.post((consumer, DATA_TYPE), spec_event("resync_response", row))
        for row_id in held:
            if row_id not in rows:
                self._streams.post((consumer, DATA_TYPE), _unknown(consumer, row_id))


def _held_versions(data_type: str, document: Document) -> tuple[str, dict[str, int]]:
    data = document.get("data", b"")
    try:
        listed = go_types.fit(documents.load(data), go_types.VERSION_LIST)["resourceVersions"] or ()
    except ValueError as error:
        content = data.decode(errors="replace")
        raise Unreadable(f"failed to unmarshal spec resync request payload {content}, {error}") from None
    if "clustername" not in document:
        raise Unreadable(f"{json.dumps('clustername')} not found")
    if data_type != DATA_TYPE:
        raise Unreadable(f"failed to find service for event type {data_type}")
    held = {each["resourceID"]: each["resourceVersion"] for each in reversed(listed)}
    return str(document["clustername"]), held


def _unknown(consumer: str, row_id: str) -> CloudEvent:
    document: Document = {
        "specversion": "1.0",
        "source": "source",
        "type": f"{DATA_TYPE}.spec.resync_response",
        "clustername": consumer,
        "originalsource": "",
        "resourceid": row_id,
    }
    return documents.event_of(document | _deletion(times.now()))


def _deletion(deleted_at: datetime) -> Document:
    """The fields of a deletion event; each has a new id and time."""
    now = times.to_micros(times.now())
    return {"id": str(uuid.uuid4()), "time": now, "deletiontimestamp": timestamp(deleted_at)}
