"""`python -m lab.real.cluster.command`: a cluster for a person, up, down, and how it is."""

import argparse
import json
import sys
import time

from lab.real.building import CannotBuild
from lab.real.cluster import maestro
from lab.real.cluster.cluster import Cluster
from lab.real.cluster.daemons import Daemon
from lab.real.cluster.place import LAB
from lab.real.cluster.requirements import CannotRun
from lab.real.processes import DidNotStart


def main() -> int:
    parser = argparse.ArgumentParser(prog="cluster", description="A real Kubernetes cluster of one node.")
    parser.add_argument("what", choices=("up", "down", "status", "maestro"))
    what = parser.parse_args().what
    cluster = Cluster(LAB)
    try:
        return {"up": _up, "down": _down, "status": _status, "maestro": _maestro}[what](cluster)
    except (CannotRun, CannotBuild, DidNotStart) as error:
        print(error, file=sys.stderr)
        return 1


def _up(cluster: Cluster) -> int:
    started = time.monotonic()
    cluster.up()
    print(f"the cluster is up ({time.monotonic() - started:.0f} s); its logs are in {cluster.place.logs}")
    print(f"export KUBECONFIG={cluster.place.kubeconfig}")
    return 0


def _down(cluster: Cluster) -> int:
    cluster.down()
    print("the cluster is gone")
    return 0


def _status(cluster: Cluster) -> int:
    if not cluster.is_up():
        print("there is no cluster: make cluster")
        return 1
    print(f"export KUBECONFIG={cluster.place.kubeconfig}")
    print(cluster.kubectl("get", "nodes,pods", "--all-namespaces", "--output=wide").stdout, end="")
    return 0


def _maestro(cluster: Cluster) -> int:
    started = time.monotonic()
    cluster.up()
    daemon, told = Daemon("maestro", cluster.place), maestro.note(cluster.place)
    if daemon.pid is None:
        told.unlink(missing_ok=True)
        place = cluster.place
        daemon.start(
            [*(sys.executable, "-m", "lab.real.cluster.maestro", place.name, str(place.number))],
            ready=told.exists,
        )
    print(f"Maestro is up ({time.monotonic() - started:.0f} s); its agent manages this cluster")
    for name, value in json.loads(told.read_text()).items():
        print(f"export {name}={value}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
