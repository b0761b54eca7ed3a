"""All chosen objects, some at once, and the sum of what they would see. One page of the list is kept at a time."""

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any

from dispatcher.config.compiled import Adapter
from dispatcher.diff.object_diff import ObjectDiff, diff_object
from dispatcher.diff.objects import Choice, pages
from dispatcher.engine.ports import Ports
from shared.errors import HyperFleetError, Unavailable

AT_ONCE = 8


@dataclass(slots=True)
class Summary:
    """`changes` are counted by kind, action and time; `transitions` by condition."""

    total: int = 0
    objects: int = 0
    different: int = 0
    failed: int = 0
    calls: int = 0
    reports: int = 0
    changes: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    transitions: Counter[str] = field(default_factory=Counter)

    def add(self, diff: ObjectDiff) -> None:
        self.objects += 1
        self.failed += diff.failed
        self.different += diff.differs and not diff.failed
        self.calls += len(diff.calls)
        self.reports += len(diff.statuses)
        for change in diff.changes:
            self.changes[str(change.object.get("kind", "")), change.action.value, change.later] += 1
        for status in diff.statuses:
            self.transitions.update(status.transitions)

    @property
    def same(self) -> int:
        return self.objects - self.different - self.failed


async def diff_fleet(
    adapter: Adapter, ports: Ports, choice: Choice, summary: Summary
) -> AsyncGenerator[ObjectDiff, None]:
    """Each object's diff in the order of the list. Raises what the list fails with, and Unavailable at an outage."""
    async with aclosing(pages(ports.api, choice)) as listed:
        async for page in listed:
            summary.total = page.total
            for start in range(0, len(page.items), AT_ONCE):
                batch = page.items[start : start + AT_ONCE]
                diffs = await _diff_batch(adapter, ports, batch)
                for diff in diffs:
                    summary.add(diff)
                    yield diff
                if len(diffs) > 1 and all(diff.result.transient for diff in diffs):
                    why = next(iter(diffs[-1].result.errors.values()), "")
                    raise Unavailable(f"stopped after {summary.objects} of {summary.total} objects", why=why)


async def _diff_batch(adapter: Adapter, ports: Ports, batch: Sequence[Mapping[str, Any]]) -> list[ObjectDiff]:
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(diff_object(adapter, ports, document)) for document in batch]
    except* HyperFleetError as errors:
        raise errors.exceptions[0] from None
    return [task.result() for task in tasks]
