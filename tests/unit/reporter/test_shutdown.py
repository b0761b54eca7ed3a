"""How long the sidecar stays after a signal: long enough to hear an answer, and never too long to write it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from status_reporter.shutdown import Shutdown, Stage

SIGNALLED_AT = 1000.0


def shutdown(*, grace: float = 20.0, forced: bool = False, answered: float | None = None) -> Shutdown:
    """`answered` is how long after the signal."""
    reported_at = None if answered is None else SIGNALLED_AT + answered
    return Shutdown(signalled_at=SIGNALLED_AT, grace=grace, forced=forced, reported_at=reported_at)


@pytest.mark.parametrize(
    ("after", "state", "stage"),
    [
        pytest.param(0.0, shutdown(), Stage.STOPPING, id="the adapter got the signal at the same moment"),
        pytest.param(1.9, shutdown(), Stage.STOPPING, id="its answer may come at any moment"),
        pytest.param(2.0, shutdown(), Stage.OVERDUE, id="its answer did not come soon"),
        pytest.param(9.9, shutdown(), Stage.OVERDUE, id="its answer may still come"),
        pytest.param(10.0, shutdown(), Stage.EXITING, id="the rest of the grace is for writing"),
        pytest.param(0.4, shutdown(grace=1.0), Stage.STOPPING, id="a short grace leaves a short wait"),
        pytest.param(0.5, shutdown(grace=1.0), Stage.EXITING, id="a short grace is shared in the same way"),
        pytest.param(1.9, shutdown(answered=1.0), Stage.STOPPING, id="it has answered and may add something"),
        pytest.param(2.0, shutdown(answered=1.0), Stage.EXITING, id="it has answered and adds nothing"),
        pytest.param(10.0, shutdown(answered=9.5), Stage.EXITING, id="it answers late and has no time to add anything"),
        pytest.param(0.0, shutdown(forced=True), Stage.EXITING, id="another signal ends the wait"),
        pytest.param(3.0, shutdown(forced=True, answered=2.0), Stage.EXITING, id="another signal, after an answer"),
    ],
)
def test_the_way_to_the_end(after: float, state: Shutdown, stage: Stage) -> None:
    assert state.stage(SIGNALLED_AT + after) is stage


@pytest.mark.parametrize(("forced", "seconds"), [(False, 20.0), (True, 0.0)])
def test_writing_is_tried_again_for_the_whole_grace_unless_somebody_insists(*, forced: bool, seconds: float) -> None:
    assert shutdown(forced=forced).write_deadline == SIGNALLED_AT + seconds


@given(
    grace=st.floats(0.01, 3600.0),
    answered=st.none() | st.floats(0.0, 3600.0),
    forced=st.booleans(),
    moments=st.lists(st.floats(0.0, 4000.0), min_size=2).map(sorted),
)
def test_time_leads_only_towards_the_end_and_leaves_time_to_write(
    *, grace: float, answered: float | None, forced: bool, moments: list[float]
) -> None:
    state = shutdown(grace=grace, answered=answered, forced=forced)
    stages = [state.stage(SIGNALLED_AT + moment) for moment in moments]
    assert stages == sorted(stages)
    assert Stage.RUNNING not in stages
    assert state.overdue_at <= state.exits_at <= state.write_deadline
    assert forced or state.write_deadline - state.exits_at >= grace / 5
    assert state.stage(state.exits_at) is Stage.EXITING
