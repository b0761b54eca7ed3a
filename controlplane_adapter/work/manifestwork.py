"""The ManifestWork that carries a HostedCluster: its name, labels and content."""

import base64
import hashlib

from controlplane_adapter.hostedcluster.model import CLUSTER_LABEL, GENERATION, GROUP, KIND, Json
from controlplane_adapter.work.feedback import FEEDBACK
from shared.model.manifestwork import ManifestWork, manifest_config
from shared.model.manifestwork_validation import MAX_LABEL, is_label_name

ADAPTER = "controlplane"
ADAPTER_LABEL = "hyperfleet.io/adapter"
RESOURCE = "hostedclusters"
_PREFIX = "hostedcluster-"
_DIGEST_CHARACTERS = 10
# Of the largest number that a generation can be.
_GENERATION_DIGITS = 19


def work_name(cluster_id: str) -> str:
    """`hostedcluster-<id>` where that is a valid label; otherwise a shortened form with a digest of the id."""
    name = f"{_PREFIX}{cluster_id}"
    if is_label_name(name):
        return name
    digest = base64.b32encode(hashlib.sha256(cluster_id.encode()).digest()).decode().lower()[:_DIGEST_CHARACTERS]
    safe = "".join(each if each.isascii() and each.isalnum() else "-" for each in cluster_id.lower())
    available = MAX_LABEL - len(_PREFIX) - len(digest) - 1
    return f"{_PREFIX}{safe[:available].strip('-') or 'x'}-{digest}"


def owner_labels(cluster_id: str) -> dict[str, str]:
    """The labels that make a work ours; a work without them is never changed."""
    return {CLUSTER_LABEL: cluster_id, ADAPTER_LABEL: ADAPTER}


def work_for(hosted_cluster: Json, *, cluster_id: str, consumer: str, generation: int) -> ManifestWork:
    metadata = hosted_cluster["metadata"]
    return ManifestWork(
        name=work_name(cluster_id),
        consumer=consumer,
        manifests=(hosted_cluster,),
        manifest_configs=(
            manifest_config(
                group=GROUP,
                resource=RESOURCE,
                namespace=metadata["namespace"],
                name=metadata["name"],
                feedback=FEEDBACK,
                update_strategy="ServerSideApply",
            ),
        ),
        delete_option={"propagationPolicy": "Foreground"},
        labels={**owner_labels(cluster_id), GENERATION: str(generation)},
        annotations={GENERATION: str(generation)},
    )


def hosted_cluster_in(work: ManifestWork) -> Json | None:
    """The HostedCluster that a work carries."""
    return next((each for each in work.manifests if each.get("kind") == KIND), None)


def generation_of(work: ManifestWork) -> int:
    """The cluster's generation that a work was created for, from its annotation; 0 where it has none."""
    text = work.annotations.get(GENERATION, "")
    return int(text) if text.isascii() and text.isdigit() and len(text) <= _GENERATION_DIGITS else 0
