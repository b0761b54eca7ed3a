"""Payloads: documents of constants, templates, fields and expressions, written as JSON.

An expression that fails is null, or its default, because a status that lacks one value says more than none. A template
or a `when` that fails stops all post-actions, unless the object is gone: then there is nobody to report to.
"""

import json
import re
from collections.abc import Callable, Iterable
from typing import Any

from dispatcher.config.compiled import (
    ABSENT,
    Constant,
    ListNode,
    MapNode,
    Payload,
    PayloadNode,
    TextNode,
    ValueNode,
)
from dispatcher.engine.running import Failure, Run
from dispatcher.engine.runs import PayloadRecord
from shared.errors import Invalid
from shared.languages.errors import EvaluationError

# Neither language can make a value that contains itself, so nothing is spent on looking for one.
_ENCODER = json.JSONEncoder(
    check_circular=False, ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False
)
_MARKUP = re.compile("[<>&\u2028\u2029]")
_ESCAPED = {ord(character): f"\\u{ord(character):04x}" for character in "<>&\u2028\u2029"}
_EXACT_IN_A_DOUBLE = 2.0**53


Builder = Callable[[Run], Any]
Builders = tuple[tuple[Payload, Builder], ...]


def compile_payloads(payloads: Iterable[Payload]) -> Builders:
    """How each payload is built: worked out once, with everything that never changes built already."""
    return tuple((payload, _builder(payload.build)) for payload in payloads)


def build_payloads(run: Run, builders: Builders) -> list[PayloadRecord]:
    """Raises a failure whose text names the payload."""
    records = []
    for payload, build in builders:
        text = _text_of(run, payload, build)
        records.append(PayloadRecord(name=payload.name, text=text))
        if text is not None:
            # Expressions of later payloads do not see it, templates do.
            run.variables.template[payload.name] = text
    for record in records:
        if record.text is not None:
            run.variables.set(record.name, record.text)
    return records


def _text_of(run: Run, payload: Payload, build: Builder) -> str | None:
    try:
        if payload.when is not None and not run.matches(payload.when):
            return None
        built = build(run)
        text = to_json(built)
    except Failure as error:
        what = f"payload {payload.name!r} cannot be built"
        if run.not_found:
            run.warn(f"{what}: {run.text_of(error)}")
            return None
        raise Invalid(what, why=run.text_of(error)) from None
    if isinstance(built, dict):
        run.built[text] = built
    return text


def to_json(value: Any) -> str:
    """Compact, keys sorted; what HTML would take for markup is escaped, as Go writes it."""
    try:
        text = _ENCODER.encode(value)
    except (TypeError, ValueError, RecursionError) as error:
        raise Invalid("the value cannot be written as JSON", why=str(error)) from None
    return text if _MARKUP.search(text) is None else text.translate(_ESCAPED)


def _builder(node: PayloadNode) -> Builder:
    if _is_constant(node):
        value = _constant(node)
        return lambda _: value
    match node:
        case TextNode(template):
            return lambda run: run.render(template)
        case ValueNode():
            return lambda run: _value(run, node)
        case MapNode(entries):
            parts = tuple((key, _builder(value)) for key, value in entries)
            if all(key.compiled is None for key, _ in parts):
                named = tuple((key.source, build) for key, build in parts)
                return lambda run: {key: build(run) for key, build in named}
            return lambda run: {run.render(key): build(run) for key, build in parts}
        case ListNode(elements):
            builders = tuple(_builder(element) for element in elements)
            return lambda run: [build(run) for build in builders]
    raise AssertionError("a constant was built already")


def _is_constant(node: PayloadNode) -> bool:
    match node:
        case TextNode(template):
            return template.compiled is None
        case MapNode(entries):
            return all(key.compiled is None and _is_constant(value) for key, value in entries)
        case ListNode(elements):
            return all(map(_is_constant, elements))
    return isinstance(node, Constant)


def _constant(node: PayloadNode) -> Any:
    match node:
        case TextNode(template):
            return template.source
        case MapNode(entries):
            return {key.source: _constant(value) for key, value in entries}
        case ListNode(elements):
            return [_constant(element) for element in elements]
    assert isinstance(node, Constant)
    return node.value


def _value(run: Run, node: ValueNode) -> Any:
    try:
        if node.field is not None:
            value = node.field.get(run.variables.cel)
        else:
            assert node.expression is not None
            value = run.evaluate(node.expression, has_default=node.default is not ABSENT)
    except EvaluationError as error:
        value = None
        if node.default is ABSENT:
            run.warn(f"{node.place.path} is null: {run.text_of(error)}")
    if value is None:
        return None if node.default is ABSENT else node.default
    return _whole(value) if type(value) is float else value


def _whole(value: float) -> int | float:
    """A whole number is written without a point: the API refuses 5.0 as a generation."""
    return int(value) if value.is_integer() and abs(value) < _EXACT_IN_A_DOUBLE else value
