"""Kubeconfig files, with everything that can stand in one: tokens, certificates, exec plugins, several files merged.

Reading them is the `kubernetes` package's work. It is imported here, in a thread and only when a kubeconfig is used.
The files are read again when they change, when a plugin's credentials expire, and when the server refuses them.
"""

import asyncio
import logging
import os
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from shared import times
from shared.errors import Misconfigured, Unauthenticated
from shared.kubernetes.credentials.access import Access
from shared.network.credential_files import Watched

log = logging.getLogger(__name__)

DEFAULT_PATH = "~/.kube/config"
# A plugin's credentials are renewed this long before they expire.
EXPIRY_MARGIN = timedelta(seconds=60)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Loaded:
    access: Access
    files: Watched
    expires_at: datetime | None


class KubeconfigAccess:
    """`path` may name several files, separated by colons as in KUBECONFIG. `context` "" is the current context."""

    def __init__(self, path: str, *, context: str = "") -> None:
        self._path, self._context = path, context
        self._loaded: _Loaded | None = None
        self._lock = asyncio.Lock()

    async def current(self) -> Access:
        loaded = self._loaded
        if loaded is None or _is_expired(loaded):
            return await self._load(loaded)
        if loaded.files.changed():
            try:
                return await self._load(loaded)
            except Misconfigured as error:
                log.warning("keeping the previous kubeconfig: %s", error)
        return loaded.access

    async def renew(self) -> Access:
        return await self._load(self._loaded)

    async def _load(self, outdated: _Loaded | None) -> Access:
        """Several requests at once load it only once."""
        async with self._lock:
            if self._loaded is None or self._loaded is outdated:
                self._loaded = await asyncio.to_thread(_load, self._path, self._context)
            return self._loaded.access


def default_path(environment: Mapping[str, str]) -> str:
    return environment.get("KUBECONFIG") or DEFAULT_PATH


def _is_expired(loaded: _Loaded) -> bool:
    return loaded.expires_at is not None and times.now() >= loaded.expires_at - EXPIRY_MARGIN


def _load(path: str, context: str) -> _Loaded:
    import kubernetes.client  # noqa: PLC0415 - a second of CPU, which only users of a kubeconfig pay
    import kubernetes.config  # noqa: PLC0415
    import yaml  # noqa: PLC0415
    from kubernetes.config.kube_config import KubeConfigLoader, KubeConfigMerger  # noqa: PLC0415

    try:
        merged = KubeConfigMerger(path).config  # type: ignore[no-untyped-call]
        if merged is None:
            raise Misconfigured(f"there is no kubeconfig at {path}", remedy="correct the path, or set KUBECONFIG")
        loader = KubeConfigLoader(merged, context or None, config_base_path=None)  # type: ignore[no-untyped-call]
        settings = type.__call__(kubernetes.client.Configuration)
        loader.load_and_set(settings)  # type: ignore[no-untyped-call]
    except (kubernetes.config.ConfigException, OSError, yaml.YAMLError, KeyError, TypeError, ValueError) as error:
        raise Misconfigured(f"the kubeconfig {path} cannot be used", why=str(error)) from error
    chosen: Mapping[str, Any] = loader.current_context["context"]
    user = _user(merged, str(chosen.get("user") or ""))
    authorization = str(getattr(loader, "token", "") or "").strip()
    if "exec" in user and not authorization and not settings.cert_file:
        command = str(user["exec"].get("command"))
        raise Unauthenticated(
            f"the kubeconfig's exec plugin {command!r} gave no credentials",
            remedy="run it by hand and correct what it says",
        )
    access = _access(settings, namespace=str(chosen.get("namespace") or "default"), authorization=authorization)
    return _Loaded(access=access, files=_files(path, user), expires_at=getattr(loader, "expiry", None))


def _access(settings: Any, *, namespace: str, authorization: str) -> Access:
    return Access(
        server=str(settings.host).rstrip("/"),
        namespace=namespace,
        authorization=authorization,
        ca_file=_path(settings.ssl_ca_cert),
        cert_file=_path(settings.cert_file),
        key_file=_path(settings.key_file),
        verify=bool(settings.verify_ssl),
        server_name=settings.tls_server_name or "",
        proxy=settings.proxy or "",
    )


def _user(merged: Any, name: str) -> Mapping[str, Any]:
    found = merged["users"].get_with_name(name, safe=True) if name and merged.safe_get("users") else None
    entry: Mapping[str, Any] = found.value if found is not None else {}
    user = entry.get("user")
    return user if isinstance(user, Mapping) else {}


def _files(path: str, user: Mapping[str, Any]) -> Watched:
    files = [Path(each).expanduser() for each in path.split(os.pathsep) if each]
    token_file = user.get("tokenFile")
    return Watched([*files, *([files[0].parent / str(token_file)] if token_file else [])])


def _path(text: str | None) -> Path | None:
    return Path(text) if text else None
