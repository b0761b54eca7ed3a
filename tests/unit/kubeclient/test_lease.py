"""When a leader works, on a clock that the test moves."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any, cast

import pytest

from shared.errors import Conflict, Forbidden, HyperFleetError, NotFound, Unavailable
from shared.kubernetes import KubernetesClient, Lease, ObjectRef


class ManualClock:
    def __init__(self) -> None:
        self.time = 1000.0
        self._sleepers: list[tuple[float, asyncio.Event]] = []

    def now(self) -> datetime:
        return datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=self.time)

    def monotonic(self) -> float:
        return self.time

    async def sleep(self, seconds: float) -> None:
        woken = asyncio.Event()
        self._sleepers.append((self.time + seconds, woken))
        await woken.wait()

    async def advance(self, seconds: float) -> None:
        """Let this time pass in small steps, and everything happen that is due in each."""
        end = self.time + seconds
        while self.time < end:
            self.time = min(end, self.time + 0.1)
            for due, woken in self._sleepers:
                if due <= self.time + 1e-9:
                    woken.set()
            self._sleepers = [each for each in self._sleepers if not each[1].is_set()]
            for _ in range(20):
                await asyncio.sleep(0)


class StoredLease:
    """The three calls that a Lease makes, with the API server's checks, or with the failure that is set."""

    def __init__(self) -> None:
        self.lease: dict[str, Any] | None = None
        self.failure: HyperFleetError | None = None
        self.lose_answers = False
        self._version = 0

    async def get(self, ref: ObjectRef, *, timeout: float) -> dict[str, Any]:
        self._fail()
        if self.lease is None:
            raise NotFound("no lease")
        return self.lease

    async def create(self, lease: dict[str, Any]) -> dict[str, Any]:
        self._fail()
        return self._store(lease)

    async def replace(self, lease: dict[str, Any], *, timeout: float) -> dict[str, Any]:
        self._fail()
        assert self.lease is not None
        if lease["metadata"]["resourceVersion"] != self.lease["metadata"]["resourceVersion"]:
            raise Conflict("stale")
        return self._store(lease)

    def taken_by(self, holder: str) -> None:
        assert self.lease is not None
        self._store({**self.lease, "spec": {**self.lease["spec"], "holderIdentity": holder, "renewTime": "now"}})

    def _fail(self) -> None:
        if self.failure is not None:
            raise self.failure

    def _store(self, lease: dict[str, Any]) -> dict[str, Any]:
        self._version += 1
        self.lease = {**lease, "metadata": {**lease["metadata"], "resourceVersion": str(self._version)}}
        if self.lose_answers:
            raise Unavailable("no answer")
        return self.lease


class Leader:
    def __init__(self, stored: StoredLease, clock: ManualClock, identity: str) -> None:
        self.lease = Lease(cast("KubernetesClient", stored), name="l", namespace="n", identity=identity, clock=clock)
        self._works = False
        self.failure: Exception | None = None
        self.task = asyncio.create_task(self.lease.lead(self._work))

    async def _work(self) -> None:
        self._works = True
        try:
            if self.failure is not None:
                raise self.failure
            await asyncio.Event().wait()
        finally:
            self._works = False

    def works(self) -> bool:
        return self._works

    async def stop(self) -> None:
        self.task.cancel()
        await asyncio.gather(self.task, return_exceptions=True)


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def stored() -> StoredLease:
    return StoredLease()


async def test_work_stops_before_anybody_else_may_take_the_lease(clock: ManualClock, stored: StoredLease) -> None:
    first = Leader(stored, clock, "first")
    await clock.advance(5)
    assert first.works()
    stored.failure = Unavailable("the API server is away")
    await clock.advance(5.9)
    assert first.works()
    await clock.advance(2.2)
    assert not first.works()
    assert not first.lease.is_held
    assert stored.lease is not None
    assert stored.lease["spec"]["leaseDurationSeconds"] == 10
    await first.stop()


@pytest.mark.parametrize("failure", [Unavailable("refused"), Forbidden("not yet")], ids=["refused", "forbidden"])
async def test_no_failure_ends_the_election(clock: ManualClock, stored: StoredLease, failure: HyperFleetError) -> None:
    stored.failure = failure
    leader = Leader(stored, clock, "first")
    await clock.advance(600)
    assert not leader.works()
    stored.failure = None
    await clock.advance(3)
    assert leader.works()
    stored.failure = failure
    await clock.advance(30)
    assert not leader.works()
    stored.failure = None
    await clock.advance(3)
    assert leader.works()
    await leader.stop()


async def test_a_lost_answer_does_not_end_the_term(clock: ManualClock, stored: StoredLease) -> None:
    leader = Leader(stored, clock, "first")
    await clock.advance(1)
    stored.lose_answers = True
    await clock.advance(2)
    stored.lose_answers = False
    for _ in range(100):
        await clock.advance(0.2)
        assert leader.works()
    await leader.stop()


async def test_a_lease_that_another_has_taken_is_lost_at_once(clock: ManualClock, stored: StoredLease) -> None:
    leader = Leader(stored, clock, "first")
    await clock.advance(1)
    stored.taken_by("second")
    await clock.advance(2.2)
    assert not leader.works()
    assert leader.lease.holder == "second"
    await clock.advance(13)
    assert leader.works()
    await leader.stop()


async def test_two_never_work_at_the_same_time(clock: ManualClock, stored: StoredLease) -> None:
    leaders = [Leader(stored, clock, name) for name in ("first", "second")]
    seen: set[str] = set()
    for step in range(400):
        stored.failure = Unavailable("away") if step % 100 > 60 else None
        await clock.advance(0.3)
        working = [leader.lease.identity for leader in leaders if leader.works()]
        assert len(working) <= 1
        seen.update(working)
    assert seen
    for leader in leaders:
        await leader.stop()


async def test_the_failure_of_the_work_is_the_failure_of_the_leader(clock: ManualClock, stored: StoredLease) -> None:
    leader = Leader(stored, clock, "first")
    leader.failure = RuntimeError("broken")
    await clock.advance(3)
    with pytest.raises(RuntimeError, match="broken"):
        await leader.task
    assert stored.lease is not None
    assert stored.lease["spec"]["holderIdentity"] == ""


async def test_a_renewal_cut_off_by_the_end_does_not_keep_the_lease_from_being_given_back(
    clock: ManualClock, stored: StoredLease
) -> None:
    leader = Leader(stored, clock, "first")
    await clock.advance(1)
    stored.taken_by("first")
    await leader.stop()
    assert stored.lease is not None
    assert stored.lease["spec"]["holderIdentity"] == ""


async def test_a_leader_that_is_stopped_gives_the_lease_back(clock: ManualClock, stored: StoredLease) -> None:
    leader = Leader(stored, clock, "first")
    await clock.advance(1)
    await leader.stop()
    assert stored.lease is not None
    assert stored.lease["spec"]["holderIdentity"] == ""
    assert not leader.works()
