"""Why a generation is refused: all problems, each with its place, and the remedy. Pure."""

from collections.abc import Mapping, Sequence

from controlplane_adapter.hostedcluster.immutability import Change
from controlplane_adapter.hostedcluster.model import IMAGE, enclosing
from controlplane_adapter.hostedcluster.sources import BASE_DOMAIN, ENDPOINT_ACCESS
from controlplane_adapter.reconcile.observe import Observed
from controlplane_adapter.work.manifestwork import owner_labels
from shared import times
from shared.errors import Problem
from shared.model.manifestwork import ManifestWork

Reasons = tuple[tuple[str, ...], str]
INVALID_SPEC, INVALID_SETTINGS = "InvalidSpec", "AdapterError"
_SETTING_PREFIXES = ("HOSTED_CLUSTER_", "overlay.")
_LONGEST_VALUE = 200


def invalid(problems: Sequence[Problem]) -> tuple[str, tuple[str, ...], str]:
    """Reason, problems and remedy; a mistake of the platform alone is no mistake of the cluster's spec."""
    texts = tuple(map(str, problems))
    if all(each.path.startswith(_SETTING_PREFIXES) for each in problems):
        return INVALID_SETTINGS, texts, "correct these settings of the control plane adapter"
    return INVALID_SPEC, texts, "correct these values; nothing was sent to the management cluster"


def not_owned(works: Sequence[ManifestWork], cluster_id: str) -> Reasons:
    labels = owner_labels(cluster_id)
    unlabelled = [work for work in works if not work.has_labels(labels)]
    problems = tuple(_not_owned(work, labels) for work in works)
    owner = "restore the labels" if unlabelled else "set MAESTRO_SOURCE_ID to the source that created it"
    commands = ", ".join(f"`{_delete(work)}`" for work in works)
    return problems, f"{owner}, or delete it together with its control plane ({commands})"


def _not_owned(work: ManifestWork, labels: Mapping[str, str]) -> str:
    missing = [f"{key}={value}" for key, value in labels.items() if work.labels.get(key) != value]
    owner = f"lacks the labels {', '.join(missing)}" if missing else "was created by another source"
    return f"ManifestWork {_place(work)} {owner}: it is not ours and stays unchanged"


def duplicates(observed: Observed) -> Reasons:
    """The oldest work is the one whose status is reported."""
    oldest, *others = (*observed.works, *observed.foreign)
    places = ", ".join(f"{_place(work)}{_age(work)}" for work in (oldest, *others))
    commands = ", ".join(f"`{_delete(work)}`" for work in others)
    problem = f"the cluster has {len(others) + 1} ManifestWorks, none is changed until one is left: {places}"
    return (
        problem,
    ), f"keep the one whose control plane is in use, probably the oldest, and delete the others ({commands})"


def immutable(changes: Sequence[Change], origins: Mapping[str, str]) -> Reasons:
    problems = tuple(
        f"{_origin(each.path, origins)}{each.path} cannot change from {each.old!r:.{_LONGEST_VALUE}} to "
        f"{each.new!r:.{_LONGEST_VALUE}}"
        for each in changes
    )
    return problems, "restore the old value; the new one needs a new cluster"


def _origin(path: str, origins: Mapping[str, str]) -> str:
    """The spec field or setting that a path is rendered from, as `spec.gcp_region, rendered as `."""
    if path.startswith("spec.services"):
        found = [origins[each] for each in (ENDPOINT_ACCESS, BASE_DOMAIN) if each in origins]
        return f"{' or '.join(found)}, rendered as " if found else ""
    origin = next((origins[each] for each in enclosing(path) if each in origins), "")
    return f"{origin}, rendered as " if origin else ""


def downgrade(old: str, new: str, origins: Mapping[str, str]) -> Reasons:
    problem = f"{_origin(IMAGE, origins)}{IMAGE}: {old} → {new} is a downgrade to an earlier minor version"
    return (problem,), "use a version of the same or a later minor"


def unknown_consumer(consumer: str) -> Reasons:
    problem = f"management cluster {consumer!r} is not registered in Maestro"
    remedy = f"register it (`maestro-cli consumer ensure {consumer}`), or correct MANAGEMENT_CLUSTER_CONSUMER"
    return (problem,), remedy


def node_pools_unknown() -> Reasons:
    problem = "the snapshot has no nodepools.total, and node pools must be deleted first"
    return (problem,), "let the task configuration put the number of node pools into the snapshot"


def node_pools_exist(count: int) -> Reasons:
    problem = f"{count} node pool(s) still exist and must be deleted first"
    return (problem,), "delete them; the next run checks again. If they stay, check the node pools' own adapter"


def _place(work: ManifestWork) -> str:
    return f"{work.name!r} on {work.consumer}"


def _age(work: ManifestWork) -> str:
    created = f" of {times.to_seconds(work.created_at)}" if work.created_at else ""
    return f"{created}, being deleted" if work.deleting else created


def _delete(work: ManifestWork) -> str:
    return f"maestro-cli delete --adopt --consumer {work.consumer} {work.name}"
