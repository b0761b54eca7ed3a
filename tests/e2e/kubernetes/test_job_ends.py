"""How Jobs end on the real API server."""

from tests.contracts.kubernetes_job_ends_suite import *  # noqa: F403 - the suite's tests and fixtures are collected here
