"""Resources: the manifest, where it goes, how it is found again and when it is created or deleted."""

from collections.abc import Sequence
from typing import Any

from dispatcher.config.compiled import Discovery, NestedDiscovery, Repoll, Resource
from dispatcher.config.compiling.context import Context
from dispatcher.config.compiling.manifests import manifest
from dispatcher.config.compiling.scopes import Scope
from dispatcher.config.findings import Severity
from dispatcher.config.models.task import DiscoveryBlock, RepollBlock, ResourceBlock, WhenBlock
from dispatcher.config.reading.paths import Path
from shared.languages.cel import CelProgram
from shared.languages.gotemplate import Template


def resources(
    context: Context, blocks: Sequence[ResourceBlock], scope: Scope
) -> tuple[tuple[Resource, ...], tuple[Any, ...]]:
    """The resources, and for each the structure of its manifest, None where it is known only when it is rendered."""
    names: set[str] = set()
    compiled, structures = [], []
    for index, block in enumerate(blocks):
        if block.name in names:
            message = f"there are two resources {block.name!r}"
            context.report(Severity.REFUSED, "duplicate-name", message, context.place(("resources", index, "name")))
        names.add(block.name)
        resource, structure = _resource(context, block, ("resources", index), scope)
        compiled.append(resource)
        structures.append(structure)
    return tuple(compiled), tuple(structures)


def _resource(context: Context, block: ResourceBlock, path: Path, scope: Scope) -> tuple[Resource, Any]:
    rendered, structure = manifest(context, block.manifest, (*path, "manifest"), scope)
    transport = block.transport.client if block.transport else "kubernetes"
    _advise(context, block, path, transport)
    lifecycle = block.lifecycle
    create = lifecycle.create if lifecycle else None
    delete = lifecycle.delete if lifecycle else None
    is_job = rendered.kind == "Job" and rendered.api_version.startswith("batch/") and transport == "kubernetes"
    nested = [
        NestedDiscovery(
            name=each.name,
            discovery=_discovery(context, each.discovery, (*path, "nested_discoveries", number, "discovery"), scope),
            place=context.place((*path, "nested_discoveries", number)),
        )
        for number, each in enumerate(block.nested_discoveries)
    ]
    resource = Resource(
        name=block.name,
        transport=transport,
        target_cluster=_target(context, block, path, scope),
        manifest=rendered,
        discovery=_discovery(context, block.discovery, (*path, "discovery"), scope),
        nested=tuple(nested),
        recreate_on_change=block.recreate_on_change and transport != "maestro",
        create_when=_when(context, create.when if create else None, (*path, "lifecycle", "create"), scope),
        delete_when=_when(context, delete.when if delete else None, (*path, "lifecycle", "delete"), scope),
        propagation_policy=delete.propagationPolicy if delete else "Background",
        supersedes_lower_generations=block.supersedes is not None,
        watch=is_job if block.watch is None else block.watch,
        repoll=_repoll(context, block, path),
        repair_drift=block.drift == "repair",
        place=context.place(path),
    )
    return resource, structure


def _advise(context: Context, block: ResourceBlock, path: Path, transport: str) -> None:
    """Says which members mean nothing where the resource goes."""
    delete = block.lifecycle.delete if block.lifecycle else None
    ignored: list[tuple[Path, str]] = []
    if transport == "maestro" and block.recreate_on_change:
        ignored.append((("recreate_on_change",), "a work is updated: to replace it would delete what it delivered"))
    if transport == "maestro" and delete is not None and "propagationPolicy" in delete.model_fields_set:
        ignored.append((("lifecycle", "delete", "propagationPolicy"), "a work has its own in spec.deleteOption"))
    if transport == "maestro" and block.repoll is not None:
        ignored.append((("repoll",), "a work has no TTL"))
    if transport == "kubernetes" and block.transport is not None and block.transport.maestro is not None:
        ignored.append((("transport", "maestro"), "the client is kubernetes"))
    for member, reason in ignored:
        message = f"this is accepted and not used: {reason}"
        context.report(Severity.ADVICE, "ignored", message, context.place((*path, *member), key=True), "remove it")


def _target(context: Context, block: ResourceBlock, path: Path, scope: Scope) -> Template | None:
    if block.transport is None or block.transport.maestro is None or block.transport.client != "maestro":
        return None
    locate = context.locate((*path, "transport", "maestro", "target_cluster"))
    return context.template(block.transport.maestro.target_cluster, locate, scope.template)


def _when(context: Context, block: WhenBlock | None, path: Path, scope: Scope) -> CelProgram | None:
    if block is None:
        return None
    return context.cel(block.expression, context.locate((*path, "when", "expression")), scope.cel)


def _repoll(context: Context, block: ResourceBlock, path: Path) -> Repoll | None:
    if not isinstance(block.repoll, RepollBlock):
        return Repoll() if block.repoll else None
    locate = context.locate((*path, "repoll", "when", "expression"))
    known = frozenset({"resources"})
    return Repoll(when=context.cel(block.repoll.when.expression, locate, known, checked_in_go=False))


def _discovery(context: Context, block: DiscoveryBlock, path: Path, scope: Scope) -> Discovery:
    def template(text: str, *steps: str, key: bool = False) -> Template:
        inner = (*path, *steps)
        return context.template(text, lambda offset: context.document.place_in(inner, offset, key=key), scope.template)

    labels = block.by_selectors.label_selector if block.by_selectors else {}
    selector = ("by_selectors", "label_selector")
    return Discovery(
        namespace=template(block.namespace, "namespace") if block.namespace else None,
        by_name=template(block.by_name, "by_name") if block.by_name else None,
        by_labels=tuple(
            (template(label, *selector, label, key=True), template(value, *selector, label))
            for label, value in labels.items()
        ),
    )
