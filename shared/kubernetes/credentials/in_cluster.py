"""The service account of the pod we run in.

These are two variables and three files, read here rather than by the `kubernetes` package, whose import costs a pod
about a second of CPU and 30 MiB. The kubelet renews the token in place; a changed file is read again before the next
request.
"""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from shared.errors import Misconfigured
from shared.kubernetes.credentials.access import Access
from shared.network.credential_files import TokenFile

ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")
HOST_VARIABLE, PORT_VARIABLE = "KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT"


def is_in_cluster(environment: Mapping[str, str]) -> bool:
    return bool(environment.get(HOST_VARIABLE) and environment.get(PORT_VARIABLE))


class InClusterAccess:
    """Raises Misconfigured where there is no service account."""

    def __init__(self, environment: Mapping[str, str], *, account: Path = ACCOUNT) -> None:
        if not is_in_cluster(environment):
            raise Misconfigured(
                "this process does not run in a pod",
                why=f"{HOST_VARIABLE} and {PORT_VARIABLE} are not set",
                remedy="name a kubeconfig (clients.kubernetes.kube_config_path)",
            )
        self._token = TokenFile(account / "token")
        self._access = Access(
            server=f"https://{_bracketed(environment[HOST_VARIABLE])}:{environment[PORT_VARIABLE]}",
            namespace=_namespace(account / "namespace"),
            authorization=self._token.header,
            ca_file=account / "ca.crt",
        )

    async def current(self) -> Access:
        header = self._token.header
        if header != self._access.authorization:
            self._access = replace(self._access, authorization=header)
        return self._access

    async def renew(self) -> Access:
        return await self.current()


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _namespace(file: Path) -> str:
    try:
        return file.read_text().strip() or "default"
    except OSError:
        return "default"
