"""Which management cluster a control plane is, or is to be, on.

A control plane's data lives on its management cluster and cannot be moved: where a work of the cluster exists, that is
the place, whatever else is said. Only a cluster that has none yet is placed, by the name that was given or by asking a
service that lists management clusters.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import httpx

from shared.errors import Invalid, Problem, ServerError, Unavailable
from shared.maestro import MaestroClient

HEALTHY = "healthy"


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

    async def choose(self, region: str) -> str:
        query = {"region": region, "status": HEALTHY}
        try:
            async with httpx.AsyncClient(timeout=self.timeout) as http:
                answer = await http.get(self.url, params=query)
        except httpx.TransportError as error:
            raise Unavailable(
                f"the list of management clusters at {self.url} cannot be read", why=str(error)
            ) from error
        if not answer.is_success:
            why = f"HTTP {answer.status_code}"
            raise ServerError(f"the list of management clusters at {self.url} cannot be read", why=why)
        return best(answer.json(), region)


def best(document: Any, region: str) -> str:
    """The healthy management cluster of the region with the least load; ties go by name, so that all choose alike."""
    items = document.get("items") if isinstance(document, Mapping) else document
    fitting = [each for each in items or () if isinstance(each, Mapping) and _fits(each, region)]
    if not fitting:
        problem = Problem("region", f"no healthy management cluster is listed for {region!r}")
        raise Invalid("the control plane cannot be placed", [problem])
    return str(min(fitting, key=lambda each: (_load(each), str(each["name"])))["name"])


async def place(client: MaestroClient, name: str, region: str, placement: Placement) -> str:
    """The management cluster of the work of that name: where it is, or where it is to be."""
    located = await client.locate(name)
    return located[0].consumer if located else await placement.choose(region)


def _fits(listed: Mapping[str, Any], region: str) -> bool:
    return bool(listed.get("name")) and listed.get("region") in (None, region) and listed.get("status") == HEALTHY


def _load(listed: Mapping[str, Any]) -> float:
    load = listed.get("load", listed.get("hosted_clusters", 0))
    return float(load) if isinstance(load, int | float) else 0.0
