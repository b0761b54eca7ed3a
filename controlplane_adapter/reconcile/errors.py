"""Errors of the adapter itself, beside those of `shared.errors`."""

from shared.errors import DeadlineExceeded, Permanent, Unavailable


class Stopped(Unavailable):
    """The pod was stopped before the run was complete."""


class OutOfTime(DeadlineExceeded):
    """The run's time budget ended before the run was complete."""


class InternalError(Permanent):
    """An unexpected exception: a bug of the adapter."""


class PlacementUnavailable(Unavailable):
    """The list of management clusters cannot be read."""


class NoManagementCluster(Permanent):
    """No management cluster can take the control plane."""
