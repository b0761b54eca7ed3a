"""Which management cluster has a control plane, or gets a new one.

A control plane's data cannot be moved: where a work of the cluster exists, the control plane stays there, whatever the
settings say. Only a cluster without a work is placed: on a configured management cluster, or on one from a list.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from controlplane_adapter.reconcile.errors import NoManagementCluster, PlacementUnavailable
from shared.errors import Misconfigured
from shared.model.manifestwork_validation import is_label_name
from shared.redaction import redact_text
from shared.retry import RetryPolicy

HEALTHY = "healthy"
_CHECK_URL = "check MANAGEMENT_CLUSTERS_URL"
_TRANSIENT_CODES = (408, 425, 429)


class Placement(Protocol):
    """Where a new control plane goes."""

    async def choose(self, region: str) -> str: ...


@dataclass(frozen=True, slots=True)
class FixedPlacement:
    """Always the management cluster of MANAGEMENT_CLUSTER_CONSUMER."""

    consumer: str

    async def choose(self, region: str) -> str:  # noqa: ARG002 - the port passes it; this answer does not depend on it
        return self.consumer


@dataclass(frozen=True, slots=True)
class ListedPlacement:
    """The best of the management clusters that a URL lists for a region."""

    url: str
    timeout: float
    retry: RetryPolicy

    async def choose(self, region: str) -> str:
        return choose_consumer(await self.retry.run(self._what, lambda: self._list(region)), region)

    async def _list(self, region: str) -> Any:
        import httpx  # noqa: PLC0415 - slow to import, and only a new cluster needs it

        try:
            async with httpx.AsyncClient(timeout=self.timeout) as http:
                answer = await http.get(httpx.URL(self.url).copy_merge_params({"region": region, "status": HEALTHY}))
        except httpx.RequestError as error:
            raise PlacementUnavailable(self._what, why=redact_text(str(error)) or type(error).__name__) from error
        except (httpx.InvalidURL, UnicodeError) as error:
            raise Misconfigured(self._what, why=redact_text(str(error)), remedy=_CHECK_URL) from error
        if answer.is_server_error or answer.status_code in _TRANSIENT_CODES:
            raise PlacementUnavailable(self._what, why=f"HTTP {answer.status_code}")
        if not answer.is_success:
            raise Misconfigured(self._what, why=f"HTTP {answer.status_code}", remedy=_CHECK_URL)
        try:
            return json.loads(answer.content)
        except (ValueError, RecursionError) as error:
            shown = redact_text(answer.content[:100].decode(errors="replace"))
            raise PlacementUnavailable(self._what, why=f"not JSON: {shown!r}") from error

    @property
    def _what(self) -> str:
        return f"the list of management clusters at {redact_text(self.url)} cannot be read"


def choose_consumer(document: Any, region: str) -> str:
    """The healthy management cluster of the region with the least load, then the first by name."""
    items = document.get("items") if isinstance(document, Mapping) else document
    if not isinstance(items, list):
        raise PlacementUnavailable(
            "the list of management clusters has no items", why=f"found {redact_text(repr(document)[:100])}"
        )
    candidates = [each for each in items if isinstance(each, Mapping) and _is_candidate(each, region)]
    if not candidates:
        what = f"no healthy management cluster is listed for region {region!r}"
        raise NoManagementCluster(what, remedy="add one, or wait until one is healthy; the next run asks again")
    return str(min(candidates, key=lambda each: (_load(each), each["name"]))["name"])


def _is_candidate(listed: Mapping[str, Any], region: str) -> bool:
    name = listed.get("name")
    named = isinstance(name, str) and is_label_name(name)
    return named and listed.get("region") in (None, region) and listed.get("status") == HEALTHY


def _load(listed: Mapping[str, Any]) -> float:
    """The load; 0 where it is not a positive number."""
    load = listed.get("load", listed.get("hosted_clusters"))
    return load if isinstance(load, int | float) and load > 0 else 0
