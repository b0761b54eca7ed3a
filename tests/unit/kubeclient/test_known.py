"""The changes that a list shows, given what is known."""

from typing import Any

from shared.kubernetes.watching.known import Change, Known, WatchEvent, key_of


def pod(name: str, version: int = 1, uid: str = "u", **metadata: Any) -> dict[str, Any]:
    named = {"namespace": "n", "name": name, "uid": uid, "resourceVersion": str(version), **metadata}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": named, "spec": {"big": "x"}}


def known_of(*documents: dict[str, Any]) -> Known:
    known = Known("v1", "Pod")
    for document in documents:
        assert [event.change for event in known.seen(document)] == [Change.ADDED]
    return known


def test_a_new_version_is_a_change_and_the_same_version_is_none() -> None:
    known = known_of(pod("a"))
    assert list(known.seen(pod("a"))) == []
    assert list(known.seen(pod("a", 2))) == [WatchEvent(Change.MODIFIED, pod("a", 2))]


def test_another_uid_is_a_deletion_and_a_creation() -> None:
    known = known_of(pod("a"))
    deleted, added = known.seen(pod("a", 5, uid="other"))
    assert (deleted.change, deleted.object["metadata"]["uid"]) == (Change.DELETED, "u")
    assert added == WatchEvent(Change.ADDED, pod("a", 5, uid="other"))


def test_what_a_list_lacks_was_deleted_and_its_last_metadata_is_known() -> None:
    known = known_of(pod("a", labels={"l": "1"}, managedFields=[{}]), pod("b"))
    (gone,) = known.missing({key_of(pod("b"))})
    assert gone.change is Change.DELETED
    assert gone.object == {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"namespace": "n", "name": "a", "uid": "u", "resourceVersion": "1", "labels": {"l": "1"}},
    }
    assert len(known) == 1
    assert ("n", "b") in known


def test_a_deletion_is_an_event_once() -> None:
    known = known_of(pod("a"))
    assert list(known.deleted(pod("a", 2))) == [WatchEvent(Change.DELETED, pod("a", 2))]
    assert list(known.deleted(pod("a", 2))) == []
