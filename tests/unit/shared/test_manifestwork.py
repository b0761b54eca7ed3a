"""ManifestWork: there and back through its Kubernetes form, and a status that is read whatever an agent says."""

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shared.errors import Invalid
from shared.model.conditions import Condition, Status
from shared.model.manifestwork import ManifestStatus, ManifestWork, WorkStatus, executor, manifest_config
from shared.untrusted_json import read_time

PROPERTY = settings(max_examples=60, deadline=None)

TEXTS = st.text(max_size=6)
SCALARS = st.none() | st.booleans() | st.integers(-5, 5) | st.floats(allow_nan=False) | TEXTS
VALUES = SCALARS | st.lists(SCALARS, max_size=2) | st.dictionaries(TEXTS, SCALARS, max_size=2)
OBJECTS = st.dictionaries(TEXTS, VALUES, max_size=3)
FULL_OBJECTS = st.dictionaries(TEXTS, VALUES, min_size=1, max_size=3)
LABELS = st.dictionaries(TEXTS, TEXTS, max_size=3)
SECONDS = st.integers(0, 2**33).map(lambda seconds: datetime.fromtimestamp(seconds, UTC))
WORKS = st.builds(
    ManifestWork,
    name=TEXTS,
    consumer=TEXTS,
    manifests=st.lists(OBJECTS, max_size=3).map(tuple),
    manifest_configs=st.lists(OBJECTS, max_size=2).map(tuple),
    delete_option=st.none() | FULL_OBJECTS,
    executor=st.none() | FULL_OBJECTS,
    labels=LABELS,
    annotations=LABELS,
    other_metadata=st.dictionaries(st.sampled_from(["finalizers", "ownerReferences", "x"]), VALUES, max_size=2),
    uid=TEXTS,
    generation=st.integers(0, 2**31 - 1),
    created_at=st.none() | SECONDS,
    deleted_at=st.none() | SECONDS,
)

MEMBERS = st.sampled_from(
    ["resourceMeta", "ordinal", "statusFeedback", "values", "name", "fieldValue", "type", "jsonRaw", "conditions"]
)
STRANGE = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(MEMBERS, inner, max_size=3),
    max_leaves=6,
)


@PROPERTY
@given(WORKS)
def test_a_work_is_the_same_after_a_trip_through_its_kubernetes_form(work: ManifestWork) -> None:
    assert ManifestWork.from_kubernetes(work.to_kubernetes()) == work


def test_the_kubernetes_form_is_the_one_of_the_api() -> None:
    work = ManifestWork(
        name="w",
        consumer="mgmt-01",
        manifests=({"kind": "ConfigMap"},),
        manifest_configs=({"resourceIdentifier": {}},),
        delete_option={"propagationPolicy": "Orphan"},
        executor=executor(namespace="ns", name="sa"),
        labels={"a": "b"},
        annotations={"c": "d"},
        other_metadata={"finalizers": ["x/y"]},
        uid="u",
        generation=3,
        created_at=datetime(2026, 1, 2, 3, 4, 5, 999999, tzinfo=UTC),
        deleted_at=datetime(2026, 1, 2, 3, 4, 6, tzinfo=UTC),
    )
    assert work.to_kubernetes() == {
        "apiVersion": "work.open-cluster-management.io/v1",
        "kind": "ManifestWork",
        "metadata": {
            "name": "w",
            "namespace": "mgmt-01",
            "uid": "u",
            "generation": 3,
            "resourceVersion": "3",
            "creationTimestamp": "2026-01-02T03:04:05Z",
            "deletionTimestamp": "2026-01-02T03:04:06Z",
            "labels": {"a": "b"},
            "annotations": {"c": "d"},
            "finalizers": ["x/y"],
        },
        "spec": {
            "workload": {"manifests": [{"kind": "ConfigMap"}]},
            "manifestConfigs": [{"resourceIdentifier": {}}],
            "deleteOption": {"propagationPolicy": "Orphan"},
            "executor": {"subject": {"type": "ServiceAccount", "serviceAccount": {"namespace": "ns", "name": "sa"}}},
        },
    }


def test_a_work_that_was_never_sent_shows_nothing_a_server_would_set() -> None:
    assert ManifestWork(name="w", consumer="c", manifests=()).to_kubernetes() == {
        "apiVersion": "work.open-cluster-management.io/v1",
        "kind": "ManifestWork",
        "metadata": {"name": "w", "namespace": "c"},
        "spec": {"workload": {"manifests": []}},
    }


@pytest.mark.parametrize(
    ("document", "paths"),
    [
        pytest.param(None, ["kind"], id="nothing"),
        pytest.param({}, ["kind"], id="an empty object"),
        pytest.param("text", [""], id="a text"),
        pytest.param([], [""], id="a list"),
        pytest.param({"kind": "ConfigMap"}, ["kind"], id="another kind"),
        pytest.param(
            {"kind": "ManifestWork", "metadata": 5, "spec": [], "status": "x"},
            ["metadata", "spec", "status"],
            id="no objects where they belong",
        ),
        pytest.param(
            {
                "kind": "ManifestWork",
                "metadata": {"labels": [], "annotations": "a"},
                "spec": {
                    "workload": {"manifests": [{}, "not an object", None]},
                    "manifestConfigs": {},
                    "deleteOption": "Orphan",
                    "executor": 1,
                },
            },
            [
                "spec.workload.manifests[1]",
                "spec.manifestConfigs",
                "spec.deleteOption",
                "spec.executor",
                "metadata.labels",
                "metadata.annotations",
            ],
            id="wrong parts of a spec",
        ),
    ],
)
def test_what_is_no_manifestwork_is_reported_with_every_reason(document: Any, paths: list[str]) -> None:
    with pytest.raises(Invalid) as refusal:
        ManifestWork.from_kubernetes(document)
    assert [problem.path for problem in refusal.value.problems] == paths


@PROPERTY
@given(
    st.fixed_dictionaries(
        {"kind": st.just("ManifestWork")},
        optional={
            "metadata": st.dictionaries(
                st.sampled_from(["name", "namespace", "labels", "generation", "creationTimestamp", "uid", "x"]), VALUES
            ),
            "spec": st.dictionaries(
                st.sampled_from(["workload", "manifestConfigs", "deleteOption", "executor"]), VALUES
            ),
            "status": st.dictionaries(st.sampled_from(["conditions", "resourceStatus"]), VALUES),
        },
    )
)
def test_any_document_is_a_work_or_invalid_and_never_a_crash(document: dict[str, Any]) -> None:
    try:
        work = ManifestWork.from_kubernetes(document)
    except Invalid:
        return
    assert ManifestWork.from_kubernetes(work.to_kubernetes()).name == work.name


def test_a_status_in_the_document_is_read() -> None:
    document = {
        "kind": "ManifestWork",
        "status": {
            "conditions": [{"type": "Applied", "status": "True"}],
            "resourceStatus": {"manifests": [{"resourceMeta": {"name": "cm"}}]},
        },
    }
    status = ManifestWork.from_kubernetes(document).status
    assert status.condition("Applied") == Condition(type="Applied", status=Status.TRUE)
    assert [manifest.name for manifest in status.manifests] == ["cm"]


def test_a_work_is_being_deleted_once_it_has_a_deletion_time() -> None:
    work = ManifestWork(name="w", consumer="c", manifests=())
    assert not work.deleting
    assert ManifestWork(name="w", consumer="c", manifests=(), deleted_at=datetime.now(UTC)).deleting


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [({}, True), ({"a": "b"}, True), ({"a": "c"}, False), ({"x": "y"}, False), ({"a": "b", "x": ""}, False)],
    ids=repr,
)
def test_a_work_has_labels_when_it_has_all_of_them(wanted: dict[str, str], *, expected: bool) -> None:
    work = ManifestWork(name="w", consumer="c", manifests=(), labels={"a": "b", "c": "d"})
    assert work.has_labels(wanted) is expected


class TestTheAgentsWords:
    FEEDBACK = (
        {"name": "text", "fieldValue": {"type": "String", "string": "x"}},
        {"name": "number", "fieldValue": {"type": "Integer", "integer": 0}},
        {"name": "flag", "fieldValue": {"type": "Boolean", "boolean": False}},
        {"name": "status", "fieldValue": {"type": "JsonRaw", "jsonRaw": '{"a":[1]}'}},
    )

    @pytest.mark.parametrize("member", ["statusFeedback", "statusFeedbacks"])
    def test_feedback_of_every_type_is_read_under_either_spelling(self, member: str) -> None:
        status = ManifestStatus.from_wire({member: {"values": list(self.FEEDBACK)}})
        assert status.feedback == {"text": "x", "number": 0, "flag": False, "status": {"a": [1]}}

    @pytest.mark.parametrize(
        "value",
        [
            pytest.param({"name": "x", "fieldValue": {"type": "JsonRaw", "jsonRaw": "{"}}, id="cut JSON"),
            pytest.param({"name": "x", "fieldValue": {"type": "JsonRaw", "jsonRaw": "[" * 100_000}}, id="endless JSON"),
            pytest.param({"name": "x", "fieldValue": {"type": "JsonRaw", "jsonRaw": None}}, id="no JSON"),
            pytest.param({"name": "x", "fieldValue": {"type": "JsonRaw"}}, id="JSON left out"),
            pytest.param({"name": "x", "fieldValue": {"type": "Integer"}}, id="a number left out"),
            pytest.param({"name": "x", "fieldValue": {"type": "Odd", "odd": 1}}, id="a type of later versions"),
            pytest.param({"name": "x", "fieldValue": {"type": ["String"]}}, id="a list for a type"),
            pytest.param({"name": "x", "fieldValue": "x"}, id="a text for a value"),
            pytest.param({"name": "x"}, id="no value"),
            pytest.param({"fieldValue": {"type": "String", "string": "x"}}, id="no name"),
            pytest.param({"name": {}, "fieldValue": {"type": "String", "string": "x"}}, id="an object for a name"),
            pytest.param("x", id="a text"),
            pytest.param(None, id="null"),
        ],
    )
    def test_a_value_that_cannot_be_read_is_unknown_and_spoils_no_other(self, value: Any) -> None:
        status = ManifestStatus.from_wire({"statusFeedback": {"values": [value, self.FEEDBACK[0]]}})
        assert status.feedback == {"text": "x"}

    def test_a_manifest_is_known_by_its_place_and_name(self) -> None:
        meta = {
            "ordinal": 2,
            "group": "g",
            "version": "v1",
            "kind": "K",
            "resource": "ks",
            "name": "n",
            "namespace": "ns",
        }
        read = ManifestStatus.from_wire({"resourceMeta": meta, "conditions": [{"type": "Applied", "status": "False"}]})
        assert read.condition("Applied") == Condition(type="Applied", status=Status.FALSE)
        assert (read.ordinal, read.group, read.version, read.kind) == (2, "g", "v1", "K")
        assert (read.resource, read.name, read.namespace) == ("ks", "n", "ns")

    def test_conditions_that_cannot_be_read_are_left_out(self) -> None:
        conditions = [
            {"type": "Applied", "status": "", "lastTransitionTime": None},
            {"type": "", "status": ""},
            None,
            {"type": "Available", "status": "True"},
        ]
        status = WorkStatus.from_wire(conditions, None)
        assert [condition.type for condition in status.conditions] == ["Available"]

    @pytest.mark.parametrize(
        ("sent", "expected"),
        [
            ("2000808179729960960", 2000808179729960960),
            (7, 7),
            (None, 0),
            ("", 0),
            ("x", 0),
            ([], 0),
            (float("inf"), 0),
            (float("nan"), 0),
        ],
        ids=repr,
    )
    def test_a_sequence_id_is_a_number_or_none(self, sent: Any, expected: int) -> None:
        assert WorkStatus.from_wire([], [], sent).sequence_id == expected

    @PROPERTY
    @given(STRANGE, STRANGE, STRANGE)
    def test_whatever_an_agent_says_is_read_without_a_crash(
        self, conditions: Any, manifests: Any, sequence: Any
    ) -> None:
        status = WorkStatus.from_wire(conditions, manifests, sequence)
        assert isinstance(status.sequence_id, int)


@pytest.mark.parametrize("value", [None, 5, "", "yesterday", [], "2026-01-02"], ids=repr)
def test_a_time_that_cannot_be_read_is_none(value: Any) -> None:
    assert read_time(value) is None


def test_a_manifest_config_names_the_object_and_what_to_bring_back() -> None:
    assert manifest_config(
        group="apps",
        resource="deployments",
        name="d",
        namespace="ns",
        feedback={"replicas": ".spec.replicas", "status": ".status"},
        update_strategy="ServerSideApply",
    ) == {
        "resourceIdentifier": {"group": "apps", "resource": "deployments", "name": "d", "namespace": "ns"},
        "feedbackRules": [
            {
                "type": "JSONPaths",
                "jsonPaths": [{"name": "replicas", "path": ".spec.replicas"}, {"name": "status", "path": ".status"}],
            }
        ],
        "updateStrategy": {"type": "ServerSideApply"},
    }
    assert manifest_config(group="", resource="namespaces", name="n") == {
        "resourceIdentifier": {"group": "", "resource": "namespaces", "name": "n"}
    }
