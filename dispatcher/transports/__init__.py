"""Where resources live: the live sides of the engine's `Transport` and `Secrets` ports."""

from dispatcher.transports.kubernetes import KubernetesTransport
from dispatcher.transports.maestro import MaestroTransport
from dispatcher.transports.secrets import KubernetesSecrets

__all__ = ["KubernetesSecrets", "KubernetesTransport", "MaestroTransport"]
