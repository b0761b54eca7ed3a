"""The real API server as `server`."""

import pytest

from tests.support.kubernetes import KubernetesServer


@pytest.fixture
def server(real_kubernetes: KubernetesServer) -> KubernetesServer:
    return real_kubernetes
