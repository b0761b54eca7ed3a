"""Which changes of watched objects wake whom."""

import asyncio
import json
from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import pytest
import structlog

from dispatcher.config.compiled import Repoll, Resource
from dispatcher.engine.runs import AwaitedDeletion, Cause
from dispatcher.runtime.scheduling.wakes import Wake
from dispatcher.runtime.watching import owners as owners_module
from dispatcher.runtime.watching.awaiting import AwaitedDeletions
from dispatcher.runtime.watching.expiring import LONGEST_PAUSE_SECONDS, Expiring
from dispatcher.runtime.watching.last_seen import MAX_OBJECTS, LastSeen
from dispatcher.runtime.watching.objects import ObjectWatch
from dispatcher.runtime.watching.owners import Owners
from shared.kubernetes import Change, WatchEvent
from shared.languages.cel import compile_cel
from tests.support.adapters import resource
from tests.support.wakes import event, key

NOW = datetime(2026, 1, 2, tzinfo=UTC)
DELETION = AwaitedDeletion(resource="job", api_version="batch/v1", kind="Job", namespace="n", name="x", uid="u")


def job(uid: str = "u", *conditions: str, owner: str | None = "a", generation: int = 3) -> dict[str, Any]:
    annotations = {"hyperfleet.io/generation": str(generation)}
    if owner is not None:
        annotations["hyperfleet.io/event"] = json.dumps({"kind": "Cluster", "id": owner, "href": f"/clusters/{owner}"})
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"uid": uid, "name": f"job-{uid}", "annotations": annotations, "managedFields": [{"manager": "x"}]},
        "spec": {"backoffLimit": 0, "template": {"spec": {"containers": []}}},
        "status": {"conditions": [{"type": each, "status": "True"} for each in conditions]},
    }


def added(found: dict[str, Any]) -> WatchEvent:
    return WatchEvent(Change.ADDED, found, NOW)


def modified(found: dict[str, Any]) -> WatchEvent:
    return WatchEvent(Change.MODIFIED, found, NOW)


def gone(found: dict[str, Any]) -> WatchEvent:
    return WatchEvent(Change.DELETED, found, NOW)


@dataclass
class FakeSource:
    """A watch: a first list, then changes."""

    listed: list[WatchEvent] = field(default_factory=list)
    changes: list[WatchEvent] = field(default_factory=list)
    synced: asyncio.Event = field(default_factory=asyncio.Event)

    async def events(self) -> AsyncGenerator[WatchEvent, None]:
        for each in self.listed:
            yield each
        self.synced.set()
        await asyncio.sleep(0)  # who waits for the list goes first
        for each in self.changes:
            yield each


@dataclass
class FakeQueue:
    woken: list[Wake] = field(default_factory=list)
    asked: int = 0

    def wake(self, wake: Wake) -> None:
        self.woken.append(wake)

    async def wait_for_deliveries(self) -> None:
        self.asked += 1


@dataclass
class Stage:
    queue: FakeQueue = field(default_factory=FakeQueue)
    awaited: AwaitedDeletions = field(default_factory=AwaitedDeletions)
    last_seen: LastSeen = field(default_factory=lambda: LastSeen([resource("one"), resource("two")]))

    async def watch(
        self, *changes: WatchEvent, listed: tuple[WatchEvent, ...] = (), resources: Any = None
    ) -> list[Wake]:
        owners = Owners(resources or [resource()])
        return await self.lead(owners, Expiring(owners), *changes, listed=listed)

    async def lead(
        self, owners: Owners, expiring: Expiring, *changes: WatchEvent, listed: tuple[WatchEvent, ...] = ()
    ) -> list[Wake]:
        watch = ObjectWatch(owners, self.queue, self.awaited, expiring, self.last_seen)
        await watch.run(FakeSource(list(listed), list(changes)))
        return self.queue.woken


@pytest.fixture
def stage() -> Stage:
    return Stage()


async def test_a_job_that_gets_a_condition_wakes_its_object_with_itself(stage: Stage) -> None:
    (wake,) = await stage.watch(added(job()), modified(job("u", "Available")))
    assert wake.key == key("a")
    assert wake.cause is Cause.WATCH
    assert not wake.background
    assert wake.event.data == {"kind": "Cluster", "id": "a", "href": "/clusters/a", "generation": 3}
    assert wake.delivered is not None
    assert (wake.delivered.resource, wake.delivered.at) == ("job", NOW)
    assert wake.delivered.object["status"]["conditions"] == [{"type": "Available", "status": "True"}]
    assert "managedFields" not in wake.delivered.object["metadata"]


async def test_a_job_that_was_just_created_wakes_nobody(stage: Stage) -> None:
    assert await stage.watch(added(job())) == []


async def test_a_change_that_no_report_would_show_wakes_nobody(stage: Stage) -> None:
    started = job("u", "Available")
    started["status"]["active"] = 1
    assert len(await stage.watch(modified(job("u", "Available")), modified(started))) == 1


async def test_what_the_first_list_shows_lets_others_pass(stage: Stage) -> None:
    wakes = await stage.watch(modified(job("v", "Available")), listed=(added(job("u", "Available")),))
    assert [wake.background for wake in wakes] == [True, False]


async def test_a_report_is_the_first_one_where_the_watch_has_seen_the_job_without_conditions(stage: Stage) -> None:
    changes = modified(job("u", "Applied")), modified(job("u", "Applied", "Available")), added(job("v", "Applied"))
    listed = added(job("u")), added(job("old", "Applied"))
    wakes = await stage.watch(*changes, modified(job("old", "Applied", "Available")), listed=listed)
    firsts = [(each.object["metadata"]["uid"], each.is_first) for wake in wakes if (each := wake.delivered) is not None]
    assert firsts == [("old", False), ("u", True), ("u", False), ("v", True), ("old", False)]


async def test_the_deletion_of_a_job_after_its_ttl_wakes_nobody(stage: Stage) -> None:
    assert len(await stage.watch(added(job("u", "Complete")), gone(job("u", "Complete")))) == 1


async def test_an_awaited_deletion_wakes_who_waits_and_delivers_nothing(stage: Stage) -> None:
    stage.awaited.expect(key("b"), event("b"), [DELETION])
    (wake,) = await stage.watch(gone(job("u", "Complete", owner="a")), gone(job("w")))
    assert (wake.key, wake.cause, wake.delivered) == (key("b"), Cause.WATCH, None)


async def test_with_repoll_a_job_that_is_gone_is_asked_for_again(stage: Stage) -> None:
    (wake,) = await stage.watch(gone(job("u")), resources=[resource(repoll=Repoll())])
    assert (wake.key, wake.cause, wake.delivered) == (key("a"), Cause.TIMER, None)


def repolled_when(expression: str, name: str = "job") -> Resource:
    return resource(name, repoll=Repoll(when=compile_cel(expression)))


UPGRADING = 'resources.job.metadata.annotations["example.com/upgrade"] == "Progressing"'


@pytest.mark.parametrize(("state", "wakes"), [("Progressing", 1), ("Completed", 0)])
async def test_with_a_condition_the_job_that_is_gone_decides(stage: Stage, state: str, wakes: int) -> None:
    assert len(await stage.watch(gone(upgrading(state)), resources=[repolled_when(UPGRADING)])) == wakes


async def test_a_condition_that_fails_leaves_it_to_the_next_event(stage: Stage) -> None:
    with structlog.testing.capture_logs() as lines:
        assert await stage.watch(gone(job("u")), resources=[repolled_when(UPGRADING)]) == []
    (line,) = lines
    assert (line["log_level"], line["resource"]) == ("warning", "job")
    assert "no such key" in line["error"]


def upgrading(state: str) -> dict[str, Any]:
    found = job("u")
    found["metadata"]["annotations"]["example.com/upgrade"] = state
    return found


def metadata_of(found: dict[str, Any]) -> dict[str, Any]:
    """What a later list leaves of an object that it does not show any more."""
    return {"metadata": found["metadata"]}


class TestADeletionThatNobodyWatched:
    """The Job was upgrading when it was last seen, so it is to be made again."""

    async def test_wakes_when_a_later_list_shows_it(self, stage: Stage) -> None:
        changes = added(upgrading("Progressing")), gone(metadata_of(upgrading("Progressing")))
        (wake,) = await stage.watch(*changes, resources=[repolled_when("size(resources.job.status) > 0")])
        assert (wake.key, wake.cause, wake.delivered) == (key("a"), Cause.TIMER, None)

    async def test_wakes_once_after_the_first_list_of_the_next_leadership(self, stage: Stage) -> None:
        owners = Owners([repolled_when(UPGRADING)])
        expiring = Expiring(owners)
        await stage.lead(owners, expiring, added(upgrading("Progressing")))
        assert stage.queue.woken == []
        (wake,) = await stage.lead(owners, expiring)
        assert (wake.key, wake.cause, wake.delivered) == (key("a"), Cause.TIMER, None)
        assert len(await stage.lead(owners, expiring)) == 1

    async def test_wakes_nobody_while_the_job_is_still_there(self, stage: Stage) -> None:
        owners = Owners([repolled_when(UPGRADING)])
        expiring = Expiring(owners)
        await stage.lead(owners, expiring, added(upgrading("Progressing")))
        assert await stage.lead(owners, expiring, listed=(added(upgrading("Progressing")),)) == []

    async def test_wakes_nobody_where_the_upgrade_had_ended(self, stage: Stage) -> None:
        owners = Owners([repolled_when(UPGRADING)])
        expiring = Expiring(owners)
        await stage.lead(owners, expiring, added(upgrading("Progressing")), modified(upgrading("Completed")))
        assert await stage.lead(owners, expiring) == []

    async def test_is_the_business_of_another_replica_after_a_long_pause(self) -> None:
        owners = Owners([resource(repoll=Repoll())])
        expiring = Expiring(owners)
        expiring.see("u", job("u"))
        expiring.pause(100.0)
        expiring.resume(100.0 + LONGEST_PAUSE_SECONDS + 1)
        assert expiring.missed(()) == []


async def test_a_condition_that_fails_while_the_job_lives_is_not_logged(stage: Stage) -> None:
    with structlog.testing.capture_logs() as lines:
        await stage.watch(added(job("u")), resources=[repolled_when(UPGRADING)])
    assert lines == []


async def test_a_job_of_the_same_uid_that_comes_back_is_news(stage: Stage) -> None:
    done = job("u", "Complete")
    assert len(await stage.watch(added(done), gone(done), added(done))) == 2


async def test_a_job_that_says_not_whose_it_is_wakes_nobody(stage: Stage) -> None:
    assert await stage.watch(modified(job("u", "Available", owner=None))) == []


class TestSeveralResourcesOfOneKind:
    RESOURCES = (resource("one"), resource("two"))

    async def test_an_object_no_run_has_seen_delivers_nothing_and_nothing_is_created_for_it(self, stage: Stage) -> None:
        (wake,) = await stage.watch(modified(job("u", "Available")), resources=self.RESOURCES)
        assert (wake.cause, wake.delivered, wake.observe_only) == (Cause.WATCH, None, True)

    async def test_an_object_that_a_run_has_seen_is_delivered(self, stage: Stage) -> None:
        owners = Owners(self.RESOURCES)
        owners.learn({"one": job("u")})
        (wake,) = await stage.lead(owners, Expiring(owners), modified(job("u", "Available")))
        assert wake.delivered is not None
        assert not wake.observe_only

    def test_a_run_teaches_which_object_is_which_resource(self) -> None:
        owners = Owners(self.RESOURCES)
        owners.learn({"one": job("u"), "two": job("v"), "other": job("w")})
        wakes = [owners.changed(job(uid, "Available"), NOW) for uid in ("u", "v", "w")]
        delivered = [wake.delivered for wake in wakes if wake is not None]
        assert [each.resource if each else None for each in delivered] == ["one", "two", None]

    def test_only_the_rule_of_its_own_resource_asks_for_one_that_is_gone(self) -> None:
        owners = Owners((resource("one"), repolled_when("resources.two.kind == 'Job'", "two")))
        owners.learn({"one": job("u"), "two": job("v")})
        assert [owners.expired(job(uid)) is not None for uid in ("u", "v", "unknown")] == [False, True, False]

    def test_one_that_no_run_has_seen_is_asked_for_by_a_rule_without_a_condition(self) -> None:
        owners = Owners((resource("one"), resource("two", repoll=Repoll())))
        assert owners.expired(job("unknown")) is not None

    def test_an_object_of_a_resource_that_is_not_watched_wakes_nobody(self) -> None:
        owners = Owners([resource("one"), resource("two", watch=False)])
        owners.learn({"one": job("u"), "two": job("v")})
        assert owners.changed(job("u", "Available"), NOW) is not None
        assert owners.changed(job("v", "Available"), NOW) is None

    def test_a_bounded_number_is_remembered(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(owners_module, "MAX_REMEMBERED_NAMES", 1)
        owners = Owners(self.RESOURCES)
        owners.learn({"one": job("u"), "two": job("v")})
        wake = owners.changed(job("u", "Available"), NOW)
        assert wake is not None
        assert wake.delivered is None


class TestWhatIsKeptOfAJobThatIsGone:
    """For reports about another Job of the same cluster."""

    OWNERS = staticmethod(lambda: Owners((resource("one"), resource("two"))))

    async def last_seen(self, stage: Stage, *changes: WatchEvent, owners: Owners | None = None) -> Mapping[str, Any]:
        known = owners or self.OWNERS()
        known.learn({"one": job("u"), "two": job("v")})
        await stage.lead(known, Expiring(known), *changes)
        return stage.last_seen.of(key("a"))

    async def test_its_last_state_by_resource(self, stage: Stage) -> None:
        kept = await self.last_seen(stage, gone(job("u", "Available")), gone(job("v", "Failed")))
        assert {name: found["status"]["conditions"][0]["type"] for name, found in kept.items()} == {
            "one": "Available",
            "two": "Failed",
        }
        assert "managedFields" not in kept["one"]["metadata"]
        assert kept["one"]["spec"] == {"backoffLimit": 0}, (
            "the pod template is most of its size, and no report needs it"
        )

    @pytest.mark.parametrize(
        ("other", "kept"),
        [
            (resource("other", "Deployment", watch=True), True),
            (resource("other", "ManifestWork", transport="maestro"), True),
            (resource("other", "ConfigMap"), False),
        ],
    )
    async def test_it_where_something_else_is_watched_too(self, stage: Stage, other: Resource, *, kept: bool) -> None:
        stage.last_seen = LastSeen([resource("one"), other])
        assert bool(await self.last_seen(stage, gone(job("u", "Available")), owners=Owners([resource("one")]))) == kept

    async def test_nothing_of_another_kind_whose_end_is_news(self, stage: Stage) -> None:
        deployment = {**job("u", "Available"), "kind": "Deployment"}
        assert await self.last_seen(stage, gone(deployment)) == {}

    async def test_nothing_where_there_is_only_one_job(self, stage: Stage) -> None:
        stage.last_seen = LastSeen([resource("one")])
        assert await self.last_seen(stage, gone(job("u", "Available")), owners=Owners([resource("one")])) == {}

    async def test_nothing_of_a_job_without_conditions_or_that_no_run_has_seen(self, stage: Stage) -> None:
        assert await self.last_seen(stage, gone(job("u")), gone(job("unknown", "Available"))) == {}

    async def test_nothing_where_its_deletion_was_awaited(self, stage: Stage) -> None:
        stage.awaited.expect(key("a"), event("a"), [DELETION])
        assert await self.last_seen(stage, gone(job("u", "Available"))) == {}

    async def test_nothing_older_where_the_watch_has_missed_how_the_next_one_ended(self, stage: Stage) -> None:
        owners = self.OWNERS()
        owners.learn({"one": job("w")})
        metadata_alone = {key: value for key, value in job("w").items() if key != "status"}
        assert await self.last_seen(stage, gone(job("u", "Available")), gone(metadata_alone), owners=owners) == {}

    async def test_a_new_leader_begins_with_nothing(self, stage: Stage) -> None:
        owners, awaited = self.OWNERS(), AwaitedDeletions()
        last_seen = LastSeen(owners.resources)
        last_seen.keep(key("a"), "one", job("u", "Available"))
        await ObjectWatch(owners, stage.queue, awaited, Expiring(owners), last_seen).run(FakeSource())
        assert last_seen.of(key("a")) == {}

    def test_of_a_bounded_number_of_clusters(self) -> None:
        last_seen = LastSeen(self.OWNERS().resources)
        for number in range(MAX_OBJECTS + 1):
            last_seen.keep(key(f"c{number}"), "one", job())
        assert last_seen.of(key("c0")) == {}
        assert last_seen.of(key(f"c{MAX_OBJECTS}")).keys() == {"one"}


async def test_the_watch_waits_while_too_much_is_delivered(stage: Stage) -> None:
    await stage.watch(added(job("u")), modified(job("u", "Available")), gone(job("u")))
    assert stage.queue.asked == 2
