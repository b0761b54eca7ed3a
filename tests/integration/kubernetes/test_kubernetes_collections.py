"""Lists and deletions on the stand-in API server."""

from tests.contracts.kubernetes_collection_suite import *  # noqa: F403 - the suite's tests and fixtures are collected here
