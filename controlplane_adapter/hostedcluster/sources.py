"""The source of each value of a HostedCluster: another adapter's data, the cluster's spec, or a setting.

The first source that has a value wins. The name of the source is what a user reads when the value is wrong.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from controlplane_adapter.hostedcluster.render_settings import RenderSettings, variable
from shared.model.snapshot import ClusterSnapshot

GCP = "spec.platform.gcp"
IDENTITY = f"{GCP}.workloadIdentity"
CLUSTER_NETWORK = "spec.networking.clusterNetwork"
HOST_PREFIX = f"{CLUSTER_NETWORK}.hostPrefix"
SERVICE_NETWORK = "spec.networking.serviceNetwork"
MACHINE_NETWORK = "spec.networking.machineNetwork"
PROJECT_NUMBER = f"{IDENTITY}.projectNumber"
BASE_DOMAIN = "spec.dns.baseDomain"
ENDPOINT_ACCESS = f"{GCP}.endpointAccess"
ENCRYPTION_KEY = "spec.secretEncryption.aescbc.activeKey.name"
EMAILS = f"{IDENTITY}.serviceAccountsEmails"
RESOURCE_LABELS = f"{GCP}.resourceLabels"
_ETCD_VOLUME = "spec.etcd.managed.storage.persistentVolume"
ETCD_SIZE = f"{_ETCD_VOLUME}.size"
ETCD_CLASS = f"{_ETCD_VOLUME}.storageClassName"


class Source(NamedTuple):
    """The spec field, the setting after it, and the names of the value in another adapter's data before it."""

    spec: str
    setting: str = ""
    adapter: str = ""
    data: tuple[str, ...] = ()


class Found(NamedTuple):
    """A value, None where no source has one, and its source."""

    value: Any
    origin: str
    from_setting: bool = False


SOURCES: Mapping[str, Source] = {
    f"{GCP}.project": Source("gcp_project_id"),
    f"{GCP}.region": Source("gcp_region"),
    f"{GCP}.networkConfig.network.name": Source("vpc_network_name"),
    f"{GCP}.networkConfig.privateServiceConnectSubnet.name": Source("psc_subnet_name"),
    PROJECT_NUMBER: Source("gcp_project_number"),
    f"{IDENTITY}.poolID": Source("wif_pool_id"),
    f"{IDENTITY}.providerID": Source("wif_provider_id"),
    ENDPOINT_ACCESS: Source("endpoint_access", "endpoint_access"),
    "spec.channel": Source("channel", "channel"),
    CLUSTER_NETWORK: Source("cluster_network_cidr", "cluster_network_cidr"),
    HOST_PREFIX: Source("cluster_network_host_prefix", "cluster_network_host_prefix"),
    SERVICE_NETWORK: Source("service_network_cidr", "service_network_cidr"),
    MACHINE_NETWORK: Source("machine_network_cidr", "machine_network_cidr"),
    "spec.networking.networkType": Source("network_type", "network_type"),
    BASE_DOMAIN: Source("base_domain", "base_domain", "dns", ("base_domain", "baseDomain")),
    "spec.dns.publicZoneID": Source("public_zone_id", "public_zone_id", "dns", ("public_zone_id", "publicZoneId")),
    "spec.dns.privateZoneID": Source("private_zone_id", "private_zone_id", "dns", ("private_zone_id", "privateZoneId")),
    "spec.pullSecret.name": Source(
        "pull_secret_name", "pull_secret", "pullsecret", ("pull_secret_name", "pullSecretName")
    ),
    "spec.sshKey.name": Source("ssh_key_secret_name", "ssh_key"),
    ENCRYPTION_KEY: Source("etcd_encryption_key_secret_name", "encryption_key"),
    "spec.serviceAccountSigningKey.name": Source("service_account_signing_key_secret_name", "signing_key"),
    "spec.issuerURL": Source("issuer_url", "issuer_url"),
    "spec.controllerAvailabilityPolicy": Source("controller_availability_policy", "controller_availability_policy"),
    "spec.infrastructureAvailabilityPolicy": Source(
        "infrastructure_availability_policy", "infrastructure_availability_policy"
    ),
    "spec.olmCatalogPlacement": Source("olm_catalog_placement", "olm_catalog_placement"),
    "spec.configuration.featureGate.featureSet": Source("feature_set", "feature_set"),
    ETCD_SIZE: Source("etcd_storage_size", "etcd_storage_size"),
    ETCD_CLASS: Source("etcd_storage_class_name", "etcd_storage_class_name"),
}


def find(path: str, snapshot: ClusterSnapshot, settings: RenderSettings) -> Found:
    """The value for `path` from the first source that has one."""
    source = SOURCES[path]
    data = snapshot.adapters.get(source.adapter, {})
    for name in source.data:
        if is_set(data.get(name)):
            return Found(data[name], f"adapters.{source.adapter}.{name}")
    own = snapshot.spec.get(source.spec)
    if not is_set(own) and source.setting and is_set(default := getattr(settings, source.setting)):
        return Found(default, variable(source.setting), from_setting=True)
    return Found(own if is_set(own) else None, f"spec.{source.spec}")


def is_set(value: Any) -> bool:
    """Whether a field has a value; an empty one has none, but zero and false are values."""
    return value is not None and value not in ("", [], (), {})
