"""Kubeconfigs that carry their credentials: a token, or a client certificate.

A hosted cluster's kubeconfig comes from a Secret that others write. It must never make the operator run a program or
read a file of its pod, so exec plugins, auth providers and file names in it are refused.
"""

import base64
import binascii
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from shared.errors import Misconfigured
from shared.kubernetes import Access
from shared.redaction import register_secret

REMEDY = "a kubeconfig with a token or a client certificate in it is needed"
_PROGRAMS = ("exec", "auth-provider")
Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Kubeconfig:
    """The current context of a kubeconfig."""

    server: str
    namespace: str = "default"
    server_name: str = ""
    proxy: str = ""
    verify: bool = True
    authority: bytes = b""
    token: str = field(default="", repr=False)
    certificate: bytes = b""
    key: bytes = field(default=b"", repr=False)


class KubeconfigAccess:
    """Credentials from the content of a kubeconfig. Certificates are kept in `folder`, where TLS needs them as files.

    `files` is the folder of the files that the kubeconfig may name; None allows no file at all.
    """

    def __init__(self, folder: Path, *, files: Path | None = None) -> None:
        self._folder, self._files = folder, files
        self._content = b""
        self._access: Access | None = None

    def use(self, content: bytes) -> None:
        """Open sessions use the new credentials for their next request."""
        if content != self._content:
            self._content, self._access = content, None

    async def current(self) -> Access:
        if self._access is None:
            self._access = _stored(read_kubeconfig(self._content, files=self._files), self._folder)
        return self._access

    async def renew(self) -> Access:
        return await self.current()


def read_kubeconfig(content: bytes, *, files: Path | None = None) -> Kubeconfig:
    """Raises Misconfigured."""
    try:
        document = yaml.safe_load(content)
        context = _named(document, "context", str(document["current-context"]))
        cluster = _named(document, "cluster", str(context["cluster"]))
        user = _named(document, "user", str(context["user"])) if context.get("user") else {}
        programs = [name for name in _PROGRAMS if name in user]
        if programs:
            raise Misconfigured("the kubeconfig cannot be used", why=f"its user needs {programs[0]}", remedy=REMEDY)
        token = str(user.get("token") or "") or _content(user, "tokenFile", files).decode().strip()
        return Kubeconfig(
            server=str(cluster["server"]).rstrip("/"),
            namespace=str(context.get("namespace") or "default"),
            server_name=str(cluster.get("tls-server-name") or ""),
            proxy=str(cluster.get("proxy-url") or ""),
            verify=not cluster.get("insecure-skip-tls-verify"),
            authority=_content(cluster, "certificate-authority", files),
            token=token,
            certificate=_content(user, "client-certificate", files),
            key=_content(user, "client-key", files),
        )
    except (yaml.YAMLError, KeyError, TypeError, AttributeError, ValueError, OSError) as error:
        why = f"{error} is missing" if isinstance(error, KeyError) else str(error)
        raise Misconfigured("the kubeconfig cannot be used", why=why, remedy=REMEDY) from error


def _named(document: Json, kind: str, name: str) -> Json:
    for each in document[f"{kind}s"]:
        if each["name"] == name:
            found: Json = each[kind]
            return found
    raise ValueError(f"it has no {kind} {name!r:.100}")


def _content(entry: Json, name: str, files: Path | None) -> bytes:
    """Of a member that is there as data, or as the name of a file."""
    if encoded := entry.get(f"{name}-data"):
        try:
            return base64.b64decode(str(encoded), validate=True)
        except binascii.Error as error:
            raise ValueError(f"{name}-data is not base64") from error
    if not entry.get(name):
        return b""
    if files is None:
        raise ValueError(f"{name} names a file")
    return (files / str(entry[name])).expanduser().read_bytes()


def _stored(kubeconfig: Kubeconfig, folder: Path) -> Access:
    if kubeconfig.token:
        register_secret(kubeconfig.token)
    return Access(
        server=kubeconfig.server,
        namespace=kubeconfig.namespace,
        authorization=f"Bearer {kubeconfig.token}" if kubeconfig.token else "",
        ca_file=_file(folder / "ca.crt", kubeconfig.authority),
        cert_file=_file(folder / "tls.crt", kubeconfig.certificate),
        key_file=_file(folder / "tls.key", kubeconfig.key),
        verify=kubeconfig.verify,
        server_name=kubeconfig.server_name,
        proxy=kubeconfig.proxy,
    )


def _file(path: Path, content: bytes) -> Path | None:
    if not content:
        return None
    path.parent.mkdir(mode=0o700, exist_ok=True)
    path.touch(mode=0o600)
    path.write_bytes(content)
    return path
