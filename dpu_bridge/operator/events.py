"""Kubernetes events on a bridge. One that cannot be written is logged: it must not stop what it reports."""

import socket

from dpu_bridge.api.bridge import Bridge
from dpu_bridge.api.kinds import API_VERSION, FIELD_MANAGER, KIND
from dpu_bridge.plan import Notice
from shared import logs, times
from shared.errors import HyperFleetError
from shared.kubernetes import KubernetesClient

LONGEST_MESSAGE = 1024
log = logs.get(__name__)


async def emit(client: KubernetesClient, bridge: Bridge, notice: Notice) -> None:
    moment = times.to_seconds(times.now())
    involved = {"apiVersion": API_VERSION, "kind": KIND, "namespace": bridge.namespace, "name": bridge.name}
    event = {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"generateName": f"{bridge.name}.", "namespace": bridge.namespace},
        "involvedObject": {**involved, "uid": bridge.uid},
        "type": "Warning" if notice.is_warning else "Normal",
        "reason": notice.reason,
        "message": notice.message[:LONGEST_MESSAGE],
        "source": {"component": FIELD_MANAGER, "host": socket.gethostname()},
        "firstTimestamp": moment,
        "lastTimestamp": moment,
        "count": 1,
    }
    try:
        await client.create(event)
    except HyperFleetError as error:
        log.warning("an event cannot be written", bridge="/".join(bridge.key), reason=notice.reason, error=str(error))
