"""Which management cluster a control plane is, or is to be, on.

A control plane's data lives on its management cluster and cannot be moved: where a work of the cluster exists, that is
the place, whatever else is said. Only a cluster that has none yet is placed, by the name that was given or by asking a
service that lists management clusters.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from controlplane_adapter.failures import NoManagementCluster, PlacementUnavailable
from shared.errors import Misconfigured
from shared.maestro import MaestroClient
from shared.retry import RetryPolicy
from shared.secrecy import conceal_text
from shared.work_rules import is_label_name

HEALTHY = "healthy"
_PASSING = (408, 425, 429)


class Placement(Protocol):
    """Where a new control plane goes."""

    async def choose(self, region: str) -> str: ...


@dataclass(frozen=True, slots=True)
class Static:
    """Always the same management cluster, as MANAGEMENT_CLUSTER_CONSUMER says."""

    consumer: str

    async def choose(self, region: str) -> str:  # noqa: ARG002 - the port's question; the answer does not depend on it
        return self.consumer


@dataclass(frozen=True, slots=True)
class Listed:
    """The best of the management clusters that a URL lists, asked for by region and health."""

    url: str
    timeout: float
    retry: RetryPolicy

    async def choose(self, region: str) -> str:
        return best(await self.retry.run(self._what, lambda: self._list(region)), region)

    async def _list(self, region: str) -> Any:
        import httpx  # noqa: PLC0415 - slow to import, and only a cluster that is new asks

        try:
            async with httpx.AsyncClient(timeout=self.timeout) as http:
                answer = await http.get(httpx.URL(self.url).copy_merge_params({"region": region, "status": HEALTHY}))
        except httpx.TransportError as error:
            raise PlacementUnavailable(self._what, why=str(error) or type(error).__name__) from error
        if answer.is_server_error or answer.status_code in _PASSING:
            raise PlacementUnavailable(self._what, why=f"HTTP {answer.status_code}")
        if not answer.is_success:
            raise Misconfigured(self._what, why=f"HTTP {answer.status_code}", remedy="check MANAGEMENT_CLUSTERS_URL")
        try:
            return json.loads(answer.content)
        except (ValueError, RecursionError) as error:
            raise PlacementUnavailable(self._what, why=f"no JSON: {error}") from error

    @property
    def _what(self) -> str:
        return f"the list of management clusters at {conceal_text(self.url)} cannot be read"


def best(document: Any, region: str) -> str:
    """The healthy management cluster of the region with the least load; ties go by name, so that all choose alike."""
    items = document.get("items") if isinstance(document, Mapping) else document
    if not isinstance(items, list):
        raise PlacementUnavailable("the list of management clusters is none", why=f"found {document!r:.100}")
    fitting = [each for each in items if isinstance(each, Mapping) and _fits(each, region)]
    if not fitting:
        what = f"no healthy management cluster is listed for region {region!r}"
        raise NoManagementCluster(what, remedy="add one, or wait until one is healthy; the next run asks again")
    return str(min(fitting, key=lambda each: (_load(each), each["name"]))["name"])


async def homes_of(client: MaestroClient, name: str) -> list[str]:
    """The management clusters that have the work of that name: one, or none before it was placed."""
    return [work.consumer for work in await client.locate(name)]


def _fits(listed: Mapping[str, Any], region: str) -> bool:
    name = listed.get("name")
    named = isinstance(name, str) and is_label_name(name)
    return named and listed.get("region") in (None, region) and listed.get("status") == HEALTHY


def _load(listed: Mapping[str, Any]) -> float:
    """What is no number, or none that makes sense, is no load."""
    load = listed.get("load", listed.get("hosted_clusters"))
    return load if isinstance(load, int | float) and load > 0 else 0
