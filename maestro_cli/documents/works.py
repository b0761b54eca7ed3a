"""Which ManifestWorks some documents mean.

A ManifestWork stands for itself. Plain Kubernetes manifests are wrapped into one work, with the feedback rules of
their kinds. `build` also takes parts of a work: its spec, its workload, or a map with `manifests`.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from maestro_cli.documents.feedback import FeedbackRule, config_of
from maestro_cli.documents.reading import Document
from maestro_cli.exits import UsageError
from shared.errors import Invalid
from shared.model.manifestwork import API_VERSION, KIND, ManifestWork
from shared.model.manifestwork_validation import is_label_name


def works_of(
    documents: Sequence[Document], *, consumer: str, name: str = "", feedback: Sequence[FeedbackRule] = ()
) -> list[ManifestWork]:
    """The works to send to one consumer. Raises UsageError."""
    written = [_work(each) for each in documents if each.content.get("kind") == KIND]
    plain = [each for each in documents if each.content.get("kind") != KIND]
    if plain:
        written.append(_wrapped(plain, name, feedback))
    elif name and len(written) == 1:
        written[0] = replace(written[0], name=name)
    elif name:
        raise UsageError(f"--name {name} cannot name {len(written)} works at once", remedy="name each in its own file")
    # A file that `get` printed has the id and the version of where it came from.
    return [replace(each, consumer=_consumer(each, consumer), uid="", generation=0) for each in written]


def part_of_work(documents: Sequence[Document], *, name: str, consumer: str) -> ManifestWork:
    """What `build` puts into a work: a whole work, a part of one, or plain manifests."""
    if len(documents) == 1:
        document = documents[0]
        spec = _spec_of(document.content)
        if spec is not None:
            wrapped = {"apiVersion": API_VERSION, "kind": KIND, "metadata": {"name": name}, "spec": spec}
            return replace(_work(Document(document.source, wrapped)), consumer=consumer)
    (work,) = works_of(documents, consumer=consumer, name=name)
    return work


def _spec_of(content: dict[str, Any]) -> dict[str, Any] | None:
    if "kind" in content:
        return None
    if "workload" in content:
        return content
    if "manifests" in content:
        return {"workload": {"manifests": content["manifests"]}}
    return _spec_of(content["spec"]) if isinstance(content.get("spec"), dict) else None


def _work(document: Document) -> ManifestWork:
    if document.content.get("apiVersion", API_VERSION) != API_VERSION:
        raise UsageError(
            f"{document.source}: apiVersion {document.content['apiVersion']!r:.60} is no {KIND}",
            remedy=f"write {API_VERSION}",
        )
    try:
        return ManifestWork.from_kubernetes(document.content)
    except Invalid as error:
        raise UsageError(f"{document.source} is no valid {KIND}", why=error.why) from error


def _wrapped(documents: Sequence[Document], name: str, feedback: Sequence[FeedbackRule]) -> ManifestWork:
    for each in documents:
        if not isinstance(each.content.get("kind"), str) or not isinstance(each.content.get("apiVersion"), str):
            raise UsageError(f"{each.source} is no Kubernetes object", why="apiVersion or kind is missing")
    manifests = tuple(each.content for each in documents)
    configs = [config_of(each, feedback) for each in manifests]
    return ManifestWork(
        name=name or _derived_name(manifests),
        consumer="",
        manifests=manifests,
        manifest_configs=tuple(each for each in configs if each is not None),
    )


def _derived_name(manifests: Sequence[dict[str, Any]]) -> str:
    if len(manifests) == 1:
        metadata = manifests[0].get("metadata")
        named = metadata.get("name") if isinstance(metadata, dict) else None
        derived = f"{manifests[0]['kind']}-{named}".lower().replace(".", "-")
        if named and is_label_name(derived):
            return derived
    raise UsageError("the work has no name", remedy="give it one with --name")


def _consumer(work: ManifestWork, consumer: str) -> str:
    if consumer or work.consumer:
        return consumer or work.consumer
    raise UsageError(
        f"work {work.name!r} has no management cluster", remedy="give it with --consumer, or write metadata.namespace"
    )
