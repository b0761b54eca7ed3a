"""The operator's settings: environment variables, all optional. `--help` prints this table."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from dpu_bridge.plan import PlanSettings
from shared import log_settings
from shared.environment import Environment, Setting, help_table, positive_duration, whole_number
from shared.errors import Misconfigured
from shared.model.damping import GracePeriods


def _names(text: str) -> tuple[str, ...]:
    return tuple(name for name in (each.strip() for each in text.split(",")) if name)


def _folder(text: str) -> Path:
    if not Path(text).is_absolute():
        raise ValueError(f"must be an absolute path, not {text!r:.60}")
    return Path(text)


def _port(text: str) -> int:
    number = whole_number(text)
    if not 0 <= number <= 65535:  # noqa: PLR2004 - the ports there are
        raise ValueError(f"must be a port, or 0 for none, not {number}")
    return number


KUBECONFIG = Setting("BRIDGE_KUBECONFIG", str, "", "kubeconfig; the pod's service account is used where none is set")
NAMESPACE = Setting("POD_NAMESPACE", str, "dpu-hcp-bridge", "the operator's own namespace", shown="dpu-hcp-bridge")
NAMESPACES: Setting[tuple[str, ...]] = Setting(
    "BRIDGE_NAMESPACES", _names, (), "namespaces of bridges, DPUClusters and MetalLB, by commas", shown="all"
)
METALLB_NAMESPACE = Setting(
    "METALLB_NAMESPACE", str, "metallb-system", "where MetalLB reads its objects", shown="metallb-system"
)
IMAGES = Setting(
    "BLUEFIELD_IMAGES_CONFIGMAP",
    str,
    "ocp-bluefield-images",
    "ConfigMap of BlueField images in the operator's namespace",
    shown="ocp-bluefield-images",
)
FILES = Setting(
    "BRIDGE_FILES_DIR",
    _folder,
    Path("/etc/dpu-hcp-bridge/files"),
    "folder of the files that sshKey and pullSecret may name",
    shown="/etc/dpu-hcp-bridge/files",
)
CLEANUP = Setting(
    "CLEANUP_TIMEOUT", positive_duration, 1800.0, "a deletion that takes longer is reported as Failed", shown="30m"
)
DEGRADED = Setting(
    "DEGRADED_DAMPING", positive_duration, 300.0, "how long Degraded may last before it counts", shown="5m"
)
INSTALL = Setting(
    "INSTALL_DAMPING", positive_duration, 2700.0, "the same while the control plane was never available", shown="45m"
)
RESYNC = Setting(
    "RESYNC_INTERVAL",
    positive_duration,
    1800.0,
    "every bridge is looked at again after this, without any event",
    shown="30m",
)
HEALTH_PORT = Setting("HEALTH_PORT", _port, 8080, "port of /healthz, 0 for none", shown="8080")
METRICS_PORT = Setting("METRICS_PORT", _port, 9090, "port of /metrics, 0 for none", shown="9090")

WEBHOOK_PORT = Setting("WEBHOOK_PORT", _port, 0, "port of the admission webhook, 0 for none", shown="0")
WEBHOOK_SERVICE = Setting(
    "WEBHOOK_SERVICE", str, "dpu-hcp-bridge-webhook", "its Service, in this namespace", shown="dpu-hcp-bridge-webhook"
)
WEBHOOK_SECRET = Setting(
    "WEBHOOK_SECRET", str, "dpu-hcp-bridge-webhook", "Secret of its certificate", shown="dpu-hcp-bridge-webhook"
)
WEBHOOK_CONFIGURATION = Setting(
    "WEBHOOK_CONFIGURATION", str, "dpu-hcp-bridge", "its ValidatingWebhookConfiguration", shown="dpu-hcp-bridge"
)

SETTINGS: tuple[Setting[object], ...] = (
    *(KUBECONFIG, NAMESPACE, NAMESPACES, METALLB_NAMESPACE, IMAGES, FILES, CLEANUP, DEGRADED, INSTALL, RESYNC),
    *(HEALTH_PORT, METRICS_PORT, WEBHOOK_PORT, WEBHOOK_SERVICE, WEBHOOK_SECRET, WEBHOOK_CONFIGURATION),
    *log_settings.SETTINGS,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookSettings:
    """`names` are those by which the API server connects; the certificate is for them."""

    port: int
    names: tuple[str, ...]
    secret: str
    configuration: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """`namespaces` is empty for all. Ports of 0 are not opened."""

    kubeconfig: str = ""
    namespace: str = "dpu-hcp-bridge"
    namespaces: tuple[str, ...] = ()
    files: Path = FILES.default
    resync: float = 1800.0
    health_port: int = 0
    metrics_port: int = 0
    webhook: WebhookSettings | None = None
    planning: PlanSettings = field(default_factory=PlanSettings)


def read(variables: Mapping[str, str]) -> Settings:
    """Raises Misconfigured with all problems."""
    environment = Environment(variables)
    namespace = environment.read(NAMESPACE)
    settings = Settings(
        kubeconfig=environment.read(KUBECONFIG),
        namespace=namespace,
        namespaces=environment.read(NAMESPACES),
        files=environment.read(FILES),
        resync=environment.read(RESYNC),
        health_port=environment.read(HEALTH_PORT),
        metrics_port=environment.read(METRICS_PORT),
        webhook=_webhook(environment, namespace),
        planning=PlanSettings(
            metallb_namespace=environment.read(METALLB_NAMESPACE),
            images_name=environment.read(IMAGES),
            images_namespace=namespace,
            cleanup_timeout=environment.read(CLEANUP),
            grace_periods=GracePeriods(degraded=environment.read(DEGRADED), install=environment.read(INSTALL)),
        ),
    )
    if environment.problems:
        raise Misconfigured("the settings cannot be used", environment.problems)
    return settings


def _webhook(environment: Environment, namespace: str) -> WebhookSettings | None:
    port, service = environment.read(WEBHOOK_PORT), environment.read(WEBHOOK_SERVICE)
    if not port:
        return None
    return WebhookSettings(
        port=port,
        names=(f"{service}.{namespace}.svc", f"{service}.{namespace}.svc.cluster.local"),
        secret=environment.read(WEBHOOK_SECRET),
        configuration=environment.read(WEBHOOK_CONFIGURATION),
    )


def table() -> str:
    return help_table(SETTINGS)
