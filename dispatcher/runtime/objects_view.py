"""What /objects and the metrics show: records of runs, joined with what the queue knows now."""

import asyncio
from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import Any

from dispatcher.engine.runs import ObjectKey
from dispatcher.observability.objects import ObjectRecords
from dispatcher.runtime.scheduling.schedule import Phase, Schedule
from dispatcher.runtime.watching.awaiting import AwaitedDeletions
from shared import times


class QueueView:
    """The queue at this moment."""

    def __init__(self, schedule: Schedule, awaited: AwaitedDeletions) -> None:
        self._schedule = schedule
        self._awaited = awaited

    def objects(self) -> dict[str, int]:
        return {phase.value: count for phase, count in self._schedule.depth().items() if phase is not Phase.IDLE}

    def oldest_wake(self) -> float:
        return self._schedule.oldest_wake(_now())

    def slowed(self) -> Iterable[tuple[str, str]]:
        return ((key.kind, key.id) for key in self._schedule.slowed())

    def awaited_deletions(self) -> Mapping[str, int]:
        return self._awaited.by_kind()


class ObjectsView:
    def __init__(self, records: ObjectRecords, schedule: Schedule) -> None:
        self._records = records
        self._schedule = schedule

    def __len__(self) -> int:
        return len(self._records)

    def list(self, limit: int) -> list[Mapping[str, Any]]:
        """Those that fail first, the most failed runs in a row on top. To describe 10,000 would hold up all runs."""
        keys = sorted(self._records.latest_first(), key=self._schedule.failures, reverse=True)
        return [self._describe(key) for key in keys[:limit]]

    def describe(self, kind: str, id_: str) -> Mapping[str, Any] | None:
        key = self._records.find(kind, id_)
        return None if key is None else self._describe(key)

    def _describe(self, key: ObjectKey) -> Mapping[str, Any]:
        standing = self._schedule.standing(key, _now())
        next_wake = None
        if standing.seconds is not None:
            at = times.to_seconds(times.now() + timedelta(seconds=standing.seconds))
            next_wake = {"at": at, "seconds": round(standing.seconds, 1), "reason": standing.reason}
        return {
            **self._records.describe(key),
            "phase": standing.phase.value,
            "failures": standing.failures,
            "slowed": standing.slowed,
            "next_wake": next_wake,
        }


def _now() -> float:
    return asyncio.get_running_loop().time()
