"""A resource's manifest: a mapping, a block of text, or a file.

A text is rendered as a structure where that means the same: where it is YAML as it stands, and every action stands in a
quoted scalar or a block. All other texts are rendered first and read then, as the Go framework does.
"""

import re
from collections.abc import Iterator
from typing import Any, Final

from dispatcher.config.compiled import Manifest
from dispatcher.config.compiling.broken import BrokenTemplate
from dispatcher.config.compiling.context import Context, Locate, compiled_template
from dispatcher.config.compiling.manifest_syntax import syntax_mistakes
from dispatcher.config.compiling.references import referenced
from dispatcher.config.compiling.scopes import Scope
from dispatcher.config.findings import Finding, Severity
from dispatcher.config.manifests import BrokenManifest, StructuredManifest, TextManifest
from dispatcher.config.reading.composing import PLAIN, ListNode, MapNode, Node, ScalarNode
from dispatcher.config.reading.documents import Document
from dispatcher.config.reading.offsets import offset_in_source
from dispatcher.config.reading.parsing import parse
from dispatcher.config.reading.paths import Path
from dispatcher.config.reading.scalars import plain
from shared.languages.errors import Rejected
from shared.languages.gotemplate import Template, compile_structure

OPENING: Final = "{{"
_BLOCK_STYLES: Final = frozenset({"|", ">"})
_TRIMMING = re.compile(r"\{\{-|-\}\}")
_REACHING_OUT = re.compile(r"\{\{-?\s*(?:define|block|template)\b")
_TOP_LEVEL = {key: re.compile(rf"^{key}:[ \t]*['\"]?([^\s'\"#]+)", re.MULTILINE) for key in ("apiVersion", "kind")}
_ANYWHERE = {key: re.compile(rf"^\s*{key}:[ \t]*['\"]?([^\s'\"#]+)", re.MULTILINE) for key in ("apiVersion", "kind")}


def manifest(context: Context, written: Any, path: Path, scope: Scope) -> tuple[Manifest, Any]:
    """The compiled manifest, and its structure as far as it is known before it is rendered."""
    if isinstance(written, dict) and isinstance(written.get("ref"), str) and "kind" not in written:
        file = referenced(context, written["ref"], (*path, "ref"))
        if file is None:
            refusal = Rejected(f"there is no file {written['ref']}", source=written["ref"])
            return BrokenManifest(api_version="", kind="", refusal=refusal), None
        return _text(context, file.text, file.place_at, scope)
    if isinstance(written, dict):
        return _structure(context, written, path, scope), written
    return _text(context, str(written), context.locate(path), scope)


def _structure(context: Context, written: dict[str, Any], path: Path, scope: Scope) -> Manifest:
    for inner, text, is_key in texts(written, path):
        context.template(text, _located(context.document, inner, is_key=is_key), scope.template)
    return _structured(written)


def _structured(written: dict[str, Any]) -> Manifest:
    api_version, kind = (_scalar(written.get(key)) for key in ("apiVersion", "kind"))
    try:
        return StructuredManifest(
            api_version=api_version, kind=kind, structure=compile_structure(written, compile_text=_once)
        )
    except Rejected as refusal:
        return BrokenManifest(api_version=api_version, kind=kind, refusal=refusal)


def _once(source: str, *, variables: object) -> Template:  # noqa: ARG001 - names are checked apart from this
    return compiled_template(source)


def _located(document: Document, path: Path, *, is_key: bool) -> Locate:
    return lambda offset: document.place_in(path, offset, key=is_key)


def _scalar(value: Any) -> str:
    return value if isinstance(value, str) else ""


def texts(data: Any, path: Path) -> Iterator[tuple[Path, str, bool]]:
    """All texts with actions, keys too, in the order of the document."""
    if isinstance(data, dict):
        for key, value in data.items():
            if OPENING in key:
                yield (*path, key), key, True
            yield from texts(value, (*path, key))
    elif isinstance(data, list):
        for index, element in enumerate(data):
            yield from texts(element, (*path, index))
    elif isinstance(data, str) and OPENING in data:
        yield path, data, False


def _text(context: Context, text: str, locate: Locate, scope: Scope) -> tuple[Manifest, Any]:
    document = _readable(text)
    if document is not None and isinstance(document.root, MapNode):
        scalars = list(_scalars(document.root))
        if _stands_alone(text, scalars):
            for scalar in scalars:
                _inner_template(context, text, scalar, locate, scope)
            structure = plain(document.data)
            return _structured(structure), structure
    template = context.template(text, locate, scope.template)
    if not isinstance(template, BrokenTemplate):
        for offset, mistake in syntax_mistakes(text):
            context.report(Severity.MISTAKE, mistake.rule, mistake.message, locate(offset), mistake.hint)
    found = {key: (_TOP_LEVEL[key].search(text) or _ANYWHERE[key].search(text)) for key in ("apiVersion", "kind")}
    api_version, kind = (each[1] if each else "" for each in found.values())
    return TextManifest(api_version=api_version, kind=kind, template=template), None


def _readable(text: str) -> Document | None:
    findings: list[Finding] = []
    document = parse(text, "", findings)
    return None if findings else document


def _scalars(node: Node) -> Iterator[ScalarNode]:
    if isinstance(node, ScalarNode):
        yield node
    elif isinstance(node, ListNode):
        for element in node.elements:
            yield from _scalars(element)
    elif isinstance(node, MapNode):
        for entry in node.entries:
            for part in entry:
                yield from _scalars(part)


def _stands_alone(text: str, scalars: list[ScalarNode]) -> bool:
    """Whether every action is inside one scalar that stays a text, and means the same there as in the whole text."""
    with_actions = {id(scalar): scalar for scalar in scalars if OPENING in scalar.value}.values()
    if sum(scalar.value.count(OPENING) for scalar in with_actions) != text.count(OPENING):
        return False
    for scalar in with_actions:
        trims = scalar.style in _BLOCK_STYLES and _TRIMMING.search(scalar.value)
        if scalar.style == PLAIN or trims or _REACHING_OUT.search(scalar.value):
            return False
        try:
            compiled_template(scalar.value)
        except Rejected:
            return False
    return True


def _inner_template(context: Context, text: str, scalar: ScalarNode, locate: Locate, scope: Scope) -> None:
    if OPENING in scalar.value:
        context.template(scalar.value, lambda offset: locate(offset_in_source(text, scalar, offset)), scope.template)
