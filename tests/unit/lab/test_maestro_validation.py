"""What the server checks of manifests, at the edges of its rules."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.maestro.storage.validation import aggregate, bundle_problem, consumer_problem

LABELS = st.from_regex(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?", fullmatch=True)
KEYS = st.from_regex(
    r"([a-z0-9]{1,20}(\.[a-z0-9]{1,20})?/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?", fullmatch=True
)
VALUES = st.from_regex(r"([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?", fullmatch=True)
MANIFESTS = st.fixed_dictionaries(
    {
        "apiVersion": st.sampled_from(["v1", "apps/v1", "hypershift.openshift.io/v1beta1"]),
        "kind": st.sampled_from(["ConfigMap", "HostedCluster"]),
        "metadata": st.fixed_dictionaries(
            {"name": LABELS},
            optional={
                "namespace": LABELS,
                "labels": st.dictionaries(KEYS, VALUES, max_size=3),
                "annotations": st.dictionaries(KEYS, st.text(max_size=5), max_size=3),
                "finalizers": st.lists(KEYS, max_size=2),
            },
        ),
    }
)


def problem_of(*manifests: Any) -> str | None:
    return bundle_problem({"source": "s", "datacontenttype": "application/json", "data": {"manifests": [*manifests]}})


def manifest(**metadata: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "K", "metadata": {"name": "n", **metadata}}


@given(MANIFESTS)
def test_what_kubernetes_would_take_is_taken_once(good: dict[str, Any]) -> None:
    assert problem_of(good) is None
    assert str(problem_of(good, good)).startswith("duplicate manifest for resource ")


@pytest.mark.parametrize(
    "edge",
    [
        pytest.param(manifest(namespace="n" * 63), id="a namespace of 63"),
        pytest.param(manifest(labels={"k" * 63: "v" * 63}), id="a label of 63"),
        pytest.param(manifest(labels={f"{'p' * 60}.{'q' * 60}/k": ""}), id="a prefix and an empty value"),
        pytest.param(manifest(annotations={"UPPER/Case": "x" * 262134}), id="annotations of 256 KiB in any case"),
        pytest.param(manifest() | {"apiVersion": f"{'g' * 253}/v1"}, id="a group of 253"),
        pytest.param(manifest(namespace=""), id="an empty namespace"),
        pytest.param(manifest(namespace=None, labels=None, finalizers=None), id="nothing in its place"),
    ],
)
def test_what_is_just_within_a_rule_is_taken(edge: dict[str, Any]) -> None:
    assert problem_of(edge) is None


@pytest.mark.parametrize(
    "edge",
    [
        pytest.param(manifest(namespace="n" * 64), id="a namespace of 64"),
        pytest.param(manifest(labels={"k" * 64: ""}), id="a label of 64"),
        pytest.param(manifest(labels={"ü": ""}), id="a label that is not ASCII"),
        pytest.param(manifest(annotations={"a": "x" * 262144}), id="annotations above 256 KiB"),
        pytest.param(manifest() | {"apiVersion": f"{'g' * 254}/v1"}, id="a group of 254"),
        pytest.param(manifest(namespace="-n"), id="a namespace with a dash in front"),
        pytest.param(manifest(labels={"a": "-"}), id="a value that is a dash"),
    ],
)
def test_what_is_just_beyond_a_rule_is_not(edge: dict[str, Any]) -> None:
    assert str(problem_of(edge)).startswith(("metadata.", "apiVersion: "))


def test_the_same_object_of_another_version_kind_or_namespace_is_another_object() -> None:
    others = [
        manifest(),
        manifest(namespace="x"),
        manifest(name="m"),
        manifest() | {"kind": "L"},
        manifest() | {"apiVersion": "v2"},
    ]
    assert problem_of(*others) is None


def test_problems_are_listed_alone_or_together_and_each_once() -> None:
    assert aggregate(iter([])) is None
    assert aggregate(iter(["a"])) == "a"
    assert aggregate(iter(["a", "b", "a"])) == "[a, b]"


@pytest.mark.parametrize("name", ["a", "0", "a-b", "a" * 63])
def test_a_consumer_may_be_called(name: str) -> None:
    assert consumer_problem(name) is None


@pytest.mark.parametrize("name", ["A", "a.b", "-a", "a-", "a_b", "a" * 64, "ü"])
def test_a_consumer_may_not_be_called(name: str) -> None:
    assert consumer_problem(name) is not None
