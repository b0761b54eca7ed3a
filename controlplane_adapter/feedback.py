"""What the management cluster is asked to tell of a HostedCluster: the feedback rules, as data.

Every agent can return scalars, so each thing a judgement needs is asked for as one. The Maestro agent also returns
whole objects, so the full status is asked for too; `observing` prefers it and falls back to the scalars. A value that
does not exist (yet) is simply not returned.

The names are stable, because they are stored with every work:

    status                      the whole `.status`
    <Condition>.<member>        status, reason, message or lastTransitionTime of a condition of the HostedCluster
    endpointHost, endpointPort  where the API server of the control plane answers; the host is "" before it is known
    version                     the version whose roll-out in the control plane was completed last
    rolloutState, rolloutVersion, rolloutImage   the newest roll-out in the control plane
    dataPlaneVersion            the version completed last as the cluster itself sees it, nodes included
    desiredVersion              what the cluster itself is to become, nodes included
    generation, deletionTimestamp, finalizers    of the object itself
    hasBeenAvailable            "true" once the control plane was available for the first time
"""

from collections.abc import Mapping
from types import MappingProxyType

AVAILABLE, PROGRESSING, DEGRADED = "Available", "Progressing", "Degraded"
CLOUD_RESOURCES_DESTROYED, DESTROYED = "CloudResourcesDestroyed", "HostedClusterDestroyed"
VALID_CONFIGURATION = "ValidConfiguration"

# What a person can put right, in the order in which it is told. False means that somebody has to.
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
