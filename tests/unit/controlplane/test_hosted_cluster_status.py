"""Feedback to facts: the whole status and the scalars tell the same, and what did not come is not known."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controlplane_adapter.status.conditions import conditions_for, report_data
from controlplane_adapter.status.thresholds import Thresholds
from controlplane_adapter.work.feedback import FEEDBACK
from controlplane_adapter.work.hosted_cluster_status import HostedClusterStatus, read_status, reported_at
from lab.hypershift.conditions import NO_QUORUM
from lab.hypershift.sequences import Moment, Script
from shared.model.conditions import Condition, Status
from shared.model.manifestwork import ManifestStatus, WorkStatus
from tests.support.hosted_clusters import as_stored, fed_back, hosted_cluster, played, work_with_feedback

NOW = datetime(2026, 11, 16, 12, tzinfo=UTC)
CLUSTER = hosted_cluster("demo")
INSTALLATION = [
    Moment.SEEN,
    Moment.CONTROL_PLANE_CREATED,
    Moment.INFRASTRUCTURE_READY,
    Moment.ETCD_STARTING,
    Moment.API_SERVER_STARTING,
    Moment.COMPONENTS_STARTING,
    Moment.AVAILABLE,
    Moment.INSTALLED,
]


def observed(feedback: dict[str, Any], **changes: Any) -> HostedClusterStatus:
    return read_status(work_with_feedback(feedback, CLUSTER, **changes))


def at(moment: Moment, *, whole: bool = True) -> HostedClusterStatus:
    return observed(fed_back(played(as_stored(CLUSTER), moment, now=NOW), whole=whole))


@pytest.mark.parametrize("moment", INSTALLATION)
def test_the_scalars_tell_all_that_a_judgement_needs(moment: Moment) -> None:
    whole, scalars = at(moment), at(moment, whole=False)
    works = [work_with_feedback({}, CLUSTER) for _ in range(2)]
    verdicts = [
        conditions_for(work, status, NOW, Thresholds()) for work, status in zip(works, (whole, scalars), strict=True)
    ]
    assert verdicts[0] == verdicts[1]
    assert report_data(works[0], whole) == report_data(works[1], scalars)
    assert whole.finalizers == scalars.finalizers == ("hypershift.openshift.io/finalizer",)


ENDPOINTS = [
    ("no endpoint is known", {}, None),
    ("an empty host is no endpoint yet", {"host": "", "port": 0}, None),
    ("an empty host with a port is none either", {"host": "", "port": 443}, None),
    ("host and port are one", {"host": "api.example.com", "port": 443}, "https://api.example.com:443"),
    ("an IPv6 address gets its brackets", {"host": "fd00::1", "port": 6443}, "https://[fd00::1]:6443"),
    (
        "a host without a usable port is reported without it",
        {"host": "api.example.com", "port": 0},
        "https://api.example.com",
    ),
    ("a host that is no text is none", {"host": 5, "port": 443}, None),
]


@pytest.mark.parametrize(("endpoint", "expected"), [row[1:] for row in ENDPOINTS], ids=[row[0] for row in ENDPOINTS])
def test_endpoint(endpoint: dict[str, Any], expected: str | None) -> None:
    assert observed({"status": {"controlPlaneEndpoint": endpoint}}).endpoint == expected


def histories(own: list[tuple[str, str]], whole: list[tuple[str, str]]) -> dict[str, Any]:
    return {
        "controlPlaneVersion": {"history": [{"state": state, "version": version} for state, version in own]},
        "version": {"history": [{"state": state, "version": version} for state, version in whole]},
    }


VERSIONS: list[tuple[str, dict[str, Any], str | None, str | None]] = [
    ("nothing of the status came", {}, None, None),
    ("a first roll-out is not done", histories([("Partial", "4.22.0")], []), "", "4.22.0"),
    ("the control plane's own completed one runs", histories([("Completed", "4.22.0")], []), "4.22.0", "4.22.0"),
    (
        "during an upgrade the older one runs",
        histories([("Partial", "4.22.1"), ("Completed", "4.22.0")], []),
        "4.22.0",
        "4.22.1",
    ),
    (
        "an upgrade that was given up is passed over",
        histories([("Partial", "4.22.2"), ("Partial", "4.22.1"), ("Completed", "4.22.0")], []),
        "4.22.0",
        "4.22.2",
    ),
    ("the whole cluster's serves where there is no other", histories([], [("Completed", "4.21.3")]), "4.21.3", None),
    (
        "the control plane's own is preferred, nodes may lag behind",
        histories([("Completed", "4.22.1")], [("Completed", "4.22.0")]),
        "4.22.1",
        "4.22.1",
    ),
    ("an image without a version is no version", histories([("Completed", "")], []), "", None),
    (
        "before the control plane has a goal the cluster's is reported",
        {"version": {"desired": {"version": "4.22.0"}}},
        "",
        "4.22.0",
    ),
]


@pytest.mark.parametrize(
    ("status", "version", "desired"), [row[1:] for row in VERSIONS], ids=[row[0] for row in VERSIONS]
)
def test_version(status: dict[str, Any], version: str | None, desired: str | None) -> None:
    seen = observed({"generation": 1, **({"status": status} if status else {})})
    assert (seen.version, seen.desired_version) == (version, desired)


def test_no_feedback_at_all_is_reported_as_nothing_known() -> None:
    assert observed({}) == HostedClusterStatus(present=True)


def test_an_object_that_the_operator_has_not_seen_is_known_to_exist_and_no_more() -> None:
    seen = observed(fed_back(as_stored(CLUSTER)))
    assert seen == HostedClusterStatus(has_feedback=True, present=True, generation=1)


def test_a_status_that_is_too_large_to_come_back_leaves_the_scalars_and_the_agents_complaint() -> None:
    complaint = Condition(type="StatusFeedbackSynced", status=Status.FALSE, message="larger than the maximum length")
    work = work_with_feedback(fed_back(played(as_stored(CLUSTER), Moment.INSTALLED, now=NOW), whole=False), CLUSTER)
    [manifest] = work.status.manifests
    reported = replace(manifest, conditions=(*manifest.conditions, complaint))
    seen = read_status(replace(work, status=replace(work.status, manifests=(reported,))))
    assert (seen.version, seen.feedback_problem) == ("4.22.0", "larger than the maximum length")


PRESENCE = [
    ("the agent found it", Status.TRUE, True),
    ("the agent found none", Status.FALSE, False),
    ("the agent could not look", Status.UNKNOWN, None),
]


@pytest.mark.parametrize(("status", "expected"), [row[1:] for row in PRESENCE], ids=[row[0] for row in PRESENCE])
def test_presence(status: Status, *, expected: bool | None) -> None:
    manifest = ManifestStatus(
        group="hypershift.openshift.io",
        kind="HostedCluster",
        conditions=(Condition(type="Available", status=status),),
    )
    assert observed({}, status=WorkStatus(manifests=(manifest,))).present is expected


def test_another_object_of_the_work_is_not_taken_for_the_hosted_cluster() -> None:
    secret = ManifestStatus(group="", kind="Secret", feedback={"status": {"version": "x"}})
    assert observed({}, status=WorkStatus(manifests=(secret,))) == HostedClusterStatus()


def test_the_reading_finds_the_last_word_of_the_agent_in_the_number_it_gave_it() -> None:
    # A number that the real agent gave to a report of 2026-11-17T03:39:12.637Z.
    status = WorkStatus(sequence_id=2122534996588630016)
    assert reported_at(work_with_feedback({}, CLUSTER, status=status)) == datetime(2026, 11, 17, 3, 39, 12, 637000, UTC)


@pytest.mark.parametrize("number", [0, -1, 1 << 200], ids=["no report", "no number", "no time that exists"])
def test_a_number_that_is_no_time_is_no_word(number: int) -> None:
    assert reported_at(work_with_feedback({}, CLUSTER, status=WorkStatus(sequence_id=number))) is None


def test_deletion_is_read_with_its_finalizers() -> None:
    deleting = played(as_stored(CLUSTER), Moment.INSTALLED, now=NOW)
    deleting["metadata"] |= {"deletionTimestamp": "2026-11-16T12:30:00Z", "finalizers": ["a.example/x", "b.example/y"]}
    seen = observed(fed_back(deleting))
    assert seen.deletion_requested_at == datetime(2026, 11, 16, 12, 30, tzinfo=UTC)
    assert seen.finalizers == ("a.example/x", "b.example/y")


def test_that_it_was_up_is_remembered_over_an_outage() -> None:
    installed = played(as_stored(CLUSTER), Moment.INSTALLED, now=NOW)
    out = played(installed, Moment.SETTLED, script=Script(outage=NO_QUORUM), now=NOW)
    seen = observed(fed_back(out))
    assert seen.condition_is("Available", Status.FALSE)
    assert seen.was_up


MEMBERS = (
    *("conditions", "type", "status", "lastTransitionTime", "version", "controlPlaneVersion", "history", "state"),
    *("image", "desired", "controlPlaneEndpoint", "host", "port"),
)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)
ANY_JSON = st.recursive(
    SCALARS | st.sampled_from(["True", "False", "Completed", "Available", "2026-01-01T00:00:00Z"]),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(MEMBERS) | st.text(max_size=5),
            inner,
            max_size=5,
        )
    ),
    max_leaves=30,
)


@given(
    feedback=st.dictionaries(st.sampled_from(sorted(FEEDBACK)), ANY_JSON, max_size=8),
    deleted=st.booleans(),
    sequence=st.integers(min_value=0, max_value=1 << 70),
)
def test_no_feedback_breaks_the_reading_or_the_judgement(
    feedback: dict[str, Any], sequence: int, *, deleted: bool
) -> None:
    work = work_with_feedback(feedback, CLUSTER, deleted_at=NOW if deleted else None)
    work = replace(work, status=replace(work.status, sequence_id=sequence))
    status = read_status(work)
    conditions = conditions_for(work, status, NOW, Thresholds())
    assert {"Applied", "Available", "Health"} <= {each.type for each in conditions}
    assert all(each.reason and len(each.message) <= 2000 for each in conditions)
    assert all(isinstance(value, str) for name, value in report_data(work, status).items() if name != "upgrade")
