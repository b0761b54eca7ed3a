"""The operator's conditions: types, with the status, reason and message that it writes."""

from collections.abc import Mapping
from dataclasses import dataclass

EXPECTED = "AsExpected"
UNKNOWN = "StatusUnknown"


@dataclass(frozen=True, slots=True)
class ConditionText:
    """Status, reason and message of one condition."""

    status: str
    reason: str
    message: str = ""


Conditions = Mapping[str, ConditionText]

_NO_CONTROL_PLANE = ConditionText("Unknown", UNKNOWN, "The hosted control plane is not found")
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

# What it writes before there is a control plane, in the real order.
FIRST: Conditions = {
    **dict.fromkeys(_FROM_CLUSTER_VERSION, ConditionText("Unknown", UNKNOWN, "Condition not found in the CVO.")),
    **dict.fromkeys(_FROM_CONTROL_PLANE, _NO_CONTROL_PLANE),
    "Available": ConditionText("False", "WaitingForAvailable", "Waiting for hosted control plane to be healthy"),
    **dict.fromkeys(
        _PRIVATE_SERVICE_CONNECT, ConditionText("Unknown", UNKNOWN, "GCPPrivateServiceConnect conditions not found")
    ),
    "ValidConfiguration": ConditionText("True", EXPECTED, "Configuration passes validation"),
    "SupportedHostedCluster": ConditionText("True", EXPECTED, "HostedCluster is supported by operator configuration"),
    "ValidProxyConfiguration": ConditionText("True", EXPECTED, "No proxy CA bundle configured"),
    "IgnitionEndpointAvailable": ConditionText("False", "NotFound", "Ignition server deployment not found"),
    "ReconciliationActive": ConditionText("True", EXPECTED, "Reconciliation active on resource"),
    "ValidReleaseImage": ConditionText("True", EXPECTED, "Release image is valid"),
    "Progressing": ConditionText("False", EXPECTED, "HostedCluster is at expected version"),
}
CREDENTIALS: Conditions = {
    "ValidGCPWorkloadIdentity": ConditionText(
        "True", "ValidWIFConfiguration", "Workload Identity Federation configuration is valid and ready"
    ),
    "ValidGCPCredentials": ConditionText(
        "True", "WIFReady", "GCP Workload Identity Federation is configured and ready"
    ),
    "PlatformCredentialsFound": ConditionText("True", EXPECTED, "Required platform credentials are found"),
    "ReconciliationSucceeded": ConditionText("True", "ReconciliatonSucceeded", "Reconciliation completed successfully"),
}
NO_INFRASTRUCTURE = ConditionText(
    "False", "WaitingOnInfrastructureReady", "Cluster infrastructure is still provisioning"
)
NO_KUBECONFIG = ConditionText(
    "False", "KubeconfigWaitingForCreate", "Waiting for hosted control plane kubeconfig to be created"
)
NO_QUORUM = ConditionText("False", "EtcdWaitingForQuorum", "Waiting for etcd to reach quorum")
NO_API_SERVER = ConditionText(
    "False", "WaitingForAvailable", "Waiting for kube-apiserver deployment to become available"
)
NO_COMPONENTS = ConditionText(
    "False",
    "ComponentsNotAvailable",
    "Waiting for components to be available: cluster-version-operator, oauth-openshift",
)
AVAILABLE = ConditionText("True", EXPECTED, "The hosted control plane is available")
UNAVAILABLE_REPLICAS = "kube-apiserver deployment has 1 unavailable replicas"
NOT_DEGRADED = ConditionText("False", EXPECTED, "The hosted cluster is not degraded")
AS_EXPECTED = ConditionText("True", EXPECTED, "All is well")
PRIVATE_SERVICE_CONNECT: Conditions = dict.fromkeys(
    _PRIVATE_SERVICE_CONNECT, ConditionText("True", "GCPSuccess", "All is well")
)
AT_VERSION = FIRST["Progressing"]
PROGRESSING = ConditionText("True", "Progressing", "HostedCluster is deploying, upgrading, or reconfiguring")
CLOUD_RESOURCES_LEFT = ConditionText(
    "False", "RemainingCloudResources", "Remaining resources: load-balancers,persistent-volumes"
)
CLOUD_RESOURCES_GONE = ConditionText("True", "CloudResourcesDestroyed", "All guest resources destroyed")


def degraded(message: str) -> ConditionText:
    return ConditionText("True", "UnavailableReplicas", message)


def blocked(message: str) -> ConditionText:
    return ConditionText("False", "Blocked", message)


def not_upgradeable(message: str) -> ConditionText:
    return ConditionText("False", "AdminAckRequired", message)


def torn_down(grace_period: str) -> ConditionText:
    return ConditionText("True", "WaitingForGracePeriod", f"Grace period set: {grace_period}")
