"""Whether a control plane is being upgraded, how far that is, and whether something stands in the way.

The control plane's own version history decides: a release is done when its roll-out is completed. The operator's
`Progressing` only says whether the wanted release was taken up; `False` with `Blocked` says that it was not and why.
A first installation is no upgrade.
"""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from controlplane_adapter import versions
from controlplane_adapter.feedback import PROGRESSING
from controlplane_adapter.observing import HostedClusterStatus, Rollout
from controlplane_adapter.work import hosted_cluster_in
from shared import times
from shared.conditions import Status
from shared.maestro.freshness import Application, applied
from shared.manifestwork import ManifestWork, as_object

BLOCKED_REASON = "Blocked"


class UpgradeState(StrEnum):
    PROGRESSING = "Progressing"
    BLOCKED = "UpgradeBlocked"
    COMPLETED = "Completed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Upgrade:
    """From which version to which. `message` is the operator's word on what stands in the way."""

    state: UpgradeState
    before: str
    after: str
    message: str = ""
    started_at: datetime | None = None
    completed_at: datetime | None = None

    @property
    def words(self) -> str:
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
    """The upgrade that is wanted, running or was done last; None where there is, or is known, none.

    A wish that the management cluster refused is none: Applied tells of it.
    """
    if not status.version or not status.rollouts:
        return None
    newest, running = status.rollouts[0], status.version
    image = _wanted_image(work)
    if not _names(image, newest) and applied(work).state is not Application.FAILED:
        return _asked_for(status, running, image)
    if not newest.completed and newest.version not in ("", running):
        return Upgrade(
            state=UpgradeState.PROGRESSING, before=running, after=newest.version, started_at=newest.started_at
        )
    return _last_done(status.rollouts)


def _asked_for(status: HostedClusterStatus, running: str, image: str) -> Upgrade:
    """The wanted release is not the one that was rolled out last: it was not taken up yet, or cannot be."""
    after = str(versions.of_image(image) or image)
    progressing = status.condition(PROGRESSING)
    if progressing is not None and progressing.status is Status.FALSE and progressing.reason == BLOCKED_REASON:
        return Upgrade(state=UpgradeState.BLOCKED, before=running, after=after, message=progressing.message)
    return Upgrade(state=UpgradeState.PROGRESSING, before=running, after=after)


def _last_done(rollouts: tuple[Rollout, ...]) -> Upgrade | None:
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


def _wanted_image(work: ManifestWork) -> str:
    spec = as_object(as_object(hosted_cluster_in(work)).get("spec"))
    image = as_object(spec.get("release")).get("image")
    return image if isinstance(image, str) else ""


def _names(image: str, rollout: Rollout) -> bool:
    """Whether the image is that release; also where the two cannot be compared, so that nothing is made up."""
    digest, rolled_out = image.partition("@")[2], rollout.image.partition("@")[2]
    if digest:
        return not rolled_out or digest == rolled_out
    wanted, version = versions.of_image(image), versions.parse(rollout.version)
    return wanted is None or version is None or wanted == version
