"""The releases in a HostedCluster's status: desired version and version histories."""

import hashlib
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from controlplane_adapter.hostedcluster import versions
from shared import times

Json = Mapping[str, Any]

_UNNAMED_VERSION = "4.22.0"


def rollouts(cluster: Json) -> list[dict[str, Any]]:
    """The control plane's own history, the newest first."""
    listed: list[dict[str, Any]] = ((cluster.get("status") or {}).get("controlPlaneVersion") or {}).get("history") or []
    return listed


def is_newest(cluster: Json) -> bool:
    """Whether the wanted release is the one that was begun last."""
    return any(each["image"] == _wanted(cluster)["image"] for each in rollouts(cluster)[:1])


def begun(cluster: Json, now: datetime) -> dict[str, Any]:
    """The control plane's version with the wanted release begun."""
    release = _wanted(cluster)
    history = rollouts(cluster)
    if not is_newest(cluster):
        history = [{"state": "Partial", "startedTime": times.to_seconds(now), **release}, *history]
    return {"desired": release, "history": history, "observedGeneration": cluster["metadata"].get("generation", 1)}


def completed(cluster: Json, now: datetime) -> dict[str, Any]:
    """The control plane's version with the wanted release done."""
    version = begun(cluster, now)
    newest, *earlier = version["history"]
    done = {**newest, "state": "Completed", "completionTime": times.to_seconds(now)}
    return {**version, "history": [done, *earlier]}


def of_whole_cluster(cluster: Json, now: datetime, *, named: bool = True) -> dict[str, Any]:
    """The version of the whole cluster: it stays Partial, because there are no nodes to complete it.

    It has only the image until the control plane reports the version.
    """
    image = _image(cluster)
    version = _version_of(image) if named else ""
    history = ((cluster.get("status") or {}).get("version") or {}).get("history") or []
    begun_before = history and history[0]["image"] == image
    entry = {
        "state": "Partial",
        "image": image,
        "version": version,
        "startedTime": history[0]["startedTime"] if begun_before else times.to_seconds(now),
        "completionTime": None,
        "verified": False,
    }
    return {
        "desired": {"image": image, "version": version},
        "history": [entry, *history[1 if begun_before else 0 :]],
        "observedGeneration": cluster["metadata"].get("generation", 1),
        "availableUpdates": None,
    }


def _wanted(cluster: Json) -> dict[str, str]:
    """The wanted release by digest, as the control plane records it; the digest is made up from the name."""
    image = _image(cluster)
    digest = f"{image.partition(':')[0]}@sha256:{hashlib.sha256(image.encode()).hexdigest()}"
    return {"image": image if "@" in image else digest, "version": _version_of(image)}


def _image(cluster: Json) -> str:
    return str(cluster["spec"]["release"]["image"])


def _version_of(image: str) -> str:
    return str(versions.of_image(image) or _UNNAMED_VERSION)
