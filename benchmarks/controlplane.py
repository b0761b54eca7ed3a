"""One Get-and-report pass of the control plane adapter, as a whole process: CPU, memory and time.

Maestro is the stand-in in its own process. The work exists and is confirmed, so nothing is written, as in most runs of
the adapter. For comparison: an interpreter that does nothing, and one that only imports what the adapter imports. Each
starts as in the image. Other processes only add to the CPU time of a run, so the least is nearest to its own.
"""

import asyncio
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from benchmarks import _image
from lab.maestro.agent import Agent
from shared.maestro import MaestroClient, MaestroSettings

RUNS = 15
CPU_BUDGET_MS, MEMORY_BUDGET_MIB = 250.0, 42.0
CONSUMER = "bench-mgmt-01"
SNAPSHOT = Path(__file__).parents[1] / "jobs" / "controlplane" / "cluster.json"
# The operating system counts the parent's memory before the exec as the child's, so the child prints its own.
_PRINT_MEMORY = "print(re.search(r'VmHWM:\\s+(\\d+)', open('/proc/self/status').read())[1])"
_PROGRAMS = {
    "python, doing nothing": "pass",
    "loading the adapter": "import gc; gc.disable(); import controlplane_adapter.run",
    "the whole run": "from controlplane_adapter.__main__ import main; code = main(); assert code == 0, code",
}


@dataclass(frozen=True, slots=True)
class Cost:
    cpu_ms: float
    memory_mib: float
    wall_ms: float
    least_cpu_ms: float


def main() -> None:
    print(f"\ncontrol plane adapter: one Get-and-report pass, whole process, median of {RUNS}\n")
    with tempfile.TemporaryDirectory() as text:
        folder = Path(text)
        in_image = _image.environment(folder)
        costs = asyncio.run(_measure(folder, in_image))
        imports = _largest_imports(in_image)
    print(f"{'':<24} {'CPU':>10} {'least':>10} {'memory':>12} {'time':>10}")
    for label, cost in costs.items():
        cpu = f"{cost.cpu_ms:7.0f} ms {cost.least_cpu_ms:7.0f} ms"
        print(f"{label:<24} {cpu} {cost.memory_mib:8.1f} MiB {cost.wall_ms:7.0f} ms")
    whole, loading = costs["the whole run"], costs["loading the adapter"]
    print(f"\nof the CPU, {loading.cpu_ms / whole.cpu_ms:.0%} goes into loading; the largest parts of that:")
    for name, milliseconds in imports:
        print(f"  {name:<28} {milliseconds:6.0f} ms")
    verdicts = {"median": whole.cpu_ms, "least": whole.least_cpu_ms}
    kept = ", ".join(f"{name} {_kept(cpu <= CPU_BUDGET_MS)}" for name, cpu in verdicts.items())
    memory = _kept(whole.memory_mib <= MEMORY_BUDGET_MIB)
    print(f"budget {CPU_BUDGET_MS:.0f} ms CPU: {kept}; {MEMORY_BUDGET_MIB:.0f} MiB: {memory}")


def _kept(within: bool) -> str:  # noqa: FBT001 - the only argument
    return "kept" if within else "NOT KEPT"


async def _measure(folder: Path, in_image: Mapping[str, str]) -> dict[str, Cost]:
    command = [sys.executable, "-c", "import lab.maestro.command as c; c.main()", "--output", "json"]
    server = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
    assert server.stdout is not None
    try:
        addresses = json.loads(await server.stdout.readline())
        environment = {
            **in_image,
            "CLUSTER_SNAPSHOT_PATH": str(SNAPSHOT),
            "RESULTS_OUTPUT_PATH": str(folder / "adapter-report.json"),
            "MAESTRO_API_URL": addresses["rest"],
            "MAESTRO_GRPC_URL": addresses["grpc"],
            "MAESTRO_INSECURE": "true",
            "MANAGEMENT_CLUSTER_CONSUMER": CONSUMER,
            "LOG_FORMAT": "json",
        }
        await _deliver(environment, addresses)
        return await asyncio.to_thread(_costs, environment)
    finally:
        server.terminate()
        await server.wait()


async def _deliver(environment: Mapping[str, str], addresses: Mapping[str, str]) -> None:
    """The run that creates the work, which the measured ones find."""
    settings = MaestroSettings(
        grpc_server_address=addresses["grpc"],
        http_server_address=addresses["rest"],
        source_id="controlplane-adapter",
        insecure=True,
    )
    async with MaestroClient(settings) as client:
        await client.consumers.create(CONSUMER)
        async with Agent(addresses["broker"], CONSUMER):
            await asyncio.to_thread(_run, _PROGRAMS["the whole run"], environment)


def _costs(environment: Mapping[str, str]) -> dict[str, Cost]:
    """Turn by turn, so that whatever else the machine does falls on all alike."""
    runs: dict[str, list[Cost]] = {label: [] for label in _PROGRAMS}
    for _ in range(RUNS):
        for label, program in _PROGRAMS.items():
            runs[label].append(_run(program, environment))
    return {label: _median(costs) for label, costs in runs.items()}


def _median(costs: list[Cost]) -> Cost:
    return Cost(
        cpu_ms=statistics.median(cost.cpu_ms for cost in costs),
        memory_mib=statistics.median(cost.memory_mib for cost in costs),
        wall_ms=statistics.median(cost.wall_ms for cost in costs),
        least_cpu_ms=min(cost.cpu_ms for cost in costs),
    )


def _run(program: str, environment: Mapping[str, str]) -> Cost:
    began = time.perf_counter()
    process = subprocess.Popen(
        [*_image.PYTHON, "-c", f"import re; {program}; {_PRINT_MEMORY}"],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdout is not None
    printed = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, "the adapter did not report; run it by hand to see why"
    wall = time.perf_counter() - began
    cpu = (usage.ru_utime + usage.ru_stime) * 1000
    return Cost(cpu, float(printed) / 1024, wall * 1000, cpu)


def _largest_imports(environment: Mapping[str, str]) -> list[tuple[str, float]]:
    """Packages by the time that loading them took in all, without what others had loaded before."""
    command = [*_image.PYTHON, "-X", "importtime", "-c", "import controlplane_adapter.run"]
    printed = subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stderr
    spent: dict[str, float] = {}
    for own, name in re.findall(r"import time:\s+(\d+) \|\s+\d+ \|\s+([\w.]+)", printed):
        package = ".".join(name.split(".")[: 2 if name.startswith("google.") else 1])
        spent[package] = spent.get(package, 0.0) + int(own) / 1000
    return sorted(spent.items(), key=lambda each: -each[1])[:8]


if __name__ == "__main__":
    main()
