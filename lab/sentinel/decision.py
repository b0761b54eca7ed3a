"""Sentinel's default rules: does this resource want attention now, and why?

Against the HyperFleet API the first two never hold: it writes Reconciled at creation, and always of the current
generation. So a resource is first announced when the debounce has passed, and again at every poll until an adapter
reports.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from shared import times


class Reason(StrEnum):
    NEW = "is_new_resource"
    GENERATION = "generation_mismatch"
    STALE = "reconciled_and_stale"
    DEBOUNCED = "not_reconciled_and_debounced"


def decide(resource: Mapping[str, Any], now: datetime, *, debounce: timedelta, stale: timedelta) -> Reason | None:
    """Why the resource is announced, None where it is left alone."""
    reconciled = _reconciled(resource)
    generation = resource["generation"]
    if reconciled is None:
        return Reason.NEW if generation == 1 else Reason.GENERATION
    if generation > reconciled["observed_generation"]:
        return Reason.GENERATION
    age = now - times.parse(reconciled["last_updated_time"])
    if reconciled["status"] == "True":
        return Reason.STALE if age > stale else None
    return Reason.DEBOUNCED if age > debounce else None


def _reconciled(resource: Mapping[str, Any]) -> Mapping[str, Any] | None:
    conditions = (resource.get("status") or {}).get("conditions") or []
    return next((each for each in conditions if each["type"] == "Reconciled"), None)
