"""`validate`: everything that Maestro or the agent would refuse or drop, all at once, before anything is sent."""

import json
from typing import Any

from maestro_cli.commands.session import Session, require_consumer
from maestro_cli.documents.reading import Document, read_documents
from maestro_cli.documents.works import works_of
from maestro_cli.exits import UsageError
from maestro_cli.output.printing import print_answer
from shared.errors import Invalid, Problem
from shared.model.manifestwork import ManifestWork
from shared.model.manifestwork_validation import problems_of

_ANY_CONSUMER = "any-consumer"


async def run(session: Session) -> None:
    arguments = session.arguments
    form = session.form("table")
    documents = read_documents(arguments.files)
    found = _problems(documents, arguments.named, arguments.consumer)
    if arguments.consumer:
        async with session.client() as client:
            await require_consumer(client, arguments.consumer)
    if form.name == "json":
        print_answer(json.dumps([{"path": each.path, "message": each.message} for each in found], indent=2))
    if found:
        raise Invalid(f"{', '.join(arguments.files)}: {len(found)} problem(s)", found)
    if form.is_table:
        print_answer(f"{', '.join(arguments.files)}: valid")


def _problems(documents: list[Document], name: str, consumer: str) -> list[Problem]:
    try:
        works = works_of(documents, consumer=consumer or _ANY_CONSUMER, name=name)
    except UsageError as error:
        return [Problem("", str(error))]
    return [
        Problem(f"{work.name}: {problem.path}", problem.message)
        for work in works
        for problem in [*problems_of(work), *_config_problems(work)]
    ]


def _config_problems(work: ManifestWork) -> list[Problem]:
    """Configs that mean no manifest of the work: Maestro takes them, and nothing ever comes of them."""
    names = {(_text(each, "namespace"), _text(each, "name")) for each in (_metadata(m) for m in work.manifests)}
    found = []
    for index, config in enumerate(work.manifest_configs):
        identifier = config.get("resourceIdentifier")
        parts = identifier if isinstance(identifier, dict) else {}
        if (_text(parts, "namespace"), _text(parts, "name")) not in names:
            path = f"spec.manifestConfigs[{index}].resourceIdentifier"
            found.append(Problem(path, f"means no manifest of the work: {json.dumps(parts)}"))
    return found


def _metadata(manifest: Any) -> dict[str, Any]:
    metadata = manifest.get("metadata")
    return metadata if isinstance(metadata, dict) else {}


def _text(mapping: dict[str, Any], key: str) -> str:
    return str(mapping.get(key) or "")
