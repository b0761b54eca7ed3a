"""ManifestWorks as Kubernetes objects with their status, and back."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dispatcher.transports.work_objects import desired_update, object_of, work_of
from shared.errors import Invalid
from shared.model.manifestwork import ManifestStatus, ManifestWork, WorkStatus

JSON = st.recursive(
    st.booleans() | st.integers() | st.text(), lambda inner: st.dictionaries(st.text(), inner), max_leaves=5
)


def generation(value: Any) -> dict[str, Any]:
    return {"metadata": {"name": "x", "annotations": {"hyperfleet.io/generation": value}}}


def document(**metadata: Any) -> dict[str, Any]:
    named = {"name": "w", "annotations": {"hyperfleet.io/generation": "3"}, **metadata}
    manifest = {"apiVersion": "v1", "kind": "ConfigMap", **generation("3")}
    return {"kind": "ManifestWork", "metadata": named, "spec": {"workload": {"manifests": [manifest]}}}


@given(st.dictionaries(st.text(min_size=1), JSON))
def test_feedback_survives_the_way_to_an_object_and_back(feedback: dict[str, Any]) -> None:
    status = WorkStatus(manifests=(ManifestStatus(kind="Job", name="j", namespace="n", feedback=feedback),))
    work = ManifestWork(name="w", consumer="c", manifests=(), status=status)
    assert ManifestWork.from_kubernetes(json.loads(json.dumps(object_of(work)))).status == status


def test_a_work_without_a_report_has_an_empty_status() -> None:
    assert object_of(ManifestWork(name="w", consumer="c", manifests=()))["status"] == {"resourceStatus": {}}


@pytest.mark.parametrize("value", [None, "", "0", "-1", "x", "1.5"], ids=repr)
def test_a_generation_that_is_no_positive_number_is_missing(value: Any) -> None:
    with pytest.raises(Invalid, match=r"hyperfleet\.io/generation") as refusal:
        work_of(document(**generation(value)["metadata"]), "c")
    assert [problem.path for problem in refusal.value.problems] == ["metadata.annotations"]


def test_the_consumer_is_the_callers() -> None:
    assert work_of(document(namespace="other"), "c").consumer == "c"


def test_labels_and_annotations_of_others_stay_and_ours_win() -> None:
    stored = ManifestWork(name="w", consumer="c", manifests=(), labels={"a": "1", "b": "1"}, annotations={"c": "1"})
    update = desired_update(stored, work_of(document(labels={"b": "2"}), "c"))
    assert update.labels == {"a": "1", "b": "2"}
    assert update.annotations == {"c": "1", "hyperfleet.io/generation": "3"}
