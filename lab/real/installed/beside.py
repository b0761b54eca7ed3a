"""`make system`: everything that adapters need beside Maestro, for manual use, in one process until SIGTERM.

RabbitMQ and the HyperFleet API are real. Sentinel, the adapters that the control plane waits for and the HyperShift
operator are the lab's.
"""

import asyncio
import contextlib
import json
import shutil
import sys
from datetime import timedelta
from pathlib import Path

from lab.hypershift.operator import Operator
from lab.loopback import until_stopped
from lab.real.cluster.cluster import Cluster
from lab.real.cluster.place import Place
from lab.real.installed.dependencies import Dependencies
from lab.real.installed.services import Services
from lab.real.servers.postgres import Postgres
from lab.sentinel import LabSentinel, Sentinel
from lab.sentinel.rabbitmq import RabbitPublisher

TOPIC = "hyperfleet-clusters"
# A control plane takes some seconds.
_SPEED = 60.0


def note(place: Place) -> Path:
    """The file with the addresses of what runs."""
    return place.folder / "system.json"


async def serve(place: Place) -> None:
    folder = place.scratch / "system"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(mode=0o711, parents=True)
    database = Postgres(folder)
    with contextlib.ExitStack() as servers:
        servers.callback(shutil.rmtree, folder)
        database.start()
        servers.callback(database.stop)
        services = Services(place, folder, database)
        services.start()
        servers.callback(services.stop)
        await _play(place, services)


async def _play(place: Place, services: Services) -> None:
    control_plane = Cluster(place).control_plane
    async with (
        LabSentinel(_sentinel(services.api.url), RabbitPublisher(services.broker.url)),
        Dependencies(services.api.url),
        Operator(control_plane.url, control_plane.admin_token, control_plane.ca_file, speed=_SPEED),
    ):
        addresses = {
            "NODE_ADDRESS": place.node,
            "HYPERFLEET_API": services.api.url,
            "RABBITMQ_URL": services.broker_url,
        }
        note(place).write_text(json.dumps(addresses))
        await until_stopped()
        note(place).unlink()


def _sentinel(api_url: str) -> Sentinel:
    """Faster than the real one's defaults, for people who watch."""
    second = timedelta(seconds=1)
    return Sentinel(api_url=api_url, topic=TOPIC, poll_interval=second, debounce=5 * second, stale=60 * second)


if __name__ == "__main__":
    asyncio.run(serve(Place(sys.argv[1], int(sys.argv[2]))))
