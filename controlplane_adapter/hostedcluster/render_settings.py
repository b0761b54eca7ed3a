"""A platform team's defaults for all its clusters; a cluster's own spec overrides them.

Each field is one environment variable; the overlay covers everything else.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

# Each role of a Google service account in the HostedCluster, and the field of the cluster's spec that names its e-mail.
# HyperShift has added four roles in as many months, so the next one is a setting and not a release.
SERVICE_ACCOUNT_ROLES: Mapping[str, str] = {
    "controlPlane": "control_plane_sa_email",
    "nodePool": "nodepool_sa_email",
    "cloudController": "cloud_controller_sa_email",
    "storage": "storage_sa_email",
    "imageRegistry": "image_registry_sa_email",
    "network": "network_sa_email",
}

# A GKE management cluster needs the first; the second removes cloud resources on deletion; the third keeps the deleted
# object readable for a while.
ANNOTATIONS: Mapping[str, str] = {
    "hypershift.openshift.io/pod-security-admission-label-override": "baseline",
    "hypershift.openshift.io/cleanup-cloud-resources": "true",
    "hypershift.openshift.io/destroy-grace-period": "300s",
}


MEANINGS: Mapping[str, str] = {
    "namespace": "namespace of HostedClusters",
    "labels": "labels of the HostedCluster, as a=b,c=d",
    "annotations": "annotations of the HostedCluster; they replace the default ones",
    "release_repository": "openshift_version becomes <repository>:<version><suffix>",
    "arch_suffix": "the suffix of it",
    "channel": "update channel",
    "pull_secret": "name of the pull Secret *",
    "ssh_key": "name of the SSH key Secret *",
    "encryption_key": "name of the etcd encryption key Secret *",
    "signing_key": "name of the service account signing key Secret *",
    "issuer_url": "issuer of service account tokens *",
    "base_domain": "DNS base domain *",
    "public_zone_id": "public DNS zone *",
    "private_zone_id": "private DNS zone *",
    "endpoint_access": "Private or PublicAndPrivate",
    "hostname_prefixes": "services that get a host name with a public endpoint",
    "cluster_id_label": "cloud resource label with the value c-<cluster id>",
    "resource_labels": "labels of all cloud resources",
    "service_account_roles": "role of a Google service account and its spec field",
    "controller_availability_policy": "HighlyAvailable or SingleReplica",
    "infrastructure_availability_policy": "HighlyAvailable or SingleReplica",
    "olm_catalog_placement": "management or guest",
    "feature_set": "feature set; GCP needs the default",
    "network_type": "OVNKubernetes, Calico or Other",
    "cluster_network_cidr": "one CIDR, or two separated by a comma",
    "cluster_network_host_prefix": "one number for all networks, or one for each",
    "service_network_cidr": "one CIDR, or two",
    "machine_network_cidr": "one CIDR, or two",
    "etcd_storage_size": "size of etcd's volume",
    "etcd_storage_class_name": "StorageClass of etcd's volume",
}


def variable(name: str) -> str:
    """The environment variable of this field."""
    return f"HOSTED_CLUSTER_{name.upper()}"


@dataclass(frozen=True, slots=True, kw_only=True)
class RenderSettings:
    """An empty value is not rendered. `*`: `{name}`, `{cluster_id}` and `{infra_id}` are replaced by the cluster's."""

    namespace: str = "clusters"
    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=lambda: ANNOTATIONS)

    release_repository: str = "quay.io/openshift-release-dev/ocp-release"
    arch_suffix: str = "-multi"
    channel: str = ""

    # Names of Secrets in the namespace of the HostedCluster. *
    pull_secret: str = ""
    ssh_key: str = ""
    encryption_key: str = ""
    signing_key: str = ""

    issuer_url: str = ""  # *
    base_domain: str = ""  # *
    public_zone_id: str = ""  # *
    private_zone_id: str = ""  # *
    endpoint_access: str = ""
    # The services that get a host name, `<prefix>-<cluster>.<base domain>`, when the endpoint is public.
    hostname_prefixes: Mapping[str, str] = field(default_factory=lambda: {"APIServer": "api", "OAuthServer": "oauth"})

    # Labels of all cloud resources; the first has the value `c-<cluster id>`, because a value must begin with a letter.
    cluster_id_label: str = "cluster-id"
    resource_labels: Mapping[str, str] = field(default_factory=lambda: {"managed-by": "hyperfleet"})
    service_account_roles: Mapping[str, str] = field(default_factory=lambda: SERVICE_ACCOUNT_ROLES)

    controller_availability_policy: str = "HighlyAvailable"
    infrastructure_availability_policy: str = "HighlyAvailable"
    olm_catalog_placement: str = ""
    feature_set: str = "TechPreviewNoUpgrade"

    network_type: str = "OVNKubernetes"
    cluster_network_cidr: str | tuple[str, ...] = "10.132.0.0/14"
    cluster_network_host_prefix: int | tuple[int, ...] | None = None
    service_network_cidr: str | tuple[str, ...] = "172.31.0.0/16"
    machine_network_cidr: str | tuple[str, ...] = ""

    etcd_storage_size: str = ""
    etcd_storage_class_name: str = ""
