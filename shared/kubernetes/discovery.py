"""Which path serves a kind: asked of the API server once per group and version, and again for a kind not seen there."""

import asyncio
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from shared.errors import UnknownKind
from shared.kubernetes.http.session import Http


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceKind:
    api_version: str
    kind: str
    plural: str
    namespaced: bool

    def path(self, namespace: str = "", name: str = "", subresource: str = "") -> str:
        """A namespace is left out where the kind has none, and where none is given."""
        steps = [root_of(self.api_version)]
        if self.namespaced and namespace:
            steps += ["namespaces", quote(namespace, safe="")]
        steps.append(self.plural)
        steps += [quote(step, safe="") for step in (name, subresource) if step]
        return "/".join(steps)


class Discovery:
    """The kinds an API server serves, remembered for as long as it serves them."""

    def __init__(self, http: Http, *, timeout: float) -> None:
        self._http, self._timeout = http, timeout
        self._kinds: dict[str, dict[str, ResourceKind]] = {}
        self._locks: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    async def find(self, api_version: str, kind: str) -> ResourceKind:
        """Raises UnknownKind."""
        before = self._kinds.get(api_version)
        if before is not None and kind in before:
            return before[kind]
        async with self._locks[api_version]:
            if self._kinds.get(api_version) is before:
                self._kinds[api_version] = await self._ask(api_version, kind)
        found = self._kinds[api_version].get(kind)
        if found is None:
            raise _unknown(api_version, kind, why="the API server does not serve it")
        return found

    def forget(self, api_version: str) -> None:
        """The server does not serve a path it served before."""
        self._kinds.pop(api_version, None)

    async def _ask(self, api_version: str, kind: str) -> dict[str, ResourceKind]:
        what = f"look up kind {kind} of {api_version}"
        try:
            listed = await self._http.call(what, "GET", root_of(api_version), query={}, timeout=self._timeout)
        except UnknownKind as error:
            raise _unknown(api_version, kind, why=error.why) from error
        entries = listed.get("resources")
        return _kinds(api_version, entries if isinstance(entries, list) else [])


def root_of(api_version: str) -> str:
    """`/api/v1` for the core group, `/apis/batch/v1` for others."""
    version = quote(api_version, safe="/")
    return f"/apis/{version}" if "/" in version else f"/api/{version}"


def _kinds(api_version: str, entries: list[Any]) -> dict[str, ResourceKind]:
    """Subresources are left out: they share the kind of their resource, or have one that nobody stores."""
    kinds: dict[str, ResourceKind] = {}
    for entry in entries:
        match entry:
            case {"name": str() as plural, "kind": str() as kind} if "/" not in plural:
                namespaced = isinstance(entry, Mapping) and bool(entry.get("namespaced"))
                kinds[kind] = ResourceKind(api_version=api_version, kind=kind, plural=plural, namespaced=namespaced)
    return kinds


def _unknown(api_version: str, kind: str, *, why: str) -> UnknownKind:
    return UnknownKind(
        f"there is no kind {kind} of {api_version}",
        why=why,
        remedy="install its CustomResourceDefinition, or correct the manifest's apiVersion and kind",
    )
