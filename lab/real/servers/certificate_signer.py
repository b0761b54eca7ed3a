"""The real signer of certificate requests: the controller manager with that one controller."""

from pathlib import Path

from lab.certificates import self_signed
from lab.real.artifacts.kubernetes import program
from lab.real.servers.processes import Server

CONTROLLER = "certificatesigningrequest-signing-controller"


class CertificateSigner:
    """Signs approved requests of one API server. Clients verify what it issues with `ca_file`."""

    def __init__(self, folder: Path, kubeconfig: Path) -> None:
        folder.mkdir(exist_ok=True)
        self._tls = self_signed(folder)
        self.ca_file = self._tls.certificate
        self._kubeconfig = kubeconfig
        self._server = Server("kube-controller-manager", folder)
        self._binary = program("kube-controller-manager")

    def start(self) -> None:
        self._server.start(
            [
                *(self._binary, f"--kubeconfig={self._kubeconfig}", f"--controllers={CONTROLLER}"),
                *(
                    f"--cluster-signing-cert-file={self._tls.certificate}",
                    f"--cluster-signing-key-file={self._tls.key}",
                ),
                *("--leader-elect=false", "--secure-port=0"),
            ],
            ready=lambda: True,
        )

    def stop(self) -> None:
        self._server.stop()
