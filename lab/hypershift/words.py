"""The operator's own words: condition types with the status, reason and message it gives them."""

from collections.abc import Mapping
from dataclasses import dataclass

EXPECTED = "AsExpected"
UNKNOWN = "StatusUnknown"


@dataclass(frozen=True, slots=True)
class Said:
    """Status, reason and message of one condition."""

    status: str
    reason: str
    message: str = ""


Conditions = Mapping[str, Said]

_NO_CONTROL_PLANE = Said("Unknown", UNKNOWN, "The hosted control plane is not found")
_FROM_CONTROL_PLANE = (
    *("Degraded", "EtcdAvailable", "KubeAPIServerAvailable", "InfrastructureReady", "ExternalDNSReachable"),
    *("ValidHostedControlPlaneConfiguration", "ValidReleaseInfo", "ValidIDPConfiguration"),
    *("DataPlaneConnectionAvailable", "ControlPlaneConnectionAvailable", "ConfigOperatorReconciliationSucceeded"),
)
_FROM_CLUSTER_VERSION = (
    *("ClusterVersionSucceeding", "ClusterVersionProgressing", "ClusterVersionReleaseAccepted"),
    *("ClusterVersionUpgradeable", "ClusterVersionAvailable"),
)
_PRIVATE_SERVICE_CONNECT = ("GCPEndpointAvailable", "GCPServiceAttachmentAvailable")

# What it writes before there is a control plane, in its order.
FIRST: Conditions = {
    **dict.fromkeys(_FROM_CLUSTER_VERSION, Said("Unknown", UNKNOWN, "Condition not found in the CVO.")),
    **dict.fromkeys(_FROM_CONTROL_PLANE, _NO_CONTROL_PLANE),
    "Available": Said("False", "WaitingForAvailable", "Waiting for hosted control plane to be healthy"),
    **dict.fromkeys(
        _PRIVATE_SERVICE_CONNECT, Said("Unknown", UNKNOWN, "GCPPrivateServiceConnect conditions not found")
    ),
    "ValidConfiguration": Said("True", EXPECTED, "Configuration passes validation"),
    "SupportedHostedCluster": Said("True", EXPECTED, "HostedCluster is supported by operator configuration"),
    "ValidProxyConfiguration": Said("True", EXPECTED, "No proxy CA bundle configured"),
    "IgnitionEndpointAvailable": Said("False", "NotFound", "Ignition server deployment not found"),
    "ReconciliationActive": Said("True", EXPECTED, "Reconciliation active on resource"),
    "ValidReleaseImage": Said("True", EXPECTED, "Release image is valid"),
    "Progressing": Said("False", EXPECTED, "HostedCluster is at expected version"),
}
CREDENTIALS: Conditions = {
    "ValidGCPWorkloadIdentity": Said(
        "True", "ValidWIFConfiguration", "Workload Identity Federation configuration is valid and ready"
    ),
    "ValidGCPCredentials": Said("True", "WIFReady", "GCP Workload Identity Federation is configured and ready"),
    "PlatformCredentialsFound": Said("True", EXPECTED, "Required platform credentials are found"),
    "ReconciliationSucceeded": Said("True", "ReconciliatonSucceeded", "Reconciliation completed successfully"),
}
NO_INFRASTRUCTURE = Said("False", "WaitingOnInfrastructureReady", "Cluster infrastructure is still provisioning")
NO_KUBECONFIG = Said("False", "KubeconfigWaitingForCreate", "Waiting for hosted control plane kubeconfig to be created")
NO_QUORUM = Said("False", "EtcdWaitingForQuorum", "Waiting for etcd to reach quorum")
NO_API_SERVER = Said("False", "WaitingForAvailable", "Waiting for kube-apiserver deployment to become available")
NO_COMPONENTS = Said(
    "False",
    "ComponentsNotAvailable",
    "Waiting for components to be available: cluster-version-operator, oauth-openshift",
)
AVAILABLE = Said("True", EXPECTED, "The hosted control plane is available")
UNAVAILABLE_REPLICAS = "kube-apiserver deployment has 1 unavailable replicas"
NOT_DEGRADED = Said("False", EXPECTED, "The hosted cluster is not degraded")
WELL = Said("True", EXPECTED, "All is well")
PRIVATE_SERVICE_CONNECT: Conditions = dict.fromkeys(_PRIVATE_SERVICE_CONNECT, Said("True", "GCPSuccess", "All is well"))
AT_VERSION = FIRST["Progressing"]
ON_THE_WAY = Said("True", "Progressing", "HostedCluster is deploying, upgrading, or reconfiguring")
CLOUD_RESOURCES_LEFT = Said(
    "False", "RemainingCloudResources", "Remaining resources: load-balancers,persistent-volumes"
)
CLOUD_RESOURCES_GONE = Said("True", "CloudResourcesDestroyed", "All guest resources destroyed")


def degraded(message: str) -> Said:
    return Said("True", "UnavailableReplicas", message)


def blocked(message: str) -> Said:
    return Said("False", "Blocked", message)


def not_upgradeable(message: str) -> Said:
    return Said("False", "AdminAckRequired", message)


def torn_down(grace_period: str) -> Said:
    return Said("True", "WaitingForGracePeriod", f"Grace period set: {grace_period}")
