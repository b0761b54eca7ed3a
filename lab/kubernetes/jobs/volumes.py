"""Volumes and mounts of a pod. Processes share one file system, so each mount path becomes a folder of the pod.

Arguments and variables that contain a path below a mount path are rewritten to that folder.
"""

import base64
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from lab.kubernetes.api import documents
from lab.kubernetes.api.documents import Object
from lab.kubernetes.jobs.environment import CannotConfigure, Fetch, field_value

SERVICE_ACCOUNT_MOUNT = "/var/run/secrets/kubernetes.io/serviceaccount"


@dataclass(frozen=True, slots=True)
class Mounts:
    """Mount paths of one container and the folders behind them."""

    folders: dict[str, Path]

    def rewrite(self, text: str) -> str:
        longest_first = sorted(self.folders, key=len, reverse=True)
        paths = "|".join(re.escape(mount) for mount in longest_first)
        return re.sub(rf"(?<![\w./-])({paths})(?![\w.-])", lambda match: str(self.folders[match[1]]), text)


def mounts(container: Object, folder: Path) -> Mounts:
    """The mounts of a container in the pod's folder."""
    found = {SERVICE_ACCOUNT_MOUNT: folder / "serviceaccount"}
    for each in container.get("volumeMounts") or ():
        place = folder / "volumes" / each["name"] / each.get("subPath", "")
        found[each["mountPath"].rstrip("/")] = place
    return Mounts(found)


NewToken = Callable[[], Awaitable[str]]


async def volume_contents(pod: Object, fetch: Fetch, new_token: NewToken) -> dict[str, dict[str, bytes]]:
    """The files of each volume by name; an empty volume has none.

    `fetch` gets an object by plural and name, `new_token` a token of the pod's account.
    """
    volumes = documents.at(pod, "spec", "volumes") or ()
    return {each["name"]: await _contents(pod, each, fetch, new_token) for each in volumes}


def fill_volumes(folder: Path, contents: Mapping[str, Mapping[str, bytes]]) -> None:
    for volume, files in contents.items():
        place = folder / "volumes" / volume
        place.mkdir(parents=True, exist_ok=True)
        for name, content in files.items():
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            (place / name).write_bytes(content)


async def _contents(pod: Object, volume: Object, fetch: Fetch, new_token: NewToken) -> dict[str, bytes]:
    if source := volume.get("configMap"):
        data = await _data(source, "configmaps", source["name"], fetch)
        return _chosen(source, {key: text.encode() for key, text in data.items()})
    if source := volume.get("secret"):
        data = await _data(source, "secrets", source.get("secretName") or source["name"], fetch)
        return _chosen(source, {key: base64.b64decode(text) for key, text in data.items()})
    if source := volume.get("downwardAPI"):
        items = source.get("items") or ()
        return {each["path"]: field_value(pod, each["fieldRef"]["fieldPath"]).encode() for each in items}
    if source := volume.get("serviceAccountToken"):
        return {source["path"]: (await new_token()).encode()}
    files: dict[str, bytes] = {}
    for source in documents.at(volume, "projected", "sources") or ():
        files |= await _contents(pod, source, fetch, new_token)
    return files


async def _data(source: Object, plural: str, name: str, fetch: Fetch) -> Mapping[str, str]:
    try:
        return (await fetch(plural, name)).get("data") or {}
    except LookupError:
        if source.get("optional"):
            return {}
        raise CannotConfigure(f'{plural.removesuffix("s")} "{name}" not found') from None


def _chosen(source: Object, data: dict[str, bytes]) -> dict[str, bytes]:
    """All keys as files, or only those listed in `items`, under their `path`."""
    items = source.get("items")
    return data if items is None else {each["path"]: data[each["key"]] for each in items}
