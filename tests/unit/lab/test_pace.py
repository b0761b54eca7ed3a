"""What a scenario waits for can happen within the time that it has, at a demonstration's pace and at production's."""

import pytest

from lab.hypershift.sequences import TAKES
from lab.system import Pace


@pytest.mark.parametrize("pace", [Pace(), Pace.production()], ids=["demo", "production"])
def test_a_milestone_may_take_as_long_as_all_of_hypershift_and_a_stale_pulse(pace: Pace) -> None:
    longest = sum(TAKES.values()) / pace.hypershift_speed + pace.stale.total_seconds() + pace.job_ttl
    assert pace.timeout.total_seconds() > longest
