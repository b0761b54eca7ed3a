"""One step of a plan: what it does, what it says, and whether later steps have to wait for it."""

from dataclasses import dataclass, field
from typing import Any

from dpu_bridge.api.bridge import Bridge
from dpu_bridge.plan.actions import Action, Apply
from dpu_bridge.plan.differences import differs
from dpu_bridge.render.ownership import is_owned
from shared.kubernetes import Object, ObjectRef
from shared.model.conditions import Condition, Status


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    condition: Condition
    actions: tuple[Action, ...] = ()
    members: dict[str, Any] = field(default_factory=dict)

    @property
    def is_done(self) -> bool:
        return self.condition.status is Status.TRUE


def done(type_: str, reason: str, message: str, *actions: Action, **members: Any) -> Step:
    return Step(condition=_condition(type_, Status.TRUE, reason, message), actions=actions, members=members)


def blocked(type_: str, reason: str, message: str, *actions: Action, **members: Any) -> Step:
    return Step(condition=_condition(type_, Status.FALSE, reason, message), actions=actions, members=members)


def waiting(type_: str, reason: str, message: str) -> Step:
    return Step(condition=_condition(type_, Status.UNKNOWN, reason, message))


def _condition(type_: str, status: Status, reason: str, message: str) -> Condition:
    return Condition(type=type_, status=status, reason=reason, message=message)


def applied(*pairs: tuple[Object, Object | None]) -> tuple[Apply, ...]:
    """An Apply for every manifest that differs from what is stored."""
    return tuple(Apply(manifest) for manifest, stored in pairs if differs(manifest, stored))


def foreign(bridge: Bridge, *objects: Object | None) -> str:
    """Names the first object that is there and is not the bridge's own; empty where all are."""
    for each in objects:
        if each is not None and not is_owned(bridge, each):
            return str(ObjectRef.of(each))
    return ""


def not_owned(type_: str, name: str) -> Step:
    remedy = "delete it, or give the bridge another name"
    return blocked(type_, "NotOwned", f"{name} is there and belongs to somebody else; {remedy}")
