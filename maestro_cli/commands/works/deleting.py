"""`delete`: by name, by labels or all of this source's; a work that is not there is already deleted."""

from collections.abc import AsyncIterator

from maestro_cli.commands.session import Session, require_consumer
from maestro_cli.commands.works.waiting_for import find, wait_gone
from maestro_cli.exits import UsageError
from maestro_cli.output.printing import print_answer, print_note
from shared.errors import NotOwned
from shared.maestro import MaestroClient, Works
from shared.model.manifestwork import ManifestWork


async def run(session: Session) -> None:
    arguments = session.arguments
    names = session.names
    if not names and not arguments.all and not arguments.selector:
        raise UsageError("nothing to delete is named", remedy="give names, --selector or --all")
    async with session.client() as client:
        works = await require_consumer(client, session.consumer)
        chosen = [work async for work in _chosen(session, client, works, names)]
        if not chosen and not names:
            print_note(f"no work of this source on {works.consumer} is meant: nothing to delete")
        for work in chosen:
            await _delete(session, client, works, work)
        if arguments.wait and not arguments.dry_run:
            for work in chosen:
                await wait_gone(client, works, work.name, session)
                print_answer(f"work {work.name} on {works.consumer} is gone")
    if not arguments.dry_run:
        names_of = ", ".join(work.name for work in chosen) or session.results.name
        session.results.write_deletion(names_of, gone=arguments.wait or not chosen)


async def _chosen(
    session: Session, client: MaestroClient, works: Works, names: list[str]
) -> AsyncIterator[ManifestWork]:
    for name in names:
        work = await find(client, works, name)
        if work is None:
            print_note(f"work {name} on {works.consumer} is not there: nothing to delete")
        else:
            yield work
    if not names:
        async for work in works.scan(session.arguments.selector):
            yield work


async def _delete(session: Session, client: MaestroClient, works: Works, work: ManifestWork) -> None:
    if not client.is_ours(work) and not session.arguments.adopt:
        raise NotOwned(
            f"work {work.name!r} on {works.consumer} was made by another source",
            why=f"its id is {work.uid}",
            remedy="give that --source-id, or --adopt if it is really yours",
        )
    if session.arguments.dry_run:
        print_answer(f"work {work.name} on {works.consumer} would be deleted with {len(work.manifests)} manifest(s)")
        return
    await works.delete(work.name, adopt=session.arguments.adopt)
    if not session.arguments.wait:
        print_answer(f"work {work.name} on {works.consumer} is being deleted")
