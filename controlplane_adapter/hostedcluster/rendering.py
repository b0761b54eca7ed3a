"""Render the HostedCluster of a cluster's spec.

Nothing is validated here: every value is copied as it is, and `validation` reports what is wrong with it by the origins
kept beside the manifest. A value that is absent or empty is left out.
"""

import base64
import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, repeat
from typing import Any, NamedTuple

from controlplane_adapter.hostedcluster import sources, versions
from controlplane_adapter.hostedcluster.model import (
    API_VERSION,
    CLUSTER_LABEL,
    GENERATION,
    IMAGE,
    KIND,
    PLATFORM,
    PUBLIC,
    SERVICES,
    Json,
    place,
)
from controlplane_adapter.hostedcluster.overlay import merge_overlay
from controlplane_adapter.hostedcluster.render_settings import RenderSettings, variable
from controlplane_adapter.hostedcluster.sources import EMAILS, RESOURCE_LABELS, Found, find, is_set
from shared.model.snapshot import ClusterSnapshot

__all__ = ["RenderSettings", "Rendered", "derived_infra_id", "render"]

# Networks are lists of objects that are built from more than one value.
_COMPOSED = (sources.CLUSTER_NETWORK, sources.HOST_PREFIX, sources.SERVICE_NETWORK, sources.MACHINE_NETWORK)
_INFRA_ID_CHARACTERS = 8


@dataclass(frozen=True, slots=True)
class Rendered:
    """The manifest, the same before the overlay, the overlay, and the source of each path: a spec field or setting."""

    manifest: dict[str, Any]
    before_overlay: dict[str, Any]
    overlay: Json
    origins: Mapping[str, str]


class _Field(NamedTuple):
    path: str
    value: Any
    origin: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Cluster:
    snapshot: ClusterSnapshot
    settings: RenderSettings
    infra_id: str

    def find(self, path: str) -> Found:
        found = find(path, self.snapshot, self.settings)
        if found.from_setting and isinstance(found.value, str):
            return found._replace(value=self._fill_placeholders(found.value))
        return found

    def _fill_placeholders(self, text: str) -> str:
        own = {"name": self.snapshot.name, "cluster_id": self.snapshot.cluster_id, "infra_id": self.infra_id}
        for placeholder, value in own.items():
            text = text.replace(f"{{{placeholder}}}", value)
        return text


def render(
    snapshot: ClusterSnapshot, settings: RenderSettings, *, infra_id: str | None, overlay: Json | None = None
) -> Rendered:
    """The HostedCluster; `infra_id` is that of the existing work, which can never change."""
    cluster = _Cluster(snapshot=snapshot, settings=settings, infra_id=infra_id or derived_infra_id(snapshot.cluster_id))
    manifest: dict[str, Any] = {"apiVersion": API_VERSION, "kind": KIND}
    origins: dict[str, str] = {}
    for field in _fields(cluster):
        origins[field.path] = field.origin
        if is_set(field.value) and "[" not in field.path:
            place(manifest, field.path, field.value)
    overlay = overlay or {}
    return Rendered(merge_overlay(manifest, overlay), manifest, overlay, origins)


def derived_infra_id(cluster_id: str) -> str:
    """The prefix of all cloud resource names: derived from the id, and short enough for service account names."""
    digest = base64.b32encode(hashlib.sha256(cluster_id.encode()).digest()).decode().lower()
    return f"hf-{digest[:_INFRA_ID_CHARACTERS]}"


def _fields(cluster: _Cluster) -> Iterator[_Field]:
    yield from _identity(cluster)
    for path in sources.SOURCES:
        if path not in _COMPOSED:
            found = cluster.find(path)
            yield _Field(path, found.value, found.origin)
    yield _project_number(cluster)
    yield _release(cluster)
    yield from _implied_types(cluster)
    yield from _networks(cluster)
    yield from _service_accounts(cluster)
    yield from _resource_labels(cluster)
    yield _services(cluster)


def _identity(cluster: _Cluster) -> Iterator[_Field]:
    snapshot, settings = cluster.snapshot, cluster.settings
    yield _Field("metadata.name", snapshot.name, "name")
    yield _Field("metadata.namespace", settings.namespace, variable("namespace"))
    yield _Field("metadata.labels", {**settings.labels, CLUSTER_LABEL: snapshot.cluster_id}, variable("labels"))
    annotations = {**settings.annotations, GENERATION: str(snapshot.generation)}
    yield _Field("metadata.annotations", annotations, variable("annotations"))
    yield _Field("spec.clusterID", snapshot.cluster_id, "id")
    yield _Field("spec.infraID", cluster.infra_id, "id")
    yield _Field("spec.platform.type", PLATFORM, "spec")


def _project_number(cluster: _Cluster) -> _Field:
    """The API server wants a string of digits, and a spec often has a number."""
    value, origin, _ = cluster.find(sources.PROJECT_NUMBER)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    return _Field(sources.PROJECT_NUMBER, value, origin)


def _release(cluster: _Cluster) -> _Field:
    spec, settings = cluster.snapshot.spec, cluster.settings
    if is_set(image := spec.get("release_image")):
        return _Field(IMAGE, image, "spec.release_image")
    version = spec.get("openshift_version")
    if isinstance(version, str) and version:
        suffix = "" if versions.names_architecture(version) else settings.arch_suffix
        version = f"{settings.release_repository}:{version}{suffix}"
    return _Field(IMAGE, version, "spec.openshift_version")


def _implied_types(cluster: _Cluster) -> Iterator[_Field]:
    """Types that the API server requires beside a value."""
    if is_set((key := cluster.find(sources.ENCRYPTION_KEY)).value):
        yield _Field("spec.secretEncryption.type", "aescbc", key.origin)
    for volume in map(cluster.find, (sources.ETCD_SIZE, sources.ETCD_CLASS)):
        if is_set(volume.value):
            yield _Field("spec.etcd.managementType", "Managed", volume.origin)
            yield _Field("spec.etcd.managed.storage.type", "PersistentVolume", volume.origin)


def _networks(cluster: _Cluster) -> Iterator[_Field]:
    prefix = cluster.find(sources.HOST_PREFIX)
    cidrs = cluster.find(sources.CLUSTER_NETWORK)
    entries = listed(cidrs.value)
    lengths = chain(prefix.value, repeat(None)) if isinstance(prefix.value, list | tuple) else repeat(prefix.value)
    networks = [
        {"cidr": cidr} | ({} if length is None else {"hostPrefix": length})
        for cidr, length in zip(entries, lengths, strict=False)
    ]
    yield _Field(sources.CLUSTER_NETWORK, networks, cidrs.origin)
    for index in range(len(networks)):
        yield _Field(f"{sources.CLUSTER_NETWORK}[{index}].hostPrefix", None, prefix.origin)
    for path in (sources.SERVICE_NETWORK, sources.MACHINE_NETWORK):
        cidrs = cluster.find(path)
        yield _Field(path, [{"cidr": cidr} for cidr in listed(cidrs.value)], cidrs.origin)


def listed(value: Any) -> list[Any]:
    """The values of a field that may have one or several."""
    if value is None:
        return []
    return list(value) if isinstance(value, list | tuple) else [value]


def _service_accounts(cluster: _Cluster) -> Iterator[_Field]:
    spec = cluster.snapshot.spec
    together = spec.get("service_account_emails")
    for role, name in cluster.settings.service_account_roles.items():
        if isinstance(together, Mapping) and is_set(email := together.get(role)):
            yield _Field(f"{EMAILS}.{role}", email, f"spec.service_account_emails.{role}")
        else:
            yield _Field(f"{EMAILS}.{role}", spec.get(name), f"spec.{name}")


def _resource_labels(cluster: _Cluster) -> Iterator[_Field]:
    """The cluster's id first, then the platform's labels, then the cluster's own, each key once."""
    own = cluster.snapshot.spec.get("resource_labels")
    labels = {cluster.settings.cluster_id_label: (f"c-{cluster.snapshot.cluster_id}", "id")}
    labels |= {key: (value, variable("resource_labels")) for key, value in cluster.settings.resource_labels.items()}
    if isinstance(own, Mapping):
        labels |= {key: (value, f"spec.resource_labels.{key}") for key, value in own.items()}
    named = {key: labels[key] for key in labels if key}
    entries = [{"key": key, "value": value} for key, (value, _) in named.items()]
    yield _Field(RESOURCE_LABELS, entries, "spec.resource_labels")
    for index, (_, origin) in enumerate(named.values()):
        yield _Field(f"{RESOURCE_LABELS}[{index}]", None, origin)


def _services(cluster: _Cluster) -> _Field:
    """The four services as routes, with host names where the endpoint is public."""
    domain = cluster.find(sources.BASE_DOMAIN)
    named = cluster.find(sources.ENDPOINT_ACCESS).value == PUBLIC and is_set(domain.value)
    entries = []
    for service in SERVICES:
        strategy: dict[str, Any] = {"type": "Route"}
        if named and (prefix := cluster.settings.hostname_prefixes.get(service)):
            strategy["route"] = {"hostname": f"{prefix}-{cluster.snapshot.name}.{domain.value}"}
        entries.append({"service": service, "servicePublishingStrategy": strategy})
    return _Field("spec.services", entries, domain.origin)
