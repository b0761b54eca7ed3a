"""RabbitMQ and the HyperFleet API at the address of the cluster's node, where pods reach them.

The cluster has no DNS: a pod that uses the names needs `host_aliases`.
"""

from pathlib import Path
from typing import Any

from lab.real.artifacts.steps import step
from lab.real.cluster.place import Place
from lab.real.servers.hyperfleet_api import RealHyperFleetApi
from lab.real.servers.postgres import Postgres
from lab.real.servers.rabbitmq import RealRabbitMq

API_NAME, BROKER_NAME = "hyperfleet-api", "rabbitmq"
# The node's addresses are ours alone; Maestro has port 8000 there. Where systemd runs, Debian's package starts a
# RabbitMQ on every address at the usual port.
_API_PORT, _BROKER_PORT = 8800, 5673
REQUIRED_ADAPTERS = {"Cluster": ("controlplane",), "NodePool": ("nodepool",)}


class Services:
    """Both keep their data when they are killed and started."""

    def __init__(self, place: Place, folder: Path, database: Postgres) -> None:
        self._place = place
        # Otherwise the default user may connect from the same address only.
        anywhere = {"loopback_users": "none"}
        self.broker = RealRabbitMq(folder, settings=anywhere, host=place.node, port=_BROKER_PORT)
        self.api = RealHyperFleetApi(
            folder, database, required_adapters=REQUIRED_ADAPTERS, host=place.node, port=_API_PORT
        )

    def start(self) -> None:
        with step("RabbitMQ"):
            self.broker.start()
        with step("HyperFleet API"):
            self.api.prepare()
            self.api.start()

    def stop(self) -> None:
        self.api.kill()
        self.broker.stop()

    @property
    def api_url(self) -> str:
        """For pods."""
        return f"http://{API_NAME}:{_API_PORT}"

    @property
    def broker_url(self) -> str:
        """For pods."""
        return f"amqp://guest:guest@{BROKER_NAME}:{_BROKER_PORT}/"

    @property
    def host_aliases(self) -> list[dict[str, Any]]:
        return [{"ip": self._place.node, "hostnames": [API_NAME, BROKER_NAME]}]
