"""Maestro's rows and consumers, and the rules by which they change. Without I/O, so that each rule is a row in a test.

Sources create, update and mark for deletion; agents report. Two callbacks announce the changes.
"""

import hashlib
import uuid
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from lab.maestro.storage import documents, go_types, validation
from lab.maestro.storage.documents import Document, Unreadable
from lab.maestro.storage.refusals import Code, Refusal
from shared import times

SERVER_SOURCE = "maestro"
_NUL = "ERROR: unsupported Unicode escape sequence (SQLSTATE 22P05)"
_NO_STATUS = hashlib.sha256(b"").hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Consumer:
    """A management cluster."""

    id: str
    name: str
    labels: Mapping[str, str] | None
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A work: the last spec event and the last status event."""

    id: str
    source: str
    consumer_name: str
    version: int
    payload: Document
    status: Document | None
    created_at: datetime
    updated_at: datetime
    deleted_at: datetime | None = None

    @property
    def metadata(self) -> dict[str, Any] | None:
        """The work's metadata from the source, with the server's timestamps; None if it sent none."""
        sent = self.payload.get("metadata")
        if sent is None:
            return None
        moments = {"creationTimestamp": times.to_seconds(self.created_at)}
        if self.deleted_at:
            moments["deletionTimestamp"] = times.to_seconds(self.deleted_at)
        return {**sent, **moments}

    @property
    def status_hash(self) -> str:
        return str(self.status.get("statushash", "")) if self.status else _NO_STATUS


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What a source wants stored. Version 0 means the latest version."""

    id: str
    source: str
    consumer_name: str
    version: int
    payload: Document

    @classmethod
    def of(cls, document: Document) -> "Wanted":
        """Read it from an event. Raises Unreadable."""
        return cls(
            consumer_name=documents.text(document, "clustername"),
            id=documents.text(document, "resourceid"),
            version=documents.number(document, "resourceversion"),
            source=document["source"],
            payload=documents.stored(document),
        )


class Store:
    """Rows and consumers. `spec_changed` is called with the action and the row, `status_changed` with the row."""

    def __init__(self, *, spec_changed: Callable[[str, Row], None], status_changed: Callable[[Row], None]) -> None:
        self.rows: dict[str, Row] = {}
        self.consumers: dict[str, Consumer] = {}
        self._spec_changed = spec_changed
        self._status_changed = status_changed

    def get(self, row_id: str) -> Row:
        try:
            return self.rows[row_id]
        except KeyError:
            raise Refusal(Code.NOT_FOUND, f"Resource with id='{row_id}' not found") from None

    def create(self, wanted: Wanted) -> None:
        if problem := validation.bundle_problem(wanted.payload):
            raise Refusal(Code.VALIDATION, f"the manifest bundle in the resource is invalid, {problem}")
        if documents.holds_nul(wanted.payload):
            raise Refusal(Code.GENERAL, f"Unable to create Resource: {_NUL}")
        if wanted.id in self.rows:
            raise Refusal(Code.CONFLICT, "This Resource already exists")
        if wanted.consumer_name not in (each.name for each in self.consumers.values()):
            missing = 'insert or update on table "resources" violates foreign key constraint "fk_resources_consumers"'
            raise Refusal(Code.GENERAL, f"Unable to create Resource: ERROR: {missing} (SQLSTATE 23503)")
        now = times.now()
        row = Row(
            id=wanted.id or str(uuid.uuid4()),
            source=wanted.source,
            consumer_name=wanted.consumer_name,
            version=wanted.version or 1,
            payload=wanted.payload,
            status=None,
            created_at=now,
            updated_at=now,
        )
        self.rows[row.id] = row
        self._spec_changed("create", row)

    def update(self, wanted: Wanted) -> None:
        row = self.get(wanted.id)
        if row.deleted_at:
            raise Refusal(Code.CONFLICT, f"the resource is under deletion, id: {row.id}")
        if wanted.version not in (0, row.version):
            raise Refusal(Code.CONFLICT, f"the resource version is not the latest, the latest version: {row.version}")
        if problem := validation.bundle_problem(wanted.payload):
            raise Refusal(Code.VALIDATION, f"the new manifest bundle in the resource is invalid, {problem}")
        if documents.holds_nul(wanted.payload):
            raise Refusal(Code.GENERAL, f"Unable to update Resource: {_NUL}")
        self.bump(row.id, wanted.payload)

    def bump(self, row_id: str, payload: Document) -> None:
        """Store the next version of a row."""
        row = self.rows[row_id]
        self.rows[row_id] = replace(row, version=row.version + 1, payload=payload, updated_at=times.now())
        self._spec_changed("update", self.rows[row_id])

    def mark_deleting(self, row_id: str) -> None:
        """Does nothing for a missing row or one that is already being deleted."""
        row = self.rows.get(row_id)
        if row is None or row.deleted_at:
            return
        self.rows[row_id] = replace(row, deleted_at=times.now())
        self._spec_changed("delete", self.rows[row_id])

    def report(self, document: Document) -> None:
        """Store an agent's report. Stale reports and those of unknown rows are dropped; raises Unreadable."""
        row_id, version = documents.text(document, "resourceid"), documents.number(document, "resourceversion")
        consumer, addressee = documents.text(document, "clustername"), documents.text(document, "originalsource")
        status = documents.stored(document)
        if addressee != SERVER_SOURCE:
            raise Unreadable(f"unmatched original source id {addressee} for resource {row_id}")
        row = self.rows.get(row_id)
        if row is None:
            return
        if row.consumer_name != consumer:
            raise Unreadable(f"unmatched consumer name {consumer} for resource {row_id}")
        if row.metadata is not None:
            status["metadata"] = row.metadata
        deleted = _is_deleted(status)
        if not deleted and (version != row.version or not _is_newer(status, row.status)):
            return
        if documents.holds_nul(status):
            raise Unreadable(f"failed to update resource status {row_id}: {_NUL}")
        self.rows[row_id] = replace(row, status=status, updated_at=times.now())
        self._status_changed(self.rows.pop(row_id) if deleted else self.rows[row_id])

    def of_source(self, source: str) -> Iterator[Row]:
        return (row for row in list(self.rows.values()) if row.source == source)

    def of_consumer(self, name: str) -> Iterator[Row]:
        return (row for row in list(self.rows.values()) if row.consumer_name == name)

    def consumer(self, consumer_id: str) -> Consumer:
        try:
            return self.consumers[consumer_id]
        except KeyError:
            raise Refusal(Code.NOT_FOUND, f"Consumer with id='{consumer_id}' not found") from None

    def add_consumer(self, name: str, labels: Mapping[str, str] | None = None) -> Consumer:
        if name and (problem := validation.consumer_problem(name)):
            raise Refusal(Code.GENERAL, f"Unable to create Consumer: {problem}")
        if any(each.name == name for each in self.consumers.values()):
            raise Refusal(Code.CONFLICT, "This Consumer already exists")
        now, key = times.now(), str(uuid.uuid4())
        consumer = Consumer(id=key, name=name or key, labels=labels or None, created_at=now, updated_at=now)
        self.consumers[key] = consumer
        return consumer

    def relabel_consumer(self, consumer_id: str, labels: Mapping[str, str] | None) -> Consumer:
        """Replace all labels; None leaves them as they are."""
        consumer = self.consumer(consumer_id)
        kept = consumer.labels if labels is None else labels or None
        self.consumers[consumer_id] = replace(consumer, labels=kept, updated_at=times.now())
        return self.consumers[consumer_id]

    def remove_consumer(self, consumer_id: str) -> None:
        consumer = self.consumers.get(consumer_id)
        if consumer is None:
            return
        if any(self.of_consumer(consumer.name)):
            broken = (
                'update or delete on table "consumers" violates foreign key constraint '
                '"fk_resources_consumers" on table "resources"'
            )
            raise Refusal(Code.FORBIDDEN, f"Unable to delete Consumer: ERROR: {broken} (SQLSTATE 23503)")
        del self.consumers[consumer_id]


def _is_deleted(status: Document) -> bool:
    try:
        conditions = documents.payload(status, go_types.BUNDLE_STATUS)["conditions"] or ()
    except go_types.Misfit as error:
        raise Unreadable(f"failed to decode cloudevent data as resource status: {error}") from None
    first = next((each for each in conditions if each["type"] == "Deleted"), None)
    return first is not None and first["status"] == "True"


def _is_newer(status: Document, before: Document | None) -> bool:
    """Whether a report is newer than the previous one, by the agent's snowflake sequence ids."""
    sequence = documents.text(status, "sequenceid")
    last = documents.text(before, "sequenceid") if before else ""
    if sequence and not last:
        return True
    (moment, node, step), (last_moment, last_node, last_step) = _snowflake(sequence), _snowflake(last)
    if node != last_node:
        raise Unreadable("Sequence IDs are not from the same node")
    return (moment, step) > (last_moment, last_step)


def _snowflake(text: str) -> tuple[int, int, int]:
    try:
        number = int(text)
    except ValueError:
        raise Unreadable(f"Unable to parse sequence ID: {text}") from None
    return number >> 22, number >> 12 & 0x3FF, number & 0xFFF
