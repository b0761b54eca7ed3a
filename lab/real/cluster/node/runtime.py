"""containerd in its own mount namespace: its mounts and the kubelet's disappear with their last process.

Folders of the machine that both write to by fixed names are hidden there behind empty ones.
"""

import contextlib
import subprocess
from pathlib import Path

from lab.real.cluster.host import cgroup, network
from lab.real.cluster.host.daemons import Daemon
from lab.real.cluster.place import Place

PAUSE_IMAGE = "localhost/pause:1"
_PLUGINS = Path("/usr/lib/cni")
_FIXED = tuple(map(Path, ("/run/containerd", "/var/lib/cni", "/var/lib/kubelet", "/var/log/containers")))
_HIDE = f'for each in {" ".join(map(str, _FIXED))}; do mount -t tmpfs none "$each" || exit; done; exec "$0" "$@"'


class Runtime:
    def __init__(self, place: Place) -> None:
        self._place = place
        self._daemon = Daemon("containerd", place)
        self.socket = place.folder / "containerd.sock"

    def start(self) -> None:
        plugins = self._place.folder / "network"
        plugins.mkdir(exist_ok=True)
        (plugins / "10-bridge.conflist").write_text(network.plugin_settings(self._place))
        settings = self._place.folder / "containerd.toml"
        settings.write_text(self._settings(plugins))
        for each in _FIXED:
            each.mkdir(parents=True, exist_ok=True)
        self._daemon.start(
            ["unshare", "--mount", "sh", "-c", _HIDE, "containerd", "--config", settings],
            ready=lambda: self._ctr("version").returncode == 0,
        )

    @property
    def mounts(self) -> Path:
        """The mount namespace that the kubelet must share."""
        return Path(f"/proc/{self._daemon.pid}/ns/mnt")

    def load(self, archive: Path) -> None:
        """Load the images of an archive of `podman save`."""
        answer = self._ctr("--namespace", "k8s.io", "images", "import", str(archive))
        if answer.returncode != 0:
            raise RuntimeError(f"{archive} cannot be loaded: {answer.stderr.decode().strip()}")

    def _ctr(self, *arguments: str) -> "subprocess.CompletedProcess[bytes]":
        return subprocess.run(["ctr", "--address", self.socket, *arguments], check=False, capture_output=True)

    def _settings(self, plugins: Path) -> str:
        folder = self._place.folder
        return f"""\
version = 2
root = "{folder}/containerd"
state = "{folder}/containerd-state"
disabled_plugins = ["io.containerd.internal.v1.opt"]
[grpc]
  address = "{self.socket}"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "{PAUSE_IMAGE}"
  netns_mounts_under_state_dir = true
  # This machine may not allow lower OOM scores.
  restrict_oom_score_adj = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "{_PLUGINS}"
    conf_dir = "{plugins}"
  [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
    runtime_type = "io.containerd.runc.v2"
"""


def tidy() -> None:
    """Remove the folders that were only there to be hidden; what somebody else put into one keeps it.

    To remove a folder is to end what is mounted on it in every namespace, so the last cluster does.
    """
    for each in () if cgroup.of_places() else _FIXED:
        with contextlib.suppress(OSError):
            each.rmdir()


def why_unusable() -> str | None:
    missing = [each for each in ("bridge", "host-local", "loopback") if not (_PLUGINS / each).exists()]
    return f"{_PLUGINS} lacks {', '.join(missing)}: apt-get install containernetworking-plugins" if missing else None
