"""One run of the engine and what belongs around it: log fields, a span, metrics, and what the object waits for."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Protocol

import structlog

from dispatcher.engine.ports import Object
from dispatcher.engine.runs import (
    AwaitedDeletion,
    Delivery,
    Event,
    ObjectKey,
    Operation,
    Requeue,
    RunRequest,
    RunResult,
    Status,
)
from dispatcher.observability.objects import ObjectRecords
from dispatcher.observability.tracing import Tracing
from dispatcher.runtime.recording import RunMetrics, error_of, record_of, record_of_crash
from dispatcher.runtime.scheduling.entry import Ended, Start
from dispatcher.runtime.watching.awaiting import AwaitedDeletions
from shared import logs, times

# A watch wakes who waits for a deletion; this is for a deletion that the watch missed.
FOLLOWED_DELETION_SECONDS = 30.0
TRACE_CONTEXT = "traceparent"


class Engine(Protocol):
    async def run(self, request: RunRequest) -> RunResult: ...


class Reconciler:
    """`follows` says whether a watch of this process would see a deletion.

    `learn` hears which objects a run has found for which resources. `last_seen` says how objects were that are gone.
    """

    def __init__(
        self,
        engine: Engine,
        metrics: RunMetrics,
        tracing: Tracing,
        awaited: AwaitedDeletions,
        *,
        records: ObjectRecords | None,
        follows: Callable[[AwaitedDeletion], bool],
        learn: Callable[[Mapping[str, Object]], None] = lambda _: None,
        last_seen: Callable[[ObjectKey], Mapping[str, Object]] = lambda _: {},
    ) -> None:
        self._engine = engine
        self._metrics = metrics
        self._tracing = tracing
        self._awaited = awaited
        self._records = records
        self._follows = follows
        self._learn = learn
        self._last_seen = last_seen
        # Bound once: an unbound logger is put together anew for every line.
        self._log = logs.get("dispatcher.executor").bind()

    async def __call__(self, start: Start) -> Ended:
        request, clock = self._with_last_seen(start), asyncio.get_running_loop().time
        started, began = times.now(), clock()
        with (
            self._tracing.run(start.key, request.event, cause=request.cause.value) as trace,
            structlog.contextvars.bound_contextvars(**log_fields(start.key, request.event), **trace),
        ):
            try:
                result = await self._engine.run(self._with_trace_context(request))
            except BaseException as error:
                self._metrics.count_crash(request.cause, seconds=clock() - began)
                if self._records is not None:
                    record = record_of_crash(request, error, started=started, seconds=clock() - began)
                    self._records.note_run(start.key, record)
                raise
            seconds = clock() - began
            self._metrics.count(request, result, seconds=seconds, waited=start.waited)
            self._learn(result.discovered)
            if self._records is not None:
                self._records.note_run(start.key, record_of(request, result, started=started, seconds=seconds))
            self._log_resources(result)
            self._log_end(request, result, seconds)
        return self._ended(start, result)

    def _with_last_seen(self, start: Start) -> RunRequest:
        request = start.request
        return request if request.writes else replace(request, last_seen=self._last_seen(start.key))

    def _with_trace_context(self, request: RunRequest) -> RunRequest:
        """Authors can pass the context on: `event.traceparent` is that of this run, or else of its event."""
        event = request.event
        context = self._tracing.headers().get(TRACE_CONTEXT) or event.extensions.get(TRACE_CONTEXT, "")
        return replace(request, event=replace(event, data={**event.data, TRACE_CONTEXT: context}))

    def _ended(self, start: Start, result: RunResult) -> Ended:
        request, requeue, already_gone = start.request, result.requeue, False
        if request.writes:  # else the run has decided nothing, and what a former run waits for is still awaited
            already_gone = self._awaited.expect(start.key, request.event, result.awaited_deletions)
        if result.awaited_deletions and (requeue is None or (requeue.after or 0.0) > FOLLOWED_DELETION_SECONDS):
            # Where no watch of this process sees it, the queue's backoff decides when to look again.
            wait = FOLLOWED_DELETION_SECONDS if all(map(self._follows, result.awaited_deletions)) else None
            requeue = Requeue(reason="a deletion is awaited", after=0.0 if already_gone else wait)
        reported = any(report.delivery is not Delivery.WITHHELD for report in result.reports)
        return Ended(failed=result.status is Status.FAILED, reported=reported, requeue=requeue)

    def _log_resources(self, result: RunResult) -> None:
        """What the run did; a resource that is as it should be, or gone already, is not worth a line."""
        for record in result.resources:
            already_gone = record.operation is Operation.DELETE and record.deleted is None
            if record.operation is None or record.operation is Operation.SKIP or already_gone:
                continue
            if record.kind == "ManifestWork":
                place = {"maestro_consumer": record.namespace, "manifestwork": record.object_name}
            else:
                place = {"kind": record.kind, "namespace": record.namespace, "name": record.object_name}
            self._log.info(
                f"resource {record.name}: {record.operation.value}",
                operation=record.operation.value,
                reason=record.reason,
                **place,
            )

    def _log_end(self, request: RunRequest, result: RunResult, seconds: float) -> None:
        fields: dict[str, object] = {"cause": request.cause.value, "seconds": round(seconds, 3)}
        if request.event.type:
            fields["event_type"] = request.event.type
        if result.reports:
            fields["observed_generation"] = result.reports[-1].generation
        line = (
            f"Event execution finished: event_execution_status={result.status.value}"
            f" resources_skipped={str(result.skipped).lower()} reason={result.skip_reason}"
        )
        if result.status is Status.FAILED:
            phases = [phase.value for phase in result.errors]
            self._log.error(line, error=error_of(result), failed_phases=phases, **fields)
        else:
            self._log.info(line, **fields)


def log_fields(key: ObjectKey, event: Event) -> dict[str, str]:
    """The Go adapter's names: `event_id`, `cluster_id` or `nodepool_id`, and the owner's beside them."""
    fields = {f"{key.kind.lower()}_id": key.id}
    if event.id:
        fields["event_id"] = event.id
    owner = event.data.get("owner_references")
    if isinstance(owner, dict) and owner.get("kind") and owner.get("id"):
        fields["resource_type"] = key.kind.lower()
        fields.setdefault(f"{str(owner['kind']).lower()}_id", str(owner["id"]))
    return fields
