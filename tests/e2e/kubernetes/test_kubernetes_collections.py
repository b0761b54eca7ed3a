"""Lists and deletions on the real API server."""

from tests.contracts.kubernetes_collection_suite import *  # noqa: F403 - the suite's tests and fixtures are collected here
