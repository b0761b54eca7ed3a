"""The sidecar's cases on the real API server."""

from tests.contracts.reporter_suite import *  # noqa: F403 - the suite is collected here
