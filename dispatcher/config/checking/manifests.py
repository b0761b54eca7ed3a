"""Manifests that cannot do what they are for: no generation, no kind, or a discovery that finds something else."""

from collections.abc import Iterator
from typing import Any, Final

from dispatcher.config.checking.matching import cannot_equal
from dispatcher.config.compiled import Discovery, Resource
from dispatcher.config.compiling.context import Context
from dispatcher.config.compiling.task import CompiledTask
from dispatcher.config.findings import Severity
from dispatcher.config.manifests import BrokenManifest, TextManifest
from dispatcher.config.reading.paths import Path

GENERATION: Final = "hyperfleet.io/generation"
_ANY: Final = "*"


def check_manifests(context: Context, compiled: CompiledTask) -> None:
    for index, (resource, structure) in enumerate(zip(compiled.resources, compiled.structures, strict=True)):
        path: Path = ("resources", index)
        if isinstance(resource.manifest, BrokenManifest):
            continue
        _check_kind(context, resource, (*path, "manifest"))
        _check_generation(context, resource, structure, (*path, "manifest"))
        if structure is not None:
            for problem, where in _unmatched(resource.discovery, structure, resource.transport):
                place = context.place((*path, "discovery", *where))
                context.report(Severity.MISTAKE, "discovery", problem, place, "compare it with the manifest")
            _check_nested(context, resource, structure, path)


def _check_kind(context: Context, resource: Resource, path: Path) -> None:
    for key, value in (("apiVersion", resource.manifest.api_version), ("kind", resource.manifest.kind)):
        if not value or "{{" in value:
            problem = f"{key} is a template" if value else f"{key} is missing"
            hint = f"write {key} as a plain text: it must be known before the manifest is rendered"
            context.report(Severity.MISTAKE, "manifest-kind", problem, context.place(path), hint)


def _check_generation(context: Context, resource: Resource, structure: Any, path: Path) -> None:
    hint = f'add {GENERATION}: "{{{{ .generation }}}}" to metadata.annotations'
    if isinstance(resource.manifest, TextManifest):
        missing = [] if GENERATION in resource.manifest.template.source else ["the manifest"]
    else:
        missing = list(_without_generation(structure, resource.transport))
    for what in missing:
        message = f"{what} has no annotation {GENERATION}: a change of the object's spec is not seen"
        if resource.transport == "maestro":
            message = f"{what} has no annotation {GENERATION}, which Maestro's transport demands"
        context.report(Severity.MISTAKE, "no-generation", message, context.place(path, key=True), hint)


def _without_generation(structure: Any, transport: str) -> Iterator[str]:
    if GENERATION not in _member(structure, "metadata", "annotations"):
        yield "the manifest"
    if transport == "maestro":
        for index, inner in enumerate(_workload(structure)):
            if GENERATION not in _member(inner, "metadata", "annotations"):
                yield f"spec.workload.manifests[{index}]"


def _workload(structure: Any) -> list[Any]:
    manifests = _member(structure, "spec", "workload").get("manifests")
    return manifests if isinstance(manifests, list) else []


def _member(value: Any, *names: str) -> dict[str, Any]:
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}


def _unmatched(discovery: Discovery, structure: Any, transport: str) -> Iterator[tuple[str, Path]]:
    """What keeps a discovery from finding an object of this structure, and the member that does."""
    metadata = _member(structure, "metadata")
    name = metadata.get("name")
    if discovery.by_name is not None and isinstance(name, str) and cannot_equal(discovery.by_name.source, name):
        yield f"this name is never the manifest's {name!r}", ("by_name",)
    labels = _member(metadata, "labels")
    templated = any("{{" in label for label in labels)
    for key, value in discovery.by_labels:
        selector: Path = ("by_selectors", "label_selector", key.source)
        if key.source not in labels and not templated and "{{" not in key.source:
            yield f"the manifest has no label {key.source!r}", selector
        elif isinstance(labels.get(key.source), str) and cannot_equal(value.source, labels[key.source]):
            yield f"this value is never the manifest's {labels[key.source]!r}", selector
    if transport == "kubernetes":
        yield from _other_namespace(discovery, metadata.get("namespace"))


def _other_namespace(discovery: Discovery, namespace: Any) -> Iterator[tuple[str, Path]]:
    if not isinstance(namespace, str) or not namespace:
        return
    if discovery.namespace is None:
        if discovery.by_name is not None:
            yield f"the manifest is in the namespace {namespace!r}, and this looks in none", ()
    elif discovery.namespace.source != _ANY and cannot_equal(discovery.namespace.source, namespace):
        yield f"this namespace is never the manifest's {namespace!r}", ("namespace",)


def _check_nested(context: Context, resource: Resource, structure: Any, path: Path) -> None:
    inner = _workload(structure)
    for number, nested in enumerate(resource.nested):
        if inner and all(any(_unmatched(nested.discovery, each, "kubernetes")) for each in inner):
            place = context.place((*path, "nested_discoveries", number, "discovery"))
            message = f"{nested.name!r} finds none of the work's manifests"
            context.report(Severity.MISTAKE, "discovery", message, place, "compare it with spec.workload.manifests")
