"""`diff`: what apply would change. Exit code 0 where nothing differs, 7 where something does."""

import json
import sys
from dataclasses import replace

from maestro_cli.changes.comparing import Difference, compare
from maestro_cli.commands.session import Session, require_consumer
from maestro_cli.commands.works.applying import planned, stored_work
from maestro_cli.documents.reading import read_documents
from maestro_cli.documents.works import works_of
from maestro_cli.exits import Exit
from maestro_cli.output.differences import show
from maestro_cli.output.printing import say
from shared.maestro import MaestroClient
from shared.model.manifestwork import ManifestWork


async def run(session: Session) -> Exit:
    arguments = session.arguments
    form = session.form("table")
    wanted = works_of(read_documents(arguments.files), consumer=arguments.consumer, name=arguments.named)
    found: list[Difference] = []
    async with session.client() as client:
        for work in wanted:
            found += await _differences(session, client, work)
    if not form.is_table:
        say(json.dumps([each.to_json() for each in found], indent=2, ensure_ascii=False))
    elif found:
        say(show(found, colour=sys.stdout.isatty()))
    return Exit.DIFFERENT if found else Exit.OK


async def _differences(session: Session, client: MaestroClient, wanted: ManifestWork) -> list[Difference]:
    works = await require_consumer(client, wanted.consumer)
    stored = await stored_work(client, works, wanted.name, adopt=True)
    if stored is None:
        return compare(replace(wanted, manifests=(), manifest_configs=(), delete_option=None), wanted)
    arguments = session.arguments
    merged = planned(stored, wanted, replace_all=arguments.replace, writer=arguments.field_manager)
    return compare(stored, merged.work)
