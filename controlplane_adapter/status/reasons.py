"""The reason that each error is reported by."""

from controlplane_adapter.reconcile.errors import (
    InternalError,
    NoManagementCluster,
    OutOfTime,
    PlacementUnavailable,
    Stopped,
)
from shared.errors import HyperFleetError, Invalid, Misconfigured, NotOwned, UnknownConsumer

_REASONS: dict[type[HyperFleetError], str] = {
    Stopped: "AdapterStopped",
    OutOfTime: "AdapterTimeout",
    InternalError: "AdapterError",
    Misconfigured: "AdapterError",
    PlacementUnavailable: "PlacementError",
    NoManagementCluster: "NoManagementCluster",
    UnknownConsumer: "UnknownManagementCluster",
    NotOwned: "NotOwned",
    Invalid: "InvalidSpec",
    HyperFleetError: "MaestroError",
}


def reason_of(error: HyperFleetError) -> str:
    """Why a run failed, as the reason of Applied."""
    return next(reason for kind, reason in _REASONS.items() if isinstance(error, kind))
