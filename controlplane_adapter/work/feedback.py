"""The feedback rules of a HostedCluster: which values the agent returns.

Every agent can return scalars, so there is a rule for each value that a condition needs. The Maestro agent also returns
whole objects, so there is one for the full status too; `hosted_cluster_status` prefers it over the scalars. A value
that does not exist (yet) is not returned.

The names are stable, because they are stored with every work:

    status                      the whole `.status`
    <Condition>.<member>        status, reason, message or lastTransitionTime of a condition of the HostedCluster
    endpointHost, endpointPort  where the API server of the control plane answers; the host is "" before it is known
    version                     the version whose rollout in the control plane was completed last
    rolloutState, rolloutVersion, rolloutImage   the newest rollout in the control plane
    dataPlaneVersion            the version completed last as the cluster itself sees it, nodes included
    desiredVersion              the version that the cluster itself is updated to, nodes included
    generation, deletionTimestamp, finalizers    of the object itself
    hasBeenAvailable            "true" once the control plane was available for the first time
"""

from collections.abc import Mapping
from types import MappingProxyType

AVAILABLE, PROGRESSING, DEGRADED = "Available", "Progressing", "Degraded"
CLOUD_RESOURCES_DESTROYED, DESTROYED = "CloudResourcesDestroyed", "HostedClusterDestroyed"
VALID_CONFIGURATION = "ValidConfiguration"

# What a person can fix, in the order in which it is reported. False means that somebody has to.
USER_ACTIONABLE = (
    VALID_CONFIGURATION,
    "ValidReleaseImage",
    "SupportedHostedCluster",
    "ValidProxyConfiguration",
    "PlatformCredentialsFound",
    "ValidGCPWorkloadIdentity",
    "ValidGCPCredentials",
    "ValidHostedControlPlaneConfiguration",
    "ValidReleaseInfo",
    "GCPServiceAttachmentAvailable",
    "GCPEndpointAvailable",
)

WATCHED = (AVAILABLE, PROGRESSING, DEGRADED, *USER_ACTIONABLE, CLOUD_RESOURCES_DESTROYED, DESTROYED)
MEMBERS = ("status", "reason", "message", "lastTransitionTime")

_NEWEST = ".status.controlPlaneVersion.history[0]"

FEEDBACK: Mapping[str, str] = MappingProxyType(
    {
        "status": ".status",
        **{
            f"{type_}.{member}": f'.status.conditions[?(@.type=="{type_}")].{member}'
            for type_ in WATCHED
            for member in MEMBERS
        },
        "endpointHost": ".status.controlPlaneEndpoint.host",
        "endpointPort": ".status.controlPlaneEndpoint.port",
        "version": '.status.controlPlaneVersion.history[?(@.state=="Completed")].version',
        "rolloutState": f"{_NEWEST}.state",
        "rolloutVersion": f"{_NEWEST}.version",
        "rolloutImage": f"{_NEWEST}.image",
        "dataPlaneVersion": '.status.version.history[?(@.state=="Completed")].version',
        "desiredVersion": ".status.version.desired.version",
        "generation": ".metadata.generation",
        "deletionTimestamp": ".metadata.deletionTimestamp",
        "finalizers": ".metadata.finalizers[*]",
        "hasBeenAvailable": r".metadata.annotations.hypershift\.openshift\.io/HasBeenAvailable",
    }
)
