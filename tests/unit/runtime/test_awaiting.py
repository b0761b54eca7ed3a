"""Who waits for which deletion."""

import pytest

from dispatcher.engine.runs import AwaitedDeletion
from dispatcher.runtime.watching import awaiting
from dispatcher.runtime.watching.awaiting import AwaitedDeletions
from tests.support.wakes import event, key


def deletion(uid: str, kind: str = "Job") -> AwaitedDeletion:
    return AwaitedDeletion(resource="job", api_version="batch/v1", kind=kind, namespace="n", name="x", uid=uid)


def test_a_deletion_is_for_the_object_that_waits_for_it() -> None:
    awaited = AwaitedDeletions()
    assert not awaited.expect(key("a"), event("a"), [deletion("u"), deletion("v")])
    assert awaited.see("other") is None
    assert awaited.see("u") == (key("a"), event("a"))
    assert awaited.see("u") is None
    assert awaited.see("v") == (key("a"), event("a"))


def test_a_later_run_replaces_what_its_object_waits_for() -> None:
    awaited = AwaitedDeletions()
    awaited.expect(key("a"), event("a"), [deletion("u")])
    awaited.expect(key("b"), event("b"), [deletion("w")])
    awaited.expect(key("a"), event("a"), [])
    assert awaited.see("u") is None
    assert awaited.see("w") == (key("b"), event("b"))


def test_a_deletion_that_was_seen_before_anybody_waited_is_not_missed() -> None:
    awaited = AwaitedDeletions()
    awaited.see("u")
    assert awaited.expect(key("a"), event("a"), [deletion("u")])


def test_a_work_that_is_made_again_has_the_same_uid_and_its_next_deletion_is_waited_for() -> None:
    awaited = AwaitedDeletions()
    awaited.expect(key("a"), event("a"), [deletion("u")])
    awaited.see("u")
    assert not awaited.expect(key("a"), event("a"), [deletion("u")])
    assert awaited.see("u") == (key("a"), event("a"))


def test_a_deletion_that_was_seen_early_is_used_up() -> None:
    awaited = AwaitedDeletions()
    awaited.see("u")
    assert awaited.expect(key("a"), event("a"), [deletion("u")])
    assert not awaited.expect(key("a"), event("a"), [deletion("u")])
    assert awaited.see("u") == (key("a"), event("a"))


def test_a_bounded_number_of_deletions_is_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(awaiting, "MAX_REMEMBERED", 2)
    awaited = AwaitedDeletions()
    for uid in ("u", "v", "w"):
        awaited.see(uid)
    assert not awaited.expect(key("a"), event("a"), [deletion("u")])
    assert awaited.expect(key("a"), event("a"), [deletion("w")])


def test_they_are_counted_by_kind() -> None:
    awaited = AwaitedDeletions()
    awaited.expect(key("a"), event("a"), [deletion("u"), deletion("v", "ManifestWork")])
    awaited.expect(key("b"), event("b"), [deletion("w")])
    assert awaited.by_kind() == {"Job": 2, "ManifestWork": 1}
