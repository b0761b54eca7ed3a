"""One run: what it is asked to do, and what came of it. The runtime's queue and the dry run speak in these values."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from typing import Any

from dispatcher.engine.ports import Object


class Cause(StrEnum):
    """Why an object is reconciled."""

    EVENT = "event"
    WATCH = "watch"
    TIMER = "timer"


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectKey:
    """An object of the HyperFleet API: `kind` as the event wrote it (`Cluster`, `NodePool`)."""

    kind: str
    id: str

    def __str__(self) -> str:
        return f"{self.kind}/{self.id}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """A CloudEvent. `data` is the event's own (`id`, `kind`, `href`, `generation`, `owner_references`)."""

    id: str
    type: str
    source: str
    data: Mapping[str, Any]
    extensions: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivered:
    """An object a watch delivered, and when. `resource` is the name in the task config.

    `is_first` where it cannot have been reported before: the watch has seen it without a status, or new.
    """

    resource: str
    object: Object
    at: datetime
    is_first: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRequest:
    """`delivered` is filled by watches only: such a run writes no resource and reports what was delivered.

    With `observe_only` it writes none either, and reports what it finds. Such runs take `last_seen`, by resource, for
    what is gone. A wake by an awaited deletion delivers nothing, so its run may create.
    """

    event: Event
    cause: Cause = Cause.EVENT
    delivered: tuple[Delivered, ...] = ()
    observe_only: bool = False
    last_seen: Mapping[str, Object] = field(default_factory=dict)

    @property
    def writes(self) -> bool:
        """Whether the run may create, update and delete resources."""
        return not self.delivered and not self.observe_only


@dataclass(frozen=True, slots=True, kw_only=True)
class Requeue:
    """Run the object again after so many seconds; None leaves the wait to the queue's backoff.

    `generation` is what the API said the object's generation is, where it has moved on since the event. `observe_only`
    asks for a run that writes no resource.
    """

    reason: str
    after: float | None = None
    generation: int | None = None
    observe_only: bool = False

    def renew(self, event: Event) -> Event:
        """The event of the next run: one whose generation is out of date would only repeat this run."""
        if self.generation is None or event.data.get("generation") == self.generation:
            return event
        return replace(event, data={**event.data, "generation": self.generation})


@dataclass(frozen=True, slots=True, kw_only=True)
class AwaitedDeletion:
    """A deletion that must wake the object again."""

    resource: str
    api_version: str
    kind: str
    namespace: str
    name: str
    uid: str
    consumer: str = ""


class Phase(StrEnum):
    """The names under which errors are reported to authors and counted in metrics."""

    PARAMS = "param_extraction"
    PRECONDITIONS = "preconditions"
    RESOURCES = "resources"
    POST_ACTIONS = "post_actions"


class Status(StrEnum):
    SUCCESS = "success"
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class CallRecord:
    """A call of the HyperFleet API. `status` is None where nobody answered."""

    method: str
    url: str
    status: int | None
    request_body: str | None = None
    response_body: bytes = b""


@dataclass(frozen=True, slots=True, kw_only=True)
class ParamRecord:
    """With `resolved` False there is no value. `error` says why, or what failed where the default took its place.

    A source that has nothing to give is what a default is for, and no error.
    """

    name: str
    resolved: bool
    value: Any = None
    error: str = ""
    calls: tuple[CallRecord, ...] = ()


class Verdict(StrEnum):
    """What a precondition came to. FAILED could not be evaluated; NOT_FOUND asked for an object that the API lacks."""

    MET = "met"
    NOT_MET = "not met"
    FAILED = "failed"
    NOT_FOUND = "not found"


@dataclass(frozen=True, slots=True, kw_only=True)
class PreconditionRecord:
    """`reason` says why it is not met, `error` why it failed."""

    name: str
    verdict: Verdict
    reason: str = ""
    error: str = ""
    captured: Mapping[str, Any] = field(default_factory=dict)
    calls: tuple[CallRecord, ...] = ()


class Operation(StrEnum):
    """What a run did to a resource. WAIT is for a deletion; REFUSE leaves a newer generation alone."""

    CREATE = "create"
    UPDATE = "update"
    RECREATE = "recreate"
    SKIP = "skip"
    DELETE = "delete"
    WAIT = "wait"
    REFUSE = "refuse"


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceRecord:
    """`operation` is None where it failed before anything was decided.

    `manifest` is what was rendered, `deleted` the object a deletion found, also where it then failed.
    """

    name: str
    kind: str
    namespace: str = ""
    object_name: str = ""
    operation: Operation | None = None
    reason: str = ""
    error: str = ""
    manifest: Object | None = None
    deleted: Object | None = None
    seconds: float = 0.0


class Delivery(StrEnum):
    """What became of a status. DISCARDED is the API's 204; WITHHELD was not sent on purpose."""

    STORED = "stored"
    DISCARDED = "discarded"
    WITHHELD = "withheld"
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusReport:
    """A `PUT …/statuses`; `reason` says why it was not stored."""

    url: str
    delivery: Delivery
    reason: str = ""
    generation: int | None = None
    observed_time: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PayloadRecord:
    """`text` is the payload as JSON, None where its `when` left it out."""

    name: str
    text: str | None


class Done(StrEnum):
    EXECUTED = "executed"
    SKIPPED = "skipped"
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class PostActionRecord:
    """`reason` says why it was skipped; `report` is filled where it was a status."""

    name: str
    done: Done
    reason: str = ""
    error: str = ""
    calls: tuple[CallRecord, ...] = ()
    report: StatusReport | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResult:
    """`skipped` is a business outcome and no error: `skip_reason` says why resources were left alone.

    `transient` says whether trying a failed run again is worth it. `discovered` is what authors see as
    `resources.*`. `failed_expressions` counts them by phase. `secrets` are the values that no output may show.
    """

    status: Status
    skipped: bool = False
    skip_reason: str = ""
    errors: Mapping[Phase, str] = field(default_factory=dict)
    failed_expressions: Mapping[Phase, int] = field(default_factory=dict)
    transient: bool = False
    params: tuple[ParamRecord, ...] = ()
    preconditions: tuple[PreconditionRecord, ...] = ()
    resources: tuple[ResourceRecord, ...] = ()
    discovered: Mapping[str, Object] = field(default_factory=dict)
    payloads: tuple[PayloadRecord, ...] = ()
    post_actions: tuple[PostActionRecord, ...] = ()
    warnings: tuple[str, ...] = ()
    requeue: Requeue | None = None
    awaited_deletions: tuple[AwaitedDeletion, ...] = ()
    secrets: frozenset[str] = field(default=frozenset(), repr=False)

    @property
    def reports(self) -> tuple[StatusReport, ...]:
        return tuple(action.report for action in self.post_actions if action.report is not None)
