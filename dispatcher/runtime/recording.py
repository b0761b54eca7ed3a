"""What a run leaves in metrics, log lines and the records of its object."""

import asyncio
from collections.abc import Iterable
from datetime import datetime

from dispatcher.engine.runs import (
    CallRecord,
    Cause,
    Delivery,
    RunRequest,
    RunResult,
    Status,
)
from dispatcher.observability.metrics import Metrics
from dispatcher.observability.objects import RunRecord, clean
from shared import times

SKIPPED = "skipped"
NO_ANSWER = "none"


def outcome_of(result: RunResult) -> str:
    """`success`, `failed` or `skipped`, as the Go adapter counts."""
    return SKIPPED if result.skipped and result.status is Status.SUCCESS else result.status.value


def error_of(result: RunResult) -> str:
    return "; ".join(f"{phase.value}: {text}" for phase, text in result.errors.items())


def record_of(request: RunRequest, result: RunResult, *, started: datetime, seconds: float) -> RunRecord:
    generations = [report.generation for report in result.reports if report.generation is not None]
    return RunRecord(
        started=started,
        seconds=seconds,
        cause=request.cause.value,
        outcome=outcome_of(result),
        reason=clean(result.skip_reason),
        error=clean(error_of(result)),
        generation=generations[-1] if generations else None,
        statuses=tuple(_status_text(report.delivery, report.reason) for report in result.reports),
    )


def record_of_crash(request: RunRequest, error: BaseException, *, started: datetime, seconds: float) -> RunRecord:
    """Of a run that has no result."""
    if isinstance(error, asyncio.CancelledError):
        text = "cancelled, at the deadline of a run or because the dispatcher stops"
    else:
        text = f"{type(error).__name__}: {error}"
    return RunRecord(
        started=started, seconds=seconds, cause=request.cause.value, outcome=Status.FAILED.value, error=clean(text)
    )


class RunMetrics:
    """Counts what came of runs."""

    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics

    def count(self, request: RunRequest, result: RunResult, *, seconds: float, waited: float) -> None:
        metrics, outcome, cause = self._metrics, outcome_of(result), request.cause.value
        metrics.wake_wait().observe(waited)
        metrics.runs(cause, outcome).inc()
        metrics.run_duration(cause).observe(seconds)
        if request.cause is Cause.EVENT:
            metrics.events_processed(outcome).inc()
            metrics.event_duration().observe(seconds)
        for phase in result.errors:
            metrics.errors(phase.value).inc()
        for phase, count in result.failed_expressions.items():
            metrics.expression_errors(phase.value).inc(count)
        for call in _calls(result):
            metrics.api_calls(call.method, NO_ANSWER if call.status is None else str(call.status)).inc()
        for report in result.reports:
            metrics.statuses(report.delivery.value).inc()
        self._count_resources(result)
        self._observe_report_latency(request, result)

    def count_crash(self, cause: Cause, *, seconds: float) -> None:
        """A run that ended by its deadline or by a defect."""
        self._metrics.runs(cause.value, Status.FAILED.value).inc()
        self._metrics.run_duration(cause.value).observe(seconds)
        if cause is Cause.EVENT:
            self._metrics.events_processed(Status.FAILED.value).inc()
            self._metrics.event_duration().observe(seconds)

    def _count_resources(self, result: RunResult) -> None:
        for record in result.resources:
            if record.operation is not None:
                self._metrics.applies(record.name, record.operation.value).inc()
            if record.deleted is not None:
                self._metrics.resources_deleted(record.kind, "error" if record.error else "success").inc()
                self._metrics.deletion_duration(record.kind).observe(record.seconds)

    def _observe_report_latency(self, request: RunRequest, result: RunResult) -> None:
        if not any(report.delivery is Delivery.STORED for report in result.reports):
            return
        for delivered in request.delivered:
            created = delivered.object.get("metadata", {}).get("creationTimestamp")
            if delivered.is_first and delivered.object.get("kind") == "Job" and created:
                seconds = (times.now() - times.parse(created)).total_seconds()
                self._metrics.report_latency().observe(max(0.0, seconds))


def _calls(result: RunResult) -> Iterable[CallRecord]:
    for records in (result.params, result.preconditions, result.post_actions):
        for record in records:
            yield from record.calls


def _status_text(delivery: Delivery, reason: str) -> str:
    return f"{delivery.value}: {clean(reason)}" if reason else delivery.value
