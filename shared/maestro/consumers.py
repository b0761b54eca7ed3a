"""The management clusters that Maestro knows, which it calls consumers."""

from collections.abc import Mapping
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any, Self

from shared.errors import AlreadyExists, Invalid, NotFound, Problem, UnknownConsumer
from shared.maestro.http.paging import pages
from shared.maestro.http.rest import Rest
from shared.model.manifestwork_validation import is_label_name

PATH = "/consumers"


@dataclass(frozen=True, slots=True, kw_only=True)
class Consumer:
    id: str
    name: str
    labels: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> Self:
        return cls(id=str(wire.get("id")), name=str(wire.get("name")), labels=wire.get("labels") or {})


@dataclass(frozen=True, slots=True)
class Consumers:
    """Consumers by their name; Maestro's own ids are not needed outside."""

    rest: Rest

    async def get(self, name: str) -> Consumer:
        _check(name)
        found = await self.rest.get(f"get consumer {name!r}", PATH, {"search": f"name = '{name}'"})
        for item in found.get("items") or ():
            return Consumer.from_wire(item)
        raise UnknownConsumer(
            f"management cluster {name!r} is not registered in Maestro",
            remedy="create the consumer in Maestro, or correct MANAGEMENT_CLUSTER_CONSUMER",
        )

    async def list(self) -> list[Consumer]:
        async with aclosing(pages(self.rest, "list consumers", PATH, [])) as found:
            return [Consumer.from_wire(item) async for item in found]

    async def create(self, name: str, labels: Mapping[str, str] | None = None) -> Consumer:
        _check(name)
        body: dict[str, Any] = {"name": name}
        if labels:
            body["labels"] = dict(labels)
        return Consumer.from_wire(await self.rest.send(f"create consumer {name!r}", "POST", PATH, body=body))

    async def ensure(self, name: str, labels: Mapping[str, str] | None = None) -> Consumer:
        """The consumer of that name, created now if there was none; labels of an existing one are left alone."""
        try:
            return await self.get(name)
        except UnknownConsumer:
            pass
        try:
            return await self.create(name, labels)
        except AlreadyExists:
            return await self.get(name)

    async def label(self, name: str, changes: Mapping[str, str | None]) -> Consumer:
        """The consumer with labels set, or removed where the value is None."""
        consumer = await self.get(name)
        merged = {**consumer.labels, **changes}
        labels = {key: value for key, value in merged.items() if value is not None}
        path = f"{PATH}/{consumer.id}"
        return Consumer.from_wire(
            await self.rest.send(f"label consumer {name!r}", "PATCH", path, body={"labels": labels})
        )

    async def delete(self, name: str) -> bool:
        """True if there was one. Raises Conflict while it still has works."""
        try:
            consumer = await self.get(name)
            await self.rest.send(f"delete consumer {name!r}", "DELETE", f"{PATH}/{consumer.id}")
        except NotFound:
            return False
        return True


def _check(name: str) -> None:
    if not is_label_name(name):
        problem = Problem("name", f"{name!r:.80} must be lower-case letters, digits and '-', at most 63 long")
        raise Invalid("not the name of a consumer", [problem])
