"""The stand-in HyperFleet API on a port of loopback. What it stores outlives a crash, as a database would."""

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from types import TracebackType
from typing import Any, Self

from lab import http_server
from lab.api.entities import CLUSTER, NODEPOOL, Entities
from lab.api.http_api.application import Api
from lab.api.http_api.seen import Journal
from lab.api.rules.values import Resource
from lab.api.store import NewResource, Store
from lab.http_faults import Faults
from lab.loopback import HOST, ReservedPort
from shared import times


class LabApi:
    """One API. `required_adapters` are those that decide over a kind, by kind; `clock` is its time.

    `kill` and `start` keep its port and its resources.
    """

    def __init__(
        self,
        *,
        port: int = 0,
        required_adapters: Mapping[str, Iterable[str]] | None = None,
        clock: Callable[[], datetime] = times.now,
    ) -> None:
        self._entities = Entities.requiring(required_adapters or {})
        self.store = Store(self._entities, clock)
        self._api = Api(self.store, self._entities, clock)
        self._wanted_port = port
        self._port: ReservedPort | None = None
        self._runner: http_server.Runner | None = None

    @property
    def port(self) -> int:
        assert self._port is not None, "the API has a port once it is entered"
        return self._port.number

    @property
    def url(self) -> str:
        """Without the path: clients add `/api/hyperfleet/v1`."""
        return f"http://{HOST}:{self.port}"

    @property
    def faults(self) -> Faults:
        return self._api.faults

    @property
    def journal(self) -> Journal:
        return self._api.journal

    def let_in(self, *tokens: str) -> None:
        """From now on only requests with one of these bearer tokens are answered."""
        self._api.tokens = set(tokens)

    def add_cluster(
        self, name: str, spec: Mapping[str, Any] | None = None, labels: Mapping[str, str] | None = None
    ) -> Resource:
        return self.store.create(
            self._entities[CLUSTER.kind], NewResource(name=name, spec=spec or {}, labels=labels or {})
        )

    def add_nodepool(
        self,
        cluster_id: str,
        name: str,
        spec: Mapping[str, Any] | None = None,
        labels: Mapping[str, str] | None = None,
    ) -> Resource:
        new = NewResource(name=name, spec=spec or {}, labels=labels or {})
        return self.store.create(self._entities[NODEPOOL.kind], new, cluster_id)

    async def __aenter__(self) -> Self:
        self._port = ReservedPort(self._wanted_port)
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.kill()
        if self._port is not None:
            self._port.release()

    async def start(self) -> None:
        """Listen on the same port as before."""
        if self._runner is not None:
            return
        self._runner = await http_server.serve(self._api.application(), self.port)

    async def kill(self) -> None:
        """A crash: every connection breaks and nobody listens; the resources stay."""
        runner, self._runner = self._runner, None
        if runner is not None:
            await http_server.stop(runner)
