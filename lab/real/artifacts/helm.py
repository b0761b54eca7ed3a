"""Helm, built from its Go module: renders charts and installs them on an API server."""

import os
import subprocess
from pathlib import Path

from lab.real.artifacts.go_binaries import built

PACKAGE = "helm.sh/helm/v4/cmd/helm"


class Helm:
    """Runs Helm with a home of its own, so that nothing of the user's is read or written."""

    def __init__(self, folder: Path, kubeconfig: Path | None = None) -> None:
        self._binary = built("helm", PACKAGE)
        self._environment = os.environ | {
            "HELM_CACHE_HOME": str(folder / "cache"),
            "HELM_CONFIG_HOME": str(folder / "config"),
            "HELM_DATA_HOME": str(folder / "data"),
            "KUBECONFIG": str(kubeconfig or folder / "no-kubeconfig"),
        }

    def run(self, *arguments: str | Path) -> "subprocess.CompletedProcess[str]":
        """The outcome, whatever it is."""
        command = [self._binary, *arguments]
        return subprocess.run(command, env=self._environment, capture_output=True, text=True, check=False)

    def render(self, chart: Path, *arguments: str | Path) -> str:
        """The manifests of a chart. Raises CalledProcessError with Helm's own message."""
        outcome = self.run("template", "release", chart, *arguments)
        if outcome.returncode != 0:
            raise subprocess.CalledProcessError(outcome.returncode, "helm template", outcome.stdout, outcome.stderr)
        return outcome.stdout
