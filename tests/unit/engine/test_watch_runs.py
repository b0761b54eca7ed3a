"""Runs that a watch woke, and Jobs that have not reported yet."""

from datetime import timedelta
from typing import Any

import pytest

from dispatcher.config.compiled import EventSource
from dispatcher.engine.ports import Object, Query
from dispatcher.engine.runs import Cause, Delivered, Delivery, Operation
from shared import times
from tests.unit.engine.building import STATUSES, T0, Stage, adapter, made, manifest, param, reporting, resource, status

PARAMS = (param("generation", EventSource(("generation",))),)
JOB = manifest("Job", "job-{{ .generation }}", api_version="batch/v1")
AVAILABLE = 'resources.?job.?status.?conditions.orValue([]).exists(c, c.type == "Available") ? "True" : "False"'
DONE = {"conditions": [{"type": "Available", "status": "True"}]}
QUERY = Query(api_version="batch/v1", kind="Job", name="job-5")
REPORTED = {"items": [{"adapter": "tests", "observed_generation": 5}]}


def job(generation: int = 5, **more: Any) -> Object:
    return made("Job", f"job-{generation}", generation=generation, api_version="batch/v1", **more)


def stage(**more: Any) -> Stage:
    made_stage = Stage(
        adapter(params=PARAMS, resources=(resource("job", JOB),), **reporting(status(AVAILABLE))), **more
    )
    made_stage.api.on(f"GET {STATUSES}", {"items": []})
    return made_stage


async def delivered(play: Stage, found: Object, *, seconds: float = 0) -> Any:
    at = T0 + timedelta(seconds=seconds)
    return await play.run(cause=Cause.WATCH, delivered=(Delivered(resource="job", object=found, at=at),))


async def test_the_delivered_object_is_reported_though_it_is_gone_meanwhile_and_nothing_is_created() -> None:
    play = stage()

    result = await delivered(play, job(status=DONE), seconds=1)

    assert play.records == []
    assert play.api.bodies()[0]["conditions"][1]["status"] == "True"
    assert result.resources[0].operation is Operation.SKIP


async def test_the_time_of_the_status_is_the_arrival_of_the_object() -> None:
    play = stage()

    await delivered(play, job(status=DONE), seconds=1)

    assert play.api.bodies()[0]["observed_time"] == times.to_micros(T0 + timedelta(seconds=1))


@pytest.mark.parametrize("generation", [4, 6])
async def test_another_generation_is_ignored(generation: int) -> None:
    play = stage()

    result = await delivered(play, job(generation, status=DONE))

    assert play.api.sent == []
    assert result.reports[0].reason == f"job was delivered at generation {generation}, not 5"


async def test_an_object_delivered_before_the_last_reported_observation_is_not_reported() -> None:
    play = stage()
    await delivered(play, job(status=DONE), seconds=2)

    result = await delivered(play, job(), seconds=1)

    assert (result.reports[0].delivery, result.reports[0].reason) == (
        Delivery.WITHHELD,
        "a later observation was already reported",
    )


async def test_an_awaited_deletion_wakes_a_run_that_may_create() -> None:
    play = stage()

    await play.run(cause=Cause.WATCH)

    assert play.operations() == ["create job-5"]


@pytest.mark.parametrize(
    ("current", "observe_only"),
    [pytest.param(5, True, id="a later status is stored"), pytest.param(6, False, id="a newer generation")],
)
async def test_what_follows_a_discarded_report_creates_a_job_only_for_a_newer_generation(
    current: int, *, observe_only: bool
) -> None:
    play = stage()
    play.api.on(f"PUT {STATUSES}", (204, {}))
    play.api.on(f"GET {STATUSES.removesuffix('/statuses')}", {"generation": current})
    later = {
        "adapter": "tests",
        "observed_generation": 5,
        "last_report_time": times.to_micros(T0 + timedelta(seconds=9)),
    }
    play.api.on(f"GET {STATUSES}", {"items": [later]})

    result = await delivered(play, job(status=DONE), seconds=1)

    assert result.reports[0].delivery is Delivery.DISCARDED
    assert result.requeue is not None
    assert (result.requeue.generation, result.requeue.observe_only) == (None if observe_only else 6, observe_only)


# Several Jobs, one of which its TTL has removed

BOTH_AVAILABLE = " && ".join(
    f'resources.?{each}.?status.?conditions.orValue([]).exists(c, c.type == "Available")' for each in ("job", "other")
)


def two_jobs(existing: dict[str, Object] | None = None, kind: str = "Job", **second: Any) -> Stage:
    other = manifest(kind, "other-{{ .generation }}", api_version="batch/v1")
    resources = (resource("job", JOB), resource("other", other, watch=True, **second))
    available = status(f'{BOTH_AVAILABLE} ? "True" : "False"')
    play = Stage(adapter(params=PARAMS, resources=resources, **reporting(available)), existing=existing or {})
    play.api.on(f"GET {STATUSES}", {"items": []})
    return play


def other(generation: int = 5) -> Object:
    return made("Job", f"other-{generation}", generation=generation, api_version="batch/v1", status=DONE)


async def available_of(play: Stage, **request: Any) -> str:
    """What a run reports to which the first of both Jobs was delivered."""
    job_done = Delivered(resource="job", object=job(status=DONE), at=T0)
    await play.run(cause=Cause.WATCH, delivered=(job_done,), **request)
    assert play.operations() == []
    return str(play.api.bodies()[-1]["conditions"][1]["status"])


async def test_a_removed_job_is_reported_as_it_was_at_last_beside_one_that_changes() -> None:
    assert await available_of(two_jobs()) == "False"
    assert await available_of(two_jobs(), last_seen={"other": other()}) == "True"


async def test_a_removed_job_of_another_generation_is_not_reported() -> None:
    assert await available_of(two_jobs(), last_seen={"other": other(generation=4)}) == "False"


async def test_a_job_that_is_to_be_deleted_is_gone_when_it_is_gone() -> None:
    play = two_jobs(delete_when="true")
    assert await available_of(play, last_seen={"other": other()}) == "False"


async def test_a_removed_job_of_which_nothing_is_known_is_not_reported_as_missing_where_the_generation_was_reported() -> (
    None
):
    play = two_jobs()
    play.api.on(f"GET {STATUSES}", REPORTED)

    result = await delivered(play, job(status=DONE))

    assert play.api.bodies() == []
    assert result.reports[0].reason == "other is gone, and generation 5 was reported before"
    assert result.requeue is not None
    assert (result.requeue.after, result.requeue.observe_only) == (5, True), "its deletion may still be on its way"


@pytest.mark.parametrize(
    "second",
    [
        pytest.param({"delete_when": "true"}, id="a job to be deleted"),
        pytest.param({"kind": "Deployment"}, id="no job"),
    ],
)
async def test_what_no_ttl_removes_is_reported_as_missing(second: dict[str, Any]) -> None:
    play = two_jobs(**second)
    play.api.on(f"GET {STATUSES}", REPORTED)
    assert await available_of(play) == "False"


async def test_a_job_that_was_made_again_is_reported_as_it_is() -> None:
    play = two_jobs(
        existing={"other-5": made("Job", "other-5", generation=5, api_version="batch/v1", status={"active": 1})}
    )
    assert await available_of(play, last_seen={"other": other()}) == "False"


async def test_a_run_that_may_create_makes_a_removed_job_again() -> None:
    play = two_jobs()
    await play.run(last_seen={"other": other()})
    assert play.operations() == ["create job-5", "create other-5"]


# No flapping at re-polls


async def test_a_fresh_job_s_silence_is_not_reported_where_the_generation_was() -> None:
    play = stage()
    play.api.on(f"GET {STATUSES}", REPORTED)

    result = await play.run()

    assert play.operations() == ["create job-5"]
    assert (play.api.bodies(), result.reports[0].delivery) == ([], Delivery.WITHHELD)
    assert result.requeue is not None
    assert (result.requeue.after, result.requeue.observe_only) == (180, True)


async def test_the_look_at_a_silent_job_creates_no_other_and_says_nothing_where_it_is_gone() -> None:
    play = stage()
    play.api.on(f"GET {STATUSES}", REPORTED)

    result = await play.run(cause=Cause.TIMER, observe_only=True)

    assert (play.operations(), play.api.bodies()) == ([], [])
    assert (result.reports[0].delivery, result.reports[0].reason) == (
        Delivery.WITHHELD,
        "job is gone, and this run only observes",
    )
    assert result.requeue is None


async def test_the_look_at_a_silent_job_reports_it_as_it_is() -> None:
    silent = job(creationTimestamp=times.to_seconds(T0 - timedelta(seconds=181)))
    play = stage(existing={"job-5": silent})
    play.api.on(f"GET {STATUSES}", REPORTED)

    result = await play.run(cause=Cause.TIMER, observe_only=True)

    assert (play.operations(), result.reports[0].delivery) == ([], Delivery.STORED)
    assert play.api.bodies()[0]["conditions"][1]["status"] == "False"


async def test_a_job_whose_creation_is_not_allowed_yet_is_not_one_that_is_gone() -> None:
    gated = resource("second", manifest("Job", "second-{{ .generation }}", api_version="batch/v1"), create_when="false")
    silent = job(creationTimestamp=times.to_seconds(T0 - timedelta(seconds=181)))
    resources = (resource("job", JOB), gated)
    play = Stage(
        adapter(params=PARAMS, resources=resources, **reporting(status(AVAILABLE))), existing={"job-5": silent}
    )
    play.api.on(f"GET {STATUSES}", REPORTED)

    result = await play.run(cause=Cause.TIMER, observe_only=True)

    assert (play.operations(), result.reports[0].delivery) == ([], Delivery.STORED)


@pytest.mark.parametrize(
    "statuses",
    [
        pytest.param({"items": []}, id="never"),
        pytest.param({"items": [{"adapter": "tests", "observed_generation": 4}]}, id="at an older generation"),
        pytest.param({"items": [{"adapter": "other", "observed_generation": 5}]}, id="by another adapter"),
        pytest.param((400, {}), id="who knows, for the API refuses to say"),
    ],
)
async def test_the_first_run_of_a_generation_reports_what_is_known_where_it_was_reported(statuses: Any) -> None:
    play = stage()
    play.api.on(f"GET {STATUSES}", statuses)

    await play.run()

    assert play.api.bodies()[0]["conditions"][1]["status"] == "False"


async def test_a_fresh_job_s_silence_is_not_reported_while_the_api_does_not_say_what_was_reported() -> None:
    """An API that restarts between the two calls would take Available=False for a cluster that is available."""
    play = stage()
    play.api.on(f"GET {STATUSES}", (500, {}))

    result = await play.run()

    assert (play.api.bodies(), result.reports[0].delivery) == ([], Delivery.WITHHELD)
    assert result.requeue is not None


async def test_a_job_without_conditions_is_given_its_time_and_then_reported() -> None:
    young = job(creationTimestamp=times.to_seconds(T0 - timedelta(seconds=60)))
    play = stage(existing={"job-5": young})
    play.api.on(f"GET {STATUSES}", REPORTED)

    early = await play.run()
    play.clock.at = T0 + timedelta(seconds=121)
    late = await play.run()

    assert early.requeue is not None
    assert early.requeue.after == pytest.approx(120, abs=1)
    assert (early.reports[0].delivery, late.reports[0].delivery) == (Delivery.WITHHELD, Delivery.STORED)


async def test_a_job_with_conditions_is_reported_without_asking() -> None:
    play = stage(existing={"job-5": job(status=DONE)})

    await play.run()

    assert play.api.calls() == [f"PUT {STATUSES}"]


async def test_a_namespace_has_no_conditions_and_nobody_waits_for_them() -> None:
    play = Stage(adapter(params=PARAMS, resources=(resource("job", manifest("Namespace", "n")),), **reporting()))

    await play.run()

    assert play.api.calls() == [f"PUT {STATUSES}"]


async def test_another_kind_is_waited_for_where_the_author_has_it_watched() -> None:
    play = Stage(
        adapter(params=PARAMS, resources=(resource("job", manifest("Deployment", "d"), watch=True),), **reporting())
    )
    play.api.on(f"GET {STATUSES}", REPORTED)

    assert (await play.run()).reports[0].delivery is Delivery.WITHHELD


async def test_a_job_that_is_deleted_is_reported() -> None:
    play = Stage(
        adapter(params=PARAMS, resources=(resource("job", JOB, delete_when="true"),), **reporting()),
        existing={"job-5": job(finalizers=["x/y"])},
    )

    await play.run()

    assert play.api.calls() == [f"PUT {STATUSES}"]


async def test_three_re_polls_report_nothing_but_what_the_job_says() -> None:
    """Available stays True: a Job that its TTL removed is created again, and only its own conditions are reported."""
    play = stage()
    for _ in range(3):
        await play.run()
        play.api.on(f"GET {STATUSES}", REPORTED)
        play.clock.at += timedelta(seconds=10)
        found = next(iter(await play.kubernetes.find(QUERY)))
        await delivered(play, {**found, "status": DONE}, seconds=(play.clock.at - T0).total_seconds())
        await play.kubernetes.delete(found, policy="Background")

    assert [each["conditions"][1]["status"] for each in play.api.bodies()] == ["False", "True", "True", "True"]
