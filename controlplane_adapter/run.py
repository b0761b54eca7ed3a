"""One run: settings and snapshot in, at most one write to Maestro, one report out.

The report is written on every path: success, refusal, timeout, SIGTERM, invalid settings and internal errors.
"""

import asyncio
import contextlib
from collections.abc import Coroutine, Mapping
from typing import Any, NoReturn, TypeVar

from controlplane_adapter import setting_table as table
from controlplane_adapter.ending import end
from controlplane_adapter.exits import Exit, exit_for
from controlplane_adapter.reconcile.errors import InternalError, OutOfTime, Stopped
from controlplane_adapter.reconcile.loop import reconcile
from controlplane_adapter.reconcile.observe import Progress, observe
from controlplane_adapter.reconcile.plan import Plan, Refuse
from controlplane_adapter.reconcile.refusals import INVALID_SETTINGS
from controlplane_adapter.setting_table import RESERVE_SECONDS
from controlplane_adapter.settings import CANNOT_START, Settings, read
from controlplane_adapter.status.report import build_failure_report, build_report
from controlplane_adapter.status.thresholds import Thresholds
from controlplane_adapter.stop_signals import StopSignals
from shared import __version__, logs, times
from shared.environment import Environment
from shared.errors import HyperFleetError, Misconfigured, Problem
from shared.maestro import MaestroClient
from shared.model.report import AdapterReport
from shared.redaction import redact_text

_COMPONENT = "controlplane-adapter"
_NEXT_RUN = "the next run continues"

T = TypeVar("T")


def run(variables: Mapping[str, str], stops: StopSignals) -> Exit:
    """Run the adapter once; `stops` may have received a signal already."""
    settings: Settings | None = None
    progress = Progress()
    try:
        settings, problems = _read(variables)
        work = _observe(settings, problems, progress) if problems else _reconcile(settings, progress)
        code, report = asyncio.run(_until_stopped(work, settings.budget - RESERVE_SECONDS, stops))
    except HyperFleetError as error:
        code, report = exit_for(error), _failure_report(error, settings, progress)
    except Exception as error:  # noqa: BLE001 - an internal error is reported as well
        logs.get(__name__).exception("internal error")
        why = redact_text(f"{type(error).__name__}: {error}")
        internal = InternalError("the adapter failed", why=why, remedy="this is a bug: report it with this log")
        code, report = exit_for(internal), _failure_report(internal, settings, progress)
    logs.bind(consumer=progress.consumer)
    return end(code, report, variables)


def _read(variables: Mapping[str, str]) -> tuple[Settings, list[Problem]]:
    """The settings with their problems, as `settings.read`; raises Misconfigured where nothing can be observed."""
    problems: list[Problem] = []
    try:
        logs.configure_from(variables, component=_COMPONENT, version=__version__)
    except Misconfigured as error:
        logs.configure_from({}, component=_COMPONENT, version=__version__)
        problems += error.problems
    _bind(variables)
    settings, others = read(variables)
    problems += others
    if settings is None:
        raise Misconfigured(CANNOT_START, problems)
    logs.bind(cluster_id=settings.snapshot.cluster_id, generation=settings.snapshot.generation)
    return settings, problems


def _bind(variables: Mapping[str, str]) -> None:
    """What the Job says about itself is on every log line, also where its settings cannot be used."""
    named = {"cluster_id": table.CLUSTER_ID, "generation": table.GENERATION, "consumer": table.CONSUMER}
    environment = Environment(variables)
    logs.bind(**{key: environment.read(setting) or None for key, setting in {**named, "job": table.JOB_NAME}.items()})


async def _until_stopped(work: Coroutine[Any, Any, T], seconds: float, stops: StopSignals) -> T:
    """The result of a run, unless the pod is stopped or the time budget ends first."""
    task = asyncio.ensure_future(work)
    stopped, loop = asyncio.Event(), asyncio.get_running_loop()

    def stop() -> None:
        loop.call_soon_threadsafe(stopped.set)

    stops.call(stop)
    waiting = asyncio.ensure_future(stopped.wait())
    try:
        await asyncio.wait({task, waiting}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    finally:
        stops.call(None)
        waiting.cancel()
    if task.done():
        return task.result()
    await _cancelled(task)
    if stopped.is_set():
        raise Stopped("the pod was stopped before the adapter finished", remedy=_NEXT_RUN)
    raise OutOfTime(f"the adapter did not finish within its time budget of {seconds:g}s", remedy=_NEXT_RUN)


async def _cancelled(task: asyncio.Future[Any]) -> None:
    task.cancel()
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(RESERVE_SECONDS / 2):
            await asyncio.gather(task, return_exceptions=True)


async def _observe(settings: Settings, problems: list[Problem], progress: Progress) -> NoReturn:
    """Change nothing with malformed settings, and report the control plane as it is."""
    try:
        async with MaestroClient(settings.maestro) as client:
            progress.record(await observe(client, settings.snapshot.cluster_id))
    except HyperFleetError as error:
        logs.get(__name__).warning("cannot observe the control plane", error=str(error))
    raise Misconfigured(
        "invalid settings, nothing was changed", problems, remedy="correct these settings of the control plane adapter"
    )


async def _reconcile(settings: Settings, progress: Progress) -> tuple[Exit, AdapterReport]:
    async with MaestroClient(settings.maestro) as client:
        result = await reconcile(settings.request, client, progress)
    if result.work is not None:
        progress.consumer = result.work.consumer
    snapshot = settings.snapshot
    report = build_report(
        result,
        generation=snapshot.generation,
        deleting=snapshot.deleted_time is not None,
        thresholds=settings.thresholds,
        now=times.now(),
    )
    return _exit_for_plan(result.plan), report


def _exit_for_plan(plan: Plan) -> Exit:
    """A refused generation would be refused again, so another pod would not help."""
    match plan:
        case Refuse(reason=reason):
            return Exit.MISCONFIGURED if reason == INVALID_SETTINGS else Exit.PERMANENT
        case _:
            return Exit.REPORTED


def _failure_report(error: HyperFleetError, settings: Settings | None, progress: Progress) -> AdapterReport:
    snapshot = settings.snapshot if settings else None
    return build_failure_report(
        error,
        observed=progress.observed,
        generation=snapshot.generation if snapshot else None,
        deleting=snapshot is not None and snapshot.deleted_time is not None,
        thresholds=settings.thresholds if settings else Thresholds(),
        now=times.now(),
    )
