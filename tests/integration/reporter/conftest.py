"""The stand-in API server, one per test."""

from tests.integration.kubernetes.conftest import api, kube

__all__ = ["api", "kube"]
