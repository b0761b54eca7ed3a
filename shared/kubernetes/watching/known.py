"""What a watch has delivered so far, so that a list can be turned into the changes that were missed.

Of each object only its metadata is kept: enough to say what was deleted, and cheap with tens of thousands.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from shared import times
from shared.kubernetes.objects import Object, metadata_of, uid_of, version_of


class Change(StrEnum):
    ADDED = "ADDED"
    MODIFIED = "MODIFIED"
    DELETED = "DELETED"


@dataclass(frozen=True, slots=True)
class WatchEvent:
    """A change of one object. Of one whose deletion was missed, `object` has the kind and the last known metadata.

    `at` is when it came from the server.
    """

    change: Change
    object: Object
    at: datetime = field(default_factory=times.now, compare=False)


Key = tuple[str, str]


class Known:
    """The objects of one selection, by namespace and name."""

    def __init__(self, api_version: str, kind: str) -> None:
        self._type = {"apiVersion": api_version, "kind": kind}
        self._metadata: dict[Key, Object] = {}

    def __len__(self) -> int:
        return len(self._metadata)

    def __contains__(self, key: Key) -> bool:
        return key in self._metadata

    def seen(self, document: Object) -> Iterator[WatchEvent]:
        """An object as it is now. One of the same name with another uid means that the earlier one is gone."""
        key = key_of(document)
        before = self._metadata.get(key)
        if before is not None and before.get("resourceVersion") == version_of(document):
            return
        if before is not None and before.get("uid") != uid_of(document):
            yield WatchEvent(Change.DELETED, self._last(key))
            before = None
        self._metadata[key] = _kept(document)
        yield WatchEvent(Change.ADDED if before is None else Change.MODIFIED, document)

    def deleted(self, document: Object) -> Iterator[WatchEvent]:
        if self._metadata.pop(key_of(document), None) is not None:
            yield WatchEvent(Change.DELETED, document)

    def missing(self, listed: set[Key]) -> Iterator[WatchEvent]:
        """The deletions that a whole list shows."""
        for key in [key for key in self._metadata if key not in listed]:
            last = self._last(key)
            del self._metadata[key]
            yield WatchEvent(Change.DELETED, last)

    def _last(self, key: Key) -> Object:
        return {**self._type, "metadata": self._metadata[key]}


def key_of(document: Mapping[str, Any]) -> Key:
    metadata = metadata_of(document)
    return str(metadata.get("namespace") or ""), str(metadata.get("name") or "")


def _kept(document: Object) -> Object:
    return {key: value for key, value in metadata_of(document).items() if key != "managedFields"}
