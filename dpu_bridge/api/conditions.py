"""The conditions of a bridge: the document's fifteen by its names, and the operator's own."""

from typing import Final

# A HostedCluster's condition, and the name under which a bridge shows it.
MIRRORED: Final = {
    "Available": "HostedClusterAvailable",
    "Progressing": "HostedClusterProgressing",
    "Degraded": "HostedClusterDegraded",
    "InfrastructureReady": "InfrastructureReady",
    "KubeAPIServerAvailable": "KubeAPIServerAvailable",
    "EtcdAvailable": "EtcdAvailable",
    "ValidReleaseInfo": "ValidReleaseInfo",
    "IgnitionEndpointAvailable": "IgnitionEndpointAvailable",
    "IgnitionServerValidReleaseInfo": "IgnitionServerValidReleaseInfo",
    "ValidReleaseImage": "ValidReleaseImage",
    "EtcdRecoveryActive": "EtcdRecoveryActive",
    "HostedClusterRestoredFromBackup": "HostedClusterRestoredFromBackup",
    "DataPlaneConnectionAvailable": "DataPlaneConnectionAvailable",
}
IMAGE_AVAILABLE = "BlueFieldContainerImageAvailable"
CLEANUP = "HostedClusterCleanup"
DOCUMENTED = (*MIRRORED.values(), IMAGE_AVAILABLE, CLEANUP)

READY = "Ready"
BOUND = "DPUClusterBound"
SECRETS = "SecretsAvailable"
METALLB = "MetalLBConfigured"
CONTROL_PLANE = "ControlPlaneApplied"
INJECTED = "KubeconfigInjected"
APPROVING = "CSRApprovalActive"
ALL = (READY, *DOCUMENTED, BOUND, SECRETS, METALLB, CONTROL_PLANE, INJECTED, APPROVING)
