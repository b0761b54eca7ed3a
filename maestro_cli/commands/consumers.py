"""`consumer`: the management clusters that Maestro knows."""

from maestro_cli.commands.session import Session, remedy_of_unknown
from maestro_cli.exits import UsageError
from maestro_cli.output.printing import print_answer, print_note
from maestro_cli.output.tables import table
from shared.maestro import Consumer, MaestroClient, Selector


async def run(session: Session) -> None:
    verb = session.arguments.verb
    async with session.client() as client:
        if verb == "list":
            chosen = Selector.of(session.arguments.selector)
            found = [each for each in await client.consumers.list() if chosen.matches(each.labels)]
            _show(session, sorted(found, key=lambda each: each.name))
        elif verb == "delete":
            await _delete(session, client)
        else:
            _show(session, [await _one(session, client, verb)], single=True)


async def _one(session: Session, client: MaestroClient, verb: str) -> Consumer:
    name = session.arguments.consumer
    if verb == "get":
        with remedy_of_unknown(name):
            return await client.consumers.get(name)
    changes = _changes(session.arguments.labels)
    wanted = {key: value for key, value in changes.items() if value is not None}
    if verb == "create":
        return await client.consumers.create(name, wanted)
    if verb == "ensure":
        return await client.consumers.ensure(name, wanted)
    with remedy_of_unknown(name):
        return await client.consumers.label(name, changes)


async def _delete(session: Session, client: MaestroClient) -> None:
    name = session.arguments.consumer
    if await client.consumers.delete(name):
        print_answer(f"consumer {name} is deleted")
    else:
        print_note(f"consumer {name} is not there: nothing to delete")


def _changes(written: list[str]) -> dict[str, str | None]:
    """Labels to set, and with a minus behind them labels to remove."""
    changes: dict[str, str | None] = {}
    for each in written:
        key, equals, value = each.partition("=")
        if equals and key:
            changes[key] = value
        elif each.endswith("-") and len(each) > 1:
            changes[each[:-1]] = None
        else:
            raise UsageError(f"{each!r} is no label", remedy="write key=value, or key- to remove one")
    return changes


def _show(session: Session, consumers: list[Consumer], *, single: bool = False) -> None:
    form = session.form("table")
    data = [{"id": each.id, "name": each.name, "labels": dict(each.labels)} for each in consumers]
    if form.name == "name":
        for each in consumers:
            print_answer(each.name)
    elif form.is_table:
        rows = [
            [each.name, ",".join(f"{k}={v}" for k, v in sorted(each.labels.items())), each.id] for each in consumers
        ]
        print_answer(table(["NAME", "LABELS", "ID"], [[cell or "<none>" for cell in row] for row in rows]))
    else:
        print_answer(form.compile()(data[0] if single else data))
