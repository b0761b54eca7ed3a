"""Where the credentials come from: a named kubeconfig, else the pod's service account, else the user's kubeconfig."""

import os
from collections.abc import Mapping

from shared.kubernetes.credentials.access import AccessSource
from shared.kubernetes.credentials.in_cluster import InClusterAccess, is_in_cluster
from shared.kubernetes.credentials.kubeconfig import KubeconfigAccess, default_path


def access_source(
    kubeconfig: str = "", *, context: str = "", environment: Mapping[str, str] = os.environ
) -> AccessSource:
    """Raises Misconfigured without a usable service account; a kubeconfig is read with the first request."""
    if kubeconfig or context or not is_in_cluster(environment):
        return KubeconfigAccess(kubeconfig or default_path(environment), context=context)
    return InClusterAccess(environment)
