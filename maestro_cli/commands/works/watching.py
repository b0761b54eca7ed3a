"""`watch`: a line for each change, streamed; it ends when the time is over or the one watched work is gone."""

import asyncio
import json
from contextlib import aclosing

from maestro_cli.commands.session import Session, require_consumer
from maestro_cli.output.printing import print_answer, print_note
from maestro_cli.output.states import state_of, view
from shared import times
from shared.maestro import Change, WorkEvent


async def run(session: Session) -> None:
    names = set(session.names)
    form = session.form("table")
    async with session.client() as client:
        works = await require_consumer(client, session.consumer)
        try:
            async with asyncio.timeout(session.timeout), aclosing(works.watch(session.arguments.selector)) as events:
                async for event in events:
                    if names and event.work.name not in names:
                        continue
                    print_answer(_line(event) if form.is_table else json.dumps(_data(event), ensure_ascii=False))
                    if event.change is Change.DELETED and names == {event.work.name}:
                        return
        except TimeoutError:
            print_note(f"watched for {session.timeout:g} s")


def _line(event: WorkEvent) -> str:
    work = event.work
    conditions = " ".join(f"{each.type}={each.status.value}" for each in work.status.conditions)
    now = times.to_seconds(times.now())
    return f"{now}  {event.change:<8}  {work.name}  version {work.generation}  {state_of(work)}  {conditions}".rstrip()


def _data(event: WorkEvent) -> dict[str, object]:
    return {"change": str(event.change), "work": view(event.work, ours=True)}
