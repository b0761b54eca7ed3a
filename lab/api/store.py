"""The resources of one API and what may be done to them. Every method is one transaction; refusals are Problems."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from lab.api.entities import BASE, Entities, Entity
from lab.api.identifiers import uuid7
from lab.api.problems import EXISTS, STATE, Problem, not_found
from lab.api.rules.aggregation import aggregate, is_finalised
from lab.api.rules.evaluation import Discard, evaluate
from lab.api.rules.reports import Report
from lab.api.rules.values import FINALIZED, TRUE, AdapterStatus, Owner, Resource

NOBODY = "system@hyperfleet.local"


@dataclass(frozen=True, slots=True, kw_only=True)
class NewResource:
    name: str
    spec: Mapping[str, Any]
    labels: Mapping[str, str]


class Store:
    def __init__(self, entities: Entities, clock: Callable[[], datetime]) -> None:
        self._entities, self._clock = entities, clock
        self._resources: dict[str, Resource] = {}
        self._statuses: dict[str, dict[str, AdapterStatus]] = {}
        self._children_of: dict[str, dict[str, None]] = {}
        self._named: dict[tuple[str, str | None, str], str] = {}

    def find(self, kind: str | None = None, owner_id: str | None = None) -> list[Resource]:
        """All of a kind, or of an owner; those that are being deleted are among them."""
        identifiers = self._resources if owner_id is None else self._children_of.get(owner_id, {})
        return [self._resources[each] for each in identifiers if kind in {None, self._resources[each].kind}]

    def get(self, identifier: str, kind: str | None = None, owner_id: str | None = None) -> Resource:
        """The resource, which must be of that kind and owner where they are given."""
        resource = self._resources.get(identifier)
        owner = resource.owner.id if resource and resource.owner else None
        if resource is None or kind not in {None, resource.kind} or owner_id not in {None, owner}:
            raise not_found(kind or "Resource", identifier)
        return resource

    def statuses(self, identifier: str) -> list[AdapterStatus]:
        return list(self._statuses.get(identifier, {}).values())

    def create(self, entity: Entity, new: NewResource, owner_id: str | None = None) -> Resource:
        owner = self._owner(entity, owner_id)
        namesake = self._resources.get(self._named.get((entity.kind, owner_id, new.name), ""))
        if namesake and namesake.deleted_time is None:
            raise Problem(EXISTS, f"This {entity.kind} already exists")
        now = self._clock()
        identifier = uuid7(now)
        resource = Resource(
            id=identifier,
            kind=entity.kind,
            name=new.name,
            href=f"{owner.href if owner else BASE}/{entity.plural}/{identifier}",
            spec=new.spec,
            labels=new.labels,
            owner=owner,
            created_time=now,
            updated_time=now,
            created_by=NOBODY,
            updated_by=NOBODY,
        )
        self._named[entity.kind, owner_id, new.name] = identifier
        if owner:
            self._children_of.setdefault(owner.id, {})[identifier] = None
        return self._aggregate(resource)

    def patch(
        self, resource: Resource, spec: Mapping[str, Any] | None = None, labels: Mapping[str, str] | None = None
    ) -> Resource:
        """Replace spec or labels as a whole; what changes nothing is no new generation."""
        if resource.deleted_time is not None:
            raise Problem(STATE, f"{resource.kind} '{resource.id}' is marked for deletion")
        patched = replace(
            resource,
            spec=resource.spec if spec is None else spec,
            labels=resource.labels if labels is None else labels,
        )
        if _same(patched.spec, resource.spec) and patched.labels == resource.labels:
            return resource
        return self._aggregate(self._next_generation(patched, self._clock()))

    def delete(self, resource: Resource) -> Resource:
        """Mark it and its children for deletion; where no adapter has to be waited for, it is gone at once."""
        now = self._clock()
        for child in self._children(resource):
            self.delete(child)
        if resource.deleted_time is None:
            marked = replace(resource, deleted_time=now, deleted_by=NOBODY)
            resource = self._next_generation(marked, now)
        else:
            resource = replace(resource, updated_time=now)
        if not self._entities[resource.kind].required_adapters and not self._children(resource):
            self._remove(resource)
            return resource
        return self._aggregate(resource)

    def force_delete(self, resource: Resource) -> None:
        """Remove it with its children, whatever adapters say."""
        if resource.deleted_time is None:
            raise Problem(STATE, f"{resource.kind} '{resource.id}' is not in Finalizing state")
        for child in self._children(resource):
            self._remove(child)
        self._remove(resource)

    def report(self, resource: Resource, report: Report) -> AdapterStatus | Discard:
        """The adapter's status as it is stored now. The last report of a deletion removes the resource."""
        statuses = self._statuses.setdefault(resource.id, {})
        kept = evaluate(report, resource.generation, statuses.get(report.adapter))
        if isinstance(kept, Discard):
            return kept
        statuses[report.adapter] = kept.status
        finalized = report.condition(FINALIZED)
        if finalized and finalized.status == TRUE and self._may_go(resource):
            self._remove(resource)
        elif kept.aggregates:
            self._aggregate(resource)
        return kept.status

    def _owner(self, entity: Entity, owner_id: str | None) -> Owner | None:
        if owner_id is None:
            return None
        parent = self.get(owner_id, entity.parent_kind)
        if parent.deleted_time is not None:
            raise Problem(STATE, f"{parent.kind} '{parent.id}' is marked for deletion")
        return Owner(id=parent.id, kind=parent.kind, href=parent.href)

    def _may_go(self, resource: Resource) -> bool:
        """Whether its adapters are done and no child is left. A child that goes later does not ask again."""
        required = self._entities[resource.kind].required_adapters
        return is_finalised(resource, self.statuses(resource.id), required) and not self._children(resource)

    def _children(self, resource: Resource) -> list[Resource]:
        return self.find(owner_id=resource.id)

    def _next_generation(self, resource: Resource, now: datetime) -> Resource:
        return replace(resource, generation=resource.generation + 1, updated_time=now, updated_by=NOBODY)

    def _aggregate(self, resource: Resource) -> Resource:
        conditions = aggregate(
            resource,
            self.statuses(resource.id),
            self._entities[resource.kind].required_adapters,
            active_children=_any_active(self._children(resource)),
        )
        self._resources[resource.id] = replace(resource, conditions=conditions)
        return self._resources[resource.id]

    def _remove(self, resource: Resource) -> None:
        del self._resources[resource.id]
        self._statuses.pop(resource.id, None)
        owner_id = resource.owner.id if resource.owner else None
        if self._named.get(name := (resource.kind, owner_id, resource.name)) == resource.id:
            del self._named[name]
        if owner_id and (siblings := self._children_of.get(owner_id)):
            siblings.pop(resource.id, None)
            if not siblings:
                del self._children_of[owner_id]


def _same(left: Any, right: Any) -> bool:
    """As JSON, where true is not 1."""
    match left, right:
        case Mapping(), Mapping():
            return left.keys() == right.keys() and all(_same(left[key], right[key]) for key in left)
        case list(), list():
            return len(left) == len(right) and all(map(_same, left, right))
    return isinstance(left, bool) == isinstance(right, bool) and bool(left == right)


def _any_active(resources: Iterable[Resource]) -> bool:
    return any(each.deleted_time is None for each in resources)
