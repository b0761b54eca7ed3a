"""Systems that are away for a while."""

from typing import Any

from lab.maestro import LabMaestro
from tests.support.dispatcher import LabSystem, set_conditions


async def test_a_broker_that_is_away_makes_it_not_ready_but_not_dead_and_events_go_on_afterwards(
    system: LabSystem,
) -> None:
    first, second = system.api.add_cluster("one"), system.api.add_cluster("two")
    async with system.dispatcher() as dispatcher:
        await dispatcher.serving()
        await dispatcher.until_ready()
        await system.broker.kill()
        await dispatcher.until_ready(ready=False)
        assert (await dispatcher.get("/healthz"))[0] == 200
        await system.broker.start()
        await dispatcher.until_ready()
        await system.publish(first)
        await system.publish(second)
        await system.until(lambda: None not in (system.available(first), system.available(second)), "both are reported")


async def test_changes_of_jobs_are_reported_after_kubernetes_came_back(system: LabSystem) -> None:
    cluster = system.api.add_cluster("one")
    async with system.dispatcher() as dispatcher:
        await dispatcher.serving()
        await system.publish(cluster)
        await system.until(lambda: system.available(cluster) == (1, "False"), "the Job runs")
        await system.kubernetes.kill()
        await dispatcher.until_ready(ready=False)
        await system.kubernetes.start()
        (job,) = await system.jobs()
        await set_conditions(system.client, job)
        await system.until(lambda: system.available(cluster) == (1, "True"), "the change is reported")
        await dispatcher.until_ready()


async def test_it_is_not_ready_while_maestro_does_not_answer(system: LabSystem) -> None:
    async with LabMaestro() as maestro:
        settings: dict[str, Any] = {
            "HYPERFLEET_MAESTRO_GRPC_SERVER_ADDRESS": maestro.grpc_address,
            "HYPERFLEET_MAESTRO_HTTP_SERVER_ADDRESS": maestro.rest_url,
            "HYPERFLEET_MAESTRO_SOURCE_ID": "small",
            "HYPERFLEET_MAESTRO_INSECURE": "true",
        }
        async with system.dispatcher(**settings) as dispatcher:
            await dispatcher.serving()
            await dispatcher.until_ready()
            assert '"maestro": "ok"' in (await dispatcher.get("/readyz"))[1]
            await maestro.kill()
            await dispatcher.until_ready(ready=False)
            assert (await dispatcher.get("/healthz"))[0] == 200
            await maestro.start()
            await dispatcher.until_ready()


async def test_a_status_is_delivered_when_the_api_comes_back_even_if_its_job_is_gone_by_then(system: LabSystem) -> None:
    cluster = system.api.add_cluster("one")
    async with system.dispatcher() as dispatcher:
        await dispatcher.serving()
        await system.publish(cluster)
        await dispatcher.until_run(cause="event")
        assert system.available(cluster) == (1, "False")
        await system.api.kill()
        (job,) = await system.jobs()
        await set_conditions(system.client, job)
        await dispatcher.until_run(cause="watch", level="error")
        await system.delete_jobs()
        await system.api.start()
        await system.until(lambda: system.available(cluster) == (1, "True"), "what was delivered is reported")
        assert await system.jobs() == []


async def test_a_broker_that_stays_away_ends_the_process_with_an_error(system: LabSystem) -> None:
    async with system.dispatcher(HYPERFLEET_BROKER_GIVE_UP_AFTER="1s") as dispatcher:
        await dispatcher.serving()
        await system.broker.kill()
        assert await dispatcher.ended() == 1
        assert any("no connection to subscription" in line.get("error", "") for line in dispatcher.lines)
