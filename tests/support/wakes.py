"""Wakes and messages for tests of the runtime: short to write, and messages that count what is done to them."""

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from dispatcher.engine.runs import AwaitedDeletion, Cause, Delivered, Event, ObjectKey
from dispatcher.runtime.scheduling.wakes import Wake

ARRIVED = datetime(2026, 1, 2, tzinfo=UTC)


@dataclass(eq=False)
class Message:
    """A broker message: how often it was acknowledged and given back."""

    name: str = ""
    acks: int = 0
    returns: int = 0
    log: list[str] = field(default_factory=list)

    async def ack(self) -> None:
        self.acks += 1
        self.log.append(f"ack {self.name}")

    async def give_back(self) -> None:
        self.returns += 1
        self.log.append(f"return {self.name}")


def key(name: str = "a", kind: str = "Cluster") -> ObjectKey:
    return ObjectKey(kind=kind, id=name)


def deletion_of_work(name: str, uid: str) -> AwaitedDeletion:
    return AwaitedDeletion(
        resource="work",
        api_version="work.open-cluster-management.io/v1",
        kind="ManifestWork",
        namespace="",
        name=name,
        uid=uid,
    )


def event(name: str = "a", generation: int = 1, **data: Any) -> Event:
    content = {"id": name, "kind": "Cluster", "generation": generation, **data}
    return Event(id=f"{name}-{generation}", type="com.redhat.hyperfleet.cluster.reconcile", source="s", data=content)


def published(name: str = "a", generation: int = 1, receipt: Message | None = None, **data: Any) -> Wake:
    return Wake(key=key(name), event=event(name, generation, **data), cause=Cause.EVENT, receipt=receipt)


def changed(
    name: str = "a",
    uid: str = "u",
    state: str = "",
    *,
    generation: int = 0,
    background: bool = False,
    is_first: bool = False,
) -> Wake:
    """A watch delivered the object's Job, which says for which generation it was made where `generation` is given."""
    job = {"kind": "Job", "metadata": {"uid": uid, "name": f"job-{name}"}, "status": {"state": state}}
    delivered = Delivered(resource="job", object=job, at=ARRIVED, is_first=is_first)
    made_for = {"generation": generation} if generation else {}
    bare = Event(id="", type="", source="", data={"id": name, "kind": "Cluster", **made_for})
    return Wake(key=key(name), event=bare, cause=Cause.WATCH, delivered=delivered, background=background)


def vanished(name: str = "a") -> Wake:
    """A watch saw an awaited deletion."""
    return Wake(key=key(name), event=event(name), cause=Cause.WATCH)


def unknown(name: str = "a") -> Wake:
    """A watch saw a change, but not of which resource."""
    return Wake(key=key(name), event=event(name), cause=Cause.WATCH, observe_only=True)


def repeated(name: str = "a") -> Wake:
    """A resync repeats what is known."""
    return Wake(key=key(name), event=event(name), cause=Cause.TIMER, background=True)
