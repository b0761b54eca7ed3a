"""A real management cluster: an API server with the HostedCluster CRD, and the Maestro agent.

There is no HyperShift operator; `lab.hypershift` plays it where one is needed.
"""

import json
import ssl
import urllib.request
from collections.abc import Sequence
from pathlib import Path

from lab.real.artifacts import crds
from lab.real.servers.agent import RealAgent
from lab.real.servers.kubernetes import RealKubernetes
from lab.real.servers.maestro import RealMaestro

NAMESPACE = "clusters"


class ManagementCluster:
    """`server` and `agent` can be killed and started; `consumer` is its name in Maestro."""

    def __init__(
        self, folder: Path, maestro: RealMaestro, consumer: str, definitions: Sequence[crds.Definition] | None = None
    ) -> None:
        self.consumer = consumer
        self.server = RealKubernetes(folder)
        self.agent = RealAgent(
            folder,
            broker_address=f"127.0.0.1:{maestro.broker_port}",
            consumer=consumer,
            kubeconfig=self.server.kubeconfig,
        )
        self._maestro = maestro
        self._definitions = crds.hypershift_crds() if definitions is None else definitions

    def start(self) -> None:
        """Start it, register it in Maestro, and create the namespace of HostedClusters."""
        server = self.server
        server.prepare()
        server.start()
        crds.install(server, [*self._definitions, *crds.work_crds()])
        trust = ssl.create_default_context(cafile=str(server.ca_file))
        _post(f"{server.url}/api/v1/namespaces", {"metadata": {"name": NAMESPACE}}, server.admin_token, trust)
        _post(f"http://127.0.0.1:{self._maestro.rest_port}/api/maestro/v1/consumers", {"name": self.consumer})
        self.before_the_agent()
        self.agent.start()

    def before_the_agent(self) -> None:
        """What a test needs there before the agent starts."""

    def stop(self) -> None:
        self.agent.stop()
        self.server.stop()


def _post(url: str, document: object, token: str = "", trust: ssl.SSLContext | None = None) -> None:
    headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {token}"} if token else {})
    request = urllib.request.Request(url, data=json.dumps(document).encode(), headers=headers)
    urllib.request.urlopen(request, timeout=120, context=trust).close()
