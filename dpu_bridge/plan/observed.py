"""What is true right now, as far as a bridge is concerned. None means that an object is not there."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from dpu_bridge.api.bridge import Bridge, Key
from shared.kubernetes import Object
from shared.model.damping import GracePeriods


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanSettings:
    """`cleanup_timeout` is in seconds; after it a deletion is reported as Failed, and goes on."""

    metallb_namespace: str = "metallb-system"
    images_name: str = "ocp-bluefield-images"
    images_namespace: str = ""
    cleanup_timeout: float = 1800.0
    grace_periods: GracePeriods = field(default_factory=GracePeriods)


@dataclass(frozen=True, slots=True, kw_only=True)
class Material:
    """The SSH key or the pull secret: base64, or why it cannot be had."""

    data: str = ""
    problem: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True, order=True)
class Contender:
    """A bridge that names this DPUCluster; the oldest comes first."""

    created: datetime
    uid: str
    key: Key


@dataclass(frozen=True, slots=True, kw_only=True)
class ApproverState:
    """Whether the watch for certificate requests is running in the hosted cluster."""

    is_active: bool = False
    reason: str = "KubeconfigNotAvailable"
    message: str = "The hosted cluster has no kubeconfig yet"


@dataclass(frozen=True, slots=True, kw_only=True)
class Observed:
    """`unserved` are the kinds that the API server does not serve: their operators are not installed."""

    bridge: Bridge
    now: datetime
    contenders: tuple[Contender, ...] = ()
    dpu_cluster: Object | None = None
    images: Mapping[str, str] | None = None
    ssh_key: Material = field(default_factory=Material)
    pull_secret: Material = field(default_factory=Material)
    hosted_cluster: Object | None = None
    node_pool: Object | None = None
    ssh_key_copy: Object | None = None
    pull_secret_copy: Object | None = None
    encryption_key: Object | None = None
    machine_config: Object | None = None
    address_pool: Object | None = None
    advertisement: Object | None = None
    admin_kubeconfig: Object | None = None
    injected_kubeconfig: Object | None = None
    node_address: str = ""
    approver: ApproverState = field(default_factory=ApproverState)
    unserved: frozenset[str] = frozenset()
