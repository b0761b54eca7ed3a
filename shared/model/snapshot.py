"""The cluster snapshot of a Job: one generation of the cluster, with what else the Job needs to know.

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

from shared.errors import Invalid, Problem
from shared.untrusted_json import Fields, Json, json_object

SCHEMA_PATH = Path(__file__).with_name("cluster-snapshot.schema.json")


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterSnapshot:
    """One generation of one cluster. `deleted_time` is set once it is deleted; `node_pools` is None where unknown."""

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
        document = Fields(json_object(content, "the cluster snapshot"), problems)
        cluster = document.object("cluster", required=True)
        if problems:  # one problem, not one per member
            raise _invalid(problems)
        snapshot = cls(
            cluster_id=cluster.required_text("id"),
            name=cluster.required_text("name"),
            generation=cluster.whole_number("generation", least=1, required=True) or 0,
            spec=cluster.object("spec", required=True).members,
            labels=cluster.texts("labels"),
            deleted_time=cluster.time("deleted_time"),
            node_pools=document.object("nodepools").whole_number("total"),
            adapters=_data_of(document.object("adapters")),
        )
        if problems:
            raise _invalid(problems)
        return snapshot


def schema() -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(SCHEMA_PATH.read_text(encoding="utf-8"))
    return loaded


def _data_of(adapters: Fields) -> Mapping[str, Json]:
    return {name: adapters.object(name).members for name in adapters.members}


def _invalid(problems: list[Problem]) -> Invalid:
    return Invalid("the cluster snapshot cannot be understood", problems)
