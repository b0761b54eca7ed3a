"""The Kubernetes client on an API server."""

from tests.support.kubernetes_client import client, namespace, server

__all__ = ["client", "namespace", "server"]
