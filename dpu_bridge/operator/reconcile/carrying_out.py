"""Carries out a plan: its actions one after the other, then the status once, if it changed."""

import base64
import contextlib
import secrets
from dataclasses import replace
from datetime import datetime
from typing import Any

from dpu_bridge.api.bridge import Bridge
from dpu_bridge.api.conditions import READY
from dpu_bridge.api.kinds import API_VERSION, ENCRYPTION_KEY_KEY, FIELD_MANAGER, KIND
from dpu_bridge.plan import Action, Apply, CreateEncryptionKey, Delete, Patch, Plan
from dpu_bridge.plan.actions import DELETING
from dpu_bridge.plan.mirroring import reported
from shared import logs
from shared.errors import AlreadyExists, Conflict, HyperFleetError, NotFound, Transient
from shared.kubernetes import KubernetesClient
from shared.model.conditions import Condition, Status

ENCRYPTION_KEY_BYTES = 32
log = logs.get(__name__)


async def carry_out(client: KubernetesClient, bridge: Bridge, made: Plan, now: datetime) -> None:
    """A refused action is reported in Ready before it is raised; one that was overtaken is raised alone.

    One that fails for a moment is reported while the bridge is being deleted: a deletion has a time limit.
    """
    for action in made.actions:
        try:
            await _perform(client, action)
        except Conflict:
            raise
        except Transient as error:
            if made.members.get("phase") == DELETING:
                with contextlib.suppress(Transient):
                    await write_status(client, bridge, _refused(made, action, error), now)
            raise
        except HyperFleetError as error:
            await write_status(client, bridge, _refused(made, action, error), now)
            raise
        log.info(str(action), bridge="/".join(bridge.key))
    await write_status(client, bridge, made, now)


async def write_status(client: KubernetesClient, bridge: Bridge, made: Plan, now: datetime) -> None:
    if not made.conditions:
        return
    status = status_of(bridge, made, now)
    if status == bridge.previous:
        return
    metadata = {"name": bridge.name, "namespace": bridge.namespace}
    document = {"apiVersion": API_VERSION, "kind": KIND, "metadata": metadata, "status": status}
    with contextlib.suppress(NotFound):  # its finalizer was the last thing that held it
        await client.apply(document, manager=FIELD_MANAGER, subresource="status")


def status_of(bridge: Bridge, made: Plan, now: datetime) -> dict[str, Any]:
    """Times move only with a condition's status. The order of conditions is the plan's."""
    before = {each.type: each for each in reported({"status": bridge.previous})}
    conditions = [
        each._replace(observed_generation=bridge.generation).since(before.get(each.type), now).to_kubernetes()
        for each in sorted(made.conditions, key=lambda each: each.type)
    ]
    return {**made.members, "conditions": conditions}


async def _perform(client: KubernetesClient, action: Action) -> None:
    match action:
        case Apply(manifest):
            await client.apply(manifest, manager=FIELD_MANAGER)
        case CreateEncryptionKey(manifest):
            key = base64.b64encode(secrets.token_bytes(ENCRYPTION_KEY_BYTES)).decode()
            with contextlib.suppress(AlreadyExists):
                await client.create({**manifest, "data": {ENCRYPTION_KEY_KEY: key}}, manager=FIELD_MANAGER)
        case Patch(ref, body):
            await client.patch(ref, body, manager=FIELD_MANAGER)
        case Delete(ref, uid):
            with contextlib.suppress(NotFound):
                await client.delete(ref, uid=uid)


def _refused(made: Plan, action: Action, error: HyperFleetError) -> Plan:
    message = f"cannot {action}: {error}"
    ready = Condition(type=READY, status=Status.FALSE, reason=type(error).__name__, message=message)
    others = tuple(each for each in made.conditions if each.type != READY)
    phase = DELETING if made.members.get("phase") == DELETING else "Failed"
    return replace(made, conditions=(*others, ready), members={**made.members, "phase": phase})
