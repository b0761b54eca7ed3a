"""A rehearsal: events run in order through the real engine, with one state in memory and a clock that stands still."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from dispatcher.config.compiled import Adapter
from dispatcher.dryrun.addresses import resolve_url
from dispatcher.dryrun.api import MockApi
from dispatcher.dryrun.reading import MockEndpoint, SecretKey, TimedEvent
from dispatcher.dryrun.secrets import MockSecrets
from dispatcher.dryrun.transport import InMemoryTransport, TransportRecord, World
from dispatcher.engine.engine import Engine
from dispatcher.engine.ports import ApiRequest, ApiResponse, Object, Ports
from dispatcher.engine.resources.stamping import event_annotation, managed_by
from dispatcher.engine.runs import Event, RunRequest, RunResult


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """What happens in a rehearsal. `now` is the instant of every event that names none itself."""

    events: tuple[TimedEvent, ...]
    now: datetime
    endpoints: tuple[MockEndpoint, ...] = ()
    overrides: Mapping[str, Object] = field(default_factory=dict)
    secrets: Mapping[SecretKey, str] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rehearsal:
    """One event and what came of it. `unmatched` are calls that no mock answers."""

    event: Event
    result: RunResult
    requests: tuple[tuple[ApiRequest, ApiResponse], ...]
    operations: tuple[TransportRecord, ...]
    unmatched: tuple[str, ...]


class StoppedClock:
    def __init__(self, at: datetime) -> None:
        self.at = at

    def now(self) -> datetime:
        return self.at

    def monotonic(self) -> float:
        return 0.0


async def rehearse(adapter: Adapter, script: Script) -> tuple[Rehearsal, ...]:
    clock = StoppedClock(script.now)
    api = MockApi(script.endpoints, lambda url: resolve_url(url, adapter.config))
    records: list[TransportRecord] = []
    world = World(
        label=managed_by(adapter.name),
        annotation=event_annotation(script.events[0].event.data),
        now=clock.now,
        is_deleting=lambda: api.deleting,
        records=records,
    )
    transports = {
        name: InMemoryTransport(world, script.overrides, asynchronous=name == "maestro")
        for name in ("kubernetes", "maestro")
    }
    ports = Ports(
        api=api,
        transports=transports,
        secrets=MockSecrets(script.secrets),
        clock=clock,
        environment=script.environment,
    )
    engine = Engine(adapter, ports)
    rehearsals = []
    for timed in script.events:
        clock.at = timed.at or script.now
        result = await engine.run(RunRequest(event=timed.event))
        rehearsals.append(_rehearsal(timed.event, result, api, records))
        for transport in transports.values():
            transport.settle()
    return tuple(rehearsals)


def _rehearsal(event: Event, result: RunResult, api: MockApi, records: list[Any]) -> Rehearsal:
    """Takes what was recorded since the last event."""
    rehearsal = Rehearsal(
        event=event,
        result=result,
        requests=tuple(api.requests),
        operations=tuple(records),
        unmatched=tuple(api.unmatched),
    )
    api.requests.clear()
    api.unmatched.clear()
    records.clear()
    return rehearsal
