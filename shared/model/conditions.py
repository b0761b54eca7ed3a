"""A condition: the state of one aspect of an object, and since when.

One type serves Kubernetes (camelCase) and HyperFleet (snake_case); the wire forms are converted here and nowhere else.
The transition rule is here too: the time of a condition changes only with its status.
"""

import re
from collections.abc import Iterable
from datetime import datetime
from enum import StrEnum
from typing import Any, NamedTuple, Self

from shared import times
from shared.errors import Invalid, Problem
from shared.untrusted_json import Fields, as_items, shown_json

MAX_TYPE_LENGTH = 316
_TYPE = re.compile(
    r"([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
)


class Status(StrEnum):
    TRUE = "True"
    FALSE = "False"
    UNKNOWN = "Unknown"


_STATUSES = frozenset(Status)


class Condition(NamedTuple):
    """One aspect's state. `last_transition_time` is None until somebody who knows the previous state sets it."""

    type: str
    status: Status
    reason: str = ""
    message: str = ""
    last_transition_time: datetime | None = None
    observed_generation: int | None = None

    def since(self, previous: Self | None, now: datetime) -> Self:
        """The same condition with its transition time: the previous one's while the status is unchanged, else `now`."""
        if previous is not None and previous.status == self.status and previous.last_transition_time is not None:
            return self._replace(last_transition_time=previous.last_transition_time)
        return self._replace(last_transition_time=now)

    def to_kubernetes(self) -> dict[str, Any]:
        wire: dict[str, Any] = {"type": self.type, "status": self.status.value}
        if self.observed_generation is not None:
            wire["observedGeneration"] = self.observed_generation
        if self.last_transition_time is not None:
            wire["lastTransitionTime"] = times.to_seconds(self.last_transition_time)
        return wire | {"reason": self.reason, "message": self.message}

    def to_hyperfleet(self) -> dict[str, Any]:
        wire: dict[str, Any] = {"type": self.type, "status": self.status.value}
        if self.observed_generation is not None:
            wire["observed_generation"] = self.observed_generation
        if self.last_transition_time is not None:
            wire["last_transition_time"] = times.to_micros(self.last_transition_time)
        return wire | {"reason": self.reason, "message": self.message}

    @classmethod
    def from_kubernetes(cls, wire: Any) -> Self:
        return cls._from_wire(wire, generation_key="observedGeneration", time_key="lastTransitionTime")

    @classmethod
    def from_hyperfleet(cls, wire: Any) -> Self:
        return cls._from_wire(wire, generation_key="observed_generation", time_key="last_transition_time")

    @classmethod
    def _from_wire(cls, wire: Any, *, generation_key: str, time_key: str) -> Self:
        problems: list[Problem] = []
        fields = Fields.of(wire, problems, required=True)
        if problems:
            raise Invalid("not a condition", problems)
        condition = cls(
            type=_type(fields),
            status=_status(fields),
            reason=fields.text("reason"),
            message=fields.text("message"),
            last_transition_time=fields.time(time_key),
            observed_generation=fields.whole_number(generation_key),
        )
        if problems:
            raise Invalid(f"condition {shown_json(fields.members.get('type'))} cannot be understood", problems)
        return condition


def find(conditions: Iterable[Condition], type_: str) -> Condition | None:
    return next((condition for condition in conditions if condition.type == type_), None)


def readable(listed: Any) -> tuple[Condition, ...]:
    """The conditions in an untrusted list; what is none is left out."""
    found = []
    for each in as_items(listed):
        try:
            found.append(Condition.from_kubernetes(each))
        except Invalid:
            continue
    return tuple(found)


def _type(fields: Fields) -> str:
    value = fields.members.get("type")
    if isinstance(value, str) and len(value) <= MAX_TYPE_LENGTH and _TYPE.fullmatch(value):
        return value
    fields.refuse("type", "must be a name such as Available or example.com/Ready")
    return ""


def _status(fields: Fields) -> Status:
    value = fields.members.get("status")
    if isinstance(value, str) and value in _STATUSES:
        return Status(value)
    fields.refuse("status", 'must be "True", "False" or "Unknown"')
    return Status.UNKNOWN
