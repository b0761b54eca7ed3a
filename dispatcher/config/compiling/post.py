"""The post phase: payload trees and actions."""

from collections.abc import Sequence
from typing import Any, Final

from dispatcher.config.compiled import (
    ABSENT,
    Constant,
    ListNode,
    MapNode,
    Payload,
    PayloadNode,
    Place,
    PostAction,
    TextNode,
    ValueNode,
)
from dispatcher.config.compiling.broken import BrokenTemplate
from dispatcher.config.compiling.calls import api_call, log_action
from dispatcher.config.compiling.context import Context, Locate
from dispatcher.config.compiling.references import referenced
from dispatcher.config.compiling.scopes import Scope
from dispatcher.config.findings import Severity
from dispatcher.config.models.task import PayloadBlock, PostActionBlock
from dispatcher.config.reading.documents import Document
from dispatcher.config.reading.parsing import parse
from dispatcher.config.reading.paths import Path
from dispatcher.config.reading.scalars import plain
from shared.languages.cel import CelProgram

_DEFINITION: Final = frozenset({"field", "expression", "default"})


def payloads(context: Context, blocks: Sequence[PayloadBlock], scope: Scope) -> tuple[tuple[Payload, ...], Scope]:
    """The payloads, and the scope of the actions."""
    compiled = []
    for index, block in enumerate(blocks):
        path: Path = ("post", "payloads", index)
        when = block.when.expression if block.when else None
        compiled.append(
            Payload(
                name=block.name,
                build=_build(context, block, path, scope),
                when=_when(context, when, (*path, "when", "expression"), scope.cel),
                place=context.place(path),
            )
        )
        scope = scope.with_payload(block.name)
    return tuple(compiled), scope


def _when(context: Context, expression: str | None, path: Path, names: frozenset[str]) -> CelProgram | None:
    return None if expression is None else context.cel(expression, context.locate(path), names)


def _build(context: Context, block: PayloadBlock, path: Path, scope: Scope) -> PayloadNode:
    if not block.build_ref:
        return _Tree(context, context.document, scope, checked_in_go=True).whole(block.build, (*path, "build"))
    file = referenced(context, block.build_ref, (*path, "build_ref"))
    document = parse(file.text, file.file, context.findings) if file else None
    if document is None:
        return Constant(None)
    if not isinstance(document.data, dict):
        place = context.place((*path, "build_ref"))
        context.report(Severity.REFUSED, "build-ref", f"{block.build_ref!r} is not a YAML mapping", place)
        return Constant(None)
    return _Tree(context, document, scope, checked_in_go=False).whole(plain(document.data), ())


class _Tree:
    """A payload's tree. A mapping with `field` or `expression` is a value definition, but not at the top."""

    def __init__(self, context: Context, document: Document, scope: Scope, *, checked_in_go: bool) -> None:
        self._context = context
        self._document = document
        self._scope = scope
        self._checked = checked_in_go

    def whole(self, build: Any, path: Path) -> PayloadNode:
        if isinstance(build, dict):
            return self._map(build, path)
        place = self._document.place(path)
        message = "only a mapping is built; this is sent as it stands"
        self._context.report(Severity.MISTAKE, "payload", message, place, "make it a mapping")
        return Constant(build)

    def _node(self, value: Any, path: Path) -> PayloadNode:
        if isinstance(value, dict):
            return self._value(value, path) if _is_definition(value) else self._map(value, path)
        if isinstance(value, list):
            return ListNode(tuple(self._node(element, (*path, index)) for index, element in enumerate(value)))
        if isinstance(value, str):
            template = self._context.template(
                value, self._locate(path), self._scope.template, checked_in_go=self._checked
            )
            return Constant(value) if template.compiled is None and not _broken(template) else TextNode(template)
        return Constant(value)

    def _map(self, value: dict[str, Any], path: Path) -> MapNode:
        entries = []
        for key, inner in value.items():
            template = self._context.template(
                key, self._locate((*path, key), key=True), self._scope.template, checked_in_go=self._checked
            )
            entries.append((template, self._node(inner, (*path, key))))
        return MapNode(tuple(entries))

    def _value(self, value: dict[str, Any], path: Path) -> ValueNode:
        field, expression = (str(value.get(key) or "") for key in ("field", "expression"))
        place: Place = self._document.place(path)
        if field and expression:
            message = "field and expression are mutually exclusive"
            self._context.report(Severity.REFUSED, "payload", message, place, "keep one of them")
        for key in value.keys() - _DEFINITION:
            message = f"{key!r} is not used: a mapping with field or expression is one value"
            hint = f"a value has {', '.join(sorted(_DEFINITION))}"
            self._context.report(
                Severity.ADVICE, "payload", message, self._document.place((*path, key), key=True), hint
            )
        names = self._scope.cel
        return ValueNode(
            field=self._context.jsonpath(field, self._locate((*path, "field")), names) if field else None,
            expression=self._context.cel(
                expression, self._locate((*path, "expression")), names, checked_in_go=self._checked
            )
            if expression
            else None,
            default=value.get("default", ABSENT),
            place=place,
        )

    def _locate(self, path: Path, *, key: bool = False) -> Locate:
        return lambda offset: self._document.place_in(path, offset, key=key)


def _broken(template: object) -> bool:
    return isinstance(template, BrokenTemplate)


def _is_definition(value: dict[str, Any]) -> bool:
    return any(
        value.get(key) not in (None, "") and not isinstance(value[key], dict | list) for key in ("field", "expression")
    )


def post_actions(context: Context, blocks: Sequence[PostActionBlock], scope: Scope) -> tuple[PostAction, ...]:
    compiled = []
    for index, block in enumerate(blocks):
        path: Path = ("post", "post_actions", index)
        call = api_call(context, block.api_call, (*path, "api_call"), scope) if block.api_call else None
        when = block.when.expression if block.when else None
        body = call.body if call else None
        compiled.append(
            PostAction(
                name=block.name,
                api_call=call,
                log=log_action(context, block.log, (*path, "log"), scope),
                when=_when(context, when, (*path, "when", "expression"), scope.cel_with_payloads),
                payloads=scope.payloads & (scope.payloads if _broken(body) else body.free_variables)
                if body
                else frozenset(),
                place=context.place(path),
            )
        )
    return tuple(compiled)
