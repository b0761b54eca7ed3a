"""The kubelet: the node that pods run on."""

import json
from collections.abc import Callable
from pathlib import Path

from lab.real.artifacts.kubernetes import program
from lab.real.cluster.certificates import Authority
from lab.real.cluster.control_plane import NODE
from lab.real.cluster.host.cgroup import Cgroup
from lab.real.cluster.host.daemons import Daemon
from lab.real.cluster.node.runtime import Runtime
from lab.real.cluster.place import Place

# The kubelet changes these; they are restored when the cluster stops.
CHANGED_SETTINGS = (
    "kernel/keys/root_maxbytes",
    "kernel/keys/root_maxkeys",
    "kernel/panic",
    "kernel/panic_on_oops",
    "vm/overcommit_memory",
    "vm/panic_on_oom",
)
_SYSCTL = Path("/proc/sys")


class Node:
    def __init__(self, place: Place, authority: Authority, runtime: Runtime) -> None:
        self._place, self._authority, self._runtime = place, authority, runtime
        self._kubelet = Daemon("kubelet", place)

    @property
    def runs(self) -> bool:
        return self._kubelet.pid is not None

    def start(self, kubeconfig: Path, *, ready: Callable[[], bool]) -> None:
        remember_settings(self._place)
        settings = self._place.folder / "kubelet.json"
        settings.write_text(json.dumps(self._settings(), indent=2))
        self._kubelet.start(
            [
                *("nsenter", f"--mount={self._runtime.mounts}", program("kubelet")),
                *(f"--config={settings}", f"--kubeconfig={kubeconfig}"),
                *(f"--hostname-override={NODE}", f"--node-ip={self._place.node}"),
                *(f"--root-dir={self._place.folder / 'kubelet'}", f"--cert-dir={self._place.folder / 'kubelet-tls'}"),
            ],
            ready=ready,
        )

    def stop(self) -> None:
        self._kubelet.stop()

    def _settings(self) -> dict[str, object]:
        place = self._place
        own = self._authority.issue("kubelet", common_name=f"system:node:{NODE}", addresses=(place.node,))
        return {
            "apiVersion": "kubelet.config.k8s.io/v1beta1",
            "kind": "KubeletConfiguration",
            "address": place.node,
            "healthzBindAddress": place.loopback,
            "authentication": {
                "anonymous": {"enabled": False},
                "x509": {"clientCAFile": str(self._authority.certificate)},
            },
            "tlsCertFile": str(own.certificate),
            "tlsPrivateKeyFile": str(own.key),
            "containerRuntimeEndpoint": f"unix://{self._runtime.socket}",
            "cgroupDriver": "cgroupfs",
            "cgroupRoot": f"/{Cgroup(place.title).name}",
            "failCgroupV1": False,
            "failSwapOn": False,
            # Without the right to lower its own OOM score the kubelet would not start.
            "oomScoreAdj": 0,
            "maxOpenFiles": 20000,
            "makeIPTablesUtilChains": False,
            "imageGCHighThresholdPercent": 100,
            "evictionHard": {"memory.available": "100Mi", "nodefs.available": "1%", "imagefs.available": "1%"},
            "podLogsDir": str(place.folder / "pod-logs"),
            "volumePluginDir": str(place.folder / "volume-plugins"),
        }


def remember_settings(place: Place) -> None:
    found = {name: (_SYSCTL / name).read_text() for name in CHANGED_SETTINGS if (_SYSCTL / name).exists()}
    _memory(place).write_text(json.dumps(found))


def restore_settings(place: Place) -> None:
    if _memory(place).exists():
        for name, value in json.loads(_memory(place).read_text()).items():
            (_SYSCTL / name).write_text(value)


def _memory(place: Place) -> Path:
    return place.folder / "machine-settings.json"
