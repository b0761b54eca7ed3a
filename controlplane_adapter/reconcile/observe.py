"""What Maestro has of a cluster, wherever it is and whoever created it, found by one search."""

from dataclasses import dataclass
from datetime import UTC, datetime

from controlplane_adapter.work.manifestwork import owner_labels, work_name
from shared.maestro import MaestroClient
from shared.model.manifestwork import ManifestWork

_LATEST = datetime.max.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class Observed:
    """The cluster's works: `works` are ours, the oldest first; `foreign` have its name or labels and are not ours.

    There is one, or none before it was created. More exist only by mistake.
    """

    works: tuple[ManifestWork, ...] = ()
    foreign: tuple[ManifestWork, ...] = ()

    @property
    def work(self) -> ManifestWork | None:
        """The work to bring to the desired state."""
        return next(iter(self.works), None)

    @property
    def reported(self) -> ManifestWork | None:
        """The work whose status is reported: also a foreign one shows whether the control plane runs."""
        return next(iter((*self.works, *self.foreign)), None)


@dataclass(slots=True)
class Progress:
    """The last observation of a run, None before the first, for the report of a run that an error ends.

    `consumer` is the management cluster that has the work, None as long as it is not known.
    """

    observed: Observed | None = None
    consumer: str | None = None

    def record(self, observed: Observed) -> None:
        self.observed = observed
        if observed.reported is not None:
            self.consumer = observed.reported.consumer


async def observe(client: MaestroClient, cluster_id: str) -> Observed:
    labels = owner_labels(cluster_id)
    found = await client.find(work_name(cluster_id), labels)
    # Of works that were created in the same second, one that an agent reports on comes first.
    found.sort(key=lambda work: (work.created_at or _LATEST, not work.status.conditions, work.uid))
    ours = [work for work in found if client.is_ours(work) and work.has_labels(labels)]
    return Observed(works=tuple(ours), foreign=tuple(work for work in found if work not in ours))
