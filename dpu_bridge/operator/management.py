"""The operator's credentials on the management cluster: the pod's service account, or a kubeconfig outside of a pod."""

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from dpu_bridge.operator.kubeconfig import KubeconfigAccess
from shared.errors import Misconfigured
from shared.kubernetes import AccessSource, access_source
from shared.kubernetes.credentials.in_cluster import is_in_cluster


@contextlib.contextmanager
def management_access(kubeconfig: str) -> Iterator[AccessSource]:
    """Raises Misconfigured. The `kubernetes` package, which reads every kubeconfig there is, would cost 20 MiB."""
    if not kubeconfig and is_in_cluster(os.environ):
        yield access_source()
        return
    path = Path(kubeconfig or os.environ.get("KUBECONFIG") or "~/.kube/config").expanduser()
    try:
        content = path.read_bytes()
    except OSError as error:
        remedy = "run it in a pod, or set BRIDGE_KUBECONFIG"
        raise Misconfigured(f"cannot read the kubeconfig {path}", why=str(error.strerror), remedy=remedy) from error
    with tempfile.TemporaryDirectory(prefix="dpu-bridge-management-") as folder:
        access = KubeconfigAccess(Path(folder), files=path.parent)
        access.use(content)
        yield access
