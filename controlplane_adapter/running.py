"""One run: settings and snapshot in, at most one write to Maestro, one report out, whatever happens in between.

The report is written on every path: done, refused, out of time, told to stop, badly configured, or surprised.
"""

import asyncio
import contextlib
import signal
import traceback
from collections.abc import Coroutine, Mapping, Sequence
from pathlib import Path
from typing import Any

from controlplane_adapter import __version__
from controlplane_adapter.deciding import Refuse
from controlplane_adapter.delivering import deliver
from controlplane_adapter.exits import Exit, exit_for
from controlplane_adapter.failures import OutOfTime, Stopped, Surprised
from controlplane_adapter.reporting import report_of, report_of_failure
from controlplane_adapter.settings import RESERVE_SECONDS, Settings, load, results_path
from shared import logs, times
from shared.errors import HyperFleetError, Misconfigured, Problem
from shared.maestro import MaestroClient
from shared.report import AdapterReport

_GOES_ON = "the next run goes on from here"


def run(environment: Mapping[str, str], stops: Sequence[int]) -> Exit:
    """The whole life of the container; `stops` are the signals that came before anybody could act on them."""
    return asyncio.run(_live(environment, stops))


async def _live(environment: Mapping[str, str], stops: Sequence[int]) -> Exit:
    settings: Settings | None = None
    try:
        settings = _set_up(environment)
        code, report = await _until_stopped(_deliver(settings), settings.budget - RESERVE_SECONDS, stops)
    except HyperFleetError as error:
        code, report = exit_for(error), _failure(error, settings)
    except Exception as error:  # noqa: BLE001 - a surprise is reported too, and then told by the exit code
        traceback.print_exc()
        why = f"{type(error).__name__}: {error}"
        surprise = Surprised("the adapter failed", why=why, remedy="this is a bug: tell us")
        code, report = exit_for(surprise), _failure(surprise, settings)
    return _written(code, report, results_path(environment))


def _set_up(environment: Mapping[str, str]) -> Settings:
    problems: list[Problem] = []
    try:
        logs.configure_from(environment, component="controlplane-adapter", version=__version__)
    except Misconfigured as error:
        problems += error.problems
    try:
        settings = load(environment)
    except Misconfigured as error:
        problems += error.problems
    if problems:
        raise Misconfigured("the control plane adapter cannot be set up", problems)
    return settings


async def _until_stopped(
    work: Coroutine[Any, Any, tuple[Exit, AdapterReport]], seconds: float, stops: Sequence[int]
) -> tuple[Exit, AdapterReport]:
    """What `work` gives, unless the pod is stopped or the time is over first."""
    task = asyncio.ensure_future(work)
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopped.set)
    if stops:
        stopped.set()
    waiting = asyncio.ensure_future(stopped.wait())
    await asyncio.wait({task, waiting}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    waiting.cancel()
    if task.done():
        return task.result()
    task.cancel()
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(RESERVE_SECONDS / 2):
            await asyncio.gather(task, return_exceptions=True)
    if stopped.is_set():
        raise Stopped("the pod was stopped before the adapter was done", remedy=_GOES_ON)
    raise OutOfTime(f"the adapter's time of {seconds:g} s is over", remedy=_GOES_ON)


async def _deliver(settings: Settings) -> tuple[Exit, AdapterReport]:
    async with MaestroClient(settings.maestro) as client:
        result = await deliver(settings, client)
    snapshot = settings.snapshot
    report = report_of(
        result,
        generation=snapshot.generation,
        deleting=snapshot.deleted_time is not None,
        limits=settings.limits,
        now=times.now(),
    )
    # A refusal of the wish will be repeated for this generation, so another pod would not help.
    return Exit.PERMANENT if isinstance(result.plan, Refuse) else Exit.REPORTED, report


def _failure(error: HyperFleetError, settings: Settings | None) -> AdapterReport:
    snapshot = settings.snapshot if settings else None
    return report_of_failure(
        error,
        generation=snapshot.generation if snapshot else None,
        deleting=snapshot is not None and snapshot.deleted_time is not None,
        now=times.now(),
    )


def _written(code: Exit, report: AdapterReport, path: Path) -> Exit:
    log = logs.get(__name__)
    try:
        report.write(path)
    except (OSError, HyperFleetError) as error:
        log.exception("the report cannot be written", path=str(path), error=str(error))
        return Exit.UNREPORTED
    for condition in report.conditions:
        log.info(
            "reported",
            condition=f"{condition.type}={condition.status}",
            reason=condition.reason,
            detail=condition.message,
            observed_generation=report.observed_generation,
        )
    return code
