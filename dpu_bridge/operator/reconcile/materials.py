"""Reads the SSH key and the pull secret: from a Secret, or from a file below the one folder that is mounted for it."""

import base64
import binascii
import json
from pathlib import Path

from dpu_bridge.api.bridge import Source
from dpu_bridge.plan import Material
from shared.kubernetes import Object

LARGEST_FILE = 512 * 1024


def from_secret(source: Source, key: str, namespace: str, secret: Object | None) -> Material:
    where = f"Secret {namespace}/{source.secret}"
    if secret is None:
        return Material(reason="SecretNotFound", problem=f"{where} is not there; create it with key {key}")
    data = str((secret.get("data") or {}).get(key) or "")
    if not data:
        return Material(reason="SecretKeyMissing", problem=f"{where} has no key {key}; add it")
    return _checked(data, key, where)


def from_file(source: Source, key: str, folder: Path) -> Material:
    """A path is taken as below the folder, or must lie in it, symbolic links resolved."""
    named = Path(source.file)
    where = f"file {source.file}"
    try:
        path = (folder / named).resolve()
        if not path.is_relative_to(folder.resolve()):
            problem = f"{where} is not in {folder}, the folder of the operator's files; use a Secret instead"
            return Material(reason="FileNotAllowed", problem=problem)
        with path.open("rb") as file:
            content = file.read(LARGEST_FILE + 1)
    except (OSError, ValueError) as error:
        cause = getattr(error, "strerror", None) or str(error)
        return Material(reason="FileNotReadable", problem=f"{where} cannot be read: {cause}; mount it by the chart")
    if not content.strip() or len(content) > LARGEST_FILE:
        return Material(reason="FileNotUsable", problem=f"{where} is empty or larger than {LARGEST_FILE} bytes")
    return _checked(base64.b64encode(content).decode(), key, where)


def _checked(data: str, key: str, where: str) -> Material:
    """A pull secret is JSON with credentials by registry; anything else would fail much later."""
    if key != ".dockerconfigjson":
        return Material(data=data)
    try:
        document = json.loads(base64.b64decode(data, validate=True))
    except (ValueError, binascii.Error):
        document = None
    if not isinstance(document, dict) or not isinstance(document.get("auths"), dict):
        return Material(
            reason="InvalidPullSecret", problem=f"{where} is not a pull secret: JSON with auths is expected"
        )
    return Material(data=data)
