"""Whom a watched object wakes: the HyperFleet object it was made for, and which resource of the task config it is."""

from collections import OrderedDict
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from dispatcher.config.compiled import Resource
from dispatcher.engine.ports import Object
from dispatcher.engine.resources.stamping import stamped_event
from dispatcher.engine.running import is_match
from dispatcher.engine.runs import Cause, Delivered, Event, ObjectKey
from dispatcher.runtime.scheduling.wakes import Wake
from shared import logs
from shared.languages.cel import CelProgram
from shared.languages.errors import LanguageError

log = logs.get(__name__)
DEFAULT_KIND = "Cluster"
MAX_REMEMBERED_NAMES = 20_000


class Owners:
    """The resources of one kind.

    Where the task config has several of them, an object does not say which it is. Runs teach it (`learn`); an object
    that no run has seen since the start delivers nothing, and its run reads all resources anew and writes none.
    """

    def __init__(self, resources: Iterable[Resource]) -> None:
        self.resources = tuple(resources)
        self._only = self.resources[0].name if len(self.resources) == 1 else ""
        self._unwatched = frozenset(
            each.name for each in self.resources if each.transport == "kubernetes" and not each.watch
        )
        self.has_repoll = any(each.repoll is not None for each in self.resources)
        self._names: OrderedDict[str, str] = OrderedDict()

    def learn(self, discovered: Mapping[str, Object]) -> None:
        """Remember which object is which resource, from what a run has found."""
        if self._only:
            return
        for resource in self.resources:
            if uid := _metadata(discovered.get(resource.name, {})).get("uid"):
                self._names[uid] = resource.name
                self._names.move_to_end(uid)
        while len(self._names) > MAX_REMEMBERED_NAMES:
            self._names.popitem(last=False)

    def changed(self, found: Object, at: datetime, *, background: bool = False, is_first: bool = False) -> Wake | None:
        """The wake for an object that changed, None where it is not watched or does not say whose it is."""
        data = stamped_event(found)
        if data is None:
            return None
        name = self._name_of(found)
        if name in self._unwatched:
            return None
        delivered = None
        if name:
            delivered = Delivered(resource=name, object=_without_managed_fields(found), at=at, is_first=is_first)
        return Wake(
            key=key_of(data),
            event=event_of(data),
            cause=Cause.WATCH,
            delivered=delivered,
            observe_only=delivered is None,
            background=background,
        )

    def gone(self, found: Object) -> tuple[ObjectKey, str, Object] | None:
        """Whose object this was, and which resource; None where that is not known or not watched."""
        data, name = stamped_event(found), self._name_of(found)
        if data is None or not name or name in self._unwatched:
            return None
        return key_of(data), name, _without_managed_fields(found)

    def expired(self, found: Object, *, is_last: bool = False) -> Wake | None:
        """The wake for an object once it is gone, where it is to be made again.

        `is_last`: it is gone, and a condition that fails is worth a log line.
        """
        data = stamped_event(found)
        if data is None or not self._is_repolled(found, is_last=is_last):
            return None
        return Wake(key=key_of(data), event=event_of(data), cause=Cause.TIMER)

    def _is_repolled(self, found: Object, *, is_last: bool) -> bool:
        """By the rule of its resource; where that is not known, only a rule without a condition counts."""
        name = self._name_of(found)
        for resource in self.resources:
            if resource.repoll is None or name not in ("", resource.name):
                continue
            if resource.repoll.when is None or (name and _holds(resource.repoll.when, name, found, is_last=is_last)):
                return True
        return False

    def _name_of(self, found: Object) -> str:
        return self._only or self._names.get(_metadata(found).get("uid", ""), "")


def wake_after_deletion(key: ObjectKey, event: Event) -> Wake:
    """The wake of an object that waited for a deletion."""
    return Wake(key=key, event=event, cause=Cause.WATCH)


def key_of(data: Mapping[str, Any]) -> ObjectKey:
    return ObjectKey(kind=str(data.get("kind") or DEFAULT_KIND), id=str(data["id"]))


def event_of(data: Mapping[str, Any]) -> Event:
    return Event(id="", type="", source="", data=data)


def _holds(condition: CelProgram, name: str, found: Object, *, is_last: bool) -> bool:
    try:
        return is_match(condition.evaluate({"resources": {name: found}}))
    except LanguageError as error:
        if is_last:
            log.warning("the condition of repoll failed, the next event decides", resource=name, error=str(error))
        return False


def _without_managed_fields(found: Object) -> Object:
    """Half of an object's size is who wrote what, which no report needs."""
    metadata = {key: value for key, value in _metadata(found).items() if key != "managedFields"}
    return {**found, "metadata": metadata}


def _metadata(found: Mapping[str, Any]) -> Mapping[str, Any]:
    metadata = found.get("metadata")
    return metadata if isinstance(metadata, Mapping) else {}
