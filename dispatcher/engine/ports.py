"""What the engine needs from outside. Live, dry run and tests differ only in the objects passed in."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, Protocol

Object = dict[str, Any]
"""A Kubernetes object as JSON."""

ANY_NAMESPACE = "*"


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiRequest:
    """`url` is as the author's template gave it; the client resolves it. What is None is the client's setting."""

    method: str
    url: str
    headers: Mapping[str, str] = field(default_factory=dict)
    body: str | None = None
    timeout: float | None = None
    retry_attempts: int | None = None
    retry_backoff: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiResponse:
    """The last answer, whatever its status. `url` is what was really asked, `attempts` how often."""

    status: int
    body: bytes
    url: str
    attempts: int = 1


class HyperFleetApi(Protocol):
    async def send(self, request: ApiRequest) -> ApiResponse:
        """Tries again as the request or the settings say. Raises Transient where nobody answered to the end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """Which objects to look for. `consumer` is set for Maestro. `namespace` "*" means any, "" none.

    Exactly one of `name` and `labels` is given.
    """

    api_version: str
    kind: str
    consumer: str = ""
    namespace: str = ""
    name: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)


class Transport(Protocol):
    """Where resources live: a Kubernetes API server, or the works of Maestro's consumers.

    Every method raises errors of `shared.errors`; transient ones were already tried again within the run's budget.
    """

    async def find(self, query: Query) -> list[Object]:
        """All that match, in no particular order; an empty list where there is none."""

    async def create(self, manifest: Object, *, consumer: str = "") -> Object:
        """The stored object. Raises AlreadyExists."""

    async def update(self, manifest: Object, observed: Object, *, consumer: str = "") -> Object:
        """The stored object. Raises Conflict where `observed` is no longer what is there."""

    async def delete(
        self, observed: Object, *, policy: Literal["Background", "Foreground", "Orphan"], consumer: str = ""
    ) -> Object | None:
        """What is left of it, None where it is gone."""

    async def wait_gone(self, observed: Object, *, timeout: float, consumer: str = "") -> bool:
        """Whether it is gone within `timeout` seconds."""

    async def differs(self, manifest: Object, observed: Object, *, consumer: str = "") -> bool:
        """Whether applying the manifest would change the object; nothing is written."""


class Secrets(Protocol):
    async def read(self, kind: Literal["Secret", "ConfigMap"], namespace: str, name: str, key: str) -> str:
        """One value, decoded. Raises NotFound."""


class Clock(Protocol):
    def now(self) -> datetime:
        """The present instant, in UTC."""

    def monotonic(self) -> float:
        """Seconds that never go back."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ports:
    """`transports` by the name of a resource's transport."""

    api: HyperFleetApi
    transports: Mapping[str, Transport]
    secrets: Secrets
    clock: Clock
    environment: Mapping[str, str]
