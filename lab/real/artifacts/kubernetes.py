"""The programs of Kubernetes and its etcd, built from their Go modules."""

from pathlib import Path

from lab.real.artifacts.go_binaries import built

VERSION = "v1.36.4"
_MODULE = "kubernetes"
_PROGRAMS = ("kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubelet", "kubectl")


def program(name: str) -> Path:
    return built(_MODULE, f"k8s.io/kubernetes/cmd/{name}", stamps=_version_stamps())


def etcd() -> Path:
    return built(_MODULE, "go.etcd.io/etcd/server/v3", name="etcd")


def build() -> None:
    """Build all programs of a cluster; the first time on a machine takes many minutes."""
    etcd()
    for name in _PROGRAMS:
        program(name)


def _version_stamps() -> dict[str, str]:
    """Linker flags with the version; kubectl rejects a server that has none."""
    _, minor, _ = VERSION.split(".")
    values = {"gitVersion": VERSION, "gitMajor": "1", "gitMinor": minor}
    packages = ("k8s.io/component-base/version", "k8s.io/client-go/pkg/version")
    return {f"{package}.{name}": value for package in packages for name, value in values.items()}
