"""The time of a status: of its observation, later than all before, on the clock that is furthest ahead."""

from datetime import UTC, datetime, timedelta

from dispatcher.engine.post.observed_times import MAX_AHEAD, ObservedTimes

KEY = ("/clusters/a/statuses", "tests")
NOW = datetime(2026, 1, 2, tzinfo=UTC)
SECOND = timedelta(seconds=1)


def test_the_time_is_that_of_the_observation() -> None:
    assert ObservedTimes().next(KEY, NOW, delivered=True) == NOW


def test_a_delivered_object_is_not_reported_after_a_later_one() -> None:
    times = ObservedTimes()
    times.sent(KEY, NOW, NOW)
    assert times.next(KEY, NOW - SECOND, delivered=True) is None


def test_a_run_that_read_all_anew_is_later_than_what_was_sent_before() -> None:
    times = ObservedTimes()
    times.sent(KEY, NOW, NOW)
    sent = times.next(KEY, NOW - SECOND, delivered=False)
    assert sent is not None
    assert sent > NOW


def test_statuses_are_moved_to_the_clock_of_a_replica_that_is_ahead() -> None:
    times = ObservedTimes()
    times.learn(NOW + 2 * SECOND, NOW)
    assert times.next(KEY, NOW + SECOND, delivered=True) == NOW + 3 * SECOND
    assert times.next(("/clusters/b/statuses", "tests"), NOW, delivered=False) == NOW + 2 * SECOND


def test_what_was_observed_before_the_clock_was_moved_is_not_reported_after_a_later_one() -> None:
    times = ObservedTimes()
    times.sent(KEY, NOW, NOW)
    times.learn(NOW + 2 * SECOND, NOW)
    assert times.next(KEY, NOW - SECOND, delivered=True) is None


def test_two_replicas_do_not_drive_each_other_forward() -> None:
    """Each sees what the other has sent a little later."""
    behind, ahead, skew, latency = ObservedTimes(), ObservedTimes(), 2 * SECOND, SECOND / 100
    for number in range(1, 100):
        at = NOW + number * SECOND
        behind.learn(ahead.moved(at + skew), at + latency)
        ahead.learn(behind.moved(at), at + skew + latency)
    assert behind.moved(NOW) == NOW + skew - latency
    assert ahead.moved(NOW) == NOW


def test_a_clock_that_is_too_far_ahead_is_not_followed() -> None:
    times = ObservedTimes()
    times.learn(NOW + MAX_AHEAD + SECOND, NOW)
    assert times.moved(NOW) == NOW


def test_an_earlier_status_moves_nothing() -> None:
    times = ObservedTimes()
    times.learn(NOW - SECOND, NOW)
    assert times.moved(NOW) == NOW
