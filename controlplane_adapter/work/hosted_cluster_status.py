"""The status of a HostedCluster, read from the feedback of its ManifestWork.

The full status is preferred; where an agent returned only scalars, they are assembled to the same shape, so that there
is one way to read it. A value that was not returned is not known: it is None, never false and never empty. A value that
cannot be parsed counts as not returned.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from controlplane_adapter.hostedcluster.model import GROUP, KIND
from controlplane_adapter.work.feedback import MEMBERS, WATCHED
from shared.errors import Invalid
from shared.model.conditions import Condition, Status, find
from shared.model.manifestwork import ManifestStatus, ManifestWork
from shared.untrusted_json import Json, as_items, as_object, read_time

COMPLETED = "Completed"
# A sequence id is a snowflake id: milliseconds since this epoch above 22 bits of other things.
_SEQUENCE_EPOCH = datetime.fromtimestamp(1288834974.657, UTC)
_SEQUENCE_SHIFT = 22
_MAX_PORT = 65535


@dataclass(frozen=True, slots=True, kw_only=True)
class Rollout:
    """One release that was, or is being, rolled out in the control plane."""

    version: str
    image: str = ""
    completed: bool = False
    started_at: datetime | None = None
    completed_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class HostedClusterStatus:
    """The newest status of a HostedCluster. None means "not known".

    `has_feedback` is whether the agent returned anything about the object, `present` whether it found the object,
    `version` the release that runs ("" while none is complete), `rollouts` those of the control plane, the newest
    first, and `reported_at` the time of the agent's last report.
    """

    has_feedback: bool = False
    present: bool | None = None
    conditions: tuple[Condition, ...] = ()
    endpoint: str | None = None
    version: str | None = None
    rollouts: tuple[Rollout, ...] = ()
    desired_version: str | None = None
    has_been_available: bool | None = None
    generation: int | None = None
    deletion_requested_at: datetime | None = None
    finalizers: tuple[str, ...] = ()
    reported_at: datetime | None = None
    feedback_problem: str = ""

    def condition(self, type_: str) -> Condition | None:
        return find(self.conditions, type_)

    def condition_is(self, type_: str, status: Status) -> bool:
        """Whether the condition is known to have that status."""
        condition = self.condition(type_)
        return condition is not None and condition.status is status

    @property
    def was_up(self) -> bool:
        """Whether the control plane is known to have been complete or available before."""
        return bool(self.version) or self.has_been_available is True


def read_status(work: ManifestWork) -> HostedClusterStatus:
    """The status of the HostedCluster in this work, from the agent's last report."""
    manifest = _hosted_cluster(work)
    if manifest is None:
        return HostedClusterStatus(reported_at=reported_at(work))
    fed = {name: _first(value) for name, value in manifest.feedback.items()}
    full = manifest.feedback.get("status")
    status = full if isinstance(full, Mapping) else _assembled(fed)
    own, whole = (tuple(_rollouts(status, member)) for member in ("controlPlaneVersion", "version"))
    return HostedClusterStatus(
        has_feedback=bool(manifest.feedback),
        present=_presence(manifest),
        conditions=tuple(_conditions(status.get("conditions"))),
        endpoint=_endpoint(as_object(status.get("controlPlaneEndpoint"))),
        version=_running(own, whole) if status else None,
        rollouts=own or whole,
        desired_version=_desired(own, status),
        has_been_available=True if fed.get("hasBeenAvailable") == "true" else None,
        generation=_whole(fed.get("generation")),
        deletion_requested_at=read_time(fed.get("deletionTimestamp")),
        finalizers=tuple(_texts(manifest.feedback.get("finalizers"))),
        reported_at=reported_at(work),
        feedback_problem=_feedback_problem(manifest),
    )


def reported_at(work: ManifestWork) -> datetime | None:
    """When the agent last reported on the work, by its own clock; None where it never did.

    An agent reports when something changes, so an old report is a problem only where an answer is due.
    """
    if work.status.sequence_id <= 0:
        return None
    try:
        return _SEQUENCE_EPOCH + timedelta(milliseconds=work.status.sequence_id >> _SEQUENCE_SHIFT)
    except OverflowError:
        return None


def _hosted_cluster(work: ManifestWork) -> ManifestStatus | None:
    return next((each for each in work.status.manifests if (each.group, each.kind) == (GROUP, KIND)), None)


def _assembled(fed: Json) -> Json:
    """The scalars in the shape of the status they were taken from; {} where there are none."""
    conditions = [
        {"type": type_} | {member: fed[name] for member in MEMBERS if (name := f"{type_}.{member}") in fed}
        for type_ in WATCHED
        if f"{type_}.status" in fed
    ]
    host, port = fed.get("endpointHost"), fed.get("endpointPort")
    newest = {"state": fed.get("rolloutState"), "version": fed.get("rolloutVersion"), "image": fed.get("rolloutImage")}
    parts = {
        "conditions": conditions,
        "controlPlaneEndpoint": _known({"host": host, "port": port}),
        "controlPlaneVersion": _history(newest, fed.get("version")),
        "version": _known({"desired": _known({"version": fed.get("desiredVersion")})})
        | _history({}, fed.get("dataPlaneVersion")),
    }
    return {name: part for name, part in parts.items() if part}


def _history(newest: Json, completed: Any) -> dict[str, Any]:
    """The newest rollout and, where that one is not complete, the one completed last."""
    entries = [newest] if newest.get("state") else []
    if completed and newest.get("state") != COMPLETED:
        entries.append({"state": COMPLETED, "version": completed})
    return {"history": entries} if entries else {}


def _known(members: Json) -> dict[str, Any]:
    return {name: value for name, value in members.items() if value not in (None, {})}


def _rollouts(status: Json, member: str) -> Iterator[Rollout]:
    for entry in map(as_object, as_items(as_object(status.get(member)).get("history"))):
        yield Rollout(
            version=_text(entry.get("version")) or "",
            image=_text(entry.get("image")) or "",
            completed=entry.get("state") == COMPLETED,
            started_at=read_time(entry.get("startedTime")),
            completed_at=read_time(entry.get("completionTime")),
        )


def _running(*histories: tuple[Rollout, ...]) -> str:
    """The version completed last, in the first history that has one; histories begin with the newest."""
    return next((each.version for history in histories for each in history if each.completed and each.version), "")


def _desired(own: tuple[Rollout, ...], status: Json) -> str | None:
    """The control plane's own goal; before it has one, that of the whole cluster."""
    if own and own[0].version:
        return own[0].version
    return _text(as_object(as_object(status.get("version")).get("desired")).get("version"))


def _endpoint(endpoint: Json) -> str | None:
    host, port = _text(endpoint.get("host")), _whole(endpoint.get("port"))
    if not host:
        return None
    name = f"[{host}]" if ":" in host else host
    return f"https://{name}:{port}" if port and 0 < port <= _MAX_PORT else f"https://{name}"


def _presence(manifest: ManifestStatus) -> bool | None:
    condition = manifest.condition("Available")
    if condition is None or condition.status is Status.UNKNOWN:
        return None
    return condition.status is Status.TRUE


def _feedback_problem(manifest: ManifestStatus) -> str:
    condition = manifest.condition("StatusFeedbackSynced")
    return condition.message if condition is not None and condition.status is Status.FALSE else ""


def _conditions(listed: Any) -> Iterator[Condition]:
    for each in as_items(listed):
        try:
            yield Condition.from_kubernetes(each)
        except Invalid:
            continue


def _first(value: Any) -> Any:
    """A path that matches more than once comes back as a list from one agent, and as its first match from another."""
    return value[0] if isinstance(value, list) and value else value


def _texts(value: Any) -> list[str]:
    listed = value if isinstance(value, list) else [value]
    return [each for each in listed if isinstance(each, str)]


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _whole(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None
