"""`describe`: a work as a person reads it, with what is waited for and since when."""

from collections.abc import Iterator, Mapping

from maestro_cli.changes.identity import manifest_id
from maestro_cli.output.states import State, state_of, unchanged_since
from maestro_cli.output.tables import age, table
from shared import times
from shared.maestro import current
from shared.model.conditions import Condition
from shared.model.manifestwork import ManifestStatus, ManifestWork


def describe(work: ManifestWork, *, ours: bool) -> str:
    return "\n".join([*_head(work, ours=ours), *_conditions(work), *_manifests(work)])


def _head(work: ManifestWork, *, ours: bool) -> Iterator[str]:
    created = f"{times.to_seconds(work.created_at)} ({age(work.created_at)} ago)" if work.created_at else "unknown"
    yield f"Name:        {work.name}"
    yield f"Consumer:    {work.consumer}"
    yield f"ID:          {work.uid}{'' if ours else ' (made by another source)'}"
    yield f"Version:     {work.generation}"
    yield f"Created:     {created}"
    if work.deleted_at:
        yield f"Deleting:    since {times.to_seconds(work.deleted_at)} ({age(work.deleted_at)} ago)"
    yield f"State:       {_state(work)}"
    yield from _pairs("Labels:", work.labels)
    yield from _pairs("Annotations:", {key: f"{value:.100}" for key, value in work.annotations.items()})


def _state(work: ManifestWork) -> str:
    state = state_of(work)
    match state:
        case State.DELETING:
            return f"{state}: waiting for the agent on {work.consumer} to remove the objects"
        case State.IN_PROGRESS if not work.status.conditions:
            return f"{state}: the agent on {work.consumer} has not reported yet, for {age(unchanged_since(work))}"
        case State.IN_PROGRESS:
            return f"{state}: the agent has not applied version {work.generation} yet, for {age(unchanged_since(work))}"
        case State.APPLIED:
            available = current(work, "Available")
            return (
                f"{state}: not Available: {available.message}" if available else f"{state}: Available is not known yet"
            )
    return str(state)


def _pairs(title: str, pairs: Mapping[str, str]) -> Iterator[str]:
    listed = [f"{key}={value}" for key, value in sorted(pairs.items())] or ["<none>"]
    for index, each in enumerate(listed):
        yield f"{title if index == 0 else '':<13}{each}"


def _conditions(work: ManifestWork) -> Iterator[str]:
    yield "Conditions:"
    if not work.status.conditions:
        yield "  <none>"
        return
    rows = [_condition(each, work.generation) for each in work.status.conditions]
    yield _indented(table(["TYPE", "STATUS", "SINCE", "REASON", "MESSAGE"], rows))


def _condition(condition: Condition, generation: int) -> list[str]:
    stale = "" if condition.observed_generation == generation else f" (of version {condition.observed_generation})"
    since = age(condition.last_transition_time) if condition.last_transition_time else ""
    return [condition.type, condition.status.value, since, condition.reason, condition.message + stale]


def _manifests(work: ManifestWork) -> Iterator[str]:
    yield "Manifests:"
    reported = {(each.kind, each.namespace, each.name): each for each in work.status.manifests}
    for manifest in work.manifests:
        identity = manifest_id(manifest)
        yield f"  {identity}"
        status = reported.get((identity.kind, identity.namespace, identity.name))
        yield from _manifest_status(status) if status else ["    <no status yet>"]


def _manifest_status(status: ManifestStatus) -> Iterator[str]:
    for condition in status.conditions:
        yield f"    {condition.type}={condition.status.value} {condition.message}".rstrip()
    rows = [[name, f"{value!s:.120}"] for name, value in sorted(status.feedback.items())]
    if rows:
        yield _indented(table(["FEEDBACK", "VALUE"], rows), by=4)


def _indented(text: str, *, by: int = 2) -> str:
    return "\n".join(" " * by + line for line in text.split("\n"))
