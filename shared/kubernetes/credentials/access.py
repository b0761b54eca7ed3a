"""How to reach an API server and who we are there, as plain values; where they come from is a source's matter."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """`server_name` is the name in the server's certificate where it differs from the URL's host.

    `namespace` is the one that the pod or the kubeconfig's context names.
    """

    server: str
    namespace: str = "default"
    authorization: str = field(default="", repr=False)
    ca_file: Path | None = None
    cert_file: Path | None = None
    key_file: Path | None = None
    verify: bool = True
    server_name: str = ""
    proxy: str = field(default="", repr=False)


class AccessSource(Protocol):
    """Credentials that change under a running process."""

    async def current(self) -> Access:
        """What to use for the next request. Raises Misconfigured or Unauthenticated."""

    async def renew(self) -> Access:
        """The same, read anew, because the server did not accept the last."""


@dataclass(frozen=True, slots=True)
class FixedAccess:
    """Credentials that never change."""

    access: Access

    async def current(self) -> Access:
        return self.access

    async def renew(self) -> Access:
        return self.access
