"""What an operator sees of a running dispatcher."""

import asyncio
import json
from pathlib import Path

from tests.support.dispatcher import JobWorker, LabSystem
from tests.support.page_blocks import blocks_of

ROOT = Path(__file__).parents[3]
(SHOWN,) = (
    json.loads(block.content)
    for block in blocks_of(ROOT / "docs" / "operating-the-dispatcher.md", ROOT)
    if block.kind == "json"
)


async def test_objects_that_fail_come_first_with_their_error_and_their_next_try(system: LabSystem) -> None:
    good, bad = system.api.add_cluster("good"), system.api.add_cluster("bad")
    system.api.faults.fail(500, path=bad.id, times=0)
    async with system.dispatcher(HYPERFLEET_OBJECTS_ENABLED="true") as dispatcher:
        await dispatcher.serving()
        await system.publish(good)
        await system.publish(bad)
        await dispatcher.until_run(level="error", cluster_id=bad.id)
        await dispatcher.until_run(cluster_id=good.id)
        status, text = await dispatcher.get("/objects")
        listed = json.loads(text)["items"]
        assert (status, [each["id"] for each in listed]) == (200, [bad.id, good.id])
        first = listed[0]
        assert first["failures"] >= 1
        assert first["runs"][0]["outcome"] == "failed"
        assert "500" in first["runs"][0]["error"]
        assert first["phase"] in {"waiting", "running", "ready"}
        assert first.keys() == SHOWN.keys()
        assert first["runs"][0].keys() == SHOWN["runs"][0].keys()
        assert first["last_event"].keys() == SHOWN["last_event"].keys()
        assert first["last_wake"].keys() == SHOWN["last_wake"].keys()
        described = json.loads((await dispatcher.get(f"/objects/cluster/{good.id}"))[1])
        assert described["last_event"]["generation"] == 1
        assert described["runs"][0]["statuses"] == ["stored"]
        assert described["failures"] == 0


async def test_metrics_count_what_happened(system: LabSystem) -> None:
    cluster = system.api.add_cluster("one")
    async with system.dispatcher() as dispatcher, JobWorker(system.client):
        await dispatcher.serving()
        await system.publish(cluster)
        await system.until(lambda: system.available(cluster) == (1, "True"), "available")
        await dispatcher.until_run(cause="watch")
        text = await dispatcher.metrics()
    labels = 'adapter_name="small",component="small"'
    for name, more in {
        "hyperfleet_adapter_events_processed_total": 'status="success"',
        "hyperfleet_adapter_runs_total": 'cause="watch"',
        "hyperfleet_adapter_applies_total": 'operation="create"',
        "hyperfleet_adapter_statuses_total": 'delivery="stored"',
        "hyperfleet_adapter_api_calls_total": 'code="200"',
        "hyperfleet_adapter_job_report_latency_seconds_count": "",
        "hyperfleet_adapter_queue_oldest_wake_seconds": "",
        "hyperfleet_adapter_leader": "",
    }.items():
        found = [line for line in text.splitlines() if line.startswith(name + "{") and more in line]
        assert found, name
        assert all(part in found[0] for part in labels.split(","))


async def test_an_object_that_keeps_waking_is_named_and_the_others_go_on(system: LabSystem) -> None:
    busy, other = system.api.add_cluster("busy"), system.api.add_cluster("other")

    async def keep_waking() -> None:
        while True:
            await system.publish(busy)
            await asyncio.sleep(0.01)

    async with system.dispatcher() as dispatcher:
        await dispatcher.serving()
        waking = asyncio.create_task(keep_waking())
        try:
            line = await dispatcher.until_line(lambda line: line.get("msg") == "an object keeps waking and is slowed")
            await system.publish(other)
            await dispatcher.until_run(cluster_id=other.id)
            text = await dispatcher.metrics()
        finally:
            waking.cancel()
        await system.broker.until_consumed()
    assert line["object"] == f"Cluster/{busy.id}"
    slowed = [line for line in text.splitlines() if line.startswith("hyperfleet_adapter_object_slowed{")]
    assert len(slowed) == 1
    assert f'id="{busy.id}"' in slowed[0]


async def test_what_is_not_configured_is_not_served(system: LabSystem) -> None:
    async with system.dispatcher() as dispatcher:
        await dispatcher.serving()
        assert (await dispatcher.get("/objects"))[0] == 404
        assert (await dispatcher.get("/config"))[0] == 404


async def test_the_configuration_is_served_without_secrets_where_it_is_asked_for(system: LabSystem) -> None:
    async with system.dispatcher(HYPERFLEET_DEBUG_CONFIG="true") as dispatcher:
        await dispatcher.serving()
        status, text = await dispatcher.get("/config")
        assert status == 200
        assert "name: small" in text


async def test_the_configurations_are_logged_where_they_ask_for_it_and_without_their_secrets(system: LabSystem) -> None:
    async with system.dispatcher(
        LOG_CONFIG="true", HYPERFLEET_DEBUG_CONFIG="true", BROKER_RABBITMQ_URL="amqp://me:hunter2abc@mq"
    ) as dispatcher:
        adapter = await dispatcher.until_line(lambda line: line["msg"] == "the configuration without its secrets")
        broker = await dispatcher.until_line(lambda line: line["msg"] == "the broker config without its secrets")
        await dispatcher.serving()
    assert "name: small" in adapter["config"]
    assert "type: embedded" in broker["config"]
    assert "amqp://" in broker["config"]
    assert "hunter2abc" not in broker["config"]
