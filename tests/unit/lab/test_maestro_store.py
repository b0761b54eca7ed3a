"""The rules of the stand-in's rows, without a server."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.maestro.storage.documents import Document, Unreadable
from lab.maestro.storage.refusals import Code, Refusal
from lab.maestro.storage.store import Row, Store, Wanted

MOMENT, NODE = 1 << 22, 1 << 12


class Heard(Store):
    """A store with one consumer that records its callbacks."""

    def __init__(self) -> None:
        self.specs: list[tuple[str, int]] = []
        self.statuses: list[Row] = []
        super().__init__(
            spec_changed=lambda action, row: self.specs.append((action, row.version)),
            status_changed=self.statuses.append,
        )
        self.add_consumer("c")


@pytest.fixture
def store() -> Heard:
    return Heard()


def wanted(version: int = 0, **changes: Any) -> Wanted:
    payload = {"source": "s", "metadata": {"name": "w"}, "data": {"manifests": []}}
    known: dict[str, Any] = {"id": "w", "source": "s", "consumer_name": "c", "version": version, "payload": payload}
    return Wanted(**(known | changes))


def report(sequence: int | str = MOMENT, *, version: int | str = 1, conditions: Any = (), **changes: Any) -> Document:
    known = {
        "id": "1",
        "source": "agent",
        "type": "t",
        "specversion": "1.0",
        "resourceid": "w",
        "clustername": "c",
        "resourceversion": version,
        "originalsource": "maestro",
        "sequenceid": str(sequence),
    }
    return known | {"data": {"conditions": [{"type": kind, "status": "True"} for kind in conditions]}} | changes


def sequence_of(store: Heard) -> str:
    status = store.rows["w"].status
    return status["sequenceid"] if status else ""


@given(st.lists(st.sampled_from(["latest", "stale", "any", "delete"]), max_size=8))
def test_a_version_counts_the_updates_that_were_taken(actions: list[str]) -> None:
    store, version, deleting = Heard(), 1, False
    store.create(wanted())
    for action in actions:
        if action == "delete":
            store.mark_deleting("w")
            deleting = True
            continue
        sent = {"latest": version, "stale": version + 1, "any": 0}[action]
        if deleting or action == "stale":
            with pytest.raises(Refusal) as refused:
                store.update(wanted(sent))
            assert refused.value.code is Code.CONFLICT
        else:
            store.update(wanted(sent))
            version += 1
    assert store.get("w").version == version
    assert store.specs == [
        ("create", 1),
        *(("update", each) for each in range(2, version + 1)),
        *([("delete", version)] if deleting else []),
    ]


def test_a_refused_creation_leaves_nothing_behind(store: Heard) -> None:
    for broken in (wanted(consumer_name="nobody"), wanted(payload={"source": "s", "data": {"manifests": [{}]}})):
        with pytest.raises(Refusal):
            store.create(broken)

    assert not store.rows
    assert not store.specs


def test_a_row_without_an_id_gets_one_and_a_version_may_be_chosen(store: Heard) -> None:
    store.create(wanted(id=""))
    store.create(wanted(version=7))

    assert [row.version for row in store.rows.values()] == [1, 7]
    assert all(key == row.id for key, row in store.rows.items())


@given(st.permutations(range(1, 6)))
def test_reports_in_any_order_end_with_the_latest(order: list[int]) -> None:
    store = Heard()
    store.create(wanted())
    for moment in order:
        store.report(report(moment * MOMENT | NODE))

    assert sequence_of(store) == str(5 * MOMENT | NODE)
    stored = [int(row.status["sequenceid"]) for row in store.statuses if row.status]
    assert stored == sorted(stored)


@pytest.mark.parametrize(
    ("before", "after", "taken"),
    [
        (2 * MOMENT | NODE, 3 * MOMENT | NODE, True),
        (3 * MOMENT | NODE, 2 * MOMENT | NODE, False),
        (2 * MOMENT | NODE, 2 * MOMENT | NODE, False),
        (2 * MOMENT | NODE, 2 * MOMENT | NODE | 1, True),
        (2 * MOMENT | NODE | 4095, 3 * MOMENT | NODE, True),
        ("", "abc", True),
    ],
)
def test_a_report_is_newer_by_moment_then_by_step(
    *, store: Heard, before: int | str, after: int | str, taken: bool
) -> None:
    store.create(wanted())
    if before:
        store.report(report(before))
    store.report(report(after))

    assert (sequence_of(store) == str(after) and len(store.statuses) == (2 if before else 1)) is taken


@pytest.mark.parametrize("before", ["abc", str(2 * MOMENT | 2 * NODE)])
def test_reports_that_cannot_be_compared_are_refused(store: Heard, before: str) -> None:
    store.create(wanted())
    store.report(report(before))
    with pytest.raises(Unreadable):
        store.report(report(3 * MOMENT | NODE))


@pytest.mark.parametrize("version", [0, 2, "2"])
def test_a_report_on_another_version_is_dropped_before_its_sequence_is_looked_at(store: Heard, version: Any) -> None:
    store.create(wanted())
    store.report(report("not a number", version=version))

    assert store.get("w").status is None


def test_deleted_wins_over_version_and_order(store: Heard) -> None:
    store.create(wanted())
    store.report(report(9 * MOMENT))
    store.report(report(MOMENT, version=77, conditions=["Applied", "Deleted"]))

    assert not store.rows
    assert len(store.statuses) == 2
    store.report(report(10 * MOMENT))
    assert len(store.statuses) == 2


def test_a_status_carries_the_metadata_of_its_time(store: Heard) -> None:
    store.create(wanted())
    store.report(report(metadata='{"name":"of the agent"}'))
    renamed = {"source": "s", "metadata": {"name": "renamed"}, "data": {}}
    store.update(wanted(payload=renamed))
    store.mark_deleting("w")

    row = store.get("w")
    assert row.status is not None
    assert row.status["metadata"]["name"] == "w"
    assert "deletionTimestamp" not in row.status["metadata"]
    assert row.metadata is not None
    assert row.metadata.keys() == {"name", "creationTimestamp", "deletionTimestamp"}


@pytest.mark.parametrize("deleting", [False, True])
def test_a_consumer_goes_only_when_its_last_row_has_gone(*, store: Heard, deleting: bool) -> None:
    key = next(iter(store.consumers))
    store.create(wanted())
    if deleting:
        store.mark_deleting("w")
    with pytest.raises(Refusal) as refused:
        store.remove_consumer(key)
    assert refused.value.http_status == 403

    store.report(report(conditions=["Deleted"]))
    store.remove_consumer(key)
    store.remove_consumer(key)
    assert not store.consumers


def test_labels_are_replaced_as_a_whole_or_left_alone(store: Heard) -> None:
    key = next(iter(store.consumers))
    seen = [store.relabel_consumer(key, labels).labels for labels in ({"a": "b"}, None, {"c": "d"}, {})]

    assert seen == [{"a": "b"}, {"a": "b"}, {"c": "d"}, None]
