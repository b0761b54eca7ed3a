"""The real API server."""

from tests.e2e.kubernetes.conftest import *  # noqa: F403 - the same server
