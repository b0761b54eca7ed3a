"""When Sentinel announces a resource, and when it leaves it alone."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from lab.sentinel.decision import Reason, decide

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)


def resource(generation: int = 2, status: str = "", observed: int = 2, seconds: float = 0) -> dict[str, Any]:
    updated = (NOW - timedelta(seconds=seconds)).isoformat()
    reconciled = {"type": "Reconciled", "status": status, "observed_generation": observed, "last_updated_time": updated}
    other = {"type": "LastKnownReconciled", "status": "True", "observed_generation": 9, "last_updated_time": updated}
    return {"generation": generation, "status": {"conditions": [other, *([reconciled] if status else [])]}}


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        pytest.param(resource(1), Reason.NEW, id="new, without Reconciled"),
        pytest.param(resource(2), Reason.GENERATION, id="changed, without Reconciled"),
        pytest.param({"generation": 1}, Reason.NEW, id="without a status"),
        pytest.param({"generation": 1, "status": {"conditions": None}}, Reason.NEW, id="without conditions"),
        pytest.param(resource(3, "True", 2), Reason.GENERATION, id="Reconciled of an older generation"),
        pytest.param(resource(2, "False", seconds=10), None, id="not reconciled, reported 10 s ago"),
        pytest.param(resource(2, "False", seconds=10.001), Reason.DEBOUNCED, id="not reconciled, longer ago"),
        pytest.param(resource(2, "Unknown", seconds=11), Reason.DEBOUNCED, id="Reconciled unknown"),
        pytest.param(resource(2, "True", seconds=1800), None, id="reconciled, reported 30 min ago"),
        pytest.param(resource(2, "True", seconds=1800.001), Reason.STALE, id="reconciled, longer ago"),
        pytest.param(resource(2, "True", seconds=-60), None, id="reported in the future"),
    ],
)
def test_a_resource_is_announced(given: dict[str, Any], reason: Reason | None) -> None:
    assert decide(given, NOW, debounce=timedelta(seconds=10), stale=timedelta(minutes=30)) is reason
