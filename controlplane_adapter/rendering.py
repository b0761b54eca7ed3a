"""Which HostedCluster a cluster's spec asks for.

Nothing is judged here: whatever a field holds is carried over, and `validation` tells what is wrong with it by the
origins kept beside the manifest. A value that is nowhere, or empty, is left out.
"""

import base64
import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, repeat
from typing import Any, NamedTuple

from controlplane_adapter import sources, versions
from controlplane_adapter.hostedcluster import API_VERSION, CLUSTER_LABEL, GENERATION, KIND, place
from controlplane_adapter.render_settings import RenderSettings, variable
from controlplane_adapter.sources import Found, find, is_something
from shared.snapshot import ClusterSnapshot

__all__ = ["RenderSettings", "Rendered", "derived_infra_id", "hosted_cluster", "rendered"]

PLATFORM = "GCP"
PUBLIC = "PublicAndPrivate"
# The order is for ever: the API server takes even another order of the same services for a change.
SERVICES = ("APIServer", "OAuthServer", "Konnectivity", "Ignition")
EMAILS = f"{sources.IDENTITY}.serviceAccountsEmails"
RESOURCE_LABELS = f"{sources.GCP}.resourceLabels"
IMAGE = "spec.release.image"
# The networks are lists of objects, and are built from more than one value.
_COMPOSED = (sources.CLUSTER_NETWORK, sources.HOST_PREFIX, sources.SERVICE_NETWORK, sources.MACHINE_NETWORK)
_INFRA_ID_CHARACTERS = 8


@dataclass(frozen=True, slots=True)
class Rendered:
    """The manifest, and for each path that was written, or could have been, the place that decides its value."""

    manifest: dict[str, Any]
    origins: Mapping[str, str]


class _Part(NamedTuple):
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
        if found.of_platform and isinstance(found.value, str):
            return found._replace(value=self._filled(found.value))
        return found

    def _filled(self, text: str) -> str:
        own = {"name": self.snapshot.name, "cluster_id": self.snapshot.cluster_id, "infra_id": self.infra_id}
        for placeholder, value in own.items():
            text = text.replace(f"{{{placeholder}}}", value)
        return text


def hosted_cluster(snapshot: ClusterSnapshot, settings: RenderSettings, *, infra_id: str | None) -> dict[str, Any]:
    """The manifest; `infra_id` is that of the cluster's existing work, which can never change."""
    return rendered(snapshot, settings, infra_id=infra_id).manifest


def rendered(snapshot: ClusterSnapshot, settings: RenderSettings, *, infra_id: str | None) -> Rendered:
    cluster = _Cluster(snapshot=snapshot, settings=settings, infra_id=infra_id or derived_infra_id(snapshot.cluster_id))
    manifest: dict[str, Any] = {"apiVersion": API_VERSION, "kind": KIND}
    origins: dict[str, str] = {}
    for part in _parts(cluster):
        origins[part.path] = part.origin
        if is_something(part.value) and "[" not in part.path:
            place(manifest, part.path, part.value)
    return Rendered(manifest, origins)


def derived_infra_id(cluster_id: str) -> str:
    """The prefix of all names in the cloud: short, because service accounts carry it, and always the same."""
    digest = base64.b32encode(hashlib.sha256(cluster_id.encode()).digest()).decode().lower()
    return f"hf-{digest[:_INFRA_ID_CHARACTERS]}"


def _parts(cluster: _Cluster) -> Iterator[_Part]:
    yield from _identity(cluster)
    for path in sources.SOURCES:
        if path not in _COMPOSED:
            found = cluster.find(path)
            yield _Part(path, found.value, found.origin)
    yield _project_number(cluster)
    yield _release(cluster)
    yield from _implied_types(cluster)
    yield from _networks(cluster)
    yield from _service_accounts(cluster)
    yield from _resource_labels(cluster)
    yield _services(cluster)


def _identity(cluster: _Cluster) -> Iterator[_Part]:
    snapshot, settings = cluster.snapshot, cluster.settings
    yield _Part("metadata.name", snapshot.name, "name")
    yield _Part("metadata.namespace", settings.namespace, variable("namespace"))
    yield _Part("metadata.labels", {**settings.labels, CLUSTER_LABEL: snapshot.cluster_id}, variable("labels"))
    annotations = {**settings.annotations, GENERATION: str(snapshot.generation)}
    yield _Part("metadata.annotations", annotations, variable("annotations"))
    yield _Part("spec.clusterID", snapshot.cluster_id, "id")
    yield _Part("spec.infraID", cluster.infra_id, "id")
    yield _Part("spec.platform.type", PLATFORM, "spec")


def _project_number(cluster: _Cluster) -> _Part:
    """The API server wants its digits as text, and whoever writes a spec has a number."""
    value, origin, _ = cluster.find(sources.PROJECT_NUMBER)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    return _Part(sources.PROJECT_NUMBER, value, origin)


def _release(cluster: _Cluster) -> _Part:
    spec, settings = cluster.snapshot.spec, cluster.settings
    if is_something(image := spec.get("release_image")):
        return _Part(IMAGE, image, "spec.release_image")
    version = spec.get("openshift_version")
    if isinstance(version, str) and version:
        suffix = "" if versions.names_architecture(version) else settings.arch_suffix
        version = f"{settings.release_repository}:{version}{suffix}"
    return _Part(IMAGE, version, "spec.openshift_version")


def _implied_types(cluster: _Cluster) -> Iterator[_Part]:
    """What must be said beside a value for it to count."""
    if is_something((key := cluster.find(sources.ENCRYPTION_KEY)).value):
        yield _Part("spec.secretEncryption.type", "aescbc", key.origin)
    for volume in map(cluster.find, (sources.ETCD_SIZE, sources.ETCD_CLASS)):
        if is_something(volume.value):
            yield _Part("spec.etcd.managementType", "Managed", volume.origin)
            yield _Part("spec.etcd.managed.storage.type", "PersistentVolume", volume.origin)


def _networks(cluster: _Cluster) -> Iterator[_Part]:
    prefix = cluster.find(sources.HOST_PREFIX)
    cidrs = cluster.find(sources.CLUSTER_NETWORK)
    entries = listed(cidrs.value)
    lengths = chain(prefix.value, repeat(None)) if isinstance(prefix.value, list | tuple) else repeat(prefix.value)
    networks = [
        {"cidr": cidr} | ({} if length is None else {"hostPrefix": length})
        for cidr, length in zip(entries, lengths, strict=False)
    ]
    yield _Part(sources.CLUSTER_NETWORK, networks, cidrs.origin)
    for index in range(len(networks)):
        yield _Part(f"{sources.CLUSTER_NETWORK}[{index}].hostPrefix", None, prefix.origin)
    for path in (sources.SERVICE_NETWORK, sources.MACHINE_NETWORK):
        cidrs = cluster.find(path)
        yield _Part(path, [{"cidr": cidr} for cidr in listed(cidrs.value)], cidrs.origin)


def listed(value: Any) -> list[Any]:
    """The values of a field that may hold one or several."""
    if value is None:
        return []
    return list(value) if isinstance(value, list | tuple) else [value]


def _service_accounts(cluster: _Cluster) -> Iterator[_Part]:
    spec = cluster.snapshot.spec
    together = spec.get("service_account_emails")
    for role, name in cluster.settings.service_account_roles.items():
        if isinstance(together, Mapping) and is_something(email := together.get(role)):
            yield _Part(f"{EMAILS}.{role}", email, f"spec.service_account_emails.{role}")
        else:
            yield _Part(f"{EMAILS}.{role}", spec.get(name), f"spec.{name}")


def _resource_labels(cluster: _Cluster) -> Iterator[_Part]:
    """The cluster's id first, then the fleet's labels, then the cluster's own, each key once."""
    own = cluster.snapshot.spec.get("resource_labels")
    labels = {cluster.settings.cluster_id_label: (f"c-{cluster.snapshot.cluster_id}", "id")}
    labels |= {key: (value, variable("resource_labels")) for key, value in cluster.settings.resource_labels.items()}
    if isinstance(own, Mapping):
        labels |= {key: (value, f"spec.resource_labels.{key}") for key, value in own.items()}
    named = {key: labels[key] for key in labels if key}
    entries = [{"key": key, "value": value} for key, (value, _) in named.items()]
    yield _Part(RESOURCE_LABELS, entries, "spec.resource_labels")
    for index, (_, origin) in enumerate(named.values()):
        yield _Part(f"{RESOURCE_LABELS}[{index}]", None, origin)


def _services(cluster: _Cluster) -> _Part:
    """How the four services are reached: by routes, which have names of their own when the endpoint is public."""
    domain = cluster.find(sources.BASE_DOMAIN)
    named = cluster.find(sources.ENDPOINT_ACCESS).value == PUBLIC and is_something(domain.value)
    entries = []
    for service in SERVICES:
        strategy: dict[str, Any] = {"type": "Route"}
        if named and (prefix := cluster.settings.hostname_prefixes.get(service)):
            strategy["route"] = {"hostname": f"{prefix}-{cluster.snapshot.name}.{domain.value}"}
        entries.append({"service": service, "servicePublishingStrategy": strategy})
    return _Part("spec.services", entries, domain.origin)
