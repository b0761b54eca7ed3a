"""How Jobs that are gone were at last.

A report about one Job or work also says how the others are, and of a Job that its TTL has removed nobody else knows
that. So it is kept where several are watched, for the HyperFleet objects whose Jobs went most recently. What becomes of
other kinds by somebody's hand is news instead.
"""

from collections import OrderedDict
from collections.abc import Iterable, Mapping

from dispatcher.config.compiled import Resource
from dispatcher.engine.ports import Object
from dispatcher.engine.runs import ObjectKey

# Some 15 KB each.
MAX_OBJECTS = 5_000


class LastSeen:
    """By HyperFleet object and resource of the task config, for all watches of an adapter."""

    def __init__(self, resources: Iterable[Resource]) -> None:
        self._has_several = sum(each.watch or each.transport == "maestro" for each in resources) > 1
        self._objects: OrderedDict[ObjectKey, dict[str, Object]] = OrderedDict()

    def of(self, key: ObjectKey) -> Mapping[str, Object]:
        return self._objects.get(key, {})

    def keep(self, key: ObjectKey, resource: str, found: Object) -> None:
        if not self._has_several or found.get("kind") != "Job":
            return
        self._objects.setdefault(key, {})[resource] = _without_pod_template(found)
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


def _without_pod_template(job: Object) -> Object:
    """Most of a Job's size."""
    spec = {name: value for name, value in job.get("spec", {}).items() if name != "template"}
    return {**job, "spec": spec}
