"""Of several generations of a resource one stays: the others are deleted before it is created."""

from typing import Any

import pytest

from dispatcher.engine.ports import Object
from tests.unit.engine.building import Stage, made, manifest, operations, replace_transports, resource, stage

JOB = manifest(
    "Job",
    "job-gen{{ .generation }}",
    api_version="batch/v1",
    metadata={"labels": {"hyperfleet.io/cluster-id": "{{ .id }}", "hyperfleet.io/generation": "{{ .generation }}"}},
)


def job(generation: int, cluster: str = "c1", **metadata: Any) -> Object:
    return made(
        "Job",
        f"job-gen{generation}" if cluster == "c1" else f"job-{cluster}",
        generation=generation,
        api_version="batch/v1",
        labels={"hyperfleet.io/cluster-id": cluster, "hyperfleet.io/generation": str(generation)},
        annotations={"hyperfleet.io/event": f'{{"id":"{cluster}"}}'},
        **metadata,
    )


def superseding(*jobs: Object) -> Stage:
    return stage(
        resource("job", JOB, supersedes_lower_generations=True),
        existing={each["metadata"]["name"]: each for each in jobs},
    )


async def test_lower_generations_are_deleted_before_the_new_one_is_created() -> None:
    play = superseding(job(3), job(4))

    assert operations(await play.run()) == ["wait"]
    play.kubernetes.settle()
    assert operations(await play.run()) == ["create"]
    assert play.operations() == ["delete job-gen3", "delete job-gen4", "create job-gen5"]


async def test_a_job_that_another_takes_the_place_of_is_deleted_with_its_pods() -> None:
    play = superseding(job(4))

    await play.run()

    assert next(each.result for each in play.records if each.operation == "delete") == "foreground"


async def test_waiting_for_a_superseded_generation_ends_the_run_and_its_deletion_wakes_it() -> None:
    play = superseding(job(4, finalizers=["foregroundDeletion"], uid="u4"))

    result = await play.run()

    assert operations(result) == ["wait"]
    assert [(each.name, each.uid, each.kind) for each in result.awaited_deletions] == [("job-gen4", "u4", "Job")]
    assert play.operations() == ["delete job-gen4"]
    play.kubernetes.settle()
    assert operations(await play.run()) == ["create"]


async def test_a_late_run_of_an_older_generation_creates_nothing() -> None:
    play = superseding(job(6))

    result = await play.run()

    assert (operations(result), play.operations(), play.api.bodies()) == (["refuse"], [], [])


async def test_jobs_of_other_clusters_are_never_superseded_whatever_labels_they_share() -> None:
    unspecific = manifest("Job", "job-gen{{ .generation }}", api_version="batch/v1")
    play = stage(
        resource("job", unspecific, supersedes_lower_generations=True),
        existing={"job-gen4": job(4), "job-c2": job(1, "c2")},
    )

    await play.run()
    play.kubernetes.settle()
    await play.run()

    assert play.operations() == ["delete job-gen4", "create job-gen5"]


class Racing:
    """A transport where another replica creates an object while ours is created."""

    def __init__(self, inner: Any, other: Object) -> None:
        self._inner = inner
        self._other = other

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    async def create(self, what: Object, **named: Any) -> Any:
        stored = await self._inner.create(what, **named)
        await self._inner.create(self._other)
        return stored


@pytest.mark.parametrize(
    ("other", "expected", "written"),
    [
        pytest.param(
            job(6), ["refuse"], ["create job-gen5", "create job-gen6", "delete job-gen5"], id="a newer one wins"
        ),
        pytest.param(
            job(4), ["create"], ["create job-gen5", "create job-gen4", "delete job-gen4"], id="an older one goes"
        ),
    ],
)
async def test_the_list_is_read_again_after_a_creation(other: Object, expected: list[str], written: list[str]) -> None:
    play = superseding()
    play.engine = type(play.engine)(play.adapter, replace_transports(play, kubernetes=Racing(play.kubernetes, other)))

    assert operations(await play.run()) == expected
    assert play.operations() == written


async def test_two_jobs_of_one_generation_do_not_supersede_each_other_whatever_labels_they_share() -> None:
    of_both = {"labels": {"hyperfleet.io/cluster-id": "{{ .id }}"}}
    first, second = (
        resource(
            name,
            manifest("Job", f"{name}-gen{{{{ .generation }}}}", api_version="batch/v1", metadata=of_both),
            supersedes_lower_generations=True,
        )
        for name in ("first", "second")
    )
    play = stage(first, second, existing={"job-gen4": job(4)})

    assert operations(await play.run()) == ["wait"]
    play.kubernetes.settle()
    assert operations(await play.run()) == ["create", "create"]
    assert play.operations() == ["delete job-gen4", "create first-gen5", "create second-gen5"]
