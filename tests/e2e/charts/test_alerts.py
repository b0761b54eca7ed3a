"""Every alert of both charts, by promtool: its expression is accepted, and it fires on the metrics of our own code."""

from collections.abc import Callable
from pathlib import Path

import pytest

from dispatcher.observability.identity import Identity
from dispatcher.observability.metrics import Metrics, QueueCollector
from dpu_bridge.operator.metrics import Metrics as BridgeMetrics
from lab.real.artifacts.helm import Helm
from tests.support.alerting import Labels, Recording, Rules, record, rules_of

CHARTS = Path(__file__).parents[3] / "charts"
RULE = (
    "--set",
    "monitoring.prometheusRule.enabled=true,monitoring.prometheusRule.runbookBaseUrl=https://example.com/r",
)
ADAPTER = (
    *("--set", "image.repository=example/a,adapterConfig.yaml=a,adapterTaskConfig.yaml=a"),
    *("--set", "broker.type=embedded,broker.embedded.address=127.0.0.1:1"),
)
TARGET = {"namespace": "hyperfleet-system", "service": "release-hyperfleet-adapter", "pod": "a-1"}
BRIDGE_TARGET = {"pod": "bridge-1"}
KEY = ("clusters", "demo")
NAMED = {"namespace": KEY[0], "name": KEY[1], **BRIDGE_TARGET}


class Queue:
    """A queue whose oldest wake has waited for so many seconds."""

    def __init__(self) -> None:
        self.waited = 0.0

    def objects(self) -> dict[str, int]:
        return {}

    def oldest_wake(self) -> float:
        return self.waited

    def slowed(self) -> list[tuple[str, str]]:
        return []

    def awaited_deletions(self) -> dict[str, int]:
        return {}


Minute = Callable[[Metrics, Queue], None]


def healthy(metrics: Metrics, _queue: Queue) -> None:
    metrics.up.set(1)
    metrics.broker_connected().set(1)
    metrics.leader().set(1)
    metrics.runs("event", "succeeded").inc(60)
    metrics.api_calls("GET", "200").inc(60)


def stopping(metrics: Metrics, _queue: Queue) -> None:
    metrics.up.set(0)


def without_a_broker(metrics: Metrics, _queue: Queue) -> None:
    metrics.broker_connected().set(0)


def failing(metrics: Metrics, _queue: Queue) -> None:
    metrics.runs("event", "failed").inc(30)


def waiting(_metrics: Metrics, queue: Queue) -> None:
    queue.waited = 301.0


def without_a_leader(metrics: Metrics, _queue: Queue) -> None:
    metrics.leader().set(0)


def refused_by_the_api(metrics: Metrics, _queue: Queue) -> None:
    metrics.api_calls("PUT", "503").inc(12)


ADAPTER_CASES: dict[str, Minute] = {
    "HyperFleetAdapterDown": stopping,
    "HyperFleetAdapterBrokerDisconnected": without_a_broker,
    "HyperFleetAdapterRunsFail": failing,
    "HyperFleetAdapterQueueStuck": waiting,
    "HyperFleetAdapterNoLeader": without_a_leader,
    "HyperFleetAdapterApiErrors": refused_by_the_api,
}


@pytest.fixture(scope="module")
def helm(tmp_path_factory: pytest.TempPathFactory) -> Helm:
    return Helm(tmp_path_factory.mktemp("helm"))


@pytest.fixture(scope="module")
def adapter_rules(helm: Helm) -> Rules:
    namespace = ("--namespace", "hyperfleet-system")
    return rules_of(helm.render(CHARTS / "hyperfleet-adapter", *namespace, *ADAPTER, *RULE))


@pytest.fixture(scope="module")
def bridge_rules(helm: Helm) -> Rules:
    return rules_of(helm.render(CHARTS / "dpu-hcp-bridge", "--set", "image.repository=example/b", *RULE))


def check_adapter(rules: Rules, folder: Path, *firing: str) -> None:
    identity = Identity(component="adapter", version="1", commit="c")
    metrics, queue = Metrics(identity, topic="t"), Queue()
    metrics.registry.register(QueueCollector(queue, identity))

    def minute() -> None:
        for each in (healthy, *(ADAPTER_CASES[name] for name in firing)):
            each(metrics, queue)

    rules.check(folder, record(metrics.registry, minute, TARGET), {each: {} for each in firing})


def test_a_healthy_adapter_fires_no_alert(adapter_rules: Rules, tmp_path: Path) -> None:
    check_adapter(adapter_rules, tmp_path)


@pytest.mark.parametrize("alert", ADAPTER_CASES)
def test_an_alert_of_the_adapter_fires_alone_when_its_cause_is_there(
    adapter_rules: Rules, tmp_path: Path, alert: str
) -> None:
    check_adapter(adapter_rules, tmp_path, alert)


def test_every_alert_of_the_adapter_is_tried_and_names_the_adapter(adapter_rules: Rules) -> None:
    assert adapter_rules.alerts.keys() == ADAPTER_CASES.keys()
    for rule in adapter_rules.alerts.values():
        assert {name: rule["labels"][name] for name in ("namespace", "service")}.items() <= TARGET.items()


BRIDGE_CASES: dict[str, tuple[Callable[[BridgeMetrics], object], Labels]] = {
    "DPUBridgeFailed": (
        lambda metrics: metrics.set_phase(KEY, "Failed"),
        {**NAMED, "phase": "Failed"},
    ),
    "DPUBridgeCleanupStuck": (
        lambda metrics: metrics.set_phase(KEY, "Deleting"),
        {**NAMED, "phase": "Deleting"},
    ),
    "DPUBridgeApproverInactive": (lambda metrics: metrics.approvers.labels(*KEY).set(0), NAMED),
    "DPUBridgeSuspiciousRequests": (
        lambda metrics: metrics.requests.labels(*KEY, "suspicious", "Forged").inc(),
        {**NAMED, "decision": "suspicious", "reason": "Forged"},
    ),
    "DPUBridgePassesFail": (
        lambda metrics: metrics.passes.labels("failed").inc(6),
        {**BRIDGE_TARGET, "result": "failed"},
    ),
}


def check_bridge(rules: Rules, folder: Path, *firing: str) -> None:
    metrics = BridgeMetrics()

    def minute() -> None:
        metrics.set_phase(KEY, "Ready")
        metrics.approvers.labels(*KEY).set(1)
        metrics.requests.labels(*KEY, "approve", "").inc()
        metrics.passes.labels("done").inc(6)
        for each in firing:
            BRIDGE_CASES[each][0](metrics)

    rules.check(
        folder, record(metrics.registry, minute, BRIDGE_TARGET), {each: BRIDGE_CASES[each][1] for each in firing}
    )


def test_a_healthy_bridge_fires_no_alert(bridge_rules: Rules, tmp_path: Path) -> None:
    check_bridge(bridge_rules, tmp_path)


@pytest.mark.parametrize("alert", BRIDGE_CASES)
def test_an_alert_of_the_bridge_fires_alone_when_its_cause_is_there(
    bridge_rules: Rules, tmp_path: Path, alert: str
) -> None:
    check_bridge(bridge_rules, tmp_path, alert)


def test_a_bridge_operator_that_does_not_run_is_noticed(bridge_rules: Rules, tmp_path: Path) -> None:
    bridge_rules.check(tmp_path, Recording(first={}, second={}), {"DPUBridgeOperatorDown": {}})


def test_every_alert_of_the_bridge_is_tried(bridge_rules: Rules) -> None:
    assert bridge_rules.alerts.keys() == {*BRIDGE_CASES, "DPUBridgeOperatorDown"}
