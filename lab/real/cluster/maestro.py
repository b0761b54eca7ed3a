"""Maestro for the cluster: pods reach it at the node's address, by certificate, and the cluster is what it manages.

The cluster is both sides at once: the regional one where adapter Jobs run, and the management cluster that the agent
puts HostedClusters on. Who may speak for which source is asked from its own API server.
"""

import json
import shutil
import signal
import ssl
import sys
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Mapping
from http import HTTPStatus
from pathlib import Path
from typing import Any

from lab.real.artifacts import crds
from lab.real.artifacts.steps import step
from lab.real.cluster.certificates import Pair
from lab.real.cluster.cluster import Cluster
from lab.real.cluster.place import Place
from lab.real.servers.agent import Credentials, RealAgent
from lab.real.servers.maestro import Listening, RealMaestro
from lab.real.servers.postgres import Postgres
from lab.tls import Tls

CONSUMER = "mgmt-01"
NAMESPACE = "clusters"
SOURCE = "controlplane-adapter"
# The source of the Job in jobs/maestro-cli.
CLI_SOURCE = "maestro-cli"
_CLIENTS = "hyperfleet-adapters"
_TIMEOUT = 120


class ClusterMaestro:
    """It runs as long as the process that started it. `server` and `agent` can be killed and started."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        place, issue = cluster.place, cluster.authority.issue
        self.ca_file = cluster.authority.certificate
        self.client: Pair = issue("maestro-client", common_name=SOURCE, group=_CLIENTS)
        own = issue("maestro", common_name="maestro", addresses=(place.node, "maestro"))
        at = Listening(host=place.node)
        self.rest_url = f"https://{place.node}:{at.rest}"
        self.grpc_address, self.broker_address = f"{place.node}:{at.grpc}", f"{place.node}:{at.broker}"
        self._folder = place.scratch
        if self._folder.exists():
            shutil.rmtree(self._folder)
        self._folder.mkdir(mode=0o711)
        self.database = Postgres(self._folder)
        tls = Tls(certificate=own.certificate, key=own.key, client_authority=self.ca_file)
        self.server = RealMaestro(
            self._folder, self.database, "maestro", tls=tls, broker_tls=tls, at=at, reviewer=place.kubeconfig
        )
        shown = issue("maestro-agent", common_name=f"{CONSUMER}-work-agent", group="maestro-agents")
        self.agent = RealAgent(
            self._folder,
            broker_address=self.broker_address,
            consumer=CONSUMER,
            kubeconfig=place.kubeconfig,
            credentials=Credentials(ca_file=self.ca_file, certificate=shown.certificate, key=shown.key),
        )

    def start(self) -> None:
        namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}
        with step("definitions of HostedClusters and works"):
            crds.install(self._cluster.control_plane, [*crds.hypershift_crds(), *crds.work_crds()])
            self._cluster.apply(namespace, *_rights())
        with step("Maestro and its database"):
            self.database.start()
            self.server.prepare()
            self.server.start()
            self._register()
        with step("Maestro's agent"):
            self.agent.start()

    def stop(self) -> None:
        """Kill at once: nothing is kept, and a graceful stop takes many seconds."""
        self.agent.kill()
        self.server.kill()
        self.database.stop()
        shutil.rmtree(self._folder)

    @property
    def environment(self) -> dict[str, str]:
        """The settings of a client on this machine."""
        return {
            "MAESTRO_API_URL": self.rest_url,
            "MAESTRO_GRPC_URL": self.grpc_address,
            "MAESTRO_SOURCE_ID": SOURCE,
            "MAESTRO_CA_FILE": str(self.ca_file),
            "MAESTRO_CERT_FILE": str(self.client.certificate),
            "MAESTRO_KEY_FILE": str(self.client.key),
            "MANAGEMENT_CLUSTER_CONSUMER": CONSUMER,
        }

    def works_of(self, cluster_id: str) -> list[dict[str, Any]]:
        """The works of a cluster in Maestro, from all sources."""
        return [each for each in self.works() if cluster_id in json.dumps(each)]

    def works(self) -> list[dict[str, Any]]:
        """All works in Maestro, from all sources."""
        query = urllib.parse.urlencode({"search": f"consumer_name = '{CONSUMER}'", "size": -1})
        held: list[dict[str, Any]] = self._ask(f"resource-bundles?{query}")["items"]
        return held

    def _register(self) -> None:
        try:
            self._ask("consumers", {"name": CONSUMER})
        except urllib.error.HTTPError as error:
            if error.code != HTTPStatus.CONFLICT:
                raise

    def _ask(self, path: str, document: Mapping[str, object] | None = None) -> Any:
        request = urllib.request.Request(
            f"{self.rest_url}/api/maestro/v1/{path}",
            data=None if document is None else json.dumps(document).encode(),
            headers={"Content-Type": "application/json"},
        )
        trust = ssl.create_default_context(cafile=str(self.ca_file))
        with urllib.request.urlopen(request, timeout=_TIMEOUT, context=trust) as answer:
            return json.load(answer)


def note(place: Place) -> Path:
    """The file with the addresses of the running Maestro."""
    return place.folder / "maestro.json"


def _rights() -> tuple[Mapping[str, object], Mapping[str, object]]:
    """Clients with a certificate of our group may publish and subscribe for our sources only."""
    name = "maestro-sources-hyperfleet"
    sources = [f"/sources/{each}" for each in (SOURCE, CLI_SOURCE)]
    group = "rbac.authorization.k8s.io"
    role = {
        "apiVersion": f"{group}/v1",
        "kind": "ClusterRole",
        "metadata": {"name": name},
        "rules": [{"nonResourceURLs": sources, "verbs": ["pub", "sub"]}],
    }
    binding = {
        "apiVersion": f"{group}/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": name},
        "roleRef": {"apiGroup": group, "kind": "ClusterRole", "name": name},
        "subjects": [{"apiGroup": group, "kind": "Group", "name": _CLIENTS}],
    }
    return role, binding


def main(name: str, number: str) -> None:
    """Run until SIGTERM; SIGHUP starts the agent anew. This process and its children are in the cluster's cgroup."""
    awaited = {signal.SIGTERM, signal.SIGINT, signal.SIGHUP}
    signal.pthread_sigmask(signal.SIG_BLOCK, awaited)
    place = Place(name, int(number))
    maestro = ClusterMaestro(Cluster(place))
    maestro.start()
    note(place).write_text(json.dumps(maestro.environment))
    while signal.sigwait(awaited) == signal.SIGHUP:
        maestro.agent.kill()
        maestro.agent.start()
    note(place).unlink()
    maestro.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
