"""Works as REST shows them, and whether what is stored already is what is wanted."""

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shared.errors import ServerError
from shared.maestro.wire.bundles import differences, work_of_bundle
from shared.model.conditions import Condition, Status
from shared.model.manifestwork import ManifestWork, WorkStatus

PROPERTY = settings(max_examples=80, deadline=None)
UID = "5e212a26-73ca-5eb1-bc5e-f99ae486da25"
# What a real server answered.
BUNDLE: dict[str, Any] = {
    "consumer_name": "mgmt-01",
    "created_at": "2026-11-17T02:40:33.893961Z",
    "delete_option": {},
    "href": f"/api/maestro/v1/resource-bundles/{UID}",
    "id": UID,
    "kind": "ResourceBundle",
    "manifest_configs": [],
    "manifests": [{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "default"}}],
    "metadata": {
        "creationTimestamp": "2026-11-17T02:40:33Z",
        "labels": {"a": "b"},
        "name": "w",
        "namespace": "mgmt-01",
        "resourceVersion": "0",
        "uid": UID,
        "finalizers": ["a/b"],
    },
    "name": UID,
    "status": {
        "ObservedVersion": 1,
        "SequenceID": "2000808179759321088",
        "conditions": [{"type": "Applied", "status": "True", "observedGeneration": 1, "reason": "r", "message": "m"}],
    },
    "updated_at": "2026-11-17T02:40:37.597541Z",
    "version": 4,
}


class TestReading:
    def test_a_bundle_is_a_work_with_identity_and_status(self) -> None:
        condition = Condition(type="Applied", status=Status.TRUE, reason="r", message="m", observed_generation=1)
        assert work_of_bundle(BUNDLE) == ManifestWork(
            name="w",
            consumer="mgmt-01",
            manifests=tuple(BUNDLE["manifests"]),
            labels={"a": "b"},
            other_metadata={"finalizers": ["a/b"]},
            uid=UID,
            generation=4,
            created_at=datetime(2026, 11, 17, 2, 40, 33, tzinfo=UTC),
            status=WorkStatus(conditions=(condition,), sequence_id=2000808179759321088),
        )

    def test_without_a_status_nothing_was_said_yet(self) -> None:
        bundle = {key: value for key, value in BUNDLE.items() if key != "status"}
        assert work_of_bundle(bundle).status == WorkStatus()

    def test_a_work_is_being_deleted_when_the_root_says_so(self) -> None:
        assert not work_of_bundle(BUNDLE).deleting
        assert work_of_bundle(BUNDLE | {"deleted_at": "2026-11-17T03:00:00.123456Z"}).deleting
        stale = BUNDLE | {"metadata": BUNDLE["metadata"] | {"deletionTimestamp": "2026-11-17T03:00:00Z"}}
        assert not work_of_bundle(stale).deleting

    def test_an_anonymous_work_is_known_by_its_id(self) -> None:
        work = work_of_bundle(BUNDLE | {"metadata": {}})
        assert (work.name, work.consumer, work.created_at) == (UID, "mgmt-01", None)

    def test_configs_and_delete_option_are_kept(self) -> None:
        work = work_of_bundle(
            BUNDLE | {"manifest_configs": [{"a": 1}], "delete_option": {"propagationPolicy": "Orphan"}}
        )
        assert (work.manifest_configs, work.delete_option) == (({"a": 1},), {"propagationPolicy": "Orphan"})
        assert work.executor is None

    @pytest.mark.parametrize(
        "strange",
        [
            pytest.param({"labels": ["a"], "annotations": "x"}, id="labels that are none"),
            pytest.param({"labels": {"a": [], "b": "c"}, "annotations": {"y": 5}}, id="labels with odd values"),
            pytest.param([], id="no metadata"),
        ],
    )
    def test_what_another_source_has_stored_breaks_nobody(self, strange: Any) -> None:
        work = work_of_bundle(BUNDLE | {"metadata": strange})
        assert work.has_labels({})
        assert work.labels in ({}, {"b": "c"})

    @pytest.mark.parametrize(
        "answer",
        [{}, {"id": "x"}, {"id": "x", "version": None}, {"id": "x", "version": "one"}, [], "text", None, 5],
        ids=repr,
    )
    def test_what_is_no_bundle_is_the_servers_fault(self, answer: Any) -> None:
        with pytest.raises(ServerError, match="no resource bundle"):
            work_of_bundle(answer)

    STRANGE = (
        st.none()
        | st.booleans()
        | st.integers()
        | st.floats()
        | st.text(max_size=3)
        | st.lists(st.integers(), max_size=2)
    )

    @PROPERTY
    @given(st.dictionaries(st.sampled_from(sorted(BUNDLE)), STRANGE, max_size=4))
    def test_whatever_a_server_answers_is_a_work_or_the_servers_fault(self, strange: dict[str, Any]) -> None:
        try:
            work = work_of_bundle(BUNDLE | strange)
        except ServerError:
            return
        assert isinstance(work.generation, int)


WANTED = ManifestWork(
    name="w",
    consumer="mgmt-01",
    manifests=({"kind": "ConfigMap", "data": {"n": 1.0, "list": [1, "a", None, True], "empty": {}}},),
    manifest_configs=(
        {
            "resourceIdentifier": {"group": "", "resource": "configmaps", "name": "a"},
            "feedbackRules": [{"type": "JSONPaths", "jsonPaths": [{"name": "x", "path": ".data"}]}],
            "updateStrategy": {"type": "ServerSideApply", "serverSideApply": {"force": False}},
        },
    ),
    delete_option={"propagationPolicy": "Orphan"},
    labels={"a": "b"},
    annotations={"c": "d"},
    other_metadata={"finalizers": ["a/b"]},
)


def shown(work: ManifestWork) -> ManifestWork:
    """The work after Maestro's storage: numbers through float64, no executor, what REST adds beside."""
    return replace(
        work,
        manifests=tuple(json.loads(json.dumps(each), parse_int=float) for each in work.manifests),
        executor=None,
        uid=UID,
        generation=3,
        created_at=datetime(2026, 1, 2, tzinfo=UTC),
        status=WorkStatus(sequence_id=9),
    )


class TestComparing:
    def test_what_is_stored_as_wanted_does_not_differ(self) -> None:
        assert differences(shown(WANTED), WANTED) == []

    @pytest.mark.parametrize(
        ("change", "expected"),
        [
            pytest.param({"labels": {"a": "c"}}, ["labels"], id="a label"),
            pytest.param({"labels": {}}, ["labels"], id="a label less"),
            pytest.param({"annotations": {"c": "d", "e": "f"}}, ["annotations"], id="an annotation more"),
            pytest.param({"other_metadata": {"finalizers": []}}, ["metadata"], id="no finalizers"),
            pytest.param({"other_metadata": {"ownerReferences": []}}, ["metadata"], id="other metadata"),
            pytest.param({"other_metadata": {}}, [], id="metadata that is not spoken of stays"),
            pytest.param({"manifests": ()}, ["manifests"], id="no manifests"),
            pytest.param({"manifests": WANTED.manifests * 2}, ["manifests"], id="one more manifest"),
            pytest.param({"manifest_configs": ()}, ["manifestConfigs"], id="no configs"),
            pytest.param({"delete_option": None}, ["deleteOption"], id="no delete option"),
            pytest.param({"delete_option": {"propagationPolicy": "Foreground"}}, ["deleteOption"], id="another policy"),
            pytest.param({"executor": {"subject": {}}}, [], id="the executor, which is not shown"),
            pytest.param({"name": "w", "uid": "x", "generation": 7}, [], id="identity"),
        ],
    )
    def test_each_part_that_differs_is_named(self, change: dict[str, Any], expected: list[str]) -> None:
        assert differences(shown(WANTED), replace(WANTED, **change)) == expected

    @pytest.mark.parametrize(
        ("stored", "wanted", "same"),
        [
            (1, 1.0, True),
            (0, False, False),
            (1, True, False),
            (None, False, False),
            (None, 0, False),
            ("1", 1, False),
            ("", None, False),
            ([], {}, False),
            ([], "", False),
            (["a"], "a", False),
            ({}, None, False),
            ([1, 2], [2, 1], False),
            ({"a": 1, "b": 2}, {"b": 2, "a": 1}, True),
            ({"a": None}, {}, False),
            ("a", "a", True),
            (0.1, 0.1, True),
        ],
        ids=repr,
    )
    def test_values_of_a_manifest_are_compared_as_json(self, stored: Any, wanted: Any, *, same: bool) -> None:
        left, right = (replace(WANTED, manifests=({"data": value},)) for value in (stored, wanted))
        assert differences(left, right) == ([] if same else ["manifests"])
        assert differences(right, left) == ([] if same else ["manifests"])

    @pytest.mark.parametrize(
        "written",
        [
            pytest.param(lambda config: {**config, "conditionRules": []}, id="an empty list"),
            pytest.param(lambda config: {**config, "feedbackScrapeType": ""}, id="an empty text"),
            pytest.param(lambda config: {**config, "x": {"y": {}}}, id="empty objects in each other"),
            pytest.param(lambda config: {**config, "updateStrategy": {"type": "ServerSideApply"}}, id="false left out"),
        ],
    )
    def test_empty_members_of_a_config_which_go_drops_do_not_differ(
        self, written: Callable[[dict[str, Any]], dict[str, Any]]
    ) -> None:
        wanted = replace(WANTED, manifest_configs=tuple(written(dict(each)) for each in WANTED.manifest_configs))
        assert differences(shown(WANTED), wanted) == []

    @pytest.mark.parametrize("nothing", [None, {}, {"propagationPolicy": ""}], ids=repr)
    def test_no_delete_option_has_many_spellings(self, nothing: dict[str, Any] | None) -> None:
        assert differences(replace(WANTED, delete_option=None), replace(WANTED, delete_option=nothing)) == []

    SCALARS = (
        st.none()
        | st.booleans()
        | st.integers(-(2**53), 2**53)
        | st.floats(allow_nan=False, allow_infinity=False)
        | st.text(max_size=3)
    )
    MANIFESTS = st.dictionaries(
        st.text(max_size=3),
        SCALARS | st.lists(SCALARS, max_size=3) | st.dictionaries(st.text(max_size=3), SCALARS, max_size=3),
        max_size=3,
    )

    @PROPERTY
    @given(MANIFESTS)
    def test_no_manifest_differs_from_itself_after_maestros_storage(self, manifest: dict[str, Any]) -> None:
        wanted = replace(WANTED, manifests=(manifest,))
        assert differences(shown(wanted), wanted) == []
