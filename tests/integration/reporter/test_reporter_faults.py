"""The sidecar in trouble, on the stand-in API server."""

from tests.contracts.reporter_faults_suite import *  # noqa: F403 - the suite is collected here
