"""One run of the demonstration: start the lab, show scenarios, and stop it or leave it running."""

import sys
from collections.abc import Sequence

import httpx

from lab.demo.bridge_chapter import dpu_bridge
from lab.demo.cluster_api import ClusterApi
from lab.demo.lines_to_try import lines_to_try
from lab.demo.observing import Observer
from lab.demo.scenarios import SCENARIOS, Scenario, left_running
from lab.demo.timeline import Timeline
from lab.loopback import stop_signal
from lab.system import LabSystem, Pace
from lab.system.bridge_system import BridgeSystem

BRIDGE = "dpu-bridge"
ALL = (*SCENARIOS, BRIDGE)
DEFAULT = ("happy", BRIDGE)


async def run(chosen: Sequence[str], pace: Pace, *, keep: bool) -> int:
    """0, or 1 where something did not happen as it should."""
    timeline = Timeline()
    code = 0
    if keep or any(name in SCENARIOS for name in chosen):
        code |= await _show_clusters([name for name in chosen if name in SCENARIOS], pace, timeline, keep=keep)
    if BRIDGE in chosen and not keep:
        code |= await _show_bridge(pace, timeline)
    timeline.table()
    return code


async def _show_clusters(names: Sequence[str], pace: Pace, timeline: Timeline, *, keep: bool) -> int:
    timeline.section("starting the lab: HyperFleet API, Sentinel, broker, Kubernetes, Maestro, HyperShift, dispatchers")
    code = 0
    async with LabSystem(pace=pace) as system:
        timeline.reached("everything runs")
        for name in names:
            code |= await _show(name, SCENARIOS[name], system, timeline, clean_up=True)
        if keep:
            code |= await _show("--keep", left_running, system, timeline, clean_up=False)
            stopped = stop_signal()
            print(lines_to_try(system), flush=True)
            await stopped.wait()
    timeline.reached("everything is stopped")
    return code


async def _show(name: str, scenario: Scenario, system: LabSystem, timeline: Timeline, *, clean_up: bool) -> int:
    timeline.section(f"{name}: {scenario.__doc__}")
    async with (
        httpx.AsyncClient(base_url=f"{system.api.url}/api/hyperfleet/v1", timeout=120) as http,
        Observer(system, timeline),
    ):
        api = ClusterApi(system, timeline, http)
        try:
            await scenario(api)
            if clean_up:
                await api.delete_all()
        except (RuntimeError, httpx.HTTPError) as error:
            print(f"\n{name}: {error}\n{system.dispatchers['controlplane'].tail()}", file=sys.stderr)
            return 1
    return 0


async def _show_bridge(pace: Pace, timeline: Timeline) -> int:
    timeline.section(f"{BRIDGE}: {dpu_bridge.__doc__}")
    async with BridgeSystem(hypershift_speed=pace.hypershift_speed) as system:
        try:
            await dpu_bridge(system, timeline, pace.timeout)
        except RuntimeError as error:
            print(f"\n{BRIDGE}: {error}\n{system.log.read_text(errors='replace')[-2000:]}", file=sys.stderr)
            return 1
    return 0
