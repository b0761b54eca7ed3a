"""Phase 2: may resources be touched? Calls, captures, then conditions or an expression, in the order of the file.

The first precondition that is not met ends the phase and the resources are skipped: a business outcome. One that cannot
be evaluated fails the run: that is not the same.
"""

from collections.abc import Mapping
from typing import Any

from dispatcher.config.compiled import ABSENT, Capture, Condition, Operator, Precondition
from dispatcher.engine.calls import fetch
from dispatcher.engine.operators import holds
from dispatcher.engine.running import NOT_FOUND, Failure, Run
from dispatcher.engine.runs import CallRecord, Phase, PreconditionRecord, Verdict
from shared.errors import Invalid, NotFound
from shared.languages.errors import EvaluationError, shown

_WITHOUT_VALUE = frozenset({Operator.EXISTS, Operator.NOT_EXISTS})


async def check_preconditions(run: Run, records: list[PreconditionRecord]) -> bool:
    """Whether all are met."""
    for precondition in run.adapter.preconditions:
        record = await _check(run, precondition)
        records.append(record)
        match record.verdict:
            case Verdict.NOT_MET:
                run.unmet = True
                run.skip(f"precondition '{precondition.name}' not met: {record.reason}")
                return False
            case Verdict.NOT_FOUND:
                run.not_found = True
                run.skip(NOT_FOUND)
                return False
            case Verdict.FAILED:
                run.skip(f"precondition '{precondition.name}' failed: {record.error}")
                return False
    return True


async def _check(run: Run, precondition: Precondition) -> PreconditionRecord:
    calls: list[CallRecord] = []
    captured: dict[str, Any] = {}
    reason = error = ""
    try:
        verdict, reason = await _evaluate(run, precondition, captured, calls)
    except Failure as failure:
        verdict, error = Verdict.FAILED, run.fail(Phase.PRECONDITIONS, precondition.name, failure)
    return PreconditionRecord(
        name=precondition.name, verdict=verdict, reason=reason, error=error, captured=captured, calls=tuple(calls)
    )


async def _evaluate(
    run: Run, precondition: Precondition, captured: dict[str, Any], calls: list[CallRecord]
) -> tuple[Verdict, str]:
    if precondition.log is not None:
        run.log(precondition.log)
    if precondition.api_call is not None:
        try:
            response = await fetch(run, precondition.api_call, calls)
        except NotFound as error:
            return Verdict.NOT_FOUND, run.text_of(error)
        run.variables.set(precondition.name, response)
        _capture(run, precondition, response, captured)
    reason = _why_not_met(run, precondition)
    return (Verdict.NOT_MET if reason else Verdict.MET), reason


def _capture(run: Run, precondition: Precondition, response: Mapping[str, Any], captured: dict[str, Any]) -> None:
    """Captures see the response and nothing else."""
    scope = {**response, precondition.name: response}
    for capture in precondition.captures:
        value = _captured(run, capture, scope)
        captured[capture.name] = value
        run.variables.set(capture.name, value)


def _captured(run: Run, capture: Capture, scope: Mapping[str, Any]) -> Any:
    try:
        if capture.field is not None:
            return capture.field.evaluate(scope)
        assert capture.expression is not None
        return capture.expression.evaluate(scope, clock=run.ports.clock.now)
    except EvaluationError as error:
        if capture.default is not ABSENT:
            return capture.default
        if capture.expression is not None:
            run.count_failed_expression()
        run.warn(f"capture {capture.name!r} is null: {run.text_of(error)}")
        return None


def _why_not_met(run: Run, precondition: Precondition) -> str:
    if precondition.conditions:
        return "; ".join(filter(None, [_why_not(run, each) for each in precondition.conditions]))
    if precondition.expression is None or run.matches(precondition.expression):
        return ""
    return f"{' '.join(precondition.expression.source.split())} is false"


def _why_not(run: Run, condition: Condition) -> str:
    actual = condition.field.get(run.variables.cel)
    try:
        if holds(condition.operator, actual, condition.value):
            return ""
    except Invalid as error:
        raise Invalid(f"{condition.field.source} {condition.operator}", why=str(error)) from None
    expected = "" if condition.operator in _WITHOUT_VALUE else f" {_shown(condition.value)}"
    return f"{condition.field.source} {condition.operator}{expected} (actual: {_shown(actual)})"


def _shown(value: Any) -> str:
    if isinstance(value, list) and all(isinstance(each, str | int | float | bool) for each in value):
        return f"[{', '.join(map(shown, value))}]"
    return shown(value)
