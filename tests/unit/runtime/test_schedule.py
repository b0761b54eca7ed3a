"""Which object runs next, with what, and when its messages are settled."""

import pytest

from dispatcher.engine.runs import Cause, Requeue
from dispatcher.runtime.scheduling import schedule as schedule_module
from dispatcher.runtime.scheduling.entry import LONGEST_DELIVERY_SECONDS, MAX_HELD_MESSAGES, Ended, Start
from dispatcher.runtime.scheduling.pacing import Backoff, Rate
from dispatcher.runtime.scheduling.schedule import BACKGROUND_TURN, LONGEST_HOLD_SECONDS, Phase, Schedule
from tests.support.wakes import Message, changed, key, published, repeated, unknown, vanished

DONE = Ended()
FAILED = Ended(failed=True)
BACKOFF = Backoff(first=10, longest=80, jitter=lambda: 1.0)


@pytest.fixture
def slowed() -> list[str]:
    return []


@pytest.fixture
def schedule(slowed: list[str]) -> Schedule:
    return Schedule(rate=Rate(burst=5, interval=2), backoff=BACKOFF, on_slowed=lambda each: slowed.append(each.id))


def starts(schedule: Schedule, now: float) -> list[Start]:
    found = []
    while (start := schedule.start(now)) is not None:
        found.append(start)
    return found


def one_start(schedule: Schedule, now: float) -> Start:
    (start,) = starts(schedule, now)
    return start


class TestCoalescing:
    def test_many_wakes_of_one_object_are_one_run(self, schedule: Schedule) -> None:
        for generation in (1, 1, 2):
            schedule.wake(published("a", generation), now=0)
        start = one_start(schedule, now=0)
        assert start.request.cause is Cause.EVENT
        assert start.request.event.data["generation"] == 2

    def test_the_later_of_two_events_of_one_generation_counts(self, schedule: Schedule) -> None:
        schedule.wake(published("a", 3, region="old"), now=0)
        schedule.wake(published("a", 3, region="new"), now=0)
        assert one_start(schedule, now=0).request.event.data["region"] == "new"

    def test_an_event_that_is_delivered_late_does_not_replace_a_newer_one(self, schedule: Schedule) -> None:
        schedule.wake(published("a", 5), now=0)
        schedule.wake(published("a", 4), now=0)
        assert one_start(schedule, now=0).request.event.data["generation"] == 5

    def test_an_event_that_names_no_generation_replaces_what_a_job_has_shown(self, schedule: Schedule) -> None:
        schedule.wake(changed("a", generation=5), now=0)
        schedule.wake(published("a", 0, region="r"), now=0)
        assert one_start(schedule, now=0).request.event.data["region"] == "r"

    def test_an_object_is_not_started_again_while_it_runs(self, schedule: Schedule) -> None:
        schedule.wake(published("a"), now=0)
        assert len(starts(schedule, now=0)) == 1
        schedule.wake(published("a"), now=1)
        assert starts(schedule, now=1) == []
        schedule.end(key("a"), DONE, now=2)
        assert len(starts(schedule, now=2)) == 1

    def test_an_event_and_a_timer_are_one_run_for_the_event(self, schedule: Schedule) -> None:
        schedule.wake(repeated("a"), now=0)
        schedule.wake(published("a"), now=0)
        schedule.wake(repeated("a"), now=0)
        assert one_start(schedule, now=0).request.cause is Cause.EVENT

    def test_a_watch_uses_the_newest_event_that_is_known(self, schedule: Schedule) -> None:
        schedule.wake(published("a", 7, region="r"), now=0)
        starts(schedule, now=0)
        schedule.end(key("a"), DONE, now=0)
        schedule.wake(changed("a"), now=1000)
        assert one_start(schedule, now=1000).request.event.data["region"] == "r"

    @pytest.mark.parametrize(("delivered", "expected"), [(8, 8), (6, 7)], ids=["newer", "older"])
    def test_a_job_that_another_replica_made_for_a_newer_generation_renews_the_event(
        self, schedule: Schedule, delivered: int, expected: int
    ) -> None:
        schedule.wake(published("a", 7, region="r"), now=0)
        starts(schedule, now=0)
        schedule.end(key("a"), DONE, now=0)
        schedule.wake(changed("a", generation=delivered), now=1000)
        data = one_start(schedule, now=1000).request.event.data
        assert (data["generation"], data["region"]) == (expected, "r")

    def test_a_watch_of_an_unknown_object_uses_what_the_watched_object_says(self, schedule: Schedule) -> None:
        schedule.wake(changed("a"), now=0)
        assert one_start(schedule, now=0).request.event.data == {"id": "a", "kind": "Cluster"}


class TestDeliveredObjects:
    def test_a_delivered_object_runs_as_a_watch(self, schedule: Schedule) -> None:
        schedule.wake(changed("a", state="done"), now=0)
        request = one_start(schedule, now=0).request
        assert request.cause is Cause.WATCH
        assert [each.object["status"]["state"] for each in request.delivered] == ["done"]

    def test_the_newest_state_of_each_delivered_object_is_kept(self, schedule: Schedule) -> None:
        for uid, state in (("u", "1"), ("v", "2"), ("u", "3")):
            schedule.wake(changed("a", uid, state), now=0)
        assert schedule.deliveries == 2
        request = one_start(schedule, now=0).request
        assert sorted(each.object["status"]["state"] for each in request.delivered) == ["2", "3"]
        assert schedule.deliveries == 0

    def test_delivered_objects_run_before_an_event_that_may_replace_them(self, schedule: Schedule) -> None:
        message = Message()
        schedule.wake(published("a", 2, message), now=0)
        schedule.wake(changed("a"), now=0)
        first = one_start(schedule, now=0)
        assert (first.request.cause, len(first.request.delivered), first.receipts) == (Cause.WATCH, 1, ())
        schedule.end(key("a"), DONE, now=1)
        second = one_start(schedule, now=1)
        assert (second.request.cause, second.request.delivered, second.receipts) == (Cause.EVENT, (), (message,))

    def test_an_object_that_keeps_being_delivered_does_not_hold_up_its_event(self, schedule: Schedule) -> None:
        schedule.wake(published("a"), now=0)
        causes = []
        for now in range(3):
            schedule.wake(changed("a"), now)
            causes.append(one_start(schedule, now).request.cause)
            schedule.wake(changed("a"), now)
            schedule.end(key("a"), DONE, now)
        assert causes == [Cause.WATCH, Cause.EVENT, Cause.WATCH]

    def test_a_failed_report_of_a_delivered_object_is_tried_again_with_it(self, schedule: Schedule) -> None:
        schedule.wake(changed("a", state="done"), now=0)
        starts(schedule, now=0)
        schedule.end(key("a"), FAILED, now=0)
        assert starts(schedule, now=9) == []
        (delivered,) = one_start(schedule, now=10).request.delivered
        assert delivered.object["status"]["state"] == "done"

    def test_a_newer_delivery_replaces_one_that_is_to_be_tried_again(self, schedule: Schedule) -> None:
        schedule.wake(changed("a", state="old"), now=0)
        starts(schedule, now=0)
        schedule.wake(changed("a", state="new"), now=0)
        schedule.end(key("a"), FAILED, now=0)
        (delivered,) = one_start(schedule, now=0).request.delivered
        assert delivered.object["status"]["state"] == "new"

    def test_what_was_not_reported_yet_stays_so_when_a_newer_state_replaces_it(self, schedule: Schedule) -> None:
        schedule.wake(changed("a", state="first", is_first=True), now=0)
        schedule.wake(changed("a", state="second"), now=0)
        (delivered,) = one_start(schedule, now=0).request.delivered
        assert (delivered.object["status"]["state"], delivered.is_first) == ("second", True)
        schedule.wake(changed("a", state="third"), now=0)
        schedule.end(key("a"), FAILED, now=0)
        (delivered,) = one_start(schedule, now=0).request.delivered
        assert (delivered.object["status"]["state"], delivered.is_first) == ("third", True)
        schedule.wake(changed("a", state="fourth"), now=0)
        schedule.end(key("a"), DONE, now=0)
        (delivered,) = one_start(schedule, now=0).request.delivered
        assert (delivered.object["status"]["state"], delivered.is_first) == ("fourth", False)

    def test_of_many_objects_that_fail_only_some_are_kept_and_the_others_are_read_again(
        self, schedule: Schedule, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(schedule_module, "MAX_FAILED_DELIVERIES", 2)
        for name in "abc":
            schedule.wake(changed(name), now=0)
        assert schedule.deliveries == 3
        for start in starts(schedule, now=0):
            schedule.end(start.key, FAILED, now=0)
        assert (schedule.deliveries, schedule.failed_deliveries) == (0, 2)
        requests = {start.key.id: start.request for start in starts(schedule, now=10)}
        assert {name: len(request.delivered) for name, request in requests.items()} == {"a": 1, "b": 1, "c": 0}
        assert not requests["c"].writes
        for name in "abc":
            schedule.end(key(name), DONE, now=10)
        assert schedule.failed_deliveries == 0

    def test_a_newer_state_of_an_object_that_fails_has_not_failed(self, schedule: Schedule) -> None:
        schedule.wake(changed("a"), now=0)
        starts(schedule, now=0)
        schedule.end(key("a"), FAILED, now=0)
        assert (schedule.deliveries, schedule.failed_deliveries) == (0, 1)
        schedule.wake(changed("a"), now=0)
        assert (schedule.deliveries, schedule.failed_deliveries) == (1, 0)

    def test_what_was_delivered_too_long_ago_to_be_reported_is_read_again(self, schedule: Schedule) -> None:
        schedule.wake(changed("a"), now=0)
        starts(schedule, now=0)
        late = LONGEST_DELIVERY_SECONDS + 1
        schedule.end(key("a"), FAILED, now=late)
        request = one_start(schedule, now=late + 10).request
        assert (request.cause, request.delivered, request.writes) == (Cause.TIMER, (), False)

    def test_an_awaited_deletion_reads_everything_anew(self, schedule: Schedule) -> None:
        schedule.wake(vanished("a"), now=0)
        request = one_start(schedule, now=0).request
        assert (request.cause, request.delivered) == (Cause.WATCH, ())


class TestOrder:
    def test_objects_start_in_the_order_of_their_wakes(self, schedule: Schedule) -> None:
        for name in ("c", "a", "b"):
            schedule.wake(published(name), now=0)
        schedule.wake(published("c"), now=1)
        assert [start.key.id for start in starts(schedule, now=1)] == ["c", "a", "b"]

    def test_a_busy_object_goes_behind_those_that_wait(self, schedule: Schedule) -> None:
        schedule.wake(published("busy"), now=0)
        assert schedule.start(now=0) is not None
        schedule.wake(published("busy"), now=0)
        schedule.wake(published("other"), now=0)
        schedule.end(key("busy"), DONE, now=0)
        assert [start.key.id for start in starts(schedule, now=0)] == ["other", "busy"]

    def test_the_background_lets_events_pass_but_keeps_its_share(self, schedule: Schedule) -> None:
        for number in range(6):
            schedule.wake(repeated(f"background-{number}"), now=0)
            schedule.wake(published(f"urgent-{number}"), now=0)
        lanes = [start.key.id.split("-")[0] for start in starts(schedule, now=0)]
        assert lanes[:BACKGROUND_TURN] == ["urgent"] * (BACKGROUND_TURN - 1) + ["background"]
        assert lanes.count("background") == 6

    def test_an_event_takes_its_object_out_of_the_background(self, schedule: Schedule) -> None:
        for name in ("a", "b"):
            schedule.wake(repeated(name), now=0)
        schedule.wake(published("b"), now=0)
        assert [start.key.id for start in starts(schedule, now=0)] == ["b", "a"]


class TestFailure:
    def test_a_failed_run_is_tried_again_after_a_growing_wait(self, schedule: Schedule) -> None:
        schedule.wake(published("a"), now=0)
        now = 0.0
        for wait in (10, 20, 40):
            assert len(starts(schedule, now)) == 1
            schedule.end(key("a"), FAILED, now)
            assert schedule.next_due() == now + wait
            now += wait
        assert one_start(schedule, now).request.cause is Cause.TIMER

    def test_a_success_forgets_the_failures(self, schedule: Schedule) -> None:
        schedule.wake(published("a"), now=0)
        for ended in (FAILED, DONE):
            now = schedule.next_due() or 0
            starts(schedule, now)
            schedule.end(key("a"), ended, now)
        assert schedule.standing(key("a"), 10).failures == 0

    def test_a_pulse_does_not_end_the_backoff(self, schedule: Schedule) -> None:
        schedule.wake(published("a"), now=0)
        starts(schedule, now=0)
        schedule.wake(published("a"), now=0)
        schedule.end(key("a"), FAILED, now=0)
        schedule.wake(published("a"), now=5)
        assert starts(schedule, now=9) == []
        assert one_start(schedule, now=10).request.cause is Cause.EVENT

    @pytest.mark.parametrize("while_running", [True, False], ids=["while it runs", "after it failed"])
    @pytest.mark.parametrize(
        "news", [published("a", 2), changed("a"), vanished("a")], ids=["generation", "change", "deletion"]
    )
    def test_news_ends_the_backoff(self, schedule: Schedule, news: object, *, while_running: bool) -> None:
        schedule.wake(published("a", 1), now=0)
        starts(schedule, now=0)
        if while_running:
            schedule.wake(news, now=0)  # type: ignore[arg-type]
        schedule.end(key("a"), FAILED, now=0)
        if not while_running:
            schedule.wake(news, now=0)  # type: ignore[arg-type]
        assert len(starts(schedule, now=0)) == 1

    def test_what_waited_beside_a_failed_run_waits_with_it(self, schedule: Schedule) -> None:
        schedule.wake(published("a"), now=0)
        schedule.wake(changed("a"), now=0)
        starts(schedule, now=0)
        schedule.end(key("a"), FAILED, now=0)
        assert starts(schedule, now=9) == []
        assert len(starts(schedule, now=10)) == 1


class TestRequeue:
    def test_a_run_may_ask_for_another_one(self, schedule: Schedule) -> None:
        schedule.wake(published("a"), now=0)
        starts(schedule, now=0)
        schedule.end(key("a"), Ended(requeue=Requeue(reason="newer generation", after=3)), now=0)
        assert schedule.standing(key("a"), 1).reason == "newer generation"
        assert starts(schedule, now=2.9) == []
        assert one_start(schedule, now=3).request.cause is Cause.TIMER

    def test_the_next_run_knows_the_generation_the_object_has_now(self, schedule: Schedule) -> None:
        schedule.wake(published("a", 1), now=0)
        starts(schedule, now=0)
        schedule.end(key("a"), Ended(requeue=Requeue(reason="moved on", after=0, generation=4)), now=0)
        assert one_start(schedule, now=0).request.event.data["generation"] == 4

    def test_any_wake_ends_that_wait(self, schedule: Schedule) -> None:
        schedule.wake(published("a"), now=0)
        starts(schedule, now=0)
        schedule.end(key("a"), Ended(requeue=Requeue(reason="later", after=60)), now=0)
        schedule.wake(published("a"), now=1)
        assert one_start(schedule, now=1).request.cause is Cause.EVENT

    def test_a_request_for_another_run_is_not_lost_beside_a_delivered_object(self, schedule: Schedule) -> None:
        schedule.wake(published("a"), now=0)
        starts(schedule, now=0)
        schedule.wake(changed("a"), now=1)
        schedule.end(key("a"), Ended(requeue=Requeue(reason="a deletion is awaited", after=30)), now=1)
        assert one_start(schedule, now=1).request.cause is Cause.WATCH
        schedule.end(key("a"), Ended(reported=True), now=2)
        request = one_start(schedule, now=2).request
        assert (request.cause, request.writes) == (Cause.TIMER, True)

    def test_without_a_time_of_its_own_it_backs_off(self, schedule: Schedule) -> None:
        schedule.wake(published("a"), now=0)
        now = 0.0
        for wait in (10, 20):
            starts(schedule, now)
            schedule.end(key("a"), Ended(requeue=Requeue(reason="not yet")), now)
            assert schedule.next_due() == now + wait
            assert schedule.standing(key("a"), now).failures == 0
            now += wait

    def test_a_failure_may_name_its_own_wait(self, schedule: Schedule) -> None:
        schedule.wake(published("a"), now=0)
        starts(schedule, now=0)
        schedule.end(key("a"), Ended(failed=True, requeue=Requeue(reason="clock", after=2)), now=0)
        assert schedule.next_due() == 2


class TestRunsThatOnlyObserve:
    SILENT = Ended(requeue=Requeue(reason="the Job has not reported yet", after=180, observe_only=True))

    @pytest.fixture(autouse=True)
    def _silent_job(self, schedule: Schedule) -> None:
        schedule.wake(published("a"), now=0)
        starts(schedule, now=0)
        schedule.end(key("a"), self.SILENT, now=0)

    def test_a_silent_job_is_looked_at_by_a_run_that_writes_nothing(self, schedule: Schedule) -> None:
        request = one_start(schedule, now=180).request
        assert (request.cause, request.writes) == (Cause.TIMER, False)

    def test_no_run_follows_once_the_job_was_reported(self, schedule: Schedule) -> None:
        schedule.wake(changed("a"), now=5)
        assert one_start(schedule, now=5).request.cause is Cause.WATCH
        schedule.end(key("a"), Ended(reported=True), now=6)
        assert starts(schedule, now=500) == []

    def test_one_follows_where_the_delivered_object_was_not_reported(self, schedule: Schedule) -> None:
        schedule.wake(changed("a"), now=5)
        starts(schedule, now=5)
        schedule.end(key("a"), DONE, now=6)
        assert not one_start(schedule, now=180).request.writes

    def test_an_event_makes_it_a_run_that_may_write(self, schedule: Schedule) -> None:
        schedule.wake(published("a"), now=5)
        request = one_start(schedule, now=5).request
        assert (request.cause, request.writes) == (Cause.EVENT, True)

    def test_an_awaited_deletion_makes_it_one_too(self, schedule: Schedule) -> None:
        schedule.wake(vanished("a"), now=5)
        assert one_start(schedule, now=5).request.writes

    def test_a_change_of_an_object_that_no_run_has_seen_is_such_a_run_too(self, schedule: Schedule) -> None:
        schedule.wake(unknown("b"), now=5)
        request = one_start(schedule, now=5).request
        assert (request.cause, request.writes) == (Cause.WATCH, False)

    def test_such_a_change_is_looked_at_after_a_delivered_object_was_reported(self, schedule: Schedule) -> None:
        schedule.wake(changed("b"), now=5)
        starts(schedule, now=5)
        schedule.wake(unknown("b"), now=5)
        schedule.end(key("b"), Ended(reported=True), now=6)
        assert not one_start(schedule, now=6).request.writes

    def test_one_that_failed_is_tried_again_as_such(self, schedule: Schedule) -> None:
        starts(schedule, now=180)
        schedule.end(key("a"), FAILED, now=180)
        assert not one_start(schedule, now=190).request.writes

    def test_the_run_after_it_may_write_again(self, schedule: Schedule) -> None:
        starts(schedule, now=180)
        schedule.end(key("a"), DONE, now=180)
        schedule.wake(published("a"), now=200)
        assert one_start(schedule, now=200).request.writes


class TestTokenBucket:
    def run_often(self, schedule: Schedule, times: int) -> None:
        for _ in range(times):
            schedule.wake(published("a"), now=0)
            starts(schedule, now=0)
            schedule.end(key("a"), DONE, now=0)

    def test_an_object_that_keeps_waking_is_deferred_and_not_dropped(
        self, schedule: Schedule, slowed: list[str]
    ) -> None:
        self.run_often(schedule, 5)
        schedule.wake(published("a"), now=0)
        assert starts(schedule, now=1.9) == []
        assert len(starts(schedule, now=2)) == 1
        assert slowed == ["a"]

    def test_it_is_named_while_it_is_slowed_and_once(self, schedule: Schedule, slowed: list[str]) -> None:
        self.run_often(schedule, 5)
        for now in range(10):
            schedule.wake(published("a"), now)
            if starts(schedule, now):
                schedule.end(key("a"), DONE, now)
        assert list(schedule.slowed()) == [key("a")]
        assert slowed == ["a"]
        starts(schedule, now=20)
        schedule.end(key("a"), DONE, now=20)
        assert starts(schedule, now=1000) == []
        assert list(schedule.slowed()) == []

    def test_the_others_are_not_slowed(self, schedule: Schedule) -> None:
        self.run_often(schedule, 5)
        schedule.wake(published("a"), now=0)
        schedule.wake(published("b"), now=0)
        assert one_start(schedule, now=0).key.id == "b"

    def test_news_does_not_pass_the_token_bucket(self, schedule: Schedule) -> None:
        self.run_often(schedule, 5)
        schedule.wake(changed("a"), now=0)
        assert starts(schedule, now=1) == []


class TestMessages:
    def test_a_run_covers_the_messages_that_came_before_it(self, schedule: Schedule) -> None:
        before, during = Message(), Message()
        schedule.wake(published("a", receipt=before), now=0)
        assert one_start(schedule, now=0).receipts == (before,)
        schedule.wake(published("a", receipt=during), now=0)
        assert schedule.end(key("a"), DONE, now=0) == []
        assert one_start(schedule, now=0).receipts == (during,)

    def test_of_many_messages_of_one_object_only_the_newest_are_held(self, schedule: Schedule) -> None:
        messages = [Message(str(number)) for number in range(MAX_HELD_MESSAGES + 3)]
        settled = [each for message in messages for each in schedule.wake(published("a", receipt=message), now=0)]
        assert settled == messages[:3]
        assert one_start(schedule, now=0).receipts == tuple(messages[3:])

    @pytest.mark.parametrize(
        ("wait", "acknowledged"),
        [(LONGEST_HOLD_SECONDS, False), (LONGEST_HOLD_SECONDS + 1, True)],
        ids=["held", "acknowledged"],
    )
    def test_a_message_that_arrives_in_a_backoff(self, schedule: Schedule, wait: float, *, acknowledged: bool) -> None:
        message = Message()
        schedule.wake(published("a"), now=0)
        starts(schedule, now=0)
        schedule.end(key("a"), Ended(failed=True, requeue=Requeue(reason="r", after=wait)), now=0)
        assert schedule.wake(published("a", receipt=message), now=0) == [message] * acknowledged
        assert one_start(schedule, now=wait).receipts == (message,) * (not acknowledged)

    def test_a_message_that_came_while_a_run_failed_is_acknowledged_if_the_retry_is_far(
        self, schedule: Schedule
    ) -> None:
        message = Message()
        schedule.wake(published("a"), now=0)
        starts(schedule, now=0)
        schedule.wake(published("a", receipt=message), now=0)
        assert schedule.end(key("a"), Ended(failed=True, requeue=Requeue(reason="r", after=99)), now=0) == [message]

    def test_at_shutdown_messages_of_runs_that_have_not_started_are_released(self, schedule: Schedule) -> None:
        started, waiting, during = Message(), Message(), Message()
        schedule.wake(published("a", receipt=started), now=0)
        assert schedule.start(now=0) is not None
        schedule.wake(published("a", receipt=during), now=0)
        schedule.wake(published("b", receipt=waiting), now=0)
        assert schedule.release() == [during, waiting]
        assert schedule.release() == []


class TestWhatIsKnown:
    def test_phases_are_counted(self, schedule: Schedule) -> None:
        for name in ("running", "failing", "ready"):
            schedule.wake(published(name), now=0)
        assert [schedule.start(now=0), schedule.start(now=0)].count(None) == 0
        schedule.end(key("failing"), FAILED, now=0)
        assert schedule.depth() == {Phase.RUNNING: 1, Phase.READY: 1, Phase.WAITING: 1, Phase.IDLE: 0}
        standing = schedule.standing(key("failing"), now=4)
        assert (standing.phase, standing.failures, standing.seconds) == (Phase.WAITING, 1, 6)
        assert "1 failed run" in standing.reason

    def test_the_oldest_wake_is_the_one_that_has_been_due_for_longest(self, schedule: Schedule) -> None:
        schedule.wake(published("a"), now=0)
        schedule.wake(published("b"), now=5)
        assert schedule.oldest_wake(now=8) == 8
        starts(schedule, now=8)
        assert schedule.oldest_wake(now=8) == 0

    def test_a_start_knows_how_long_it_waited(self, schedule: Schedule) -> None:
        schedule.wake(published("a"), now=0)
        schedule.wake(published("a"), now=3)
        assert one_start(schedule, now=4).waited == 4

    def test_nothing_is_kept_of_an_object_that_was_left_alone(self, schedule: Schedule) -> None:
        schedule.wake(published("a"), now=0)
        starts(schedule, now=0)
        schedule.end(key("a"), DONE, now=0)
        assert schedule.standing(key("a"), 0).phase is Phase.IDLE
        assert starts(schedule, now=100) == []
        assert schedule.next_due() is None
        assert sum(schedule.depth().values()) == 0
