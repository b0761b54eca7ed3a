"""How objects and selections are named."""

import pytest

from shared.errors import Invalid
from shared.kubernetes import ObjectRef, Selection, equal_labels, select_one
from shared.kubernetes.discovery import ResourceKind, root_of

JOBS = ResourceKind(api_version="batch/v1", kind="Job", plural="jobs", namespaced=True)
NODES = ResourceKind(api_version="v1", kind="Node", plural="nodes", namespaced=False)


@pytest.mark.parametrize(
    ("kind", "parts", "path"),
    [
        (JOBS, ("n", "a"), "/apis/batch/v1/namespaces/n/jobs/a"),
        (JOBS, ("n", "a", "status"), "/apis/batch/v1/namespaces/n/jobs/a/status"),
        (JOBS, ("n",), "/apis/batch/v1/namespaces/n/jobs"),
        (JOBS, (), "/apis/batch/v1/jobs"),
        (NODES, ("n", "a"), "/api/v1/nodes/a"),
        (JOBS, ("../..", "a/b?c"), "/apis/batch/v1/namespaces/..%2F../jobs/a%2Fb%3Fc"),
    ],
    ids=["an object", "a subresource", "a namespace", "all namespaces", "no namespace", "quoted"],
)
def test_a_kind_knows_the_path_of_its_objects(kind: ResourceKind, parts: tuple[str, ...], path: str) -> None:
    assert kind.path(*parts) == path


def test_the_core_group_has_a_root_of_its_own() -> None:
    assert (root_of("v1"), root_of("lab.example.com/v1")) == ("/api/v1", "/apis/lab.example.com/v1")


def test_an_object_says_what_it_is() -> None:
    ref = ObjectRef.of({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "a", "namespace": "n"}})
    assert (str(ref), str(select_one(ref))) == ("Job n/a", "Jobs in n with metadata.name=a")
    assert str(Selection(api_version="v1", kind="Pod")) == "Pods"


@pytest.mark.parametrize("document", [{}, {"metadata": None}, {"metadata": []}], ids=repr)
def test_all_that_is_missing_to_name_an_object_is_listed(document: dict[str, object]) -> None:
    with pytest.raises(Invalid) as refusal:
        ObjectRef.of(document)
    assert [problem.path for problem in refusal.value.problems] == ["apiVersion", "kind", "metadata.name"]


def test_labels_become_a_selector() -> None:
    assert equal_labels({"app": "a", "hyperfleet.io/cluster-id": "b.c_d-1", "empty": ""}) == (
        "app=a,hyperfleet.io/cluster-id=b.c_d-1,empty="
    )
    assert equal_labels({}) == ""


@pytest.mark.parametrize(
    "labels",
    [{"a": "b,c"}, {"a": "b=c"}, {"a,b": "c"}, {"": "c"}, {"a": "x" * 64}, {"a": "b\nc"}, {"a b": "c"}],
    ids=repr,
)
def test_what_is_no_label_cannot_widen_a_selector(labels: dict[str, str]) -> None:
    with pytest.raises(Invalid, match="not a label"):
        equal_labels(labels)
