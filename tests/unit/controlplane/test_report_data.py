"""The data of a report: endpoint, versions, and how far an upgrade is."""

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from controlplane_adapter.status.conditions import report_data
from controlplane_adapter.work.hosted_cluster_status import HostedClusterStatus, Rollout
from shared.model.conditions import Condition, Status
from shared.model.manifestwork import ManifestWork, WorkStatus
from tests.support.hosted_clusters import hosted_cluster, work_with_feedback

NOW = datetime(2026, 11, 16, 12, tzinfo=UTC)
AVAILABLE = Condition(type="Available", status=Status.TRUE)
BLOCKED = Condition(
    type="Progressing",
    status=Status.FALSE,
    reason="Blocked",
    message="ClusterVersionUpgradeable condition is false: not upgradeable",
)
FIRST = Rollout(version="4.22.0", image="quay.io/r@sha256:a", completed=True)
SECOND = Rollout(version="4.22.1", image="quay.io/r@sha256:b", started_at=NOW - timedelta(minutes=10))
SECOND_DONE = replace(SECOND, completed=True, completed_at=NOW - timedelta(minutes=1))


def known(*conditions: Condition, **facts: Any) -> HostedClusterStatus:
    return replace(HostedClusterStatus(has_feedback=True, present=True, conditions=conditions), **facts)


def up(*conditions: Condition, **facts: Any) -> HostedClusterStatus:
    return known(*conditions, **({"version": "4.22.0", "rollouts": (FIRST,)} | facts))


def work(version: str = "4.22.0", **changes: Any) -> ManifestWork:
    return work_with_feedback({}, hosted_cluster("demo", version), **changes)


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    title: str
    wanted: str
    status: HostedClusterStatus
    upgrade: dict[str, str] | None


UPGRADES = [
    Progress(
        title="a first installation is no upgrade", wanted="4.22.0", status=known(rollouts=(SECOND,)), upgrade=None
    ),
    Progress(title="an installed control plane has none", wanted="4.22.0", status=up(AVAILABLE), upgrade=None),
    Progress(
        title="an upgrade that the operator has not accepted is in progress",
        wanted="4.22.1",
        status=up(AVAILABLE),
        upgrade={"state": "Progressing", "from": "4.22.0", "to": "4.22.1"},
    ),
    Progress(
        title="a roll-out is in progress since it was begun",
        wanted="4.22.1",
        status=up(AVAILABLE, rollouts=(SECOND, FIRST)),
        upgrade={"state": "Progressing", "from": "4.22.0", "to": "4.22.1", "started_time": "2026-11-16T11:50:00Z"},
    ),
    Progress(
        title="a roll-out is done when it is completed, and no sooner",
        wanted="4.22.1",
        status=up(AVAILABLE, version="4.22.1", rollouts=(SECOND_DONE, FIRST)),
        upgrade={
            "state": "Completed",
            "from": "4.22.0",
            "to": "4.22.1",
            "started_time": "2026-11-16T11:50:00Z",
            "completed_time": "2026-11-16T11:59:00Z",
        },
    ),
    Progress(
        title="the next upgrade counts from what runs",
        wanted="4.22.2",
        status=up(AVAILABLE, version="4.22.1", rollouts=(SECOND_DONE, FIRST)),
        upgrade={"state": "Progressing", "from": "4.22.1", "to": "4.22.2"},
    ),
    Progress(
        title="an upgrade that is refused is blocked, with the reason",
        wanted="4.23.0",
        status=up(AVAILABLE, BLOCKED),
        upgrade={"state": "UpgradeBlocked", "from": "4.22.0", "to": "4.23.0", "message": BLOCKED.message},
    ),
    Progress(
        title="a release candidate is another version than the release",
        wanted="4.22.1-rc.1",
        status=up(AVAILABLE),
        upgrade={"state": "Progressing", "from": "4.22.0", "to": "4.22.1-rc.1"},
    ),
    Progress(
        title="a history that begins again with the running version is no upgrade",
        wanted="4.22.0",
        status=up(AVAILABLE, rollouts=(replace(FIRST, completed=False),)),
        upgrade=None,
    ),
]


@pytest.mark.parametrize("progress", UPGRADES, ids=[each.title for each in UPGRADES])
def test_upgrade(progress: Progress) -> None:
    assert report_data(work(progress.wanted), progress.status).get("upgrade") == progress.upgrade


def test_an_upgrade_that_the_management_cluster_refused_is_none() -> None:
    failed = Condition(type="Applied", status=Status.FALSE, message="Region is immutable", observed_generation=1)
    asked = work("4.22.1", status=WorkStatus(conditions=(failed,)))
    assert "upgrade" not in report_data(asked, up(AVAILABLE))


IMAGES = [
    ("the same digest is the same release", "quay.io/r@sha256:a", None),
    ("another digest is another release", "quay.io/r@sha256:c", "quay.io/r@sha256:c"),
    ("a tag that names no version cannot be compared", "registry.example.com:5000/r:latest", None),
    ("an image without a tag cannot be compared", "registry.example.com:5000/r", None),
    ("a tag without an architecture is compared", "quay.io/r:4.22.1", "4.22.1"),
]


@pytest.mark.parametrize(("image", "upgraded_to"), [row[1:] for row in IMAGES], ids=[row[0] for row in IMAGES])
def test_images_are_compared_as_far_as_they_can_be(image: str, upgraded_to: str | None) -> None:
    cluster = hosted_cluster("demo")
    cluster["spec"]["release"]["image"] = image
    reported = report_data(work_with_feedback({}, cluster), up(AVAILABLE))
    assert reported.get("upgrade", {}).get("to") == upgraded_to


def test_data_has_the_endpoint_and_the_versions_and_nothing_that_is_not_known() -> None:
    status = up(AVAILABLE, endpoint="https://api.example.com:443", desired_version="4.22.0")
    assert report_data(work(), status) == {
        "control_plane_endpoint": "https://api.example.com:443",
        "version": "4.22.0",
        "desired_version": "4.22.0",
    }
    assert report_data(work(), HostedClusterStatus()) == {
        "control_plane_endpoint": "",
        "version": "",
        "desired_version": "",
    }
