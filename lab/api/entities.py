"""Which kinds of resources an API serves, and what each of them asks for: the real one reads this from its config."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

BASE = "/api/hyperfleet/v1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Entity:
    """`required_adapters` decide when a resource of this kind is reconciled, and when a deleted one may go."""

    kind: str
    plural: str
    required_adapters: tuple[str, ...] = ()
    parent_kind: str | None = None
    name_min_length: int = 3
    name_max_length: int = 53


CLUSTER = Entity(kind="Cluster", plural="clusters", required_adapters=("controlplane",))
NODEPOOL = Entity(
    kind="NodePool",
    plural="nodepools",
    required_adapters=("nodepool",),
    parent_kind="Cluster",
    name_max_length=15,
)


class Entities:
    """All kinds of one API, parents before their children."""

    def __init__(self, entities: Iterable[Entity] = (CLUSTER, NODEPOOL)) -> None:
        self._by_kind = {entity.kind: entity for entity in entities}

    @classmethod
    def requiring(cls, adapters: Mapping[str, Iterable[str]]) -> "Entities":
        """Clusters and node pools, with these required adapters by kind; those of other kinds stay as they are."""
        known = (CLUSTER, NODEPOOL)
        if unknown := adapters.keys() - {entity.kind for entity in known}:
            raise ValueError(f"unknown kinds {sorted(unknown)}: there are {[entity.kind for entity in known]}")
        return cls(
            replace(entity, required_adapters=tuple(adapters.get(entity.kind, entity.required_adapters)))
            for entity in known
        )

    def __iter__(self) -> Iterator[Entity]:
        return iter(self._by_kind.values())

    def get(self, kind: str) -> Entity | None:
        return self._by_kind.get(kind)

    def __getitem__(self, kind: str) -> Entity:
        return self._by_kind[kind]

    def parent(self, entity: Entity) -> Entity | None:
        return self._by_kind[entity.parent_kind] if entity.parent_kind else None

    def children(self, entity: Entity) -> tuple[Entity, ...]:
        return tuple(each for each in self._by_kind.values() if each.parent_kind == entity.kind)
