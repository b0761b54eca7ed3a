"""What is news to a watcher, over a stream that repeats, reorders and loses, and lists in between."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shared.maestro.works.tracking import REMEMBERED_DELETIONS, Change, Tracker, WorkEvent, rank, reports_deletion
from shared.model.conditions import Condition, Status
from shared.model.manifestwork import ManifestWork, WorkStatus

BIRTH = datetime(2026, 1, 2, tzinfo=UTC)
DELETED = Condition(type="Deleted", status=Status.TRUE)


def work(
    sequence: int = 0,
    *,
    incarnation: int = 1,
    generation: int = 1,
    deleting: bool = False,
    uid: str = "u",
    label: str = "on",
) -> ManifestWork:
    born = BIRTH + timedelta(minutes=incarnation)
    return ManifestWork(
        name="w",
        consumer="c",
        manifests=(),
        uid=uid,
        generation=generation,
        labels={"select": label},
        created_at=born,
        deleted_at=born if deleting else None,
        status=WorkStatus(sequence_id=sequence),
    )


def gone(sequence: int, *, incarnation: int = 1, uid: str = "u") -> ManifestWork:
    last = work(sequence, incarnation=incarnation, deleting=True, uid=uid)
    return replace(last, status=replace(last.status, conditions=(DELETED,)))


def is_on(each: ManifestWork) -> bool:
    return each.labels.get("select") == "on"


class Watcher:
    """A tracker, and its events in short: `+` added, `~` modified, `-` deleted, each with the sequence id."""

    def __init__(self) -> None:
        self.tracker = Tracker(is_on)

    def receives(self, *statuses: ManifestWork) -> list[str]:
        return [short(event) for status in statuses for event in self.tracker.update(status)]

    def lists(self, *works: ManifestWork) -> list[str]:
        return [short(event) for event in self.tracker.replace(works)]


def short(event: WorkEvent) -> str:
    sign = {Change.ADDED: "+", Change.MODIFIED: "~", Change.DELETED: "-"}[event.change]
    return f"{sign}{event.work.status.sequence_id}"


@pytest.fixture
def watcher() -> Watcher:
    return Watcher()


class TestOrder:
    def test_the_first_word_adds_and_later_ones_modify(self, watcher: Watcher) -> None:
        assert watcher.receives(work(1), work(2), work(3)) == ["+1", "~2", "~3"]

    def test_a_word_heard_twice_is_no_news(self, watcher: Watcher) -> None:
        assert watcher.receives(work(1), work(1), work(2), work(2), work(1)) == ["+1", "~2"]

    def test_a_late_word_is_no_news(self, watcher: Watcher) -> None:
        assert watcher.receives(work(3), work(1), work(2)) == ["+3"]

    def test_a_new_generation_is_ahead_of_every_word_on_the_former_one(self, watcher: Watcher) -> None:
        assert watcher.receives(work(5), work(6, generation=2), work(7)) == ["+5", "~6"]

    def test_that_deletion_has_begun_is_news(self, watcher: Watcher) -> None:
        assert watcher.lists(work(5)) == ["+5"]
        assert watcher.lists(work(5, deleting=True)) == ["~5"]

    def test_sequence_ids_are_numbers_not_texts(self, watcher: Watcher) -> None:
        assert watcher.receives(work(9), work(10)) == ["+9", "~10"]

    def test_works_do_not_disturb_each_other(self, watcher: Watcher) -> None:
        assert watcher.receives(work(5, uid="a"), work(1, uid="b"), gone(6, uid="a"), work(2, uid="b")) == [
            "+5",
            "+1",
            "-6",
            "~2",
        ]


class TestDeletion:
    def test_it_is_reported_once(self, watcher: Watcher) -> None:
        assert watcher.receives(work(1), gone(2), gone(2), gone(3)) == ["+1", "-2"]

    def test_a_work_never_seen_is_not_reported_as_deleted(self, watcher: Watcher) -> None:
        assert watcher.receives(gone(2), work(1)) == []

    def test_a_late_word_does_not_bring_it_back(self, watcher: Watcher) -> None:
        assert watcher.receives(work(1), gone(5), work(2), work(4, deleting=True), gone(5)) == ["+1", "-5"]

    def test_it_is_reported_when_a_list_no_longer_has_it(self, watcher: Watcher) -> None:
        assert watcher.lists(work(1)) == ["+1"]
        assert watcher.lists() == ["-1"]
        assert watcher.lists() == []

    def test_words_that_come_after_the_list_that_lacked_it_are_late(self, watcher: Watcher) -> None:
        watcher.lists(work(1))
        assert watcher.lists() == ["-1"]
        assert watcher.receives(work(2), work(3, deleting=True), gone(4)) == []

    def test_a_deletion_from_a_previous_incarnation_does_not_end_this_one(self, watcher: Watcher) -> None:
        assert watcher.receives(work(9, incarnation=2), gone(5, incarnation=1), work(10, incarnation=2)) == [
            "+9",
            "~10",
        ]

    def test_a_late_deletion_of_a_previous_incarnation_does_not_make_the_last_one_rise_again(
        self, watcher: Watcher
    ) -> None:
        assert watcher.receives(
            work(9, incarnation=2), gone(11, incarnation=2), gone(5, incarnation=1), work(10, incarnation=2)
        ) == ["+9", "-11"]

    def test_only_so_many_are_remembered(self, watcher: Watcher) -> None:
        for number in range(REMEMBERED_DELETIONS + 10):
            watcher.receives(gone(5, uid=f"u{number}"))
        assert len(watcher.tracker._gone) == REMEMBERED_DELETIONS
        assert watcher.receives(work(1, uid=f"u{REMEMBERED_DELETIONS + 9}")) == []

    @pytest.mark.parametrize("status", [Status.FALSE, Status.UNKNOWN])
    def test_only_true_means_that_it_is_gone(self, watcher: Watcher, status: Status) -> None:
        unsure = replace(work(2), status=WorkStatus(sequence_id=2, conditions=(DELETED._replace(status=status),)))
        assert not reports_deletion(unsure)
        assert watcher.receives(work(1), unsure) == ["+1", "~2"]


class TestANewLife:
    def test_it_is_added_again_after_its_deletion(self, watcher: Watcher) -> None:
        assert watcher.receives(work(1), gone(2), work(3, incarnation=2)) == ["+1", "-2", "+3"]

    def test_it_is_seen_as_deletion_and_addition_when_the_deletion_was_missed(self, watcher: Watcher) -> None:
        assert watcher.receives(work(7, generation=4), work(9, incarnation=2), gone(8)) == ["+7", "-7", "+9"]

    def test_so_it_is_when_a_list_shows_it(self, watcher: Watcher) -> None:
        watcher.lists(work(7, generation=4))
        assert watcher.lists(work(0, incarnation=2)) == ["-7", "+0"]
        assert watcher.receives(work(8, generation=4), gone(9), work(10, incarnation=2)) == ["~10"]

    def test_it_is_seen_even_within_the_same_second(self, watcher: Watcher) -> None:
        assert watcher.receives(work(1), gone(2), work(3), work(4)) == ["+1", "-2", "+3", "~4"]

    def test_a_list_shows_it_even_within_the_same_second(self, watcher: Watcher) -> None:
        watcher.lists(work(7, generation=4))
        assert watcher.lists(work(0)) == ["-7", "+0"]

    def test_it_is_followed_after_a_list_has_brought_back_what_a_list_had_lost(self, watcher: Watcher) -> None:
        watcher.lists(work(1))
        assert watcher.lists() == ["-1"]
        assert watcher.lists(work(2)) == ["+2"]
        assert watcher.receives(work(3)) == ["~3"]


class TestSelection:
    def test_a_work_that_is_not_selected_is_never_reported(self, watcher: Watcher) -> None:
        assert watcher.receives(work(1, label="off"), work(2, label="off"), gone(3)) == []

    def test_one_that_is_no_longer_selected_is_gone_and_comes_back_when_it_is(self, watcher: Watcher) -> None:
        statuses = work(1), work(2, label="off"), work(3, label="off"), work(4)
        assert watcher.receives(*statuses) == ["+1", "-2", "+4"]

    def test_a_late_word_from_before_does_not_bring_it_back(self, watcher: Watcher) -> None:
        assert watcher.receives(work(2), work(3, label="off"), work(1), work(2)) == ["+2", "-3"]

    def test_a_late_word_with_former_labels_does_not_take_it_away(self, watcher: Watcher) -> None:
        assert watcher.receives(work(5, generation=2), work(4, label="off")) == ["+5"]

    def test_its_deletion_is_not_reported_again_when_it_was_already_out_of_sight(self, watcher: Watcher) -> None:
        assert watcher.receives(work(1), work(2, label="off"), gone(3)) == ["+1", "-2"]


def test_rank_puts_the_later_truth_higher() -> None:
    rising = [
        replace(work(9), created_at=None),
        work(0),
        work(1),
        work(2, deleting=True),
        work(1, generation=2),
        work(0, incarnation=2),
    ]
    assert sorted(rising, key=rank) == rising


@dataclass
class Server:
    """The server: works with their incarnations, and every status that was ever sent."""

    rows: dict[str, ManifestWork] = field(default_factory=dict)
    statuses: list[ManifestWork] = field(default_factory=list)
    incarnations: int = 0
    sequence: int = 0

    def act(self, action: str, uid: str) -> None:
        row = self.rows.get(uid)
        if row is None:
            self.incarnations += 1
            self.rows[uid] = work(uid=uid, incarnation=self.incarnations)
            return
        match action:
            case "report":
                self._say(row)
            case "update":
                self.rows[uid] = replace(row, generation=row.generation + 1)
            case "relabel":
                other = {"select": "off" if is_on(row) else "on"}
                self.rows[uid] = replace(row, generation=row.generation + 1, labels=other)
            case "delete":
                self.rows[uid] = replace(row, deleted_at=row.created_at)
            case "finish":
                self._say(row, conditions=(DELETED,))
                del self.rows[uid]

    def _say(self, row: ManifestWork, conditions: tuple[Condition, ...] = ()) -> None:
        self.sequence += 1
        sent = replace(row, status=WorkStatus(sequence_id=self.sequence, conditions=conditions))
        self.rows[row.uid] = sent
        self.statuses.append(sent)

    @property
    def selected(self) -> list[ManifestWork]:
        return [row for row in self.rows.values() if is_on(row)]


@dataclass
class Story:
    """A watcher's view, rebuilt from its events; an event that makes no sense fails."""

    view: dict[str, ManifestWork] = field(default_factory=dict)
    ended: list[tuple[str, datetime | None]] = field(default_factory=list)

    def hear(self, events: Iterable[WorkEvent]) -> None:
        for event in events:
            uid, known = event.work.uid, self.view.get(event.work.uid)
            match event.change:
                case Change.ADDED:
                    assert known is None, "added twice"
                    self.view[uid] = event.work
                case Change.MODIFIED:
                    assert known is not None, "modified before it was added"
                    assert rank(event.work) > rank(known), "modified backwards"
                    self.view[uid] = event.work
                case Change.DELETED:
                    assert known is not None, "deleted before it was added, or twice"
                    self.ended.append((uid, known.created_at))
                    del self.view[uid]


ACTIONS = ("report", "report", "update", "delete", "finish")
STEPS = st.one_of(
    st.tuples(st.sampled_from(ACTIONS), st.sampled_from("ab")),
    st.tuples(st.sampled_from(("hear", "hear", "list")), st.integers(0, 30)),
)
RELABELLING = st.one_of(STEPS, st.tuples(st.just("relabel"), st.sampled_from("ab")))


def play(steps: list[tuple[str, str | int]]) -> tuple[Server, Story]:
    """Any order of what happens on the server, of statuses received late, twice or never, and of lists."""
    server, tracker, story = Server(), Tracker(is_on), Story()
    for action, argument in steps:
        if isinstance(argument, str):
            server.act(action, argument)
        elif action == "list":
            story.hear(tracker.replace(server.selected))
        elif server.statuses:
            story.hear(tracker.update(server.statuses[-1 - argument % len(server.statuses)]))
    story.hear(tracker.replace(server.selected))
    return server, story


@settings(max_examples=200, deadline=None)
@given(st.lists(STEPS, max_size=40))
def test_any_interleaving_ends_with_the_right_works_and_reports_each_incarnation_once(
    steps: list[tuple[str, str | int]],
) -> None:
    server, story = play(steps)
    assert story.view == server.rows
    assert len(story.ended) == len(set(story.ended)), "the end of one incarnation was reported twice"


@settings(max_examples=200, deadline=None)
@given(st.lists(RELABELLING, max_size=40))
def test_so_it_does_when_works_come_into_and_go_out_of_the_selection(steps: list[tuple[str, str | int]]) -> None:
    server, story = play(steps)
    assert story.view == {row.uid: row for row in server.selected}
