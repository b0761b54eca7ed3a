"""The store of the lab's API server: what it lists, and in which order."""

import pytest

from lab.kubernetes.api.kinds import JOB, NAMESPACE, POD, Kind
from lab.kubernetes.storage.store import Key, Store


@pytest.fixture
def store() -> Store:
    store = Store()
    for kind, namespace, name in (
        (POD, "b", "one"),
        (JOB, "b", "two"),
        (JOB, "a", "three"),
        (NAMESPACE, "", "a"),
        (JOB, "b", "one"),
    ):
        store.put(Key.of(kind, namespace, name), {"metadata": {"namespace": namespace, "name": name}})
    return store


@pytest.mark.parametrize(
    ("kind", "namespace", "names"),
    [
        pytest.param(JOB, "", ["three", "one", "two"], id="a kind, by namespace and name"),
        pytest.param(JOB, "b", ["one", "two"], id="a kind in a namespace"),
        pytest.param(POD, "a", [], id="nothing"),
        pytest.param(NAMESPACE, "", ["a"], id="a kind without namespaces"),
    ],
)
def test_a_list_has_the_objects_of_one_kind_in_order(
    store: Store, kind: Kind, namespace: str, names: list[str]
) -> None:
    assert [each["metadata"]["name"] for each in store.of_kind(kind, namespace)] == names


def test_an_earlier_state_has_what_was_removed_since_and_not_what_was_created(store: Store) -> None:
    earlier = store.revision
    store.remove(Key.of(JOB, "b", "one"))
    store.put(Key.of(JOB, "b", "four"), {"metadata": {"namespace": "b", "name": "four"}})

    assert [each["metadata"]["name"] for each in store.state_at(earlier, JOB, "b")] == ["one", "two"]
    assert [each["metadata"]["name"] for each in store.of_kind(JOB, "b")] == ["four", "two"]


def test_all_keys_are_in_order(store: Store) -> None:
    assert list(store) == sorted(store)
    assert len(list(store)) == 5
