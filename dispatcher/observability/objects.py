"""What this dispatcher knows of each object it has handled: the last event, the last wake, the last runs.

Bounded: the objects that were handled longest ago are forgotten. Texts are redacted when they are recorded.
"""

from collections import OrderedDict, deque
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from dispatcher.engine.runs import ObjectKey
from shared import times
from shared.redaction import redact_text

MAX_OBJECTS = 10_000
MAX_RUNS = 5
MAX_TEXT = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRecord:
    """`error` is "" for a run that did not fail; `statuses` is what became of the statuses it sent."""

    started: datetime
    seconds: float
    cause: str
    outcome: str
    reason: str = ""
    error: str = ""
    generation: int | None = None
    statuses: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        return {
            "started": times.to_micros(self.started),
            "seconds": round(self.seconds, 3),
            "cause": self.cause,
            "outcome": self.outcome,
            "reason": self.reason,
            "error": self.error,
            "generation": self.generation,
            "statuses": list(self.statuses),
        }


@dataclass(slots=True)
class _Known:
    event: dict[str, Any] | None = None
    wake: dict[str, Any] | None = None
    runs: deque[RunRecord] = field(default_factory=lambda: deque(maxlen=MAX_RUNS))


class ObjectRecords:
    def __init__(self, *, max_objects: int = MAX_OBJECTS) -> None:
        self._max = max_objects
        self._known: OrderedDict[ObjectKey, _Known] = OrderedDict()

    def __len__(self) -> int:
        return len(self._known)

    def note_event(self, key: ObjectKey, *, id_: str, type_: str, generation: int | None, at: datetime) -> None:
        self._of(key).event = {
            "id": clean(id_),
            "type": clean(type_),
            "generation": generation,
            "at": times.to_micros(at),
        }

    def note_wake(self, key: ObjectKey, *, cause: str, at: datetime) -> None:
        self._of(key).wake = {"cause": cause, "at": times.to_micros(at)}

    def note_run(self, key: ObjectKey, run: RunRecord) -> None:
        self._of(key).runs.append(run)

    def latest_first(self) -> list[ObjectKey]:
        """All objects, the one handled last first."""
        return list(reversed(self._known))

    def find(self, kind: str, id_: str) -> ObjectKey | None:
        return next((key for key in self._known if key.id == id_ and key.kind.lower() == kind.lower()), None)

    def describe(self, key: ObjectKey) -> dict[str, Any]:
        known = self._known[key]
        return {
            "kind": key.kind,
            "id": key.id,
            "last_event": known.event,
            "last_wake": known.wake,
            "runs": [run.to_json() for run in reversed(known.runs)],
        }

    def _of(self, key: ObjectKey) -> _Known:
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = _Known()
            if len(self._known) > self._max:
                self._known.popitem(last=False)
        else:
            self._known.move_to_end(key)
        return known


def clean(text: str) -> str:
    """`text` without secrets, at a length that can be kept."""
    return redact_text(text)[:MAX_TEXT]
