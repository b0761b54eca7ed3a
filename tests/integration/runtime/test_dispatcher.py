"""A dispatcher process from the event to the status, and what wakes it."""

import copy

from tests.support.dispatcher import JobWorker, LabSystem, available_in, event_about, set_conditions
from tests.support.small_adapter import TASK
from tests.support.two_jobs import report_a_removed_job


async def test_an_event_becomes_a_job_and_its_conditions_become_the_status(system: LabSystem) -> None:
    cluster = system.api.add_cluster("one")
    async with system.dispatcher() as dispatcher:
        await dispatcher.serving()
        await system.publish(cluster)
        await system.until(lambda: system.available(cluster) == (1, "False"), "the Job runs")
        async with JobWorker(system.client):
            await system.until(lambda: system.available(cluster) == (1, "True"), "the Job's conditions are reported")
        assert await dispatcher.terminate() == 0
    (job,) = await system.jobs()
    assert job["metadata"]["name"] == f"small-{cluster.id}-gen1"
    await system.broker.until_consumed()


async def test_a_job_that_changed_while_nobody_watched_is_reported_after_a_restart(system: LabSystem) -> None:
    cluster = system.api.add_cluster("one")
    dispatcher = system.dispatcher()
    async with dispatcher:
        await dispatcher.serving()
        await system.publish(cluster)
        await system.until(lambda: system.available(cluster) == (1, "False"), "the Job runs")
        await dispatcher.kill()
        (job,) = await system.jobs()
        await set_conditions(system.client, job)
        await dispatcher.start()
        await system.until(lambda: system.available(cluster) == (1, "True"), "the change is reported without an event")


async def test_a_new_generation_replaces_the_job_and_a_deletion_finalizes_the_cluster(system: LabSystem) -> None:
    cluster = system.api.add_cluster("one")
    async with system.dispatcher() as dispatcher, JobWorker(system.client) as worker:
        await dispatcher.serving()
        await system.publish(cluster)
        await system.until(lambda: system.available(cluster) == (1, "True"), "generation 1 is available")
        system.api.store.patch(system.api.store.get(cluster.id), spec={"size": 2})
        await system.publish(cluster)
        await system.until(lambda: system.available(cluster) == (2, "True"), "generation 2 is available")
        assert set(worker.present) == {f"small-{cluster.id}-gen2"}
        system.api.store.delete(system.api.store.get(cluster.id))
        await system.publish(cluster)
        await system.until(lambda: not system.exists(cluster), "the cluster is finalized")
        assert await system.jobs() == []


async def test_a_job_removed_by_its_ttl_comes_back_with_the_next_pulse_and_available_never_turns_false(
    system: LabSystem,
) -> None:
    cluster = system.api.add_cluster("one")
    async with system.dispatcher() as dispatcher, JobWorker(system.client) as worker:
        await dispatcher.serving()
        await system.publish(cluster)
        await system.until(lambda: system.available(cluster) == (1, "True"), "available")
        before_ttl = len(system.stored_reports(cluster))
        for turn in (2, 3):
            await system.delete_jobs()
            await worker.until_gone()
            assert worker.created == turn - 1, "the deletion itself wakes nobody"
            await system.publish(cluster)
            await system.until(lambda: system.reason(cluster) == f"Job{turn}", "the fresh Job has reported")  # noqa: B023
            assert worker.created == turn
        reports = system.stored_reports(cluster)[before_ttl:]
        assert {available_in(report) for report in reports} == {"True"}
        assert worker.doubled() == [(cluster.id, "1")], "after crashes there must be none of these"


async def test_a_job_that_its_ttl_removed_is_part_of_the_report_about_a_later_one(system: LabSystem) -> None:
    await report_a_removed_job(system)


async def test_with_repoll_a_job_removed_by_its_ttl_comes_back_by_itself(system: LabSystem) -> None:
    task = copy.deepcopy(TASK)
    task["resources"][0]["repoll"] = "ttl"
    cluster = system.api.add_cluster("one")
    async with system.dispatcher(task=task) as dispatcher, JobWorker(system.client):
        await dispatcher.serving()
        await system.publish(cluster)
        await system.until(lambda: system.available(cluster) == (1, "True"), "available")
        await system.delete_jobs()
        await system.until(lambda: system.reason(cluster) == "Job2", "the fresh Job has reported")


async def test_with_a_condition_of_repoll_only_the_job_it_asks_for_comes_back(system: LabSystem) -> None:
    task = copy.deepcopy(TASK)
    (resource,) = task["resources"]
    condition = f'resources.{resource["name"]}.status.conditions.exists(c, c.reason == "Job1")'
    resource["repoll"] = {"after": "ttl", "when": {"expression": condition}}
    cluster = system.api.add_cluster("one")
    async with system.dispatcher(task=task) as dispatcher, JobWorker(system.client) as worker:
        await dispatcher.serving()
        await system.publish(cluster)
        await system.until(lambda: system.available(cluster) == (1, "True"), "available")
        await system.delete_jobs()
        await system.until(lambda: system.reason(cluster) == "Job2", "the fresh Job has reported")
        await system.delete_jobs()
        await worker.until_gone()
        await system.publish(cluster)
        await system.until(lambda: system.reason(cluster) == "Job3", "the event has asked for a Job")
        assert worker.created == 3


async def test_wakes_that_no_event_caused_report_nothing_where_preconditions_are_not_met(system: LabSystem) -> None:
    """As upstream's configurations: gated on "not Reconciled, or for 300 s", and False where that is not met."""
    task = copy.deepcopy(TASK)
    gate = 'conditionStatus(cluster.status.conditions, "Reconciled") != "True" || stableFor(cluster.status.conditions, "Reconciled", 300)'
    task["preconditions"] = [{"name": "gate", "expression": gate}]
    cluster = system.api.add_cluster("one")
    async with system.dispatcher(task=task) as dispatcher:
        await dispatcher.serving()
        await system.publish(cluster)
        async with JobWorker(system.client):
            await system.until(lambda: system.available(cluster) == (1, "True"), "available")
        stored = system.status(cluster)
        for turn in range(10):
            (job,) = await system.jobs()
            await set_conditions(system.client, job, reason=f"Turn{turn}")
            await dispatcher.until_run(cause="watch", count=turn + 2)
        assert system.status(cluster) == stored


async def test_a_failed_run_is_tried_again_by_our_own_timer(system: LabSystem) -> None:
    cluster = system.api.add_cluster("one")
    async with system.dispatcher() as dispatcher:
        await dispatcher.serving()
        system.api.faults.fail(500, method="GET", path=f"/clusters/{cluster.id}$", times=3)
        await system.publish(cluster)
        await system.until(lambda: system.available(cluster) == (1, "False"), "the retry has reported")
        failed = await dispatcher.until_line(lambda line: line.get("failed_phases") == ["param_extraction"])
        assert failed["cluster_id"] == cluster.id
        assert failed["event_id"]
        await system.broker.until_consumed()


async def test_a_message_that_is_no_event_is_acknowledged_and_the_next_one_handled(system: LabSystem) -> None:
    cluster = system.api.add_cluster("one")
    async with system.dispatcher() as dispatcher:
        await dispatcher.serving()
        await system.broker.publish(b"not an event")
        await system.publish(cluster)
        await system.until(lambda: system.available(cluster) is not None, "reported")
        line = await dispatcher.until_line(lambda line: "is no event" in line["msg"])
        assert line["body"] == "not an event"
        await system.broker.until_consumed()


async def test_events_about_a_cluster_that_is_gone_are_acknowledged(system: LabSystem) -> None:
    cluster = system.api.add_cluster("one")
    async with system.dispatcher() as dispatcher:
        await dispatcher.serving()
        body = event_about(cluster)
        system.api.store.force_delete(system.api.store.delete(cluster))
        await system.broker.publish(body)
        await system.broker.until_consumed()
        await dispatcher.until_run()
        assert await system.jobs() == []
