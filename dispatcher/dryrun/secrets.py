"""Secrets and ConfigMaps that a file names, instead of those of a cluster."""

from collections.abc import Mapping
from typing import Literal

from dispatcher.dryrun.reading import SecretKey
from shared.errors import NotFound


class MockSecrets:
    def __init__(self, values: Mapping[SecretKey, str]) -> None:
        self._values = values

    async def read(self, kind: Literal["Secret", "ConfigMap"], namespace: str, name: str, key: str) -> str:
        try:
            return self._values[kind, namespace, name, key]
        except KeyError:
            raise NotFound(
                f"{kind} {namespace}/{name} has no key {key}", remedy="name it in the file of --dry-run-secrets"
            ) from None
