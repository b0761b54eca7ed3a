"""`apply`: create or update works without losing what others put into them."""

from collections.abc import Iterable
from dataclasses import replace

from maestro_cli.changes.comparing import Difference, compare
from maestro_cli.changes.identity import ManifestId
from maestro_cli.changes.merging import Merged, merge, remember
from maestro_cli.commands.session import Session, require_consumer
from maestro_cli.commands.works.waiting_for import Awaited, wait_for
from maestro_cli.documents.feedback import FeedbackRule
from maestro_cli.documents.reading import read_documents
from maestro_cli.documents.works import works_of
from maestro_cli.output.differences import show
from maestro_cli.output.printing import Form, print_answer, print_note
from maestro_cli.output.states import view
from shared.errors import Conflict, NotFound, NotOwned
from shared.maestro import Action, MaestroClient, Outcome, Works
from shared.model.manifestwork import ManifestWork
from shared.model.manifestwork_validation import validate

_ATTEMPTS = 5


async def run(session: Session) -> None:
    arguments = session.arguments
    awaited = Awaited.parse(arguments.wait, arguments.fail_on) if arguments.wait else None
    form = session.form("name")
    session.results.consumer, session.results.name = arguments.consumer, arguments.named
    feedback = [FeedbackRule.parse(each) for each in arguments.feedback]
    wanted = works_of(
        read_documents(arguments.files), consumer=arguments.consumer, name=arguments.named, feedback=feedback
    )
    for each in wanted:
        session.results.name, session.results.consumer = each.name, each.consumer
        validate(each)
    async with session.client() as client:
        for each in wanted:
            await _apply_one(session, client, each, awaited, form)


async def _apply_one(
    session: Session, client: MaestroClient, wanted: ManifestWork, awaited: Awaited | None, form: Form
) -> None:
    session.results.name, session.results.consumer = wanted.name, wanted.consumer
    works = await require_consumer(client, wanted.consumer)
    if session.arguments.dry_run:
        await _dry_run(session, client, works, wanted)
        return
    outcome = await _bring_up(session, client, works, wanted)
    work = session.results.sent = outcome.work
    if awaited is None:
        session.results.write_success(work, f"work {work.name} is {outcome.action}")
    else:
        print_note(f"work {work.name} on {work.consumer} is {outcome.action}; waiting for {awaited.expression}")
        work = await wait_for(client, works, work.name, awaited, session)
        session.results.write_success(work, f"{awaited.expression} is met")
    if form.name == "name":
        met = f"; {awaited.expression} is met" if awaited else ""
        print_answer(f"work {work.name} on {work.consumer} is {outcome.action}{met}")
    else:
        print_answer(form.compile()(view(work, ours=True)))


async def _dry_run(session: Session, client: MaestroClient, works: Works, wanted: ManifestWork) -> None:
    stored = await stored_work(client, works, wanted.name, adopt=session.arguments.adopt)
    if stored is None:
        print_answer(
            f"work {wanted.name} on {wanted.consumer} would be created with {len(wanted.manifests)} manifest(s)"
        )
        return
    merged = _planned(session, stored, wanted)
    differences = compare(stored, merged.work)
    if differences and not wanted.executor and not session.arguments.drop_executor:
        await works.executor_of(stored)
    action = "would be updated" if differences else "would stay unchanged"
    print_answer(f"work {wanted.name} on {wanted.consumer} {action}")
    _print(differences)


def _print(differences: list[Difference]) -> None:
    if differences:
        print_answer(show(differences, colour=False))


async def _bring_up(session: Session, client: MaestroClient, works: Works, wanted: ManifestWork) -> Outcome:
    """Merge with what is there and send it with the version that was read; read again after a conflict."""
    arguments = session.arguments
    for attempt in range(1, _ATTEMPTS + 1):
        stored = await stored_work(client, works, wanted.name, adopt=arguments.adopt)
        if stored is None:
            return await works.apply(remember(wanted, session.writer), adopt=arguments.adopt)
        merged = _planned(session, stored, wanted)
        if not compare(stored, merged.work) and not wanted.executor and not arguments.drop_executor:
            return Outcome(action=Action.UNCHANGED, work=stored)
        try:
            outcome = await works.apply(merged.work, adopt=arguments.adopt, drop_executor=arguments.drop_executor)
        except Conflict:
            if attempt == _ATTEMPTS:
                raise
        else:
            if merged.removed:
                print_note(f"removed from work {wanted.name}: {_listed(merged.removed)}")
            return outcome
    raise AssertionError("the loop returns or raises")


def _planned(session: Session, stored: ManifestWork, wanted: ManifestWork) -> Merged:
    """What is sent. Raises NotOwned where the work has manifests that nobody said to keep or to remove."""
    arguments = session.arguments
    merged = planned(stored, wanted, replace_all=arguments.replace, prune=arguments.prune, writer=session.writer)
    refusal = None if arguments.keep_others else refused(merged)
    if refusal:
        raise refusal
    return merged


def planned(
    stored: ManifestWork, wanted: ManifestWork, *, replace_all: bool = False, prune: bool = False, writer: str = ""
) -> Merged:
    """The merge, or with `replace_all` the file as it is; both still have the version that was read."""
    if replace_all:
        whole = replace(remember(wanted, writer), generation=stored.generation, other_metadata=stored.other_metadata)
        return Merged(work=whole)
    return merge(stored, wanted, writer=writer, prune=prune)


def refused(merged: Merged) -> NotOwned | None:
    """Why apply would not send this without being asked to keep or to remove what the file lacks."""
    where = f"work {merged.work.name!r} on {merged.work.consumer}"
    if merged.foreign:
        return NotOwned(
            f"{where} has manifests that no earlier apply brought: {_listed(merged.foreign)}",
            remedy="keep them with --keep-others, remove them with --replace, or add some with `maestro-cli build`",
        )
    if merged.unnamed:
        return NotOwned(
            f"{where} has manifests that the file lacks: {_listed(merged.unnamed)}",
            why="an apply without --field-manager brought them, perhaps another writer's",
            remedy="remove them with --prune, or keep them with --keep-others",
        )
    return None


async def stored_work(client: MaestroClient, works: Works, name: str, *, adopt: bool) -> ManifestWork | None:
    """Our work of that name. Raises NotOwned where another source has one and it is not to be adopted."""
    try:
        return await works.get(name)
    except NotFound:
        pass
    async for other in client.scan(consumer=works.consumer, name=name):
        if not adopt:
            raise NotOwned(
                f"work {name!r} on {works.consumer} was made by another source",
                why=f"its id is {other.uid}",
                remedy="use another name, or --adopt if it is really yours",
            )
        return other
    return None


def _listed(manifests: Iterable[ManifestId]) -> str:
    return ", ".join(map(str, manifests))
