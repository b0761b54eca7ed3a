"""`python -m lab.real.cluster.command`: a cluster for manual use, with our images, and Maestro on request.

What belongs into a shell goes to standard output; how it goes on, to standard error.
"""

import argparse
import asyncio
import contextlib
import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from lab.hypershift.operator import Operator
from lab.real.artifacts.go_binaries import CannotBuild, built
from lab.real.artifacts.helm import PACKAGE
from lab.real.artifacts.images import CannotContain
from lab.real.artifacts.kubernetes import program
from lab.real.artifacts.steps import step
from lab.real.cluster import job_template, maestro
from lab.real.cluster.cluster import Cluster
from lab.real.cluster.host.daemons import Daemon
from lab.real.cluster.host.requirements import CannotRun
from lab.real.cluster.node import images
from lab.real.cluster.place import LAB
from lab.real.installed import beside
from lab.real.servers.postgres import programs
from lab.real.servers.processes import DidNotStart
from lab.real.servers.rabbitmq import check_programs

# A control plane takes some seconds.
_SPEED = 60.0


def build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="cluster", description="A real Kubernetes cluster of one node.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for name, (command, explained) in _COMMANDS.items():
        commands.add_parser(name, help=explained).set_defaults(run=command)
    job = commands.add_parser("job", help="print the Job for the cluster of a snapshot")
    job.add_argument("snapshot", type=Path)
    job.set_defaults(run=_job)
    return parser


def main() -> int:
    arguments = vars(build_parser().parse_args())
    run: Callable[..., int] = arguments.pop("run")
    try:
        return run(Cluster(LAB), **arguments)
    except (CannotRun, CannotBuild, CannotContain, DidNotStart) as error:
        print(error, file=sys.stderr)
        return 1


def _up(cluster: Cluster) -> int:
    with step("the cluster is up"):
        cluster.up()
        names = _images(cluster)
    print(f"           its logs are in {cluster.place.logs}", file=sys.stderr)
    _export({"PATH": f"$PATH:{program('kubectl').parent}", "KUBECONFIG": str(cluster.place.kubeconfig)} | names)
    return 0


def _down(cluster: Cluster) -> int:
    with step("the cluster is gone"):
        cluster.down()
    return 0


def _status(cluster: Cluster) -> int:
    if not cluster.is_up():
        print("there is no cluster; start it with: make cluster", file=sys.stderr)
        return 1
    _export({"KUBECONFIG": str(cluster.place.kubeconfig)})
    print(cluster.kubectl("get", "nodes,pods", "--all-namespaces", "--output=wide").stdout, end="")
    return 0


def _maestro(cluster: Cluster) -> int:
    programs()
    _up(cluster)
    place, addresses = cluster.place, maestro.note(cluster.place)
    daemon = Daemon("maestro", place)
    with step("Maestro is up, and its agent manages this cluster"):
        if daemon.pid is None:
            addresses.unlink(missing_ok=True)
            command = [sys.executable, "-m", "lab.real.cluster.maestro", place.name, str(place.number)]
            daemon.start(command, ready=addresses.exists)
    _export(json.loads(addresses.read_text()))
    return 0


def _system(cluster: Cluster) -> int:
    check_programs()
    place, addresses = cluster.place, beside.note(cluster.place)
    _maestro(cluster)
    daemon = Daemon("system", place)
    with step("RabbitMQ, the HyperFleet API and the lab's Sentinel are up"):
        if daemon.pid is None:
            addresses.unlink(missing_ok=True)
            command = [sys.executable, "-m", "lab.real.installed.beside", place.name, str(place.number)]
            daemon.start(command, ready=addresses.exists)
    helm = built("helm", PACKAGE)
    _export({"PATH": f"$PATH:{helm.parent}", "DISPATCHER_IMAGE": images.dispatcher(place)})
    _export(json.loads(addresses.read_text()))
    return 0


def _job(cluster: Cluster, snapshot: Path) -> int:
    addresses = maestro.note(cluster.place)
    if not addresses.exists():
        print("there is no Maestro; start it with: make maestro", file=sys.stderr)
        return 1
    reached, names = json.loads(addresses.read_text()), _images(cluster)
    job = job_template.rendered(
        json.loads(snapshot.read_text()),
        adapter_image=names["ADAPTER_IMAGE"],
        reporter_image=names["REPORTER_IMAGE"],
        maestro_api_url=reached["MAESTRO_API_URL"],
        maestro_grpc_url=reached["MAESTRO_GRPC_URL"],
        consumer=reached["MANAGEMENT_CLUSTER_CONSUMER"],
    )
    print(json.dumps(job, indent=2))
    return 0


def _hypershift(cluster: Cluster) -> int:
    async def play() -> None:
        way = cluster.control_plane
        async with Operator(way.url, way.admin_token, way.ca_file, speed=_SPEED) as operator:
            await operator.task

    if not cluster.is_up():
        return _status(cluster)
    print("simulating the HyperShift operator until Ctrl-C", file=sys.stderr)
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(play())
    return 0


def _images(cluster: Cluster) -> dict[str, str]:
    place = cluster.place
    return {"ADAPTER_IMAGE": images.adapter(place), "REPORTER_IMAGE": images.reporter(place)}


def _export(variables: Mapping[str, str]) -> None:
    for name, value in variables.items():
        print(f"export {name}={value}")


_COMMANDS = {
    "up": (_up, "start it, and bring our images to it"),
    "down": (_down, "take it away, with all that it left on this machine"),
    "status": (_status, "show what runs on it"),
    "maestro": (_maestro, "start it with Maestro and its agent"),
    "system": (_system, "start it with everything that adapters need: install them with Helm"),
    "hypershift": (_hypershift, "play the operator that brings HostedClusters up, much faster than the real one"),
}

if __name__ == "__main__":
    sys.exit(main())
