"""How long the sidecar stays after a signal: long enough to hear an answer, and never too long to write it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from status_reporter.stopping import Farewell, Stage

TOLD_AT = 1000.0


def farewell(*, grace: float = 20.0, insisted: bool = False, answered: float | None = None) -> Farewell:
    """`answered` is how long after the signal."""
    answered_at = None if answered is None else TOLD_AT + answered
    return Farewell(told_at=TOLD_AT, grace=grace, insisted=insisted, answered_at=answered_at)


@pytest.mark.parametrize(
    ("after", "state", "stage"),
    [
        pytest.param(0.0, farewell(), Stage.TOLD, id="the adapter has only just been told, too"),
        pytest.param(1.9, farewell(), Stage.TOLD, id="its answer may come at any moment"),
        pytest.param(2.0, farewell(), Stage.LINGERING, id="its answer did not come soon"),
        pytest.param(9.9, farewell(), Stage.LINGERING, id="its answer may still come"),
        pytest.param(10.0, farewell(), Stage.LEAVING, id="the rest of the grace is for writing"),
        pytest.param(0.4, farewell(grace=1.0), Stage.TOLD, id="a short grace leaves a short wait"),
        pytest.param(0.5, farewell(grace=1.0), Stage.LEAVING, id="a short grace is shared in the same way"),
        pytest.param(1.9, farewell(answered=1.0), Stage.TOLD, id="it has answered and may add something"),
        pytest.param(2.0, farewell(answered=1.0), Stage.LEAVING, id="it has answered and adds nothing"),
        pytest.param(10.0, farewell(answered=9.5), Stage.LEAVING, id="it answers late and has no time to add anything"),
        pytest.param(0.0, farewell(insisted=True), Stage.LEAVING, id="another signal ends the wait"),
        pytest.param(3.0, farewell(insisted=True, answered=2.0), Stage.LEAVING, id="another signal, after an answer"),
    ],
)
def test_the_way_to_the_end(after: float, state: Farewell, stage: Stage) -> None:
    assert state.stage(TOLD_AT + after) is stage


@pytest.mark.parametrize(("insisted", "seconds"), [(False, 20.0), (True, 0.0)])
def test_writing_is_tried_again_for_the_whole_grace_unless_somebody_insists(*, insisted: bool, seconds: float) -> None:
    assert farewell(insisted=insisted).writes_until == TOLD_AT + seconds


@given(
    grace=st.floats(0.01, 3600.0),
    answered=st.none() | st.floats(0.0, 3600.0),
    insisted=st.booleans(),
    moments=st.lists(st.floats(0.0, 4000.0), min_size=2).map(sorted),
)
def test_time_leads_only_towards_the_end_and_leaves_time_to_write(
    *, grace: float, answered: float | None, insisted: bool, moments: list[float]
) -> None:
    state = farewell(grace=grace, answered=answered, insisted=insisted)
    stages = [state.stage(TOLD_AT + moment) for moment in moments]
    assert stages == sorted(stages)
    assert Stage.LIVING not in stages
    assert state.lingers_at <= state.leaves_at <= state.writes_until
    assert insisted or state.writes_until - state.leaves_at >= grace / 5
    assert state.stage(state.leaves_at) is Stage.LEAVING
