"""maestro-cli: what a call of it costs. Beside `list` stands a bare socket that reads the same pages."""

import asyncio
import json
import subprocess
import sys
from dataclasses import dataclass

from lab.maestro import LabMaestro
from shared.maestro import MaestroClient, MaestroSettings
from shared.model.manifestwork import ManifestWork

SIZES = (20, 300, 3000)
CONSUMER = "mgmt-01"
_BARE = """
import json, sys, urllib.request
url, after, seen = sys.argv[1], "", 0
while True:
    search = f"consumer_name='mgmt-01'" + (f" and id > '{after}'" if after else "")
    query = urllib.parse.urlencode({"orderBy": "id", "size": "100", "page": "1", "search": search})
    items = json.load(urllib.request.urlopen(f"{url}/api/maestro/v1/resource-bundles?{query}"))["items"]
    seen += len(items)
    if len(items) < 100: break
    after = items[-1]["id"]
print(seen)
"""


# A child's peak includes what its parent had when it forked, so a small parent starts it.
_SPAWN = """
import json, os, sys, time
started = time.perf_counter()
silent = [(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]
pid = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ, file_actions=silent)
_, status, used = os.wait4(pid, 0)
assert status == 0, sys.argv
print(json.dumps([time.perf_counter() - started, (used.ru_utime + used.ru_stime) * 1000, used.ru_maxrss / 1024]))
"""


@dataclass(frozen=True, slots=True)
class Cost:
    seconds: float
    cpu_ms: float
    peak_mib: float


def main() -> None:
    print("\nmaestro-cli: one call, whole process\n")
    print(f"{'call':<26} {'seconds':>8} {'CPU ms':>8} {'peak MiB':>9}")
    _show("--help", _measure([sys.executable, "-m", "maestro_cli", "--help"], times=5))
    asyncio.run(_against_stand_in())


async def _against_stand_in() -> None:
    async with LabMaestro() as server:
        settings = MaestroSettings(
            grpc_server_address=server.grpc_address,
            http_server_address=server.rest_url,
            source_id="maestro-cli",
            insecure=True,
        )
        async with MaestroClient(settings) as client:
            await client.consumers.create(CONSUMER)
            created = 0
            for size in SIZES:
                for number in range(created, size):
                    manifest = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "n"}}
                    work = ManifestWork(name=f"w{number:05}", consumer=CONSUMER, manifests=(manifest,))
                    await client.works(CONSUMER).create(work)
                created = size
                await asyncio.to_thread(_reads, server.rest_url, server.grpc_address, size)


def _reads(rest_url: str, grpc_address: str, size: int) -> None:
    command = [sys.executable, "-m", "maestro_cli", "--http-endpoint", rest_url, "--grpc-endpoint", grpc_address]
    command += ["--grpc-insecure"]
    _show(f"get, {size} works", _measure([*command, "get", f"w{size - 1:05}", "-c", CONSUMER]))
    _show(f"list, {size} works", _measure([*command, "list", "-c", CONSUMER]))
    _show("  the same by a bare socket", _measure([sys.executable, "-c", "import urllib.parse\n" + _BARE, rest_url]))


def _measure(command: list[str], *, times: int = 3) -> Cost:
    """The median call of some, by its wall time."""
    return sorted((_once(command) for _ in range(times)), key=lambda cost: cost.seconds)[times // 2]


def _once(command: list[str]) -> Cost:
    measured = subprocess.run(
        [sys.executable, "-S", "-c", _SPAWN, *command], check=True, capture_output=True, text=True
    )
    return Cost(*json.loads(measured.stdout))


def _show(call: str, cost: Cost) -> None:
    print(f"{call:<26} {cost.seconds:>8.2f} {cost.cpu_ms:>8.0f} {cost.peak_mib:>9.1f}")
