"""`serve`: an adapter on the events of a broker, until it is asked to stop.

    broker ─▶ intake ─┐
    watches ──────────┼─▶ queue ─▶ reconciler ─▶ engine ─▶ ports
    timers ───────────┘

The parts run as tasks of one process; a part that ends by itself ends the process. At the end readiness goes off, no
message is taken any more, the Lease is given back, running work has a grace period, and what is left is given back to
the broker.
"""

import asyncio
import os
from collections.abc import Coroutine, Mapping
from contextlib import AbstractContextManager, AsyncExitStack
from functools import partial
from typing import Any

from dispatcher.brokers.consuming import Consumer
from dispatcher.brokers.opening import open_subscription, parallelism_of
from dispatcher.brokers.port import Subscription
from dispatcher.config.loading import Loaded
from dispatcher.config.showing.dumping import as_yaml
from dispatcher.config.showing.redacting import redacted
from dispatcher.engine.engine import Engine
from dispatcher.engine.runs import Event, ObjectKey, Phase
from dispatcher.observability.health import Check, Health
from dispatcher.observability.identity import Identity, identify
from dispatcher.observability.metrics import Metrics, QueueCollector
from dispatcher.observability.objects import ObjectRecords
from dispatcher.observability.server import ObservabilityServer, Pages
from dispatcher.observability.tracing import Tracing, open_tracing
from dispatcher.runtime.intake import Intake
from dispatcher.runtime.leading import Leadership
from dispatcher.runtime.live_ports import Live, open_ports
from dispatcher.runtime.objects_view import ObjectsView, QueueView
from dispatcher.runtime.probes import Probe
from dispatcher.runtime.reconciling import Reconciler
from dispatcher.runtime.recording import RunMetrics
from dispatcher.runtime.scheduling.queue import Queue
from dispatcher.runtime.scheduling.schedule import Schedule
from dispatcher.runtime.scheduling.wakes import Wake, generation_of
from dispatcher.runtime.settings import RuntimeSettings, read_settings
from dispatcher.runtime.stopping import stop_signals
from dispatcher.runtime.watches import Watches
from dispatcher.runtime.watching.awaiting import AwaitedDeletions
from shared import logs, times
from shared.errors import HyperFleetError
from shared.kubernetes import ObjectRef

STOPPED, BROKE = 0, 1
# A run is cancelled at its deadline; one that is there so much later does not react.
STUCK_SECONDS = 60.0
LONGEST_WITHOUT_ATTEMPT_SECONDS = 120.0
LEASE_API = "coordination.k8s.io/v1"
PROBED_NAME = "hyperfleet-adapter-readiness"

log = logs.get(__name__)


async def serve(loaded: Loaded, environment: Mapping[str, str] = os.environ) -> int:
    """The exit code. Raises Misconfigured before anything runs."""
    settings = read_settings(environment)
    identity = identify(loaded.adapter.name)
    client, name = loaded.config.clients.broker, settings.identity or identity.component
    subscription = open_subscription(loaded.broker, client, environment, name=name)
    async with AsyncExitStack() as stack:
        # First, so also while it starts and ends: a container's first process gets no signal that it does not handle.
        stop = stack.enter_context(stop_signals())
        tracing = open_tracing(identity, environment)
        stack.push_async_callback(tracing.close)
        live = await open_ports(stack, loaded, environment, tracing, leases=settings.leader_election)
        service = Service(loaded, settings, identity=identity, live=live, subscription=subscription, tracing=tracing)
        server = await stack.enter_async_context(service.server())
        _log_configuration(loaded)
        log.info("serving", health_port=server.health_port, metrics_port=server.metrics_port)
        return await service.run(stop)


def _log_configuration(loaded: Loaded) -> None:
    if loaded.config.debug_config:
        log.info("the configuration without its secrets", config=as_yaml(loaded.adapter.redacted_config))
    if loaded.broker.log_config:
        shown = redacted(loaded.broker.model_dump(exclude_none=True))
        log.info("the broker config without its secrets", config=as_yaml(shown))


class Service:
    """All parts of a running adapter, joined."""

    def __init__(
        self,
        loaded: Loaded,
        settings: RuntimeSettings,
        *,
        identity: Identity,
        live: Live,
        subscription: Subscription,
        tracing: Tracing,
    ) -> None:
        adapter, client = loaded.adapter, loaded.config.clients.broker
        self._loaded, self._settings, self._live = loaded, settings, live
        self._metrics = Metrics(identity, topic=client.topic)
        self._records = ObjectRecords() if settings.show_objects else None
        self._awaited = AwaitedDeletions()
        self._watches = Watches(adapter)
        schedule = Schedule(on_slowed=self._on_slowed)
        self._queue = Queue(
            self._reconciler(tracing),
            schedule=schedule,
            parallelism=parallelism_of(loaded.broker),
            deadline=settings.run_deadline,
            on_wake=self._on_wake,
        )
        self._metrics.registry.register(QueueCollector(QueueView(schedule, self._awaited), identity))
        intake = Intake(self._queue, self._metrics, kinds=client.kinds, on_event=self._on_event)
        self._consumer = Consumer(subscription, intake.deliver, give_up_after=settings.broker_give_up_after)
        self._metrics.tasks().set_function(lambda: float(len(asyncio.all_tasks())))
        self._metrics.broker_connected().set_function(lambda: float(self._consumer.connected))
        works = self._watches.start(self._queue, self._awaited, kubernetes=live.kubernetes, maestro=live.maestro)
        self._leadership = Leadership(works, self._metrics)
        self._probes = _probes(live, settings)
        self.health = Health(checks=self._checks(), signs=self._signs())

    def server(self) -> ObservabilityServer:
        """What operators ask."""
        shown = self._loaded.adapter.redacted_config
        pages = Pages(
            health=self.health,
            registry=self._metrics.registry,
            config_yaml=(lambda: as_yaml(shown) + "\n") if self._loaded.config.debug_config else None,
            objects=ObjectsView(self._records, self._queue.schedule) if self._records is not None else None,
        )
        settings = self._settings
        return ObservabilityServer(
            pages, host=settings.host, health_port=settings.health_port, metrics_port=settings.metrics_port
        )

    async def run(self, stop: asyncio.Event) -> int:
        """Until `stop` is set, or a part has ended by itself."""
        async with self._consumer, self._queue:
            parts = [asyncio.create_task(each, name=name) for name, each in self._parts().items()]
            stopped = asyncio.create_task(stop.wait())
            done, _ = await asyncio.wait({stopped, *parts}, return_when=asyncio.FIRST_COMPLETED)
            stopped.cancel()
            code = _explain(done - {stopped})
            await self._shut_down(parts)
        return code

    def _parts(self) -> dict[str, Coroutine[Any, Any, None]]:
        kubernetes, settings = self._live.kubernetes, self._settings
        if kubernetes is None or not settings.leader_election:
            leading = self._leadership.lead_alone()
        else:
            leading = self._leadership.lead_by_lease(kubernetes, adapter=self._loaded.adapter.name, settings=settings)
        probes = {f"probe of {probe.name}": probe.run() for probe in self._probes}
        return {"broker": self._consumer.run(), "leadership": leading, **probes}

    async def _shut_down(self, parts: list[asyncio.Task[None]]) -> None:
        log.info("shutting down", grace_seconds=self._settings.shutdown_grace, running=self._queue.running)
        self.health.stopping = True
        self._metrics.up.set(0)
        for part in parts:
            part.cancel()
        await self._consumer.stop()
        await asyncio.gather(
            self._queue.stop(grace=self._settings.shutdown_grace), asyncio.wait(parts), return_exceptions=True
        )
        log.info("stopped")

    def _reconciler(self, tracing: Tracing) -> Reconciler:
        adapter = self._loaded.adapter

        def span_of(phase: Phase) -> AbstractContextManager[None]:
            return tracing.span(phase.value)

        engine = Engine(adapter, self._live.ports, silence=self._settings.status_silence, spans=span_of)
        return Reconciler(
            engine,
            RunMetrics(self._metrics),
            tracing,
            self._awaited,
            records=self._records,
            follows=lambda deletion: self._leadership.leads and self._watches.follows(deletion),
            learn=self._watches.learn,
            last_seen=self._watches.last_seen,
        )

    def _on_wake(self, wake: Wake) -> None:
        self._metrics.wakes(wake.cause.value).inc()
        if self._records is not None:
            self._records.note_wake(wake.key, cause=wake.cause.value, at=times.now())

    def _on_event(self, key: ObjectKey, event: Event) -> None:
        if self._records is not None:
            generation = generation_of(event) or None
            self._records.note_event(key, id_=event.id, type_=event.type, generation=generation, at=times.now())

    def _on_slowed(self, key: ObjectKey) -> None:
        self._metrics.slowed().inc()
        log.warning("an object keeps waking and is slowed", object=str(key))

    def _checks(self) -> dict[str, Check]:
        checks: dict[str, Check] = {
            "config": lambda: "",
            "broker": lambda: "" if self._consumer.connected else "not connected",
        }
        for probe in self._probes:
            checks[probe.name] = partial(getattr, probe, "problem")
        return checks

    def _signs(self) -> dict[str, Check]:
        return {"runs": self._stuck_run, "broker": self._idle_consumer}

    def _stuck_run(self) -> str:
        seconds = self._queue.longest_run()
        return f"a run is {seconds:.0f} s old" if seconds > self._settings.run_deadline + STUCK_SECONDS else ""

    def _idle_consumer(self) -> str:
        seconds = self._consumer.seconds_without_attempt()
        return f"no attempt to connect for {seconds:.0f} s" if seconds > LONGEST_WITHOUT_ATTEMPT_SECONDS else ""


def _probes(live: Live, settings: RuntimeSettings) -> list[Probe]:
    """One cheap read of each system that runs need; that there is no such object is an answer too."""
    probes = []
    if (kubernetes := live.kubernetes) is not None:

        async def read_lease() -> None:
            namespace = settings.lease_namespace or (await kubernetes.access()).namespace
            await kubernetes.get(ObjectRef(api_version=LEASE_API, kind="Lease", name=PROBED_NAME, namespace=namespace))

        probes.append(Probe("kubernetes", read_lease))
    if live.maestro is not None:
        probes.append(Probe("maestro", partial(live.maestro.consumers.get, PROBED_NAME)))
    return probes


def _explain(ended: set[asyncio.Task[Any]]) -> int:
    """The exit code, and in the log why a part has ended by itself."""
    for part in ended:
        error = asyncio.CancelledError() if part.cancelled() else part.exception()
        if isinstance(error, HyperFleetError):
            log.error("the dispatcher cannot go on", part=part.get_name(), error=str(error))
        else:
            log.error("a part of the dispatcher broke", part=part.get_name(), exc_info=error)
    return BROKE if ended else STOPPED
