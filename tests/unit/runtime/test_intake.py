"""From a message to a wake, or to an acknowledgement."""

import json
from dataclasses import dataclass, field

import pytest
import structlog

from dispatcher.observability.identity import Identity
from dispatcher.observability.metrics import Metrics
from dispatcher.runtime.intake import Intake
from dispatcher.runtime.scheduling.wakes import Receipt, Wake

EVENT = {
    "specversion": "1.0",
    "id": "e1",
    "source": "hyperfleet-sentinel",
    "type": "com.redhat.hyperfleet.cluster.reconcile",
    "data": {"id": "c1", "kind": "Cluster", "generation": 2},
}


@dataclass
class FakeMessage:
    body: bytes
    acks: int = 0

    async def ack(self) -> None:
        self.acks += 1

    async def give_back(self) -> None:
        raise AssertionError


@dataclass
class FakeQueue:
    woken: list[Wake] = field(default_factory=list)
    acknowledged: list[Receipt] = field(default_factory=list)

    def wake(self, wake: Wake) -> None:
        self.woken.append(wake)

    def acknowledge(self, receipt: Receipt) -> None:
        self.acknowledged.append(receipt)


@pytest.fixture
def metrics() -> Metrics:
    return Metrics(Identity(component="dns", version="1", commit="c"), topic="t")


@pytest.fixture
def queue() -> FakeQueue:
    return FakeQueue()


def value(metrics: Metrics, name: str, **labels: str) -> float:
    constant = {"component": "dns", "version": "1"}
    constant |= {"topic": "t"} if name.startswith("hyperfleet_broker") else {"adapter_name": "dns"}
    return metrics.registry.get_sample_value(name, constant | labels) or 0.0


async def test_an_event_wakes_its_object_and_holds_its_message(queue: FakeQueue, metrics: Metrics) -> None:
    message = FakeMessage(json.dumps(EVENT).encode())
    Intake(queue, metrics).deliver(message)
    (wake,) = queue.woken
    assert (str(wake.key), wake.event.id) == ("Cluster/c1", "e1")
    assert value(metrics, "hyperfleet_broker_messages_consumed_total") == 1
    assert wake.receipt is not None
    assert message.acks == 0
    await wake.receipt.ack()
    assert message.acks == 1
    assert value(metrics, "hyperfleet_broker_message_duration_seconds_count") == 1


def test_a_malformed_message_is_acknowledged_counted_and_shown_in_part(queue: FakeQueue, metrics: Metrics) -> None:
    message = FakeMessage(b"\xff{" + b"x" * 500)
    with structlog.testing.capture_logs() as lines:
        Intake(queue, metrics).deliver(message)
    assert queue.acknowledged == [message]
    assert not queue.woken
    assert value(metrics, "hyperfleet_broker_errors_total", error_type="conversion") == 1
    (line,) = lines
    assert line["body"] == "\\xff{" + "x" * 198
    assert "CloudEvent" in line["error"]


@pytest.mark.parametrize("kinds", [["NodePool"], ["nodepool"]], ids=["as written", "any case"])
def test_an_event_of_another_kind_is_acknowledged_without_a_run(
    queue: FakeQueue, metrics: Metrics, kinds: list[str]
) -> None:
    message = FakeMessage(json.dumps(EVENT).encode())
    Intake(queue, metrics, kinds=kinds).deliver(message)
    assert (queue.acknowledged, queue.woken) == ([message], [])
    assert value(metrics, "hyperfleet_adapter_events_ignored_total", kind="Cluster") == 1


def test_kinds_are_compared_in_any_case(queue: FakeQueue, metrics: Metrics) -> None:
    Intake(queue, metrics, kinds=["cluster"]).deliver(FakeMessage(json.dumps(EVENT).encode()))
    assert len(queue.woken) == 1
