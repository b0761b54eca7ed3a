"""When the sidecar may write, must wake and must stop."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from status_reporter.pacing import Pacing
from status_reporter.shutdown import Stage

BEGAN = 1000.0
QUIET = Pacing(began=BEGAN, max_wait=300.0, grace=20.0)
WRITTEN = QUIET._replace(written_at=BEGAN + 10.0)
STOPPING = QUIET.signalled(BEGAN + 10.0)


@pytest.mark.parametrize(
    ("pacing", "after", "allowed"),
    [
        pytest.param(QUIET, 0.0, True, id="the first write is never delayed"),
        pytest.param(WRITTEN, 10.5, False, id="the next one waits"),
        pytest.param(WRITTEN, 11.0, True, id="for a second"),
    ],
)
def test_writes_keep_a_distance(pacing: Pacing, after: float, *, allowed: bool) -> None:
    assert pacing.may_write(BEGAN + after) is allowed


@pytest.mark.parametrize(
    ("pacing", "now", "pod_awaited", "wakes_after"),
    [
        pytest.param(QUIET, 0.0, False, 300.0, id="the end of the wait"),
        pytest.param(QUIET, 0.0, True, 2.0, id="the pod is awaited for two seconds"),
        pytest.param(WRITTEN, 10.2, False, 11.0, id="a delayed write"),
        pytest.param(STOPPING, 10.0, False, 12.0, id="a report after the signal is overdue"),
        pytest.param(STOPPING, 12.5, False, 20.0, id="the end of the shutdown's wait"),
        pytest.param(STOPPING.reported(BEGAN + 13.0), 13.0, False, 14.0, id="a second after the last report"),
    ],
)
def test_it_wakes_when_something_is_due(pacing: Pacing, now: float, *, pod_awaited: bool, wakes_after: float) -> None:
    assert pacing.wakes_at(BEGAN + now, pod_awaited=pod_awaited) == BEGAN + wakes_after


@pytest.mark.parametrize(
    ("pacing", "after", "waits"),
    [
        pytest.param(QUIET, 0.0, True, id="at first"),
        pytest.param(QUIET, 2.0, False, id="not for long"),
        pytest.param(QUIET._replace(max_wait=0.5), 0.6, False, id="never beyond the whole wait"),
        pytest.param(QUIET.signalled(BEGAN), 0.0, False, id="not after a signal"),
    ],
)
def test_a_report_waits_for_the_pod_that_dates_it(pacing: Pacing, after: float, *, waits: bool) -> None:
    assert pacing.waits_for_pod(BEGAN + after) is waits


@pytest.mark.parametrize(
    ("pacing", "now", "seconds"),
    [
        pytest.param(QUIET, 0.0, 10.0, id="ten seconds"),
        pytest.param(STOPPING, 25.0, 5.0, id="what is left of the grace period"),
        pytest.param(STOPPING, 40.0, 1.0, id="a second in any case"),
    ],
)
def test_a_request_takes_no_longer_than_there_is_time(pacing: Pacing, now: float, seconds: float) -> None:
    assert pacing.request_timeout(BEGAN + now) == seconds


@pytest.mark.parametrize(
    ("pacing", "started", "refused_since", "deadline"),
    [
        pytest.param(QUIET, 0.0, None, 300.0, id="the whole wait"),
        pytest.param(QUIET, 295.0, None, 325.0, id="at least thirty seconds"),
        pytest.param(QUIET, 0.0, 3.0, 8.0, id="a refusal is believed after five seconds"),
        pytest.param(STOPPING, 0.0, None, 30.0, id="the grace period after a signal"),
        pytest.param(STOPPING, 0.0, 28.0, 30.0, id="a refusal near its end"),
        pytest.param(STOPPING.signalled(BEGAN + 12.0), 0.0, None, 10.0, id="no retry after a second signal"),
    ],
)
def test_a_write_is_retried_until_its_deadline(
    pacing: Pacing, started: float, refused_since: float | None, deadline: float
) -> None:
    since = None if refused_since is None else BEGAN + refused_since
    assert pacing.write_deadline(BEGAN + started, since) == BEGAN + deadline


def test_a_report_before_any_signal_changes_nothing() -> None:
    assert QUIET.reported(BEGAN + 5.0) == QUIET
    assert QUIET.stage(BEGAN + 5.0) is Stage.RUNNING


@given(
    max_wait=st.floats(0.01, 4000.0),
    grace=st.floats(0.01, 100.0),
    written=st.none() | st.floats(0.0, 100.0),
    signal=st.none() | st.floats(0.0, 100.0),
    after=st.floats(0.0, 100.0),
)
def test_it_never_sleeps_beyond_the_end_of_the_wait(
    max_wait: float, grace: float, written: float | None, signal: float | None, after: float
) -> None:
    pacing = Pacing(began=BEGAN, max_wait=max_wait, grace=grace)
    if written is not None:
        pacing = pacing._replace(written_at=BEGAN + written)
    if signal is not None:
        pacing = pacing.signalled(BEGAN + signal)
    assert pacing.wakes_at(BEGAN + after, pod_awaited=False) <= BEGAN + max_wait
