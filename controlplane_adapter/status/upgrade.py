"""Whether a control plane is being upgraded, how far the upgrade is, and what blocks it.

The control plane's own version history decides: an upgrade is complete when its rollout is. The operator's
`Progressing` only says whether it accepted the desired release; `False` with `Blocked` says that it did not, and why.
A first installation is not an upgrade.
"""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from controlplane_adapter.hostedcluster import versions
from controlplane_adapter.work.feedback import PROGRESSING
from controlplane_adapter.work.hosted_cluster_status import HostedClusterStatus, Rollout
from controlplane_adapter.work.manifestwork import hosted_cluster_in
from shared import times
from shared.maestro import ApplyState, apply_result
from shared.model.conditions import Status
from shared.model.manifestwork import ManifestWork
from shared.redaction import redact_text
from shared.untrusted_json import as_object

BLOCKED_REASON = "Blocked"


class UpgradeState(StrEnum):
    PROGRESSING = "Progressing"
    BLOCKED = "UpgradeBlocked"
    COMPLETED = "Completed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Upgrade:
    """From which version to which. `message` is what the operator says about a blocked upgrade."""

    state: UpgradeState
    before: str
    after: str
    message: str = ""
    started_at: datetime | None = None
    completed_at: datetime | None = None

    @property
    def summary(self) -> str:
        match self.state:
            case UpgradeState.PROGRESSING:
                return f"upgrade from {self.before} to {self.after} in progress"
            case UpgradeState.BLOCKED:
                return f"upgrade from {self.before} to {self.after} is blocked: {self.message}"
            case UpgradeState.COMPLETED:
                return f"upgraded from {self.before} to {self.after}"

    def to_data(self) -> dict[str, Any]:
        moments = {"started_time": self.started_at, "completed_time": self.completed_at}
        texts = {"state": self.state.value, "from": self.before, "to": self.after, "message": self.message}
        return {name: text for name, text in texts.items() if text} | {
            name: times.to_seconds(moment) for name, moment in moments.items() if moment
        }


def upgrade_of(work: ManifestWork, status: HostedClusterStatus) -> Upgrade | None:
    """The upgrade that is requested, in progress or was completed last; None where there is none, or none is known.

    An upgrade that the management cluster refused does not count: Applied reports it.
    """
    if not status.version or not status.rollouts:
        return None
    newest, running = status.rollouts[0], status.version
    image = _desired_image(work)
    if not _matches(image, newest) and apply_result(work).state is not ApplyState.FAILED:
        return _requested(status, running, image)
    if not newest.completed and newest.version not in ("", running):
        return Upgrade(
            state=UpgradeState.PROGRESSING, before=running, after=newest.version, started_at=newest.started_at
        )
    return _last_completed(status.rollouts)


def _requested(status: HostedClusterStatus, running: str, image: str) -> Upgrade:
    """The desired release is not the one rolled out last: the operator has not accepted it yet, or cannot."""
    after = str(versions.of_image(image) or image)
    progressing = status.condition(PROGRESSING)
    if progressing is not None and progressing.status is Status.FALSE and progressing.reason == BLOCKED_REASON:
        return Upgrade(
            state=UpgradeState.BLOCKED, before=running, after=after, message=redact_text(progressing.message)
        )
    return Upgrade(state=UpgradeState.PROGRESSING, before=running, after=after)


def _last_completed(rollouts: tuple[Rollout, ...]) -> Upgrade | None:
    newest = rollouts[0]
    before = next((each.version for each in rollouts[1:] if each.completed and each.version != newest.version), None)
    if not newest.completed or before is None:
        return None
    return Upgrade(
        state=UpgradeState.COMPLETED,
        before=before,
        after=newest.version,
        started_at=newest.started_at,
        completed_at=newest.completed_at,
    )


def _desired_image(work: ManifestWork) -> str:
    spec = as_object(as_object(hosted_cluster_in(work)).get("spec"))
    image = as_object(spec.get("release")).get("image")
    return image if isinstance(image, str) else ""


def _matches(image: str, rollout: Rollout) -> bool:
    """Whether the image is that release; True also where the two cannot be compared, so that nothing is invented."""
    digest, rolled_out = image.partition("@")[2], rollout.image.partition("@")[2]
    if digest:
        return not rolled_out or digest == rolled_out
    desired, version = versions.of_image(image), versions.parse(rollout.version)
    return desired is None or version is None or desired == version
