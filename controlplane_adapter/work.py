"""Wrapping a HostedCluster for its management cluster: the ManifestWork, its name and labels, what comes back of it."""

import base64
import hashlib

from controlplane_adapter.feedback import FEEDBACK
from controlplane_adapter.hostedcluster import CLUSTER_LABEL, GENERATION, GROUP, KIND, Json
from shared.manifestwork import ManifestWork, manifest_config
from shared.work_rules import MAX_LABEL, is_label_name

ADAPTER = "controlplane"
ADAPTER_LABEL = "hyperfleet.io/adapter"
RESOURCE = "hostedclusters"
_PREFIX = "hostedcluster-"
_DIGEST_CHARACTERS = 10
# Of the largest number that a generation can be.
_GENERATION_DIGITS = 19


def work_name(cluster_id: str) -> str:
    """`hostedcluster-<id>` where that is a label; else a form that is, and that no other id shares."""
    name = f"{_PREFIX}{cluster_id}"
    if is_label_name(name):
        return name
    digest = base64.b32encode(hashlib.sha256(cluster_id.encode()).digest()).decode().lower()[:_DIGEST_CHARACTERS]
    safe = "".join(each if each.isascii() and each.isalnum() else "-" for each in cluster_id.lower())
    room = MAX_LABEL - len(_PREFIX) - len(digest) - 1
    return f"{_PREFIX}{safe[:room].strip('-') or 'x'}-{digest}"


def owner_labels(cluster_id: str) -> dict[str, str]:
    """What makes a work ours; nothing without these is changed."""
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
    """The cluster's generation that a work was made for; 0 where it does not say. The annotation decides."""
    text = work.annotations.get(GENERATION, "")
    return int(text) if text.isascii() and text.isdigit() and len(text) <= _GENERATION_DIGITS else 0
