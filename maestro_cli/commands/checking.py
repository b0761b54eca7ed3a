"""`status`: is Maestro there over REST and gRPC, who am I, and which works need attention."""

from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from maestro_cli.commands.session import Session
from maestro_cli.connection.settings import resolve
from maestro_cli.exits import Exit
from maestro_cli.output.printing import print_answer
from maestro_cli.output.states import State, state_of, unchanged_since
from maestro_cli.output.tables import age, table
from shared import times
from shared.errors import HyperFleetError
from shared.maestro import MaestroClient, apply_result
from shared.model.manifestwork import ManifestWork

_SILENT_AFTER_SECONDS: Final = 300.0
_LISTED: Final = 20
_OK: Final = "ok"


@dataclass(slots=True)
class _Survey:
    """What was seen while all works were read, page by page."""

    states: Counter[str] = field(default_factory=Counter)
    others: int = 0
    consumers: int = 0
    attention: list[tuple[str, str, str]] = field(default_factory=list)

    def add(self, work: ManifestWork, *, ours: bool) -> None:
        self.states[str(state_of(work))] += 1
        self.others += not ours
        reason = concern(work)
        if reason:
            self.attention.append((work.consumer, work.name, reason))


async def run(session: Session) -> Exit:
    form = session.form("table")
    values = resolve(session.arguments, session.environment)
    survey = _Survey()
    async with session.client() as client:
        rest, grpc = await _rest(client, survey), await _grpc(client)
    data = {
        "rest": {"endpoint": values["http_endpoint"], "state": rest},
        "grpc": {"endpoint": values["grpc_endpoint"], "state": grpc},
        "source": values["source_id"],
        "consumers": survey.consumers,
        "works": dict(sorted(survey.states.items())),
        "worksOfOtherSources": survey.others,
        "attention": [{"consumer": c, "name": n, "reason": r} for c, n, r in survey.attention],
    }
    print_answer(_text(data, survey) if form.is_table else form.compile()(data))
    return Exit.OK if rest == grpc == _OK else Exit.UNREACHABLE


async def _rest(client: MaestroClient, survey: _Survey) -> str:
    try:
        survey.consumers = len(await client.consumers.list())
        async for work in client.scan():
            survey.add(work, ours=client.is_ours(work))
    except HyperFleetError as error:
        return str(error)
    return _OK


async def _grpc(client: MaestroClient) -> str:
    try:
        await client.ping()
    except HyperFleetError as error:
        return str(error)
    return _OK


def concern(work: ManifestWork) -> str:
    """Why somebody should look at the work; "" where nobody need."""
    since = unchanged_since(work)
    match state_of(work):
        case State.DELETING if _is_old(work.deleted_at):
            return f"in deletion for {age(work.deleted_at)}: is the agent running?"
        case State.FAILED:
            return "the agent could not apply it"
        case State.IN_PROGRESS if _is_old(since) and apply_result(work).message:
            return f"the agent's write has been in conflict with another's for {age(since)}"
        case State.IN_PROGRESS if _is_old(since) and not work.status.conditions:
            return f"no report of the agent for {age(since)}"
        case State.IN_PROGRESS if _is_old(since):
            return f"no report of the agent on version {work.generation} for {age(since)}"
    return ""


def _is_old(moment: datetime | None) -> bool:
    return moment is not None and (times.now() - moment).total_seconds() > _SILENT_AFTER_SECONDS


def _text(data: dict[str, Any], survey: _Survey) -> str:
    states = ", ".join(f"{count} {state}" for state, count in data["works"].items()) or "none"
    lines = [
        f"REST:       {data['rest']['endpoint']}: {data['rest']['state']}",
        f"gRPC:       {data['grpc']['endpoint']}: {data['grpc']['state']}",
        f"Source:     {data['source']}",
        f"Consumers:  {data['consumers']}",
        f"Works:      {states}; {survey.others} of other sources",
    ]
    if survey.attention:
        lines += ["", table(["CONSUMER", "WORK", "NEEDS ATTENTION"], survey.attention[:_LISTED])]
    if len(survey.attention) > _LISTED:
        lines.append(f"… and {len(survey.attention) - _LISTED} more; -o json lists all")
    return "\n".join(lines)
