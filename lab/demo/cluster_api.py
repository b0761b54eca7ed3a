"""What a person does with the HyperFleet API in a demonstration, and what they wait for."""

from collections.abc import Awaitable, Callable, Collection
from http import HTTPStatus
from typing import Any

import httpx

from lab.demo import waiting
from lab.demo.timeline import Timeline
from lab.system import LabSystem

PROJECT = "demo-project-1"
SPEC: dict[str, Any] = {
    "gcp_project_id": PROJECT,
    "gcp_project_number": "123456789012",
    "gcp_region": "us-east1",
    "vpc_network_name": "demo-vpc",
    "psc_subnet_name": "demo-subnet",
    "wif_pool_id": "demo-pool",
    "wif_provider_id": "demo-provider",
    "openshift_version": "4.22.0",
    "machine_network_cidr": "10.0.0.0/16",
    "base_domain": "example.com",
    "pull_secret_name": "demo-pull-secret",
    "service_account_emails": {
        role: f"demo-{role.lower()[:12]}@{PROJECT}.iam.gserviceaccount.com"
        for role in ("controlPlane", "nodePool", "cloudController", "storage", "imageRegistry", "network")
    },
}


class ClusterApi:
    """One person's view of the API. Every wait is a milestone of the timeline."""

    def __init__(self, system: LabSystem, timeline: Timeline, http: httpx.AsyncClient) -> None:
        self.system, self.timeline, self._http = system, timeline, http
        self.timeout = system.pace.timeout
        """For each milestone; a scenario that works on many clusters at once takes longer."""

    async def create(self, name: str = "demo", **changes: Any) -> str:
        document = {"kind": "Cluster", "name": name, "spec": {**SPEC, **changes}}
        identifier: str = (await self._http.post("/clusters", json=document)).raise_for_status().json()["id"]
        self.timeline.event("you", f"created cluster {name} ({identifier})")
        return identifier

    async def change(self, identifier: str, **changes: Any) -> None:
        spec = (await self.get(identifier))["spec"]
        (await self._http.patch(f"/clusters/{identifier}", json={"spec": {**spec, **changes}})).raise_for_status()
        self.timeline.event("you", f"changed {', '.join(f'{key} to {value}' for key, value in changes.items())}")

    async def add_node_pool(self, identifier: str, name: str, **spec: Any) -> str:
        document = {"kind": "NodePool", "name": name, "spec": spec}
        answer = await self._http.post(f"/clusters/{identifier}/nodepools", json=document)
        pool: str = answer.raise_for_status().json()["id"]
        self.timeline.event("you", f"added the node pool {name}")
        return pool

    async def delete(self, identifier: str) -> None:
        (await self._http.delete(f"/clusters/{identifier}")).raise_for_status()
        self.timeline.event("you", "deleted the cluster")

    async def delete_all(self) -> None:
        """What a scenario leaves is deleted, so that the next one has the machine to itself."""
        left = [each["id"] for each in (await self._http.get("/clusters")).raise_for_status().json()["items"]]
        for each in left:
            await self.delete(each)
        for each in left:
            await self.until_gone(each, "what the scenario left is gone")

    async def get(self, path: str) -> dict[str, Any]:
        found: dict[str, Any] = (await self._http.get(f"/clusters/{path}")).raise_for_status().json()
        return found

    async def count(self, search: str = "") -> int:
        """How many clusters there are, or how many match a search."""
        answer = await self._http.get("/clusters", params={"size": 1, **({"search": search} if search else {})})
        return int(answer.raise_for_status().json()["total"])

    async def status(self, identifier: str) -> dict[str, Any]:
        """The control plane adapter's status; {} where it has none yet."""
        listed = (await self.get(f"{identifier}/statuses"))["items"]
        found: dict[str, Any] = next((each for each in listed if each["adapter"] == "controlplane"), {})
        return found

    async def until_reconciled(self, path: str, what: str) -> None:
        async def is_reconciled() -> bool:
            resource = await self.get(path)
            found = {each["type"]: each for each in resource["status"]["conditions"]}.get("Reconciled", {})
            current = found.get("observed_generation") == resource["generation"]
            return bool(found.get("status") == "True" and current)

        await self.until(what, is_reconciled)

    async def until_condition(self, identifier: str, type_: str, status: str, reason: str, what: str) -> None:
        """The control plane adapter's condition has this status and reason."""

        async def has_it() -> bool:
            listed = (await self.status(identifier)).get("conditions") or []
            found = {each["type"]: each for each in listed}.get(type_, {})
            return bool(found.get("status") == status and found.get("reason") == reason)

        await self.until(what, has_it)

    async def until_data(self, identifier: str, names: Collection[str], what: str) -> dict[str, Any]:
        """The control plane adapter's data once it has all of these: HyperShift is available before its version is."""
        data: dict[str, Any] = {}

        async def has_them() -> bool:
            nonlocal data
            data = (await self.status(identifier)).get("data") or {}
            return all(map(data.get, names))

        await self.until(what, has_them)
        return data

    async def until_gone(self, identifier: str, what: str) -> None:
        async def is_gone() -> bool:
            return (await self._http.get(f"/clusters/{identifier}")).status_code == HTTPStatus.NOT_FOUND

        await self.until(what, is_gone)

    async def until(self, what: str, reached: Callable[[], Awaitable[bool]]) -> None:
        async def is_reached() -> bool:
            try:
                return await reached()
            except httpx.TransportError:
                return False  # a busy machine may lose an answer; it is asked again

        system = self.system
        await waiting.until(what, is_reached, within=self.timeout, timeline=self.timeline, check=system.check)
