"""What /objects shows: the records of runs, joined with what the queue knows."""

from datetime import UTC, datetime

from dispatcher.observability.objects import ObjectRecords
from dispatcher.runtime.objects_view import ObjectsView
from dispatcher.runtime.scheduling.entry import Ended
from dispatcher.runtime.scheduling.schedule import Schedule
from tests.support.wakes import key, published

AT = datetime(2026, 1, 2, tzinfo=UTC)


async def test_those_that_fail_most_come_first_and_only_so_many_are_described() -> None:
    records, schedule = ObjectRecords(), Schedule()
    # A higher generation does not wait for the retry of the one before.
    for name, generation, failed in (("well", 1, False), ("once", 1, True), ("twice", 1, True), ("twice", 2, True)):
        records.note_wake(key(name), cause="event", at=AT)
        schedule.wake(published(name, generation=generation), 0.0)
        start = schedule.start(0.0)
        assert start is not None
        assert start.key == key(name)
        schedule.end(start.key, Ended(failed=failed), 0.0)
    records.note_wake(key("late"), cause="event", at=AT)
    view = ObjectsView(records, schedule)
    assert len(view) == 4
    assert [(each["id"], each["failures"]) for each in view.list(3)] == [("twice", 2), ("once", 1), ("late", 0)]
