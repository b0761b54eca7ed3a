"""Preconditions: calls, captures and what must hold."""

from collections.abc import Sequence

from dispatcher.config.compiled import ABSENT, Capture, Condition, Precondition
from dispatcher.config.compiling.calls import api_call, log_action
from dispatcher.config.compiling.context import Context
from dispatcher.config.compiling.scopes import Scope
from dispatcher.config.findings import Severity
from dispatcher.config.models.task import CaptureBlock, ConditionBlock, PreconditionBlock
from dispatcher.config.reading.paths import Path


def preconditions(
    context: Context, blocks: Sequence[PreconditionBlock], scope: Scope
) -> tuple[tuple[Precondition, ...], Scope]:
    """The preconditions, and the scope of what follows them."""
    compiled = []
    for index, block in enumerate(blocks):
        precondition, scope = _precondition(context, block, ("preconditions", index), scope)
        compiled.append(precondition)
    return tuple(compiled), scope


def _precondition(context: Context, block: PreconditionBlock, path: Path, scope: Scope) -> tuple[Precondition, Scope]:
    log = log_action(context, block.log, (*path, "log"), scope)
    call = None
    if block.api_call is not None:
        place = context.place((*path, "api_call"), key=True)
        hint = f"move it to a param: {{name: {block.name}, source: {{api_call: …}}}}"
        context.report(
            Severity.ADVICE, "precondition-api-call", "api_call in a precondition is deprecated", place, hint
        )
        call = api_call(context, block.api_call, (*path, "api_call"), scope)
        scope = scope.with_variables(block.name)
    elif block.capture:
        place = context.place((*path, "capture"), key=True)
        hint = "add an api_call, or take the value as a param with source.expression"
        context.report(Severity.MISTAKE, "no-answer", "nothing is captured without an api_call", place, hint)
    captures = [
        _capture(context, each, (*path, "capture", number), block.name) for number, each in enumerate(block.capture)
    ]
    scope = scope.with_variables(*(capture.name for capture in captures))
    conditions = [
        _condition(context, each, (*path, "conditions", number), scope) for number, each in enumerate(block.conditions)
    ]
    if block.expression.strip() and conditions:
        place = context.place((*path, "expression"), key=True)
        context.report(Severity.MISTAKE, "ignored-expression", "the conditions win: this expression is ignored", place)
    locate = context.locate((*path, "expression"))
    expression = context.cel(block.expression, locate, scope.cel) if block.expression.strip() else None
    precondition = Precondition(
        name=block.name,
        api_call=call,
        log=log,
        captures=tuple(captures),
        conditions=tuple(conditions),
        expression=expression,
        place=context.place(path),
    )
    return precondition, scope


def _capture(context: Context, block: CaptureBlock, path: Path, precondition: str) -> Capture:
    """A capture sees the answer of the call, whose keys are not known before, also under the precondition's name."""
    field = context.jsonpath(block.field, context.locate((*path, "field")), None) if block.field else None
    expression = None
    if block.expression:
        locate = context.locate((*path, "expression"))
        expression = context.cel(block.expression, locate, None, answers=frozenset({precondition}))
    return Capture(
        name=block.name,
        field=field,
        expression=expression,
        default=block.default if "default" in block.model_fields_set else ABSENT,
        place=context.place(path),
    )


def _condition(context: Context, block: ConditionBlock, path: Path, scope: Scope) -> Condition:
    return Condition(
        field=context.jsonpath(block.field, context.locate((*path, "field")), scope.cel),
        operator=block.operator,
        value=block.operand,
        place=context.place(path),
    )
