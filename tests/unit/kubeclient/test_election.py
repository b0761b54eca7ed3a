"""Who may hold a Lease."""

from datetime import UTC, datetime

import pytest

from shared.kubernetes.leadership.election import Observation, Record, held_by, released

NOW = datetime(2026, 1, 2, 3, 4, 5, 6, UTC)


def record(holder: str, renewed: str = "t0", **changes: object) -> Record:
    values = {"holder": holder, "renewed": renewed, "acquired": "t", "transitions": 3, "duration": 10.0}
    return Record(**(values | changes))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("holder", "now", "free"),
    [
        ("", 100.0, True),
        ("me", 100.0, True),
        ("other", 100.0, False),
        ("other", 109.9, False),
        ("other", 110.0, True),
    ],
    ids=["nobody holds it", "it is ours", "somebody holds it", "not expired yet", "not renewed for its duration"],
)
def test_a_lease_is_free(holder: str, now: float, free: bool) -> None:  # noqa: FBT001 - a column of the table
    assert Observation(record(holder), since=100.0).is_free_for("me", now) is free


def test_only_a_changed_record_starts_the_wait_anew() -> None:
    seen = Observation(record("other"), since=100.0)
    assert seen.updated(record("other"), 105.0) is seen
    assert seen.updated(record("other", renewed="t1"), 105.0).since == 105.0


def test_taking_counts_a_transition_and_renewing_does_not() -> None:
    taken = held_by("me", record("other"), duration=9.5, now=NOW)
    assert taken == {
        "holderIdentity": "me",
        "leaseDurationSeconds": 10,
        "renewTime": "2026-01-02T03:04:05.000006Z",
        "acquireTime": "2026-01-02T03:04:05.000006Z",
        "leaseTransitions": 4,
    }
    kept = held_by("me", record("me"), duration=10, now=NOW)
    assert (kept["leaseTransitions"], kept["acquireTime"]) == (3, "t")
    assert held_by("me", None, duration=10, now=NOW)["leaseTransitions"] == 0


def test_a_released_lease_is_free_at_once() -> None:
    spec = released(record("me"), now=NOW)
    assert Observation(Record.of({"spec": spec}), since=0.0).is_free_for("other", 0.0)
    assert spec["leaseTransitions"] == 3


def test_a_lease_that_says_nothing_is_free() -> None:
    assert Observation(Record.of({}), since=0.0).is_free_for("me", 0.0)
