"""The cluster's bridge. It has the addresses of node and API server, so pods reach these two and nothing else."""

import json
import subprocess
from typing import Any

from lab.real.cluster.place import Place


def create(place: Place) -> None:
    _ip("link", "add", place.bridge, "type", "bridge")
    _ip("address", "add", f"{place.node}/24", "dev", place.bridge)
    _ip("address", "add", f"{place.api}/32", "dev", place.bridge)
    _ip("link", "set", place.bridge, "up")


def remove(place: Place) -> None:
    if place.bridge in _links():
        _ip("link", "delete", place.bridge)


def why_unusable(place: Place) -> str | None:
    """The interface that already uses our addresses, if any."""
    routes = _listed("route", "show", "root", f"10.{place.number}.0.0/16")
    others = [each for each in routes if each.get("dev") != place.bridge]
    if others:
        return f"10.{place.number}.0.0/16 is in use here: {others[0]['dst']} leads to {others[0].get('dev')}"
    return None


def plugin_settings(place: Place) -> str:
    """The CNI configuration. The bridge is no gateway: there is nothing behind it, and no forwarding to enable."""
    bridge = {
        "type": "bridge",
        "bridge": place.bridge,
        "ipam": {
            "type": "host-local",
            "dataDir": str(place.folder / "addresses"),
            "ranges": [[{"subnet": place.pods, "gateway": place.node}]],
            "routes": [{"dst": place.services, "gw": place.node}],
        },
    }
    return json.dumps({"cniVersion": "1.0.0", "name": place.title, "plugins": [bridge]}, indent=2)


def _links() -> set[str]:
    return {each["ifname"] for each in _listed("link", "show")}


def _listed(*arguments: str) -> list[dict[str, Any]]:
    answer = subprocess.run(["ip", "-json", *arguments], check=True, capture_output=True)
    listed: list[dict[str, Any]] = json.loads(answer.stdout or b"[]")
    return listed


def _ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True)
