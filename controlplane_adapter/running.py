"""One run: settings and snapshot in, at most one write to Maestro, one report out, whatever happens in between.

The report is written on every path: done, refused, out of time, told to stop, badly configured, or surprised.
"""

import asyncio
import contextlib
import signal
import traceback
from collections.abc import Coroutine, Mapping
from typing import Any

from controlplane_adapter import __version__
from controlplane_adapter.acting import Result, act
from controlplane_adapter.deciding import Refuse, Wanted
from controlplane_adapter.exits import Exit, exit_for
from controlplane_adapter.overlay import overlaid, read_overlay
from controlplane_adapter.placement import Listed, Placement, Static, place
from controlplane_adapter.rendering import hosted_cluster
from controlplane_adapter.reporting import report_of, report_of_failure
from controlplane_adapter.settings import RESERVE_SECONDS, Settings, load, results_path
from controlplane_adapter.validation import problems_of
from controlplane_adapter.work import hosted_cluster_in, owner_labels, work_for, work_name
from shared import logs, times
from shared.errors import DeadlineExceeded, HyperFleetError, Permanent, Problem, Unavailable
from shared.maestro import MaestroClient
from shared.manifestwork import Json, ManifestWork
from shared.report import AdapterReport


class Stopped(Unavailable):
    """The pod was told to end before the run was done."""


def run(environment: Mapping[str, str]) -> Exit:
    """The whole life of the container."""
    code, report = asyncio.run(_live(environment))
    path = results_path(environment)
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


async def _live(environment: Mapping[str, str]) -> tuple[Exit, AdapterReport]:
    settings: Settings | None = None
    try:
        logs.configure_from(environment, component="controlplane-adapter", version=__version__)
        settings = load(environment)
        return await _until_stopped(_deliver(settings), settings.budget - RESERVE_SECONDS)
    except HyperFleetError as error:
        return exit_for(error), _failure(error, settings)
    except Exception as error:  # noqa: BLE001 - a surprise is reported too, and then told by the exit code
        traceback.print_exc()
        surprise = Permanent(
            "the adapter failed", why=f"{type(error).__name__}: {error}", remedy="this is a bug: tell us"
        )
        return Exit.PERMANENT, _failure(surprise, settings)


async def _until_stopped(
    work: Coroutine[Any, Any, tuple[Exit, AdapterReport]], seconds: float
) -> tuple[Exit, AdapterReport]:
    """What `work` gives, unless the pod is stopped or the time is over first."""
    task = asyncio.ensure_future(work)
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopped.set)
    waiting = asyncio.ensure_future(stopped.wait())
    await asyncio.wait({task, waiting}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    waiting.cancel()
    if task.done():
        return task.result()
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task
    if stopped.is_set():
        raise Stopped("the pod was stopped before the adapter was done", remedy="the next run goes on from here")
    raise DeadlineExceeded(f"the adapter's time of {seconds:g} s is over", remedy="the next run goes on from here")


async def _deliver(settings: Settings) -> tuple[Exit, AdapterReport]:
    snapshot = settings.snapshot
    name = work_name(snapshot.cluster_id)
    overlay = read_overlay(settings.overlay_path) if settings.overlay_path else {}
    async with MaestroClient(settings.maestro) as client:
        consumer = await place(client, name, str(snapshot.spec.get("gcp_region") or ""), _placement(settings))
        works = client.works(consumer, owner_labels=owner_labels(snapshot.cluster_id))

        def wish(stored: ManifestWork | None) -> Wanted:
            return wanted_of(settings, consumer, overlay, stored)

        result = await act(client, works, wish, name=name, patience=settings.confirmation)
    return _exit_of(result), report_of(
        result,
        generation=snapshot.generation,
        deleting=snapshot.deleted_time is not None,
        limits=settings.limits,
        now=times.now(),
    )


def wanted_of(settings: Settings, consumer: str, overlay: Json, stored: ManifestWork | None) -> Wanted:
    """What the snapshot's generation asks for, given the work that is there."""
    snapshot = settings.snapshot
    deleting = snapshot.deleted_time is not None
    work: ManifestWork | None = None
    problems: tuple[Problem, ...] = ()
    if not deleting:
        before = hosted_cluster_in(stored) if stored else None
        infra_id = before["spec"].get("infraID") if before else None
        manifest = overlaid(hosted_cluster(snapshot, settings.render, infra_id=infra_id), overlay)
        problems = tuple(problems_of(snapshot, manifest, settings.render))
        if not problems:
            work = work_for(manifest, cluster_id=snapshot.cluster_id, consumer=consumer, generation=snapshot.generation)
    return Wanted(
        cluster_id=snapshot.cluster_id,
        generation=snapshot.generation,
        deleting=deleting,
        node_pools=snapshot.node_pools,
        work=work,
        problems=problems,
    )


def _placement(settings: Settings) -> Placement:
    if settings.placement_url:
        return Listed(settings.placement_url, settings.maestro.timeout)
    return Static(settings.consumer)


def _exit_of(result: Result) -> Exit:
    """A refusal of the wish will be repeated for this generation, so another pod would not help."""
    return Exit.PERMANENT if isinstance(result.plan, Refuse) else Exit.REPORTED


def _failure(error: HyperFleetError, settings: Settings | None) -> AdapterReport:
    snapshot = settings.snapshot if settings else None
    return report_of_failure(
        error,
        generation=snapshot.generation if snapshot else None,
        deleting=snapshot is not None and snapshot.deleted_time is not None,
        now=times.now(),
    )
