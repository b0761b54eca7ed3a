"""What a platform team decides for all its clusters; a cluster's own word wins over it.

The environment fills this, one variable per field; what it cannot say, the overlay can.
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

# A GKE management cluster needs the first; with the second nothing is left behind in the cloud; the third keeps the
# object readable for a while after its end.
ANNOTATIONS: Mapping[str, str] = {
    "hypershift.openshift.io/pod-security-admission-label-override": "baseline",
    "hypershift.openshift.io/cleanup-cloud-resources": "true",
    "hypershift.openshift.io/destroy-grace-period": "300s",
}


def variable(name: str) -> str:
    """The variable of the environment that holds this field."""
    return f"HOSTED_CLUSTER_{name.upper()}"


@dataclass(frozen=True, slots=True, kw_only=True)
class RenderSettings:
    """An empty value says nothing. `*`: `{name}`, `{cluster_id}` and `{infra_id}` stand for the cluster's own."""

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

    # Labels of everything in the cloud; the first carries `c-<cluster id>`, because a value must begin with a letter.
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
