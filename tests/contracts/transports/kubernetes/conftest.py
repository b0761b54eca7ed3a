"""The Kubernetes transport on an API server."""

import pytest

from dispatcher.transports import KubernetesTransport
from shared.kubernetes import KubernetesClient
from tests.support.kubernetes_client import client, namespace, server

__all__ = ["client", "namespace", "server"]


@pytest.fixture
def transport(client: KubernetesClient) -> KubernetesTransport:
    return KubernetesTransport(client, manager="adapter")
