"""The bridge operator: how long a decision on a certificate request takes, and what 200 bridges cost.

The bridges are on one real API server, which plays their hosted clusters too; HyperShift is simulated. The operator is
a process of its own, without the `kubernetes` package, as in its image. LONG=1 watches it idle for five minutes.
BENCH_BRIDGES and BENCH_IDLE_SECONDS change the size.
"""

import asyncio
import base64
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import yaml

from benchmarks._process import cpu_seconds, resident_mib
from dpu_bridge.api.kinds import API_VERSION, DPF, HYPERSHIFT, KIND
from dpu_bridge.certificates import Approve, Dpu, decide, request_of
from lab.dpf import definitions
from lab.dpf.certificate_requests import bootstrap
from lab.dpf.kubeconfigs import publish_kubeconfigs
from lab.hypershift.operator import Operator
from lab.kubeconfig import kubeconfig
from lab.real.artifacts import images
from lab.real.artifacts.crds import hypershift_crds, install
from lab.real.servers.kubernetes import RealKubernetes
from shared.kubernetes import KubernetesClient, Object, ObjectRef, Selection, access_source

BRIDGES = int(os.environ.get("BENCH_BRIDGES", "200"))
IDLE_SECONDS = float(os.environ.get("BENCH_IDLE_SECONDS", "300" if os.environ.get("LONG") else "60"))
DECISIONS, CHANGES = 2000, 20
CRD = Path(__file__).parents[1] / "charts/dpu-hcp-bridge/templates/dpuhcpbridges.crd.yaml"
CLUSTERS, DPF_NAMESPACE, OPERATOR, METALLB = "clusters", "dpf", "dpu-hcp-bridge", "metallb-system"
AS_IN_ITS_IMAGE = "import sys; sys.modules['kubernetes'] = None; from dpu_bridge.__main__ import main; sys.exit(main())"


def main() -> None:
    _decisions()
    if not any(images.kept().glob("kubernetes-*/kube-apiserver")):
        print("(the real API server has not been built here, so 200 bridges are left out: `make e2e` builds it)")
        return
    with tempfile.TemporaryDirectory() as folder:
        server = RealKubernetes(Path(folder))
        try:
            server.prepare()
            server.start()
            install(server, [*hypershift_crds(), *definitions.ALL, yaml.safe_load(CRD.read_text())])
            asyncio.run(_measure(server))
        finally:
            server.stop()


def _decisions() -> None:
    document = bootstrap("dpu-1")
    cluster = ("dpf", "bluefields")
    dpu = Dpu(name="dpu-1", cluster=cluster, phase="DPU Cluster Config")
    taken = []
    for _ in range(DECISIONS):
        started = time.perf_counter()
        decision = decide(request_of(document), dpu=dpu, node=None, dpu_cluster=cluster, denies=False)
        taken.append((time.perf_counter() - started) * 1e6)
        assert isinstance(decision, Approve)
    cuts = statistics.quantiles(taken, n=100)
    print(f"\nbridge: a decision on a certificate request: p50 {cuts[49]:.0f} µs, p99 {cuts[98]:.0f} µs\n")


async def _measure(server: RealKubernetes) -> None:
    async with (
        KubernetesClient(access_source(str(server.kubeconfig))) as client,
        Operator(server.url, server.admin_token, server.ca_file, speed=2000.0),
    ):
        publishing = asyncio.create_task(
            publish_kubeconfigs(client, kubeconfig(server.url, server.admin_token, server.ca_file))
        )
        await _prepare(client)
        process = _start(server)
        try:
            await _report(client, process.pid)
        finally:
            process.terminate()
            process.wait()
            publishing.cancel()


async def _report(client: KubernetesClient, pid: int) -> None:
    started = time.monotonic()
    await _until(lambda: _all_ready(client))
    print(f"{BRIDGES} bridges from nothing to Ready: {time.monotonic() - started:.1f} s")
    await asyncio.sleep(30)  # leases, watches and statuses settle
    before, began = cpu_seconds(pid), time.monotonic()
    await asyncio.sleep(IDLE_SECONDS)
    share = (cpu_seconds(pid) - before) / (time.monotonic() - began)
    print(f"idle for {IDLE_SECONDS:.0f} s: {share:.2%} of a core, {resident_mib(pid):.0f} MiB")
    taken = [await _change(client, number) for number in range(CHANGES)]
    print(f"from a change to its HostedCluster: p50 {statistics.median(taken):.0f} ms, most {max(taken):.0f} ms")


async def _change(client: KubernetesClient, number: int) -> float:
    wanted = "HighlyAvailable"
    started = time.monotonic()
    await client.patch(_ref(API_VERSION, KIND, f"b{number}"), {"spec": {"infrastructureAvailabilityPolicy": wanted}})

    async def applied() -> bool:
        cluster = await client.get(_ref(HYPERSHIFT, "HostedCluster", f"b{number}"))
        return bool(cluster["spec"]["infrastructureAvailabilityPolicy"] == wanted)

    await _until(applied, every=0.005)
    return (time.monotonic() - started) * 1000


async def _prepare(client: KubernetesClient) -> None:
    for name in (CLUSTERS, DPF_NAMESPACE, OPERATOR, METALLB):
        await client.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
    images_map = {"name": "ocp-bluefield-images", "namespace": OPERATOR}
    content = {"4.22.0": "registry.example.com/bluefield:4.22.0"}
    await client.create({"apiVersion": "v1", "kind": "ConfigMap", "metadata": images_map, "data": content})
    for name, key, value in (("ssh", "id_rsa.pub", "ssh"), ("pull", ".dockerconfigjson", json.dumps({"auths": {}}))):
        data = {key: base64.b64encode(value.encode()).decode()}
        metadata = {"name": name, "namespace": CLUSTERS}
        await client.create({"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "data": data})
    for number in range(BRIDGES):
        metadata = {"name": f"d{number}", "namespace": DPF_NAMESPACE}
        spec = {"type": "example.com/hypershift"}
        await client.create({"apiVersion": DPF, "kind": "DPUCluster", "metadata": metadata, "spec": spec})
        await client.create(_bridge(number))


def _bridge(number: int) -> Object:
    spec = {
        "dpuClusterRef": {"name": f"d{number}", "namespace": DPF_NAMESPACE},
        "baseDomain": "example.com",
        "sshKeySecretRef": {"name": "ssh"},
        "pullSecretRef": {"name": "pull"},
        "ocpReleaseImage": "registry.example.com/ocp-release:4.22.0-multi",
        "exposeThroughLoadBalancer": True,
        "metalLBVirtualIP": f"192.0.{number // 250}.{number % 250 + 1}",
        "clusterType": "example.com/hypershift",
    }
    metadata = {"name": f"b{number}", "namespace": CLUSTERS}
    return {"apiVersion": API_VERSION, "kind": KIND, "metadata": metadata, "spec": spec}


def _start(server: RealKubernetes) -> "subprocess.Popen[bytes]":
    environment = {
        **os.environ,
        "BRIDGE_KUBECONFIG": str(server.kubeconfig),
        "POD_NAMESPACE": OPERATOR,
        "HEALTH_PORT": "0",
        "METRICS_PORT": "0",
        "LOG_LEVEL": "error",
    }
    return subprocess.Popen([sys.executable, "-c", AS_IN_ITS_IMAGE], env=environment)


async def _all_ready(client: KubernetesClient) -> bool:
    listed = await client.list(Selection(api_version=API_VERSION, kind=KIND))
    return len(listed) == BRIDGES and all((each.get("status") or {}).get("phase") == "Ready" for each in listed)


async def _until(holds: Callable[[], Awaitable[bool]], *, every: float = 1.0) -> None:
    async with asyncio.timeout(900):
        while not await holds():  # noqa: ASYNC110 - a measurement looks from outside
            await asyncio.sleep(every)


def _ref(api_version: str, kind: str, name: str) -> ObjectRef:
    return ObjectRef(api_version=api_version, kind=kind, namespace=CLUSTERS, name=name)


if __name__ == "__main__":
    main()
