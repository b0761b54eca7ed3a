"""`diff`: what apply would change. Exit code 0 where nothing differs, 7 where something does or apply would refuse."""

import sys
from dataclasses import replace

from maestro_cli.changes.comparing import Difference, compare
from maestro_cli.commands.session import Session, require_consumer
from maestro_cli.commands.works.applying import planned, refused, stored_work
from maestro_cli.documents.reading import read_documents
from maestro_cli.documents.works import works_of
from maestro_cli.exits import Exit
from maestro_cli.output.differences import show
from maestro_cli.output.printing import print_answer, print_note
from shared.errors import NotOwned
from shared.maestro import MaestroClient
from shared.model.manifestwork import ManifestWork
from shared.standard_streams import wants_colour


async def run(session: Session) -> Exit:
    arguments = session.arguments
    form = session.form("table")
    as_data = None if form.is_table else form.compile()
    wanted = works_of(read_documents(arguments.files), consumer=arguments.consumer, name=arguments.named)
    found: list[Difference] = []
    refusals: list[NotOwned] = []
    async with session.client() as client:
        for work in wanted:
            differences, refusal = await _differences(session, client, work)
            found += differences
            refusals += [refusal] if refusal else []
    if as_data is not None:
        print_answer(as_data([each.to_json() for each in found]))
    elif found:
        print_answer(show(found, colour=wants_colour(sys.stdout)))
    for each in refusals:
        print_note(f"apply would refuse: {each}")
    return Exit.DIFFERENT if found or refusals else Exit.OK


async def _differences(
    session: Session, client: MaestroClient, wanted: ManifestWork
) -> tuple[list[Difference], NotOwned | None]:
    """What differs, and why apply would refuse."""
    works = await require_consumer(client, wanted.consumer)
    stored = await stored_work(client, works, wanted.name, adopt=True)
    if stored is None:
        return compare(replace(wanted, manifests=(), manifest_configs=(), delete_option=None), wanted), None
    arguments = session.arguments
    merged = planned(stored, wanted, replace_all=arguments.replace, prune=arguments.prune, writer=session.writer)
    return compare(stored, merged.work), refused(merged)
