"""How watched objects that are gone were at last.

A report about one Job also says how the others are, and of one that its TTL has removed nobody else knows that. So this
is kept where there are several, for the HyperFleet objects whose Jobs went most recently.
"""

from collections import OrderedDict
from collections.abc import Iterable, Mapping

from dispatcher.config.compiled import Resource
from dispatcher.engine.ports import Object
from dispatcher.engine.runs import ObjectKey

MAX_OBJECTS = 1_000


class LastSeen:
    """By HyperFleet object and resource of the task config, for all watches of an adapter on Kubernetes."""

    def __init__(self, resources: Iterable[Resource]) -> None:
        self._has_several = sum(each.watch and each.transport == "kubernetes" for each in resources) > 1
        self._objects: OrderedDict[ObjectKey, dict[str, Object]] = OrderedDict()

    def of(self, key: ObjectKey) -> Mapping[str, Object]:
        return self._objects.get(key, {})

    def keep(self, key: ObjectKey, resource: str, found: Object) -> None:
        if not self._has_several:
            return
        self._objects.setdefault(key, {})[resource] = found
        self._objects.move_to_end(key)
        if len(self._objects) > MAX_OBJECTS:
            self._objects.popitem(last=False)

    def forget(self, key: ObjectKey, resource: str) -> None:
        kept = self._objects.get(key, {})
        kept.pop(resource, None)
        if not kept:
            self._objects.pop(key, None)

    def clear(self) -> None:
        """What another replica has seen since is not known here."""
        self._objects.clear()
