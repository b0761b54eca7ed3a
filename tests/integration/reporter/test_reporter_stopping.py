"""The sidecar told to end, on the stand-in."""

from tests.contracts.reporter_stopping_suite import *  # noqa: F403 - the suite is collected here
