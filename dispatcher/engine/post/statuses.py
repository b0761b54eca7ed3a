"""What a status is, what the API's answer to it means, and why it may have been discarded. Nothing is asked here."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from dispatcher.engine.calls import json_object
from dispatcher.engine.ports import ApiRequest
from dispatcher.engine.runs import Requeue
from shared import times
from shared.errors import Invalid

_ENDPOINT = "/statuses"
_COMPARED = ("status", "reason", "message")
_CLOCK_MARGIN_SECONDS = 0.001


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusBody:
    """The body of a status, as the author built it."""

    url: str
    document: dict[str, Any]

    @property
    def adapter(self) -> str:
        return str(self.document.get("adapter", ""))

    @property
    def generation(self) -> int | None:
        generation = self.document.get("observed_generation")
        return generation if isinstance(generation, int) and not isinstance(generation, bool) else None

    @property
    def object_url(self) -> str:
        return _path(self.url).removesuffix(_ENDPOINT)

    @property
    def available(self) -> Any:
        return _conditions(self.document).get("Available", {}).get("status")


def status_in(request: ApiRequest, built: Mapping[str, dict[str, Any]]) -> StatusBody | None:
    """The status a request carries; None where it is another request. `built` are payloads by their text."""
    if request.method != "PUT" or not request.body or not _path(request.url).endswith(_ENDPOINT):
        return None
    try:
        document = built.get(request.body) or json_object(request.body, "the status")
    except Invalid:
        return None
    return StatusBody(url=request.url, document=document) if isinstance(document.get("conditions"), list) else None


def _path(url: str) -> str:
    return url.partition("?")[0].rstrip("/")


def own_status(listed: Mapping[str, Any], adapter: str) -> Mapping[str, Any] | None:
    """Our status in the answer of `GET …/statuses`."""
    items = listed.get("items")
    for item in items if isinstance(items, list) else ():
        if isinstance(item, Mapping) and item.get("adapter") == adapter:
            return item
    return None


def differs_from(sent: StatusBody, echoed: Mapping[str, Any]) -> bool:
    """Whether the API stored something else. An answer without conditions shows nothing."""
    if not isinstance(echoed.get("conditions"), list):
        return False
    if echoed.get("observed_generation", sent.generation) != sent.generation:
        return True
    stored = _conditions(echoed)
    return any(
        _stated(condition) != _stated(stored.get(type_, {})) for type_, condition in _conditions(sent.document).items()
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Discard:
    """Why the API discarded a status, and whether another run can change that."""

    reason: str
    requeue: Requeue | None = None


def explain_discard(
    sent: StatusBody,
    sent_time: datetime,
    found: Mapping[str, Any] | None,
    stored: Mapping[str, Any] | None,
    now: datetime,
) -> Discard:
    """`found` is the object as it is now, None where it is gone; `stored` is our status as the API has it."""
    if found is None:
        return Discard(reason="the object is gone")
    current = found.get("generation")
    if isinstance(current, int) and sent.generation is not None and current != sent.generation:
        reason = f"the object is at generation {current}, the status is of generation {sent.generation}"
        return Discard(reason=reason, requeue=Requeue(reason=reason, generation=current))
    if sent.available == "Unknown" and stored is not None:
        return Discard(reason="Available=Unknown is taken only as a first status")
    reported = reported_time(stored)
    if reported is not None and reported >= sent_time:
        reason = f"a status observed at {times.to_micros(reported)} is stored"
        after = max((reported - now).total_seconds(), 0.0) + _CLOCK_MARGIN_SECONDS
        return Discard(reason=reason, requeue=Requeue(reason=reason, after=after))
    return Discard(reason="the API does not say why")


def reported_time(stored: Mapping[str, Any] | None) -> datetime | None:
    """The `observed_time` of a status that the API has."""
    try:
        return times.parse(str((stored or {}).get("last_report_time", "")))
    except ValueError:
        return None


def _conditions(document: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    conditions = document.get("conditions")
    listed = conditions if isinstance(conditions, list) else []
    return {str(each.get("type")): each for each in listed if isinstance(each, Mapping)}


def _stated(condition: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(condition.get(key) or "" for key in _COMPARED)
