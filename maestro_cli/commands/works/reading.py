"""`get`, `list` and `describe`: works by their id where a name is given, page by page where many are meant."""

from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any, Final

from maestro_cli.commands.session import Session, require_consumer
from maestro_cli.output.describing import describe
from maestro_cli.output.printing import Form, print_answer, print_note
from maestro_cli.output.states import has_status, state_of, view
from maestro_cli.output.tables import age, table
from shared.errors import Invalid, NotFound
from shared.maestro import MaestroClient
from shared.model.manifestwork import ManifestWork

_HEADER: Final = ("CONSUMER", "NAME", "STATE", "VERSION", "MANIFESTS", "AGE")
_WIDE: Final = (*_HEADER, "ID", "SOURCE", "LABELS")


async def run(session: Session) -> None:
    command = session.arguments.command
    form = session.form("table")
    render = None if form.is_table or form.name == "name" else form.compile()
    missing: list[NotFound] = []
    async with session.client() as client:
        works = _listed(session, client) if command == "list" else _asked(session, client, missing)
        if command == "describe" and not hasattr(session.arguments, "output"):
            print_answer("\n\n".join([describe(work, ours=client.is_ours(work)) async for work in works]))
        elif render is None:
            if not await _print_rows(works, client, form) and not missing:
                print_note("no work is found")
        else:
            data = [await _data(work, client, form) async for work in works]
            one = command != "list" and len(session.names) == 1
            if data or not one:
                print_answer(render(data[0] if one else data))
    if missing:
        raise missing[0] if len(missing) == 1 else NotFound("; ".join(each.what for each in missing))


async def _data(work: ManifestWork, client: MaestroClient, form: Form) -> dict[str, Any]:
    if form.name != "manifestwork":
        return view(work, ours=client.is_ours(work))
    try:
        executor = await client.works(work.consumer).executor_of(work)
    except Invalid:
        print_note(
            f"work {work.name} on {work.consumer} has an executor, which Maestro does not show: it is not printed"
        )
        return work.to_kubernetes()
    return replace(work, executor=executor).to_kubernetes()


async def _asked(session: Session, client: MaestroClient, missing: list[NotFound]) -> AsyncIterator[ManifestWork]:
    """The works that are there; what is not there is put into `missing`."""
    names = session.names
    if not names:
        async for work in _listed(session, client):
            yield work
        return
    consumer = (await require_consumer(client, session.consumer)).consumer
    for name in names:
        try:
            yield await find(client, consumer, name)
        except NotFound as error:
            missing.append(error)


async def find(client: MaestroClient, consumer: str, name: str) -> ManifestWork:
    """Our work of that name; where we have none, another source's. Raises NotFound."""
    works = client.works(consumer)
    try:
        return await works.get(name)
    except NotFound:
        async for work in client.scan(consumer=consumer, name=name):
            return work
        raise NotFound(
            f"there is no work {name!r} on {consumer}", remedy=f"see `maestro-cli list --consumer {consumer}`"
        ) from None


async def _listed(session: Session, client: MaestroClient) -> AsyncIterator[ManifestWork]:
    arguments = session.arguments
    consumer: str = arguments.consumer
    if consumer:
        await require_consumer(client, consumer)
    async for work in client.scan(consumer=consumer, selector=getattr(arguments, "selector", None)):
        if _is_meant(work, getattr(arguments, "status", None), getattr(arguments, "filter", None)):
            yield work


def _is_meant(work: ManifestWork, status: str | None, text: str | None) -> bool:
    if status and not has_status(work, status):
        return False
    if not text:
        return True
    key, equals, value = text.partition("=")
    return work.labels.get(key) == value if equals else text in work.name


async def _print_rows(works: AsyncIterator[ManifestWork], client: MaestroClient, form: Form) -> int:
    """How many there are. Only the rows are kept, not the works: a page of them is all that is in memory."""
    rows = [_row(work, client) async for work in works]
    rows.sort(key=lambda row: row[:2])
    if form.name == "name":
        for row in rows:
            print_answer(row[1])
    elif rows:
        header = _WIDE if form.name == "wide" else _HEADER
        print_answer(table(header, [row[: len(header)] for row in rows]))
    return len(rows)


def _row(work: ManifestWork, client: MaestroClient) -> tuple[str, ...]:
    labels = ",".join(f"{key}={value}" for key, value in sorted(work.labels.items()))
    mine = client.is_ours(work)
    state = str(state_of(work)) if mine else f"{state_of(work)} (other source)"
    return (
        *(work.consumer, work.name, state, str(work.generation), str(len(work.manifests)), age(work.created_at)),
        *(work.uid, "ours" if mine else "other", labels or "<none>"),
    )
