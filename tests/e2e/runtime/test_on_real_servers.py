"""The dispatcher on RabbitMQ and a real API server: events, crashes, shutdowns and replicas."""

from tests.support.dispatcher import JobWorker, System
from tests.support.endurance import survive_crashes, survive_shutdowns
from tests.support.replicas import compare_replicas, take_over
from tests.support.two_jobs import report_a_removed_job


async def test_from_the_event_to_the_finalized_cluster(system: System) -> None:
    cluster = system.api.add_cluster("one")
    async with system.dispatcher() as dispatcher, JobWorker(system.client):
        await dispatcher.serving()
        await system.publish(cluster)
        await system.until(lambda: system.available(cluster) == (1, "True"), "generation 1 is available")
        system.api.store.patch(system.api.store.get(cluster.id), spec={"size": 2})
        await system.publish(cluster)
        await system.until(lambda: system.available(cluster) == (2, "True"), "generation 2 is available")
        system.api.store.delete(system.api.store.get(cluster.id))
        await system.publish(cluster)
        await system.until(lambda: not system.exists(cluster), "the cluster is finalized")
        assert await dispatcher.terminate() == 0


async def test_a_job_that_its_ttl_removed_is_part_of_the_report_about_a_later_one(system: System) -> None:
    await report_a_removed_job(system)


async def test_after_crashes_at_random_every_cluster_has_the_right_status(system: System) -> None:
    await survive_crashes(system, seed=15)


async def test_at_shutdowns_with_runs_in_flight_no_event_is_lost_and_no_status_sent_twice(system: System) -> None:
    await survive_shutdowns(system, seed=15)


async def test_two_replicas_with_different_clocks_do_not_undo_each_others_work(system: System) -> None:
    await compare_replicas(system, clusters=200)


async def test_the_replica_that_is_left_takes_over_the_watches(system: System) -> None:
    await take_over(system)
