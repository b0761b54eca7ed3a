"""A client of the HyperFleet API for its contract tests, and the differences of the real server that can be built.

The contract is that of the newest API (commit 541f6b4a). The real server that can be built is v0.3.0; where it differs,
the test is marked by `not_in_v0_3_0` and must fail there. A server that runs elsewhere, at the address in the
environment, is expected to be the newest; it needs the required adapters below.
"""

import itertools
import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, TypeVar

import httpx
import pytest

from shared import times

BASE = "/api/hyperfleet/v1"
CLUSTER_ADAPTERS = ("controlplane", "dns")
NODEPOOL_ADAPTERS = ("nodepool",)
REQUIRED_ADAPTERS = {"Cluster": CLUSTER_ADAPTERS, "NodePool": NODEPOOL_ADAPTERS}

ADDRESS = os.environ.get("CONTRACT_HYPERFLEET_API", "").rstrip("/")

# The database rounds what the server knows in nanoseconds.
MICROSECOND = timedelta(microseconds=1)

_numbers = itertools.count()
Test = TypeVar("Test", bound=Callable[..., object])
Document = dict[str, Any]


def not_in_v0_3_0(how: str) -> Callable[[Test], Test]:
    """Mark a test that v0.3.0 fails, because it behaves as `how` says."""

    def mark(test: Test) -> Test:
        test.__dict__["differs_in_v0_3_0"] = how
        return test

    return mark


def expect_differences(test: pytest.Function) -> None:
    """Expect a marked test to fail on the real server; one that passes there is marked for nothing."""
    how = test.function.__dict__.get("differs_in_v0_3_0")
    if how and test.callspec.params.get("servers") == "real" and not ADDRESS:
        test.add_marker(pytest.mark.xfail(strict=True, reason=f"v0.3.0 {how}"))


def unique(prefix: str) -> str:
    return f"{prefix}-{times.now():%H%M%S%f}-{next(_numbers)}"


def condition(kind: str, status: str, **more: str) -> Document:
    return {"type": kind, "status": status, **more}


def conditions(available: str = "True", *, finalized: str | None = None) -> list[Document]:
    """All that is mandatory, and Finalized where it is given."""
    listed = [condition("Applied", "True"), condition("Available", available), condition("Health", "True")]
    return listed + ([condition("Finalized", finalized)] if finalized else [])


@dataclass(slots=True)
class Api:
    """A client of the server. Reports are observed one after another, however fast they follow."""

    http: httpx.AsyncClient
    _observed: datetime = field(default_factory=times.now)

    async def create_cluster(self, name: str = "", **members: Any) -> Document:
        body = {"kind": "Cluster", "name": name or unique("c"), "spec": {}, **members}
        return await self.expect(201, "POST", "/clusters", body)

    async def create_nodepool(self, cluster: Mapping[str, Any], name: str = "", **members: Any) -> Document:
        body = {"kind": "NodePool", "name": name or f"p-{next(_numbers)}", "spec": {}, **members}
        return await self.expect(201, "POST", f"/clusters/{cluster['id']}/nodepools", body)

    async def get(self, path: str, **parameters: Any) -> Document:
        """Raises httpx.HTTPStatusError, so that who waits out an outage can tell a failing server from a wrong answer."""
        answer = (await self.http.get(BASE + path, params=parameters)).raise_for_status()
        document: Document = answer.json()
        return document

    async def reread(self, resource: Mapping[str, Any]) -> Document:
        return await self.get(resource["href"].removeprefix(BASE))

    async def patch(self, resource: Mapping[str, Any], **members: Any) -> Document:
        return await self.expect(200, "PATCH", resource["href"].removeprefix(BASE), members)

    async def delete(self, resource: Mapping[str, Any]) -> Document:
        return await self.expect(202, "DELETE", resource["href"].removeprefix(BASE))

    async def is_gone(self, resource: Mapping[str, Any]) -> bool:
        answer = await self.http.get(resource["href"])
        return answer.status_code == 404

    async def put(self, resource: Mapping[str, Any], report: Any) -> httpx.Response:
        """Send this report, or these bytes, whatever they are."""
        content = report if isinstance(report, bytes) else json.dumps(report).encode()
        return await self.http.put(f"{resource['href']}/statuses", content=content)

    def report(self, adapter: str = "controlplane", generation: int = 1, **members: Any) -> Document:
        """A report that is good and later than all before, with these members instead."""
        self._observed = max(self._observed + timedelta(microseconds=1), times.now())
        return {
            "adapter": adapter,
            "observed_generation": generation,
            "observed_time": times.to_micros(self._observed),
            "conditions": conditions(),
            **members,
        }

    async def accept(
        self, resource: Mapping[str, Any], adapter: str = "controlplane", generation: int = 1, **members: Any
    ) -> Document:
        """Send a report, which must be stored, and return what is stored."""
        answer = await self.put(resource, self.report(adapter, generation, **members))
        assert answer.status_code == 201, answer.text
        document: Document = answer.json()
        return document

    async def reconcile(self, resource: Mapping[str, Any], generation: int = 1) -> Document:
        """Let every required adapter report Available=True."""
        for adapter in REQUIRED_ADAPTERS[resource["kind"]]:
            await self.accept(resource, adapter, generation)
        return await self.reread(resource)

    async def finalise(self, resource: Mapping[str, Any], generation: int) -> None:
        """Let every required adapter report Finalized=True, which ends a deletion."""
        for adapter in REQUIRED_ADAPTERS[resource["kind"]]:
            await self.accept(resource, adapter, generation, conditions=conditions("False", finalized="True"))

    async def statuses(self, resource: Mapping[str, Any]) -> dict[str, Document]:
        """By adapter."""
        listed = await self.get(f"{resource['href'].removeprefix(BASE)}/statuses")
        return {status["adapter"]: status for status in listed["items"]}

    async def expect(self, status: int, method: str, path: str, body: Any = None) -> Document:
        answer = await self.http.request(method, BASE + path, content=None if body is None else json.dumps(body))
        assert answer.status_code == status, answer.text
        document: Document = answer.json() if answer.content else {}
        return document

    async def refused(self, status: int, code: str, method: str, path: str, body: Any = None) -> Document:
        """Expect a problem with this code, which ends in `code`."""
        content = body if isinstance(body, bytes) else None if body is None else json.dumps(body)
        answer = await self.http.request(method, BASE + path, content=content)
        return problem(answer, status, code)


def problem(answer: httpx.Response, status: int, code: str) -> Document:
    """The problem in an answer, which must have this status and the code `HYPERFLEET-<code>`."""
    assert answer.status_code == status, answer.text
    assert answer.headers["Content-Type"] == "application/problem+json"
    document: Document = answer.json()
    assert (document["status"], document["code"]) == (status, f"HYPERFLEET-{code}"), answer.text
    return document


def condition_of(resource: Mapping[str, Any], kind: str) -> Document:
    found = [each for each in resource["status"]["conditions"] if each["type"] == kind]
    assert len(found) == 1, resource["status"]["conditions"]
    condition: Document = found[0]
    return condition
