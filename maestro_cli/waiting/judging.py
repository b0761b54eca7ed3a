"""Whether an expression holds for a work as Maestro shows it now, and what is missing where it does not.

Only fresh status counts: a condition of the work must have been observed on the work's own generation, and no object's
status counts before the work's Applied condition is that fresh. What is not known is not equal to anything.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from maestro_cli.waiting.syntax import And, Comparator, Expression, In, Not, Or, Quantified, Quantifier, Scalar, Target
from maestro_cli.waiting.syntax import Test as Comparison
from shared.maestro import current
from shared.model.conditions import Condition
from shared.model.manifestwork import ManifestStatus, ManifestWork

_UNKNOWN = object()


def met(expression: Expression, work: ManifestWork) -> bool:
    match expression:
        case Or(operands):
            return any(met(each, work) for each in operands)
        case And(operands):
            return all(met(each, work) for each in operands)
        case Not(operand):
            return not met(operand, work)
        case Quantified(quantifier, test):
            return _holds(test, work, quantifier)
        case _:
            return _holds(expression, work, Quantifier.ALL)


def unmet(expression: Expression, work: ManifestWork) -> list[str]:
    """What keeps the expression from being met, one sentence each; empty where it is met."""
    if met(expression, work):
        return []
    match expression:
        case And(operands) | Or(operands):
            return [sentence for each in operands for sentence in unmet(each, work)]
        case Quantified(_, test):
            return _seen(test, work)
        case Comparison() | In():
            return _seen(expression, work)
    return [f"{expression} does not hold"]


def _holds(test: Comparison | In, work: ManifestWork, quantifier: Quantifier) -> bool:
    values = _values(test, work)
    if not values:
        return False
    results = [_compares(test, value) for value in values]
    return any(results) if quantifier is Quantifier.ANY else all(results)


def _values(test: Comparison | In, work: ManifestWork) -> list[Any]:
    """What the test looks at: one value of the work, or one of each object that its target means."""
    if test.target is None:
        return [_condition_of_work(work, test.subject)]
    if current(work, "Applied") is None:
        return []
    return [_value_of(each, test.subject) for each in _objects(work, test.target)]


def _objects(work: ManifestWork, target: Target) -> Sequence[ManifestStatus]:
    return [
        each
        for each in work.status.manifests
        if each.kind.lower() == target.kind.lower()
        and target.name in {"", each.name}
        and target.namespace in {"", each.namespace}
    ]


def _condition_of_work(work: ManifestWork, type_: str) -> Any:
    named = _named(work.status.conditions, type_)
    fresh = current(work, named.type) if named else None
    return fresh.status.value if fresh else _UNKNOWN


def _value_of(manifest: ManifestStatus, subject: str) -> Any:
    value = _at(manifest.feedback, subject)
    if value is not _UNKNOWN:
        return value
    named = _named(manifest.conditions, subject)
    if named is not None:
        return named.status.value
    return _fed_back_condition(manifest.feedback, subject)


def _fed_back_condition(feedback: Mapping[str, Any], type_: str) -> Any:
    """A condition that came as feedback: a value `conditions`, or `conditions` inside a value `status`."""
    status = feedback.get("status")
    for listed in (feedback.get("conditions"), status.get("conditions") if isinstance(status, Mapping) else None):
        for each in listed if isinstance(listed, list) else ():
            if isinstance(each, Mapping) and str(each.get("type")).lower() == type_.lower():
                return each.get("status", _UNKNOWN)
    return _UNKNOWN


def _named(conditions: Sequence[Condition], type_: str) -> Condition | None:
    return next((each for each in conditions if each.type.lower() == type_.lower()), None)


def _at(feedback: Mapping[str, Any], path: str) -> Any:
    if path in feedback:
        return feedback[path]
    value: Any = feedback
    for key in path.split("."):
        if not isinstance(value, Mapping) or key not in value:
            return _UNKNOWN
        value = value[key]
    return value


def _compares(test: Comparison | In, value: Any) -> bool:
    if value is _UNKNOWN:
        return False
    if isinstance(test, In):
        return any(_equal(value, each) for each in test.values)
    match test.comparator:
        case Comparator.EQUAL:
            return _equal(value, test.value)
        case Comparator.NOT_EQUAL:
            return not _equal(value, test.value)
    left, right = _number(value), _number(test.value)
    if left is None or right is None:
        return False
    match test.comparator:
        case Comparator.AT_LEAST:
            return left >= right
        case Comparator.AT_MOST:
            return left <= right
        case Comparator.MORE:
            return left > right
    return left < right


def _equal(value: Any, wanted: Scalar) -> bool:
    left, right = _number(value), _number(wanted)
    if left is not None and right is not None:
        return left == right
    return _text(value) == _text(wanted)


def _number(value: Any) -> float | None:
    if isinstance(value, bool):
        return None
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return None


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) or str(value) in {"True", "False"} else str(value)


def _seen(test: Comparison | In, work: ManifestWork) -> list[str]:
    if test.target is None:
        return [f"{test}: {_shown(_condition_of_work(work, test.subject))}"]
    if current(work, "Applied") is None:
        return [f"{test}: version {work.generation} of the work is not applied yet"]
    objects = _objects(work, test.target)
    if not objects:
        return [f"{test}: the work has no {test.target}"]
    return [
        f"{test}: {each.kind}/{each.name} has {_shown(value)}"
        for each in objects
        if not _compares(test, value := _value_of(each, test.subject))
    ]


def _shown(value: Any) -> str:
    return "no such value yet" if value is _UNKNOWN else f"{value!s:.80}"
