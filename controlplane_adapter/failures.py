"""Failures that are the adapter's own, beside those of `shared.errors`, and the reason each error is reported by."""

from shared.errors import (
    DeadlineExceeded,
    HyperFleetError,
    Invalid,
    Misconfigured,
    NotOwned,
    Permanent,
    Unavailable,
    UnknownConsumer,
)


class Stopped(Unavailable):
    """The pod was told to end before the run was done."""


class OutOfTime(DeadlineExceeded):
    """The run's own time was over before it was done."""


class Surprised(Permanent):
    """Something that nobody foresaw: a bug."""


class PlacementUnavailable(Unavailable):
    """The list of management clusters cannot be had."""


class NoManagementCluster(Permanent):
    """No management cluster can take the control plane."""


_REASONS: dict[type[HyperFleetError], str] = {
    Stopped: "AdapterStopped",
    OutOfTime: "AdapterTimeout",
    Surprised: "AdapterError",
    Misconfigured: "AdapterError",
    PlacementUnavailable: "PlacementError",
    NoManagementCluster: "NoManagementCluster",
    UnknownConsumer: "UnknownManagementCluster",
    NotOwned: "NotOwned",
    Invalid: "InvalidSpec",
    HyperFleetError: "MaestroError",
}


def reason_of(error: HyperFleetError) -> str:
    """Why a run could not do what was wanted, as the reason of Applied."""
    return next(reason for kind, reason in _REASONS.items() if isinstance(error, kind))
