"""What a ManifestWork must be before it is sent, rule by rule, as Maestro and its agents really judge it."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from shared.errors import Invalid
from shared.model.manifestwork import ManifestWork
from shared.model.manifestwork_validation import MAX_MANIFEST_BYTES, is_label_name, problems_of, validate


def config_map(**members: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "cm", "namespace": "default"}} | members


def work(**parts: Any) -> ManifestWork:
    return replace(ManifestWork(name="w", consumer="mgmt-01", manifests=(config_map(),)), **parts)


def with_metadata(**metadata: Any) -> ManifestWork:
    return work(manifests=(config_map(metadata={"name": "cm"} | metadata),))


def paths_of(checked: ManifestWork) -> list[str]:
    return [problem.path for problem in problems_of(checked)]


MANIFEST = "spec.workload.manifests[0]"
GOOD = {
    "the plain one": work(),
    "a name of 63 characters": work(name="a" * 63),
    "an object without namespace": work(manifests=(config_map(metadata={"name": "cm"}),)),
    "a name that is no DNS name, which some kinds have": with_metadata(name="system:node:UPPER_case"),
    "a group": work(manifests=(config_map(apiVersion="hypershift.openshift.io/v1beta1"),)),
    "a long group": work(manifests=(config_map(apiVersion="a" * 70 + "/v1"),)),
    "an empty label value": with_metadata(labels={"a": ""}),
    "an annotation with a prefix in upper case": with_metadata(annotations={"AbC.io/x": "y"}),
    "an annotation with any text": with_metadata(annotations={"a": "ä <b> & \n"}),
    "a finalizer without prefix": with_metadata(finalizers=["foo"]),
    "null labels": with_metadata(labels=None, annotations=None),
    "the same name in two namespaces": work(
        manifests=(config_map(), config_map(metadata={"name": "cm", "namespace": "other"}))
    ),
    "the same name of two versions": work(manifests=(config_map(), config_map(apiVersion="v2"))),
    "the largest number that is kept exactly": work(manifests=(config_map(data={"n": 2**53, "m": -(2**53)}),)),
    "a fraction": work(manifests=(config_map(data={"n": 1.5}),)),
    "a server's own metadata": with_metadata(uid="u", creationTimestamp=None, ownerReferences=[{}]),
}
BAD: dict[str, tuple[ManifestWork, list[str]]] = {
    "no name": (work(name=""), ["metadata.name"]),
    "a name with capitals": (work(name="Bad_Name"), ["metadata.name"]),
    "a name with dots": (work(name="a.b"), ["metadata.name"]),
    "a name of 64 characters": (work(name="a" * 64), ["metadata.name"]),
    "a name that ends with a dash": (work(name="a-"), ["metadata.name"]),
    "a name with a line end": (work(name="a\n"), ["metadata.name"]),
    "no consumer": (work(consumer=""), ["metadata.namespace"]),
    "a consumer with dots": (work(consumer="a.b"), ["metadata.namespace"]),
    "a label key with a space": (work(labels={"bad key!": "v"}), ["metadata.labels[bad key!]"]),
    "a label prefix in capitals": (work(labels={"ABC/x": "v"}), ["metadata.labels[ABC/x]"]),
    "a label value with odd characters": (work(labels={"a": "b&<>"}), ["metadata.labels[a]"]),
    "a label value of 64 characters": (work(labels={"a": "b" * 64}), ["metadata.labels[a]"]),
    "a label value that is a number": (work(labels={"a": 5}), ["metadata.labels[a]"]),
    "an annotation that is no text": (work(annotations={"a": 5}), ["metadata.annotations[a]"]),
    "an annotation key with a space": (work(annotations={"a b": "v"}), ["metadata.annotations[a b]"]),
    "too many bytes of annotations": (work(annotations={"a": "b" * 262144}), ["metadata.annotations"]),
    "NUL in an annotation": (work(annotations={"a": "\0"}), ["metadata.annotations.a"]),
    "a finalizer that is none": (
        work(other_metadata={"finalizers": ["bad finalizer!"]}),
        ["metadata.finalizers[bad finalizer!]"],
    ),
    "no manifests": (work(manifests=()), ["spec.workload.manifests"]),
    "no apiVersion": (work(manifests=(config_map(apiVersion=None),)), [f"{MANIFEST}.apiVersion"]),
    "an apiVersion in capitals": (work(manifests=(config_map(apiVersion="V1"),)), [f"{MANIFEST}.apiVersion"]),
    "an apiVersion of three parts": (work(manifests=(config_map(apiVersion="a/b/v1"),)), [f"{MANIFEST}.apiVersion"]),
    "an apiVersion with an empty group": (work(manifests=(config_map(apiVersion="/v1"),)), [f"{MANIFEST}.apiVersion"]),
    "a version of 64 characters": (work(manifests=(config_map(apiVersion="v" * 64),)), [f"{MANIFEST}.apiVersion"]),
    "a group of 254 characters": (
        work(manifests=(config_map(apiVersion=".".join(["a" * 50] * 5) + "/v1"),)),
        [f"{MANIFEST}.apiVersion"],
    ),
    "no kind": (work(manifests=(config_map(kind=""),)), [f"{MANIFEST}.kind"]),
    "no metadata": (work(manifests=(config_map(metadata=None),)), [f"{MANIFEST}.metadata"]),
    "no name of an object": (work(manifests=(config_map(metadata={}),)), [f"{MANIFEST}.metadata.name"]),
    "a number for the name of an object": (with_metadata(name=5), [f"{MANIFEST}.metadata.name"]),
    "a namespace that is none": (with_metadata(namespace="A.b"), [f"{MANIFEST}.metadata.namespace"]),
    "a namespace of 64 characters": (with_metadata(namespace="b" * 64), [f"{MANIFEST}.metadata.namespace"]),
    "what the server must decide": (
        with_metadata(generateName="x", resourceVersion="1", deletionGracePeriodSeconds=5),
        [
            f"{MANIFEST}.metadata.generateName",
            f"{MANIFEST}.metadata.resourceVersion",
            f"{MANIFEST}.metadata.deletionGracePeriodSeconds",
        ],
    ),
    "wrong labels of an object": (with_metadata(labels={"a": "b c"}), [f"{MANIFEST}.metadata.labels[a]"]),
    "labels that are a list": (with_metadata(labels=["a"]), [f"{MANIFEST}.metadata.labels"]),
    "a wrong annotation key of an object": (
        with_metadata(annotations={"A B": "c"}),
        [f"{MANIFEST}.metadata.annotations[A B]"],
    ),
    "a wrong finalizer of an object": (
        with_metadata(finalizers=["a/b/c"]),
        [f"{MANIFEST}.metadata.finalizers[a/b/c]"],
    ),
    "the same object twice": (work(manifests=(config_map(), config_map(data={}))), ["spec.workload.manifests[1]"]),
    "a number that would be rounded": (
        work(manifests=(config_map(data={"n": [2**53 + 1]}),)),
        [f"{MANIFEST}.data.n[0]"],
    ),
    "not a number": (work(manifests=(config_map(data={"n": float("nan")}),)), [f"{MANIFEST}.data.n"]),
    "infinity": (work(manifests=(config_map(data={"n": float("-inf")}),)), [f"{MANIFEST}.data.n"]),
    "a time as YAML reads it": (
        work(manifests=(config_map(data={"at": datetime(2026, 1, 2, tzinfo=UTC)}),)),
        [f"{MANIFEST}.data.at"],
    ),
    "a key that is a number, as YAML reads it": (
        work(manifests=(config_map(data={8080: "x"}),)),
        [f"{MANIFEST}.data.8080"],
    ),
    "the character NUL": (work(manifests=(config_map(data={"k": "a\0b"}),)), [f"{MANIFEST}.data.k"]),
    "half a character": (work(manifests=(config_map(data={"k": "\ud800"}),)), [f"{MANIFEST}.data.k"]),
    "no JSON in a manifest config": (
        work(manifest_configs=({}, {"x": {1, 2}})),
        ["spec.manifestConfigs[1].x"],
    ),
    "no JSON in the delete option": (work(delete_option={"x": b"y"}), ["spec.deleteOption.x"]),
    "no JSON in the executor": (work(executor={"x": float("nan")}), ["spec.executor.x"]),
    "no JSON in other metadata": (work(other_metadata={"x": object}), ["metadata.x"]),
}


@pytest.mark.parametrize("checked", GOOD.values(), ids=GOOD)
def test_what_maestro_takes_is_not_refused(checked: ManifestWork) -> None:
    assert list(problems_of(checked)) == []
    validate(checked)


@pytest.mark.parametrize(("checked", "paths"), BAD.values(), ids=BAD)
def test_each_mistake_is_reported_with_its_place(checked: ManifestWork, paths: list[str]) -> None:
    assert paths_of(checked) == paths


def test_all_mistakes_are_reported_at_once() -> None:
    checked = work(
        name="Bad",
        labels={"a": "b c"},
        manifests=(config_map(kind=None), config_map(metadata={}), config_map(), config_map()),
    )
    with pytest.raises(Invalid) as refusal:
        validate(checked)
    assert [problem.path for problem in refusal.value.problems] == [
        "metadata.name",
        "metadata.labels[a]",
        "spec.workload.manifests[0].kind",
        "spec.workload.manifests[1].metadata.name",
        "spec.workload.manifests[3]",
    ]
    assert "'Bad'" in str(refusal.value)


class TestTheSize:
    """The agent drops what is larger without telling anybody, and measures what Maestro's Go has written again."""

    AROUND = len(
        '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"cm","namespace":"default"},"data":{"k":""}}'
    )
    AVAILABLE = MAX_MANIFEST_BYTES - AROUND

    @pytest.mark.parametrize(
        ("filling", "weight"),
        [("x", 1), ("é", 2), ("<", 6), (">", 6), ("&", 6), ("\u2028", 6)],
        ids=ascii,
    )
    def test_up_to_the_limit_it_is_taken_and_beyond_it_is_refused(self, filling: str, weight: int) -> None:
        fitting = self.AVAILABLE // weight
        assert paths_of(work(manifests=(config_map(data={"k": filling * fitting}),))) == []
        beyond = work(manifests=(config_map(data={"k": filling * (fitting + 1)}),))
        assert paths_of(beyond) == ["spec.workload.manifests"]

    def test_all_objects_count_together(self) -> None:
        half = {"k": "x" * (MAX_MANIFEST_BYTES // 2)}
        two = (config_map(data=half), config_map(data=half, metadata={"name": "other"}))
        assert paths_of(work(manifests=two)) == ["spec.workload.manifests"]
        assert paths_of(work(manifests=two[:1])) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a", True),
        ("a-b-1", True),
        ("1", True),
        ("a" * 63, True),
        ("", False),
        ("A", False),
        ("a_b", False),
        ("-a", False),
    ],
)
def test_a_label_name_is_one_of_rfc_1123(text: str, *, expected: bool) -> None:
    assert is_label_name(text) is expected
