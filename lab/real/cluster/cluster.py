"""Starts and stops a cluster: up to a ready node, down to the machine's previous state."""

import contextlib
import fcntl
import json
import shutil
import ssl
import subprocess
import urllib.request
from collections.abc import Iterator, Mapping
from typing import Any

from lab.real.artifacts.kubernetes import build, program
from lab.real.artifacts.steps import step
from lab.real.cluster.certificates import Authority
from lab.real.cluster.control_plane import NODE, ControlPlane
from lab.real.cluster.host import network, requirements
from lab.real.cluster.host.cgroup import Cgroup
from lab.real.cluster.node import images, runtime
from lab.real.cluster.node.kubelet import Node, restore_settings
from lab.real.cluster.node.runtime import Runtime
from lab.real.cluster.place import Place

_TIMEOUT = 10


class Cluster:
    """The state is on disk: another process finds the same cluster by its place."""

    def __init__(self, place: Place) -> None:
        self.place = place

    @property
    def authority(self) -> Authority:
        return Authority(self.place.folder / "authority")

    @property
    def control_plane(self) -> ControlPlane:
        return ControlPlane(self.place, self.authority)

    @property
    def runtime(self) -> Runtime:
        return Runtime(self.place)

    @property
    def _node(self) -> Node:
        return Node(self.place, self.authority, self.runtime)

    def up(self) -> None:
        """Return when pods can run. A running cluster is kept; leftovers of a crashed one are removed first."""
        requirements.check(self.place)
        with self._alone():
            if self.is_up():
                return
            self._clear()
            build()
            self.place.logs.mkdir(parents=True, mode=0o700)
            Cgroup(self.place.title).create()
            network.create(self.place)
            control_plane = self.control_plane
            with step("control plane"):
                control_plane.start()
            with step("container runtime"):
                self.runtime.start()
                images.load_pause(self.runtime)
            with step("node"):
                self._node.start(control_plane.kubeconfigs["kubelet"], ready=self._takes_pods)

    def is_up(self) -> bool:
        if not self.place.kubeconfig.exists():
            return False
        return self.control_plane.runs and self._node.runs and self._takes_pods()

    def down(self) -> None:
        requirements.check_rights()
        with self._alone():
            self._clear()

    def kubectl(self, *arguments: str, stdin: str | None = None) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [program("kubectl"), f"--kubeconfig={self.place.kubeconfig}", *arguments],
            input=stdin,
            check=False,
            capture_output=True,
            text=True,
        )

    def apply(self, *documents: Mapping[str, Any]) -> None:
        """Create or update these objects."""
        listed = {"apiVersion": "v1", "kind": "List", "items": documents}
        answer = self.kubectl("apply", "--server-side", "--filename=-", stdin=json.dumps(listed))
        if answer.returncode != 0:
            raise RuntimeError(answer.stderr)

    def get(self, path: str) -> dict[str, Any] | None:
        """An object by its path; None if it is missing or the API server is down."""
        control_plane = self.control_plane
        request = urllib.request.Request(
            control_plane.url + path, headers={"Authorization": f"Bearer {control_plane.admin_token}"}
        )
        trust = ssl.create_default_context(cafile=str(control_plane.ca_file))
        try:
            with urllib.request.urlopen(request, timeout=_TIMEOUT, context=trust) as answer:
                found: dict[str, Any] = json.load(answer)
        except OSError:
            return None
        return found

    def _takes_pods(self) -> bool:
        """The node is ready, and the default service account exists."""
        node = self.get(f"/api/v1/nodes/{NODE}") or {}
        conditions = node.get("status", {}).get("conditions", [])
        ready = any(each["type"] == "Ready" and each["status"] == "True" for each in conditions)
        return ready and self.get("/api/v1/namespaces/default/serviceaccounts/default") is not None

    def _clear(self) -> None:
        """Remove everything, in any state: processes first, because they hold the rest."""
        cgroup = Cgroup(self.place.title)
        cgroup.kill()
        cgroup.remove()
        network.remove(self.place)
        restore_settings(self.place)
        runtime.tidy()
        for folder in (self.place.scratch, self.place.folder):
            if folder.exists():
                shutil.rmtree(folder)

    @contextlib.contextmanager
    def _alone(self) -> Iterator[None]:
        """One process at a time starts or stops the same cluster."""
        beside = self.place.folder.with_suffix(".lock")
        beside.parent.mkdir(parents=True, exist_ok=True)
        with beside.open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield
