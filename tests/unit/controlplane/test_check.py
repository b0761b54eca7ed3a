"""What the check concludes from works, from the probe, and from a CRD."""

import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from controlplane_adapter.check.findings import State, gcp_by_probe, gcp_by_works, newest_status
from controlplane_adapter.check.probe import probe_work
from controlplane_adapter.check.settings import check_settings
from controlplane_adapter.hostedcluster.schema import offers_gcp, schema_of, schema_problems
from shared.errors import Misconfigured
from shared.model.conditions import Condition, Status
from shared.model.manifestwork import ManifestStatus, ManifestWork, WorkStatus
from shared.model.manifestwork_validation import validate
from tests.support.adapter import Cluster

NOW = datetime(2026, 11, 17, 3, 49, 12, tzinfo=UTC)
# The number that a real agent gave to a report of 03:39:12 that day.
SEQUENCE = 2057666424139079681
CONSUMER = "mgmt-01"
WORK = ManifestWork(name="w", consumer=CONSUMER, manifests=({"kind": "HostedCluster"},), generation=1)


def answered(status: Status, message: str = "") -> ManifestWork:
    applied = Condition(type="Applied", status=status, message=message, observed_generation=1)
    manifest = ManifestStatus(kind="HostedCluster", conditions=(applied,))
    return replace(WORK, status=WorkStatus(conditions=(applied,), manifests=(manifest,), sequence_id=SEQUENCE))


def test_an_agent_is_unknown_before_it_has_reported_on_any_work() -> None:
    found = newest_status([WORK], CONSUMER, NOW)

    assert found.state is State.UNKNOWN
    assert CONSUMER in found.remedy


def test_the_newest_report_on_any_work_is_shown() -> None:
    found = newest_status([WORK, answered(Status.TRUE)], CONSUMER, NOW)

    assert found.state is State.OK
    assert "ago" in found.detail


@pytest.mark.parametrize(
    ("works", "state"),
    [
        ([], State.UNKNOWN),
        ([WORK], State.UNKNOWN),
        ([answered(Status.TRUE)], State.OK),
        ([answered(Status.FALSE, "Region is immutable")], State.UNKNOWN),
        ([answered(Status.TRUE), answered(Status.FALSE, 'Unsupported value: "GCP"')], State.MISSING),
        ([answered(Status.FALSE, ".spec.platform.gcp: field not declared in schema")], State.MISSING),
    ],
    ids=[
        "no work",
        "no answer",
        "applied",
        "refused for another reason",
        "refused for GCP",
        "refused before validation",
    ],
)
def test_hypershift_is_judged_by_what_was_applied_or_refused(works: list[ManifestWork], state: State) -> None:
    assert gcp_by_works(works, CONSUMER).state is state


def probed(feedback: dict[str, Any], *conditions: Condition) -> ManifestWork:
    manifest = ManifestStatus(feedback=feedback, conditions=conditions)
    return replace(probe_work(CONSUMER), status=WorkStatus(manifests=(manifest,)))


REFUSED = Condition(type="Applied", status=Status.FALSE, message='customresourcedefinitions "x" not found')
FORBIDDEN = Condition(type="Applied", status=Status.FALSE, message="customresourcedefinitions is forbidden")


@pytest.mark.parametrize(
    ("work", "state"),
    [
        (None, State.UNKNOWN),
        (probed({"kind": "HostedCluster", "gcp": "object"}), State.OK),
        (probed({"kind": "HostedCluster"}), State.MISSING),
        (probed({}, REFUSED), State.MISSING),
        (probed({}, FORBIDDEN), State.UNKNOWN),
    ],
    ids=["no answer", "GCP", "no GCP", "no CRD", "may not read it"],
)
def test_hypershift_is_judged_by_the_probe(work: ManifestWork | None, state: State) -> None:
    assert gcp_by_probe(work, CONSUMER).state is state


def test_the_probe_can_change_nothing() -> None:
    work = probe_work(CONSUMER)
    validate(work)

    assert [each["updateStrategy"] for each in work.manifest_configs] == [{"type": "ReadOnly"}]
    assert work.delete_option == {"propagationPolicy": "Orphan"}
    assert all("spec" not in each for each in work.manifests)


SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "spec": {
            "type": "object",
            "properties": {
                "channel": {"type": "string"},
                "fips": {"type": "boolean"},
                "count": {"type": "integer"},
                "size": {"x-kubernetes-int-or-string": True},
                "labels": {"type": "object", "additionalProperties": {"type": "string"}},
                "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": True, "properties": {}},
                "platform": {"type": "object", "properties": {"gcp": {"type": "object", "properties": {}}}},
                "services": {
                    "type": "array",
                    "items": {"type": "object", "properties": {"service": {"type": "string"}}},
                },
            },
        }
    },
}
DEFINITION: dict[str, Any] = {
    "spec": {
        "group": "hypershift.openshift.io",
        "versions": [{"name": "v1alpha1"}, {"name": "v1beta1", "schema": {"openAPIV3Schema": SCHEMA}}],
    }
}


@pytest.mark.parametrize(
    ("spec", "path"),
    [
        ({"chanel": "x"}, "spec.chanel"),
        ({"channel": 7}, "spec.channel"),
        ({"fips": "yes"}, "spec.fips"),
        ({"count": True}, "spec.count"),
        ({"labels": {"a": 1}}, "spec.labels.a"),
        ({"services": [{"service": "x"}, {"servce": "x"}]}, "spec.services[1].servce"),
        ({"platform": {"gcp": {"x": 1}}}, "spec.platform.gcp.x"),
    ],
)
def test_unknown_fields_and_wrong_types_are_named(spec: dict[str, Any], path: str) -> None:
    assert [each.path for each in schema_problems({"spec": spec}, SCHEMA)] == [path]


def test_what_a_schema_leaves_open_is_free() -> None:
    spec = {"channel": None, "size": "8Gi", "labels": {"any": "x"}, "free": {"x": 1}, "count": 3}

    assert list(schema_problems({"metadata": {"x": 1}, "spec": spec}, SCHEMA)) == []


def test_the_schema_of_our_version_is_taken_and_shows_gcp() -> None:
    assert offers_gcp(schema_of(DEFINITION))
    assert not offers_gcp({"properties": {"spec": {"properties": {}}}})


@pytest.mark.parametrize(
    "document", [None, [], {}, {"spec": {"group": "apps"}}, {"spec": {"group": "hypershift.openshift.io"}}]
)
def test_what_is_not_the_definition_is_refused(document: Any) -> None:
    with pytest.raises(Misconfigured):
        schema_of(document)


def test_maestro_is_checked_though_another_setting_is_wrong() -> None:
    variables = {
        "MANAGEMENT_CLUSTER_CONSUMER": "mgmt-01",
        "MAESTRO_API_URL": "http://127.0.0.1:1",
        "MAESTRO_GRPC_URL": "127.0.0.1:1",
        "MAESTRO_INSECURE": "true",
        "DEGRADED_DAMPING": "soon",
    }

    (finding,), maestro, consumer = check_settings(variables, crd=None)

    assert (finding.name, finding.state) == ("settings", State.INVALID)
    assert maestro is not None
    assert consumer == "mgmt-01"


@pytest.mark.parametrize(
    ("overlay", "added"),
    [
        ("spec: {bogus: 1, platform: {gcp: {bogus: {a: 1}}}}", "spec.bogus, spec.platform.gcp.bogus"),
        ("spec: {platform: {gcp: {region: us-central1}}}", ""),
    ],
)
def test_without_a_crd_the_fields_that_an_overlay_adds_are_named_as_unknown(
    tmp_path: Path, overlay: str, added: str
) -> None:
    (tmp_path / "overlay.yaml").write_text(overlay)
    variables = {
        "CLUSTER_SNAPSHOT": json.dumps(Cluster().snapshot()),
        "MANAGEMENT_CLUSTER_CONSUMER": "mgmt-01",
        "MAESTRO_API_URL": "http://127.0.0.1:1",
        "MAESTRO_GRPC_URL": "127.0.0.1:1",
        "MAESTRO_INSECURE": "true",
        "HOSTED_CLUSTER_OVERLAY_PATH": str(tmp_path / "overlay.yaml"),
    }

    findings, _, _ = check_settings(variables, crd=None)

    named = [each.detail for each in findings if (each.name, each.state) == ("overlay", State.UNKNOWN)]
    assert named == ([f"it adds fields that may not exist: {added}"] if added else [])
