"""A real management cluster: an API server that knows HostedClusters, and the agent that serves it for Maestro.

There is no HyperShift operator; `lab.hypershift` plays it where one is needed.
"""

import json
import ssl
import urllib.request
from collections.abc import Sequence
from pathlib import Path

from lab.real import crds
from lab.real.agent import RealAgent
from lab.real.kubernetes import RealKubernetes
from lab.real.maestro import RealMaestro

NAMESPACE = "clusters"


class ManagementCluster:
    """`server` and `agent` may be killed and started; `consumer` is its name in Maestro."""

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
        """Start it, registered in Maestro and with the namespace that HostedClusters live in."""
        server = self.server
        server.prepare()
        server.start()
        crds.install(server, [*self._definitions, *crds.work_crds()])
        trust = ssl.create_default_context(cafile=str(server.ca_file))
        _post(f"{server.url}/api/v1/namespaces", {"metadata": {"name": NAMESPACE}}, server.admin_token, trust)
        _post(f"http://127.0.0.1:{self._maestro.rest_port}/api/maestro/v1/consumers", {"name": self.consumer})
        self.agent.start()

    def stop(self) -> None:
        self.agent.stop()
        self.server.stop()


def _post(url: str, document: object, token: str = "", trust: ssl.SSLContext | None = None) -> None:
    headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {token}"} if token else {})
    request = urllib.request.Request(url, data=json.dumps(document).encode(), headers=headers)
    urllib.request.urlopen(request, timeout=30, context=trust).close()
