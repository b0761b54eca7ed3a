"""The cluster as a Job got it: one generation of it, with what the Job needs to know beside it.

`{"cluster": {...}, "nodepools": {"total": N}, "adapters": {name: data}}`: the cluster is the HyperFleet API's object,
`adapters` holds what other adapters reported as their `data`. It travels with the Job, so the container needs no
credential for the API. The published schema is `cluster-snapshot.schema.json` beside this module.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Self

from shared import conditions, times
from shared.errors import Invalid, Problem
from shared.strangers import json_object

SCHEMA_PATH = Path(__file__).with_name("cluster-snapshot.schema.json")


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterSnapshot:
    """One generation of one cluster. `deleted_time` is set once it shall go; `node_pools` is None where not told."""

    cluster_id: str
    name: str
    generation: int
    spec: Mapping[str, Any] = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)
    deleted_time: datetime | None = None
    node_pools: int | None = None
    adapters: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    @classmethod
    def parse(cls, content: bytes) -> Self:
        """The snapshot in `content`. Raises Invalid with all that keeps it from being one."""
        problems: list[Problem] = []
        document = json_object(content, "the cluster snapshot")
        cluster = _object(document, "cluster", "", problems, required=True)
        snapshot = cls(
            cluster_id=_text(cluster, "id", problems),
            name=_text(cluster, "name", problems),
            generation=_generation(cluster, problems),
            spec=_object(cluster, "spec", "cluster.", problems, required=True),
            labels=_texts(cluster, "labels", problems),
            deleted_time=_time(cluster, "deleted_time", problems),
            node_pools=_total(_object(document, "nodepools", "", problems), problems),
            adapters=_objects(_object(document, "adapters", "", problems), problems),
        )
        if problems:
            raise Invalid("the cluster snapshot cannot be understood", problems)
        return snapshot


def schema() -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(SCHEMA_PATH.read_text(encoding="utf-8"))
    return loaded


def _object(
    holder: Mapping[str, Any], key: str, place: str, problems: list[Problem], *, required: bool = False
) -> Mapping[str, Any]:
    value = holder.get(key)
    if isinstance(value, dict):
        return value
    # What hangs on an absent cluster is told once, by the cluster.
    if value is not None or (required and (holder or not place)):
        problems.append(Problem(f"{place}{key}", f"must be an object, not {value!r:.60}"))
    return {}


def _objects(holder: Mapping[str, Any], problems: list[Problem]) -> Mapping[str, Mapping[str, Any]]:
    return {name: _object(holder, name, "adapters.", problems) for name in holder}


def _text(cluster: Mapping[str, Any], key: str, problems: list[Problem]) -> str:
    value = cluster.get(key)
    if isinstance(value, str) and value:
        return value
    if cluster:
        problems.append(Problem(f"cluster.{key}", f"must be a string that is not empty, not {value!r:.60}"))
    return ""


def _texts(cluster: Mapping[str, Any], key: str, problems: list[Problem]) -> Mapping[str, str]:
    values = _object(cluster, key, "cluster.", problems)
    for name, value in values.items():
        if not isinstance(value, str):
            problems.append(Problem(f"cluster.{key}.{name}", f"must be a string, not {value!r:.60}"))
    return values


def _generation(cluster: Mapping[str, Any], problems: list[Problem]) -> int:
    found: list[Problem] = []
    value = conditions.generation(cluster, "generation", found)
    if cluster and not value:
        problems.append(
            Problem("cluster.generation", f"must be a whole number from 1, not {cluster.get('generation')!r:.60}")
        )
    return value or 0


def _total(nodepools: Mapping[str, Any], problems: list[Problem]) -> int | None:
    found: list[Problem] = []
    total = conditions.generation(nodepools, "total", found)
    problems += [Problem(f"nodepools.{each.path}", each.message) for each in found]
    return total


def _time(cluster: Mapping[str, Any], key: str, problems: list[Problem]) -> datetime | None:
    value = cluster.get(key)
    if value is None:
        return None
    try:
        return times.parse(value if isinstance(value, str) else repr(value))
    except ValueError as error:
        problems.append(Problem(f"cluster.{key}", str(error)))
        return None
