"""Asking a management cluster for its CRD of HostedClusters, by a work that only reads it and is deleted afterwards.

Nothing can change there: the work is ReadOnly, its object has no spec that an agent could apply, and its deletion
orphans the object.
"""

import contextlib
import uuid

from controlplane_adapter.hostedcluster.model import API_VERSION, GROUP
from controlplane_adapter.work.manifestwork import ADAPTER_LABEL
from shared.errors import DeadlineExceeded, HyperFleetError
from shared.maestro import MaestroClient
from shared.model.manifestwork import ManifestWork, manifest_config

_CRD = f"hostedclusters.{GROUP}"
_GROUP, _RESOURCE = "apiextensions.k8s.io", "customresourcedefinitions"
_LABELS = {ADAPTER_LABEL: "controlplane-check"}
_VERSION = API_VERSION.rpartition("/")[2]
_PLATFORM = f'.spec.versions[?(@.name=="{_VERSION}")].schema.openAPIV3Schema.properties.spec.properties.platform'
FEEDBACK = {"kind": ".spec.names.kind", "gcp": f"{_PLATFORM}.properties.gcp.type"}


def probe_work(consumer: str) -> ManifestWork:
    return ManifestWork(
        name=f"controlplane-check-{uuid.uuid4().hex[:12]}",
        consumer=consumer,
        manifests=({"apiVersion": f"{_GROUP}/v1", "kind": "CustomResourceDefinition", "metadata": {"name": _CRD}},),
        manifest_configs=(
            manifest_config(group=_GROUP, resource=_RESOURCE, name=_CRD, feedback=FEEDBACK, update_strategy="ReadOnly"),
        ),
        delete_option={"propagationPolicy": "Orphan"},
        labels=_LABELS,
    )


async def probe(client: MaestroClient, consumer: str, *, timeout: float) -> ManifestWork | None:
    """The work with what the agent returned; None where it did not answer in time."""
    works = client.works(consumer, owner_labels=_LABELS)
    work = probe_work(consumer)
    await works.create(work)
    try:
        return await works.wait_until(work.name, _is_answered, timeout=timeout)
    except DeadlineExceeded:
        return None
    finally:
        with contextlib.suppress(HyperFleetError):
            await works.delete(work.name)
            await works.wait_gone(work.name, timeout=timeout)


def _is_answered(work: ManifestWork | None) -> bool:
    """Feedback comes with a later status than the first; a refusal has none."""
    return work is not None and any(
        each.feedback or ((applied := each.condition("Applied")) is not None and applied.status == "False")
        for each in work.status.manifests
    )
