"""Who may do what on the real API server."""

from tests.contracts.kubernetes_access_suite import *  # noqa: F403 - the suite's tests and fixtures are collected here
