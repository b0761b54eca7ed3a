"""When Degraded counts, for the control plane adapter and the DPU bridge alike."""

from datetime import UTC, datetime, timedelta

import pytest

from shared.model.conditions import Condition, Status
from shared.model.damping import GracePeriods, outlasts

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
PERIODS = GracePeriods(degraded=300, install=2700)


@pytest.mark.parametrize(
    ("available", "was_up", "expected"),
    [
        pytest.param(True, True, 300, id="a running control plane has the short period"),
        pytest.param(False, False, 2700, id="one that was never up has the long period of an installation"),
        pytest.param(False, True, 0, id="one that was up and is not available has none"),
    ],
)
def test_the_grace_period_depends_on_what_the_control_plane_has_reached(
    *, available: bool, was_up: bool, expected: float
) -> None:
    assert PERIODS.of_degraded(available=available, was_up=was_up) == expected


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        pytest.param(299, False, id="within the period"),
        pytest.param(300, True, id="at its end"),
        pytest.param(None, True, id="without a time at once"),
        pytest.param(-60, False, id="from a clock that is ahead"),
    ],
)
def test_a_condition_counts_once_it_outlasts_its_period(*, seconds: float | None, expected: bool) -> None:
    since = None if seconds is None else NOW - timedelta(seconds=seconds)
    condition = Condition(type="Degraded", status=Status.TRUE, last_transition_time=since)
    assert outlasts(condition, 300, NOW) is expected
