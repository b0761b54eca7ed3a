"""What is known of each object: bounded and without secrets."""

from datetime import UTC, datetime

from dispatcher.observability.objects import MAX_RUNS, MAX_TEXT, ObjectRecords, RunRecord, clean
from tests.support.wakes import key

AT = datetime(2026, 1, 2, 3, 4, 5, 678, tzinfo=UTC)


def run(number: int = 0, outcome: str = "success") -> RunRecord:
    return RunRecord(started=AT, seconds=0.12345, cause="event", outcome=outcome, reason=str(number))


def test_an_object_is_described_with_its_last_event_wake_and_runs() -> None:
    records = ObjectRecords()
    records.note_event(key("a"), id_="e1", type_="t", generation=3, at=AT)
    records.note_wake(key("a"), cause="watch", at=AT)
    records.note_run(key("a"), run(1))
    records.note_run(key("a"), run(2))
    described = records.describe(key("a"))
    assert described["last_event"] == {"id": "e1", "type": "t", "generation": 3, "at": "2026-01-02T03:04:05.000678Z"}
    assert described["last_wake"]["cause"] == "watch"
    assert [each["reason"] for each in described["runs"]] == ["2", "1"]
    assert described["runs"][0]["seconds"] == 0.123


def test_only_the_last_runs_are_kept() -> None:
    records = ObjectRecords()
    for number in range(MAX_RUNS + 3):
        records.note_run(key("a"), run(number))
    assert len(records.describe(key("a"))["runs"]) == MAX_RUNS


def test_the_objects_handled_longest_ago_are_forgotten() -> None:
    records = ObjectRecords(max_objects=2)
    for name in ("a", "b", "a", "c"):
        records.note_wake(key(name), cause="event", at=AT)
    assert [each.id for each in records.latest_first()] == ["c", "a"]
    assert records.find("Cluster", "b") is None


def test_an_object_is_found_whatever_the_case_of_its_kind() -> None:
    records = ObjectRecords()
    records.note_wake(key("a"), cause="event", at=AT)
    assert records.find("cluster", "a") == key("a")
    assert records.find("nodepool", "a") is None


def test_texts_are_redacted_and_cut() -> None:
    assert "hunter2" not in clean("amqp://user:hunter2@host/ refused, password=hunter2")
    assert len(clean("x" * 10_000)) <= 1_000


def test_a_secret_is_found_before_its_text_is_cut() -> None:
    for length in range(MAX_TEXT - 30, MAX_TEXT):
        assert "hunter2" not in clean("x" * length + " amqp://user:hunter2hunter2@host/")
