"""Values that may be absent: `optional.of`, `hasValue`, `value`, `first`, `last` and their like.

`or` and `orValue` evaluate their argument only when it is needed, so `compiler` runs them; they are declared here for
their names and arity.
"""

from typing import Any, Final

from shared.languages.cel.functions.overloads import ANY, Function, Overload
from shared.languages.cel.functions.times import MIN_SECONDS, NANOS
from shared.languages.cel.runtime.evaluation import Evaluation
from shared.languages.cel.runtime.failure import Failure, Missing
from shared.languages.cel.runtime.values import NONE, Duration, Kind, Optional, Timestamp, is_map

_FIRST_INSTANT: Final = MIN_SECONDS * NANOS


def _is_zero(value: Any) -> bool:
    match value:
        case Timestamp(nanos=nanos):
            return nanos == _FIRST_INSTANT
        case Duration(nanos=nanos):
            return nanos == 0
        case None | bool() | int() | float() | str() | bytes() | list() | tuple():
            return not value
    return is_map(value) and len(value) == 0


def _of_non_zero(_: Evaluation, value: Any) -> Optional:
    return NONE if _is_zero(value) else Optional(value)


def value_of(_: Evaluation, optional: Optional) -> Any:
    if optional.present:
        return optional.value
    raise Missing("the optional has no value", hint="give one for that case: .orValue(...)")


def _first(_: Evaluation, items: Any) -> Optional:
    return Optional(items[0]) if items else NONE


def _last(_: Evaluation, items: Any) -> Optional:
    return Optional(items[-1]) if items else NONE


def _unwrap(evaluation: Evaluation, items: Any) -> tuple[Any, ...]:
    evaluation.spend(len(items))
    evaluation.grow_list(len(items))
    for item in items:
        if type(item) is not Optional:
            raise Failure("only a list of optionals can be unwrapped", met=item)
    return tuple(item.value for item in items if item.present)


def alternative(_: Evaluation, optional: Optional, fallback: Any) -> Any:
    """`or`, when both sides are already there."""
    return optional if optional.present else fallback


def value_or(_: Evaluation, optional: Optional, fallback: Any) -> Any:
    """`orValue`, when both sides are already there."""
    return optional.value if optional.present else fallback


OR = Function("or", (Overload((Kind.OPTIONAL, ANY), alternative),))
OR_VALUE = Function("orValue", (Overload((Kind.OPTIONAL, ANY), value_or),))

FUNCTIONS: Final = (
    Function("optional.of", (Overload((ANY,), lambda _, value: Optional(value)),)),
    Function("optional.ofNonZeroValue", (Overload((ANY,), _of_non_zero),)),
    Function("optional.none", (Overload((), lambda _: NONE),)),
    Function("hasValue", (Overload((Kind.OPTIONAL,), lambda _, optional: optional.present),)),
    Function("value", (Overload((Kind.OPTIONAL,), value_of),)),
    OR,
    OR_VALUE,
    Function("first", (Overload((Kind.LIST,), _first),)),
    Function("last", (Overload((Kind.LIST,), _last),)),
    Function("optional.unwrap", (Overload((Kind.LIST,), _unwrap),)),
    Function("unwrapOpt", (Overload((Kind.LIST,), _unwrap),)),
)
