"""The resources phase over a transport in memory: what is written, what authors see, and what an error stops."""

from typing import Any

import pytest

from dispatcher.engine.ports import Object, Query
from dispatcher.engine.runs import Operation, Phase, Status
from shared.errors import Conflict, Forbidden, Transient, Unavailable
from tests.unit.engine.building import (
    RESOURCE_PARAMS,
    Stage,
    adapter,
    made,
    manifest,
    operations,
    replace_transports,
    reporting,
    resource,
    stage,
)

NAMESPACE = manifest("Namespace", "{{ .id }}")
CONFIG = manifest("ConfigMap", "{{ .id }}-config", metadata={"namespace": "{{ .id }}"})
BOTH = (resource("ns", NAMESPACE), resource("config", CONFIG, namespace="{{ .id }}"))


async def test_a_second_event_of_the_same_generation_reads_and_writes_nothing() -> None:
    play = stage(*BOTH)

    first = await play.run()
    second = await play.run()
    third = await play.run(generation=6)

    assert (operations(first), operations(second), operations(third)) == (["create"] * 2, ["skip"] * 2, ["update"] * 2)
    assert play.operations() == ["create c1", "create c1-config", "update c1", "update c1-config"]
    assert second.discovered["ns"]["metadata"]["uid"]


async def test_objects_are_stamped_with_their_adapter_and_what_wakes_their_owner() -> None:
    play = stage(
        resource("ns", NAMESPACE),
        data={
            "id": "n1",
            "kind": "NodePool",
            "href": "/n1",
            "owner_references": {"id": "c1"},
            "generation": 5,
            "more": 1,
        },
    )

    metadata = (await play.run()).discovered["ns"]["metadata"]

    assert metadata["labels"] == {"hyperfleet.io/managed-by": "tests"}
    assert (
        metadata["annotations"]["hyperfleet.io/event"]
        == '{"href":"/n1","id":"n1","kind":"NodePool","owner_references":{"id":"c1"}}'
    )


async def test_a_label_the_author_wrote_stays() -> None:
    play = stage(resource("ns", manifest("Namespace", "n", metadata={"labels": {"hyperfleet.io/managed-by": "me"}})))

    assert (await play.run()).discovered["ns"]["metadata"]["labels"] == {"hyperfleet.io/managed-by": "me"}


async def test_an_unstamped_object_of_the_current_generation_is_stamped_once() -> None:
    found: Object = {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {"name": "c1", "annotations": {"hyperfleet.io/generation": "5"}},
    }
    play = stage(resource("ns", NAMESPACE))
    await play.kubernetes.create(found)
    play.records.clear()

    first, second = await play.run(), await play.run()

    assert (operations(first), operations(second)) == (["update"], ["skip"])


async def test_a_newer_generation_is_neither_overwritten_nor_reported_as_an_older_one() -> None:
    """Row 9."""
    play = stage(*BOTH, existing={"c1": made("Namespace", "c1", generation=6)})

    result = await play.run()

    assert (result.status, operations(result)) == (Status.SUCCESS, ["refuse"])
    assert result.skip_reason == "ns: Namespace c1 is of generation 6, newer than 5"
    assert (play.operations(), play.api.bodies()) == ([], [])
    assert result.reports[0].reason == result.skip_reason


async def test_an_error_while_applying_ends_the_phase() -> None:
    play = stage(resource("bad", manifest("Namespace", "{{ .nowhere }}"), by_name="x"), resource("ns", NAMESPACE))

    result = await play.run()

    assert (result.status, operations(result)) == (Status.FAILED, ["failed"])
    assert play.operations() == []
    assert Phase.RESOURCES in result.errors
    assert len(play.api.bodies()) == 1


async def test_recreate_on_change_deletes_then_creates() -> None:
    play = stage(
        resource("ns", NAMESPACE, recreate_on_change=True), existing={"c1": made("Namespace", "c1", generation=4)}
    )

    assert operations(await play.run()) == ["recreate"]
    assert play.operations() == ["delete c1", "create c1"]


async def test_a_recreation_whose_former_object_stays_ends_the_run_and_is_woken_by_the_deletion() -> None:
    """Row 11: the Go program waits for ever."""
    stuck = made("Namespace", "c1", generation=4, finalizers=["x/y"], uid="u1")
    play = stage(resource("ns", NAMESPACE, recreate_on_change=True), resource("config", CONFIG), existing={"c1": stuck})

    result = await play.run()

    assert (result.status, operations(result)) == (Status.SUCCESS, ["wait"])
    assert [(each.resource, each.kind, each.name, each.uid) for each in result.awaited_deletions] == [
        ("ns", "Namespace", "c1", "u1")
    ]
    play.kubernetes.settle()
    assert operations(await play.run()) == ["create", "create"]


async def test_drift_is_repaired_only_where_asked_for() -> None:
    """Row 22."""
    drifted = made("ConfigMap", "c1-config", generation=5, namespace="c1") | {"data": {"a": "changed"}}
    what = manifest("ConfigMap", "{{ .id }}-config", metadata={"namespace": "{{ .id }}"}, data={"a": "1"})
    for repair, expected in ((False, ["skip"]), (True, ["update"])):
        play = stage(resource("config", what, repair_drift=repair), existing={"c1-config": drifted})
        assert operations(await play.run()) == expected
        assert operations(await play.run()) == ["skip"]


class Contended:
    """A transport whose first updates find that somebody was faster."""

    def __init__(self, inner: Any, conflicts: int) -> None:
        self._inner = inner
        self.conflicts = conflicts
        self.finds = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    async def find(self, query: Query) -> list[Object]:
        self.finds += 1
        found: list[Object] = await self._inner.find(query)
        return found

    async def update(self, *arguments: Any, **named: Any) -> Any:
        if self.conflicts:
            self.conflicts -= 1
            raise Conflict("somebody else wrote first")
        return await self._inner.update(*arguments, **named)


async def test_a_conflict_is_observed_and_decided_again() -> None:
    """Row 10."""
    play = stage(resource("ns", NAMESPACE), existing={"c1": made("Namespace", "c1", generation=4)})
    contended = Contended(play.kubernetes, conflicts=2)
    play.engine = type(play.engine)(play.adapter, replace_transports(play, kubernetes=contended))

    assert operations(await play.run()) == ["update"]
    assert contended.finds == 3


async def test_a_conflict_without_end_is_left_to_another_run() -> None:
    play = stage(resource("ns", NAMESPACE), existing={"c1": made("Namespace", "c1", generation=4)})
    play.engine = type(play.engine)(
        play.adapter, replace_transports(play, kubernetes=Contended(play.kubernetes, conflicts=99))
    )

    result = await play.run()

    assert (result.status, result.transient) == (Status.FAILED, True)
    assert "changes faster than it can be decided on" in result.errors[Phase.RESOURCES]


async def test_what_a_discovery_does_not_select_is_found_by_its_name_when_it_is_in_the_way() -> None:
    play = stage(
        resource("ns", NAMESPACE, labels={"not": "on-it"}), existing={"c1": made("Namespace", "c1", generation=4)}
    )

    assert operations(await play.run()) == ["update"]


async def test_of_several_selected_objects_the_highest_generation_is_it() -> None:
    labels = {"app": "x"}
    found = {
        name: made("ConfigMap", name, generation=generation, labels=labels)
        for name, generation in (("a", 3), ("b", 5), ("c", 5))
    }
    play = stage(resource("config", manifest("ConfigMap", "new"), labels=labels), existing=found)

    result = await play.run()

    assert operations(result) == ["skip"]
    assert result.discovered["config"]["metadata"]["name"] == "b"


@pytest.mark.parametrize(
    ("create", "delete", "expected"),
    [
        pytest.param("true", "", ["create"], id="creates where create.when is true"),
        pytest.param("false", "", ["skip"], id="skips where it is false"),
        pytest.param("", "true", ["delete"], id="deletes nothing where nothing is"),
        pytest.param("true", "false", ["create"], id="creates where both allow it"),
    ],
)
async def test_a_lifecycle(create: str, delete: str, expected: list[str]) -> None:
    assert operations(await stage(resource("ns", NAMESPACE, create_when=create, delete_when=delete)).run()) == expected


async def test_a_creation_that_is_not_allowed_is_a_skip_that_later_resources_survive() -> None:
    play = stage(resource("ns", NAMESPACE, create_when="false"), resource("config", CONFIG, namespace="c1"))

    result = await play.run()

    assert operations(result) == ["skip", "create"]
    assert (result.status, result.skip_reason) == (
        Status.SUCCESS,
        "ns: lifecycle.create.when condition evaluated to false",
    )


@pytest.mark.parametrize("existing", [{}, {"c1": made("Namespace", "c1", generation=5)}], ids=["nothing", "the object"])
async def test_a_deletion_condition_that_cannot_be_evaluated_touches_nothing(existing: Any) -> None:
    """Row 2: the Go program takes the error for a no, and creates the object again."""
    play = stage(
        resource("ns", NAMESPACE, delete_when="nowhere"), resource("config", CONFIG, namespace="c1"), existing=existing
    )

    result = await play.run()

    assert (result.status, operations(result)) == (Status.FAILED, ["failed", "create"])
    assert play.operations() == ["create c1-config"]
    assert "lifecycle.delete.when cannot be evaluated" in result.errors[Phase.RESOURCES]


async def test_a_creation_condition_that_cannot_be_evaluated_ends_the_phase() -> None:
    """Row 2: the Go program skips silently."""
    play = stage(resource("ns", NAMESPACE, create_when="nowhere"), resource("config", CONFIG))

    result = await play.run()

    assert (result.status, operations(result), play.operations()) == (Status.FAILED, ["failed"], [])


async def test_a_deletion_in_order_cascades_in_one_run_where_objects_go_at_once() -> None:
    config = resource("config", CONFIG, namespace="c1", delete_when="true")
    beside = manifest("ConfigMap", "{{ .id }}-other", metadata={"namespace": "{{ .id }}"})
    other = resource("other", beside, namespace="c1", delete_when="!resources.?config.hasValue()")
    existing = {name: made("ConfigMap", name, generation=5, namespace="c1") for name in ("c1-config", "c1-other")}
    play = stage(config, other, existing=existing)

    result = await play.run()

    assert play.operations() == ["delete c1-config", "delete c1-other"]
    assert (operations(result), result.discovered, result.awaited_deletions) == (["delete", "delete"], {}, ())
    assert result.resources[0].deleted is not None


async def test_a_deletion_that_takes_time_is_awaited_and_asked_for_once() -> None:
    config = resource("config", CONFIG, namespace="c1", delete_when="true")
    ns = resource("ns", NAMESPACE, delete_when="!resources.?config.hasValue()")
    existing = {
        "c1": made("Namespace", "c1", generation=5),
        "c1-config": made("ConfigMap", "c1-config", generation=5, namespace="c1", finalizers=["x/y"]),
    }
    play = stage(config, ns, existing=existing)

    first, second = await play.run(), await play.run()

    assert (operations(first), operations(second)) == (["delete", "skip"], ["delete", "skip"])
    assert play.operations() == ["delete c1-config"]
    assert [each.name for each in second.awaited_deletions] == ["c1-config"]
    play.kubernetes.settle()
    assert operations(await play.run()) == ["delete", "delete"]


class Failing:
    """A transport that refuses to delete some objects, or to find anything."""

    def __init__(self, inner: Any, *, deleting: str = "", finding: Exception | None = None) -> None:
        self._inner = inner
        self._deleting = deleting
        self._finding = finding

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    async def find(self, query: Query) -> Any:
        if self._finding:
            raise self._finding
        return await self._inner.find(query)

    async def delete(self, observed: Object, **named: Any) -> Any:
        if observed["metadata"]["name"] == self._deleting:
            raise Forbidden(f"may not delete {self._deleting}")
        return await self._inner.delete(observed, **named)


async def test_every_deletion_is_tried_and_every_failure_is_listed() -> None:
    """Row 20."""
    names = ("a", "b", "c")
    play = Stage(
        adapter(
            params=RESOURCE_PARAMS,
            resources=tuple(resource(name, manifest("ConfigMap", name), delete_when="true") for name in names),
            **reporting({"conditions": [], "adapter": {"expression": "adapter"}}),
        ),
        existing={name: made("ConfigMap", name, generation=5) for name in names},
    )
    failing = Failing(Failing(play.kubernetes, deleting="a"), deleting="b")
    play.engine = type(play.engine)(play.adapter, replace_transports(play, kubernetes=failing))

    result = await play.run()

    reported = play.api.bodies()[0]["adapter"]
    assert operations(result) == ["failed", "failed", "delete"]
    assert [each.deleted is not None for each in result.resources] == [True, True, True]
    assert reported["executionError"] == {"phase": "resources", "step": "a", "message": "may not delete a"}
    assert sorted(reported["resourceErrors"]) == ["a", "b"]
    assert reported["resourceErrors"]["b"]["step"] == "b"
    assert set(result.discovered) == {"a", "b"}


async def test_an_apply_failure_is_listed_under_resource_errors_too() -> None:
    """Row 20: the Go program lists failed deletions only."""
    play = Stage(
        adapter(
            params=RESOURCE_PARAMS,
            resources=(resource("bad", manifest("Namespace", "{{ .nowhere }}"), by_name="x"),),
            **reporting({"conditions": [], "adapter": {"expression": "adapter.resourceErrors"}}),
        )
    )

    await play.run()

    assert list(play.api.bodies()[0]["adapter"]) == ["bad"]


async def test_what_cannot_be_observed_deletes_nothing_that_depends_on_its_absence() -> None:
    config = resource("config", CONFIG, delete_when="true")
    ns = resource("ns", NAMESPACE, delete_when="!resources.?config.hasValue()")
    play = stage(config, ns, existing={"c1": made("Namespace", "c1", generation=5)})
    failing = Failing(play.kubernetes, finding=Unavailable("no API server"))
    play.engine = type(play.engine)(play.adapter, replace_transports(play, kubernetes=failing))

    result = await play.run()

    assert (operations(result), result.transient, play.operations()) == (["failed"], True, [])
    assert isinstance(result.requeue and result.requeue.reason, str)


async def test_a_manifest_that_can_no_longer_be_rendered_does_not_stop_its_deletion() -> None:
    what = manifest("Namespace", "c1", spec="{{ .nowhere }}")
    play = stage(
        resource("ns", what, by_name="c1", delete_when="true"), existing={"c1": made("Namespace", "c1", generation=5)}
    )

    assert operations(await play.run()) == ["delete"]


async def test_a_transient_failure_asks_for_another_run() -> None:
    play = stage(resource("ns", NAMESPACE))
    play.engine = type(play.engine)(
        play.adapter,
        replace_transports(play, kubernetes=Failing(play.kubernetes, finding=Transient("later", retry_after=7))),
    )

    result = await play.run()

    assert result.requeue is not None
    assert (result.transient, result.requeue.after) == (True, 7)
    assert result.resources[0].operation is not Operation.CREATE
