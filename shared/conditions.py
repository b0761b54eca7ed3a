"""A condition: what is known about one aspect of an object, and since when.

One type serves Kubernetes (camelCase) and HyperFleet (snake_case); the wire forms are converted here and nowhere else.
*The* transition rule lives here too: the time of a condition moves only when its status does.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Any, Self

from shared import times
from shared.errors import Invalid, Problem

MAX_TYPE_LENGTH = 316
_TYPE = re.compile(
    r"([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
)


class Status(StrEnum):
    TRUE = "True"
    FALSE = "False"
    UNKNOWN = "Unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """One aspect's state. `last_transition_time` is None until somebody who knows the former state sets it."""

    type: str
    status: Status
    reason: str = ""
    message: str = ""
    last_transition_time: datetime | None = None
    observed_generation: int | None = None

    def since(self, previous: Self | None, now: datetime) -> Self:
        """The same condition with its transition time: the former one's while the status is unchanged, else `now`."""
        if previous is not None and previous.status == self.status and previous.last_transition_time is not None:
            return replace(self, last_transition_time=previous.last_transition_time)
        return replace(self, last_transition_time=now)

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
        if not isinstance(wire, Mapping):
            raise Invalid("not a condition", [Problem("", f"must be an object, not {wire!r:.60}")])
        problems: list[Problem] = []
        condition = cls(
            type=_type(wire.get("type"), problems),
            status=_status(wire.get("status"), problems),
            reason=_text(wire, "reason", problems),
            message=_text(wire, "message", problems),
            last_transition_time=_time(wire, time_key, problems),
            observed_generation=generation(wire, generation_key, problems),
        )
        if problems:
            raise Invalid(f"condition {wire.get('type')!r:.60} cannot be understood", problems)
        return condition


def find(conditions: Iterable[Condition], type_: str) -> Condition | None:
    return next((condition for condition in conditions if condition.type == type_), None)


def generation(wire: Mapping[str, Any], key: str, problems: list[Problem]) -> int | None:
    """The whole number at `key`; JSON has only one kind of number, so 3.0 is 3."""
    value = wire.get(key)
    if value is None:
        return None
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**63:
        problems.append(Problem(key, f"must be a whole number from 0, not {value!r:.60}"))
        return None
    return value


def _type(value: Any, problems: list[Problem]) -> str:
    if not isinstance(value, str) or len(value) > MAX_TYPE_LENGTH or not _TYPE.fullmatch(value):
        problems.append(Problem("type", f"must be a name such as Available or example.com/Ready, not {value!r:.60}"))
        return ""
    return value


def _status(value: Any, problems: list[Problem]) -> Status:
    try:
        return Status(value)
    except ValueError:
        problems.append(Problem("status", f'must be "True", "False" or "Unknown", not {value!r:.60}'))
        return Status.UNKNOWN


def _text(wire: Mapping[str, Any], key: str, problems: list[Problem]) -> str:
    value = wire.get(key)
    if value is None:
        return ""
    if not isinstance(value, str):
        problems.append(Problem(key, f"must be a string, not {value!r:.60}"))
        return ""
    return value


def _time(wire: Mapping[str, Any], key: str, problems: list[Problem]) -> datetime | None:
    value = wire.get(key)
    if value is None:
        return None
    try:
        return times.parse(value if isinstance(value, str) else repr(value))
    except ValueError as error:
        problems.append(Problem(key, str(error)))
        return None
