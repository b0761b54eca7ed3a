"""`build`: the work that is there with manifests put in or taken out; sent only with --apply, with the version read."""

import json
from dataclasses import replace
from pathlib import Path

from maestro_cli.changes.identity import ManifestId, manifest_id
from maestro_cli.changes.merging import build, remember
from maestro_cli.commands.session import Session, require_consumer
from maestro_cli.commands.works.applying import stored_work
from maestro_cli.commands.works.waiting_for import Awaited, wait_for
from maestro_cli.documents.reading import read_documents
from maestro_cli.documents.works import part_of_work
from maestro_cli.exits import UsageError
from maestro_cli.output.printing import Form, print_answer
from shared.errors import NotFound
from shared.files import write_atomically
from shared.model.manifestwork import ManifestWork
from shared.model.manifestwork_validation import validate


async def run(session: Session) -> None:
    arguments = session.arguments
    if not arguments.files and not arguments.remove:
        raise UsageError("nothing to build with", remedy="give --source-file or --remove")
    if arguments.wait and not arguments.apply:
        raise UsageError("--wait needs --apply")
    awaited = Awaited.parse(arguments.wait, arguments.fail_on) if arguments.wait else None
    name, consumer = session.name, session.consumer
    removed = [ManifestId.parse(each) for each in arguments.remove]
    empty = ManifestWork(name=name, consumer=consumer, manifests=())
    added = part_of_work(read_documents(arguments.files), name=name, consumer=consumer) if arguments.files else empty
    async with session.client() as client:
        works = await require_consumer(client, consumer)
        stored = await stored_work(client, works, name, adopt=arguments.adopt)
        if stored is None and not arguments.force:
            raise NotFound(f"there is no work {name!r} on {consumer}", remedy="create it with apply, or give --force")
        built = _built(session, stored, added, removed)
        validate(built)
        if arguments.apply and not arguments.dry_run:
            outcome = await works.apply(built, adopt=arguments.adopt, drop_executor=arguments.drop_executor)
            built = await wait_for(client, works, name, awaited, session) if awaited else outcome.work
            session.results.write_success(built, f"work {name} is {outcome.action}")
            print_answer(f"work {name} on {consumer} is {outcome.action}")
        else:
            _print(built, session.form("yaml"), arguments.output_file)


def _built(
    session: Session, stored: ManifestWork | None, added: ManifestWork, removed: list[ManifestId]
) -> ManifestWork:
    writer = session.writer
    if stored is None:
        return remember(added, writer)
    _require_present(stored, removed)
    if session.arguments.strategy == "replace":
        return replace(
            stored,
            manifests=added.manifests,
            manifest_configs=added.manifest_configs or stored.manifest_configs,
            delete_option=added.delete_option or stored.delete_option,
        )
    return build(stored, added, removed=removed, writer=writer)


def _require_present(stored: ManifestWork, removed: list[ManifestId]) -> None:
    there = [manifest_id(each) for each in stored.manifests]
    for named in removed:
        if not any(named.means(each) for each in there):
            listed = ", ".join(map(str, there)) or "none"
            raise NotFound(f"work {stored.name!r} has no manifest {named}", remedy=f"it has {listed}")


def _print(work: ManifestWork, form: Form, output_file: str | None) -> None:
    document = work.to_kubernetes()
    if not output_file:
        print_answer(form.compile()(document))
        return
    path = Path(output_file)
    text = json.dumps(document, indent=2) if path.suffix == ".json" else Form("yaml").compile()(document)
    try:
        write_atomically(path, f"{text}\n".encode(), mode=0o600)
    except OSError as error:
        raise UsageError(f"{path} cannot be written", why=error.strerror or "unknown error") from error
