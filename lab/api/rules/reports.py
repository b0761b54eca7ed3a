"""Rules 1 to 4 of a status report: what is refused before the resource is looked at."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from lab.api.problems import invalid
from lab.api.rules.bodies import Body, read
from lab.api.rules.values import FALSE, TRUE, UNKNOWN, AdapterCondition

MOST_AHEAD = timedelta(minutes=5)
MOST_BEHIND = timedelta(minutes=30)
_METADATA_TEXTS = ("job_name", "job_namespace", "duration")
_METADATA_TIMES = ("started_time", "completed_time")


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What an adapter sent, well formed. Its conditions' times are those of the observation."""

    adapter: str
    observed_generation: int
    observed_time: datetime
    conditions: tuple[AdapterCondition, ...]
    data: dict[str, Any]
    metadata: dict[str, Any] | None

    def condition(self, kind: str) -> AdapterCondition | None:
        return next((each for each in self.conditions if each.type == kind), None)


def read_report(content: bytes, now: datetime) -> Report:
    """The report in a request's body. Raises Problem for one that is refused whatever it is about."""
    body = read(content)
    observed_time = body.time("observed_time")
    report = Report(
        adapter=body.text("adapter") or "",
        observed_generation=body.integer("observed_generation") or 0,
        observed_time=observed_time or now,
        conditions=tuple(_condition(each, observed_time or now) for each in body.objects("conditions")),
        data=body.mapping("data") or {},
        metadata=_metadata(body.mapping("metadata")),
    )
    if not report.adapter:
        raise invalid("adapter is required")
    if report.observed_generation < 1:
        raise invalid("observed_generation must be >= 1")
    _require_distinct(report.conditions)
    _require_recent(report.observed_time, now)
    return report


def _condition(body: Body, observed_time: datetime) -> AdapterCondition:
    return AdapterCondition(
        type=body.text("type") or "",
        status=body.text("status") or "",
        reason=body.text("reason"),
        message=body.text("message"),
        last_transition_time=observed_time,
    )


def _metadata(members: dict[str, Any] | None) -> dict[str, Any] | None:
    """Only what the API knows survives."""
    if members is None:
        return None
    body = Body(members, "metadata")
    known: dict[str, Any] = {name: body.text(name) for name in _METADATA_TEXTS}
    known |= {name: body.time(name) for name in _METADATA_TIMES}
    known["attempt"] = body.integer("attempt")
    return {name: value for name, value in known.items() if value is not None}


def _require_distinct(conditions: tuple[AdapterCondition, ...]) -> None:
    seen = set[str]()
    for index, condition in enumerate(conditions):
        if not condition.type:
            raise invalid(f"condition type cannot be empty at index {index}")
        if condition.type in seen:
            raise invalid(f"duplicate condition type '{condition.type}' at index {index}")
        seen.add(condition.type)
        if condition.status not in {TRUE, FALSE, UNKNOWN}:
            raise invalid(
                f"invalid status value '{condition.status}' for condition at index {index} "
                f"(type: {condition.type}): must be 'True', 'False', or 'Unknown'"
            )


def _require_recent(observed_time: datetime, now: datetime) -> None:
    if observed_time > now + MOST_AHEAD:
        raise invalid("observed_time must not be more than 5m0s in the future")
    if observed_time < now - MOST_BEHIND:
        raise invalid("observed_time must not be more than 30m0s in the past")
