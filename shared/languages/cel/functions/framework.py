"""The functions the adapter framework adds to CEL, and `fromJson`, which is ours.

They take lists and maps however they were made, both spellings of a condition's transition time, and feedback values
of every type.
"""

from collections.abc import Mapping
from typing import Any, Final

from shared.languages.cel.functions.overloads import ANY, Function, Overload
from shared.languages.cel.functions.strings import WHITE_SPACE
from shared.languages.cel.functions.times import NANOS, parse_lenient, timestamp_of
from shared.languages.cel.limits import VISITING
from shared.languages.cel.runtime.comparison import equals
from shared.languages.cel.runtime.evaluation import Evaluation
from shared.languages.cel.runtime.failure import Failure
from shared.languages.cel.runtime.lookup import find
from shared.languages.cel.runtime.numbers import parse_int, toward_zero
from shared.languages.cel.runtime.results import from_json, to_json
from shared.languages.cel.runtime.values import ABSENT, INT_MAX, INT_MIN, Kind, Timestamp, is_list, is_map

STRING, LIST, INT, BOOL = Kind.STRING, Kind.LIST, Kind.INT, Kind.BOOL

UNKNOWN: Final = "Unknown"
NO_AGE: Final = -1
_TRANSITION_TIMES: Final = ("last_transition_time", "lastTransitionTime")
_FEEDBACK_TYPES: Final = ("string", "integer", "boolean", "jsonRaw")


def _now(evaluation: Evaluation) -> str:
    """RFC 3339 to the second, in the zone of the clock."""
    moment = evaluation.now()
    text = moment.isoformat(timespec="seconds")
    return text if moment.utcoffset() else text.removesuffix("+00:00") + "Z"


def _dig(evaluation: Evaluation, root: Any, path: str) -> Any:
    """Follows a dotted path; null where it ends early. A whole number indexes a list."""
    evaluation.grow_list(path.count("."))
    current = root
    for part in filter(None, (part.strip(WHITE_SPACE) for part in path.split("."))):
        evaluation.spend(VISITING)
        current = _step(current, part)
        if current is ABSENT:
            return None
    return current


def _step(container: Any, part: str) -> Any:
    if not is_list(container):
        return find(container, part)
    try:
        return find(container, parse_int(part))
    except Failure:
        return ABSENT


def _condition(evaluation: Evaluation, conditions: Any, wanted: str) -> Mapping[str, Any] | None:
    evaluation.spend(len(conditions) * VISITING)
    for condition in conditions:
        if is_map(condition) and equals(evaluation, find(condition, "type"), wanted):
            found: Mapping[str, Any] = condition
            return found
    return None


def _condition_status(evaluation: Evaluation, conditions: Any, wanted: str) -> str:
    status = find(_condition(evaluation, conditions, wanted), "status")
    return status if isinstance(status, str) else UNKNOWN


def _age(evaluation: Evaluation, condition: Mapping[str, Any] | None) -> int | None:
    """Whole seconds since the condition changed; None when it does not say."""
    for name in _TRANSITION_TIMES:
        since = _nanos(find(condition, name))
        if since is not None:
            elapsed = timestamp_of(evaluation.now()).nanos - since
            return toward_zero(min(max(elapsed, INT_MIN), INT_MAX), NANOS)
    return None


def _nanos(changed: Any) -> int | None:
    if isinstance(changed, str):
        return parse_lenient(changed)
    return changed.nanos if isinstance(changed, Timestamp) else None


def _condition_age(evaluation: Evaluation, conditions: Any, wanted: str) -> int:
    age = _age(evaluation, _condition(evaluation, conditions, wanted))
    return NO_AGE if age is None else age


def _stable_for(evaluation: Evaluation, conditions: Any, wanted: str, seconds: int) -> bool:
    condition = _condition(evaluation, conditions, wanted)
    if find(condition, "status") != "True":
        return False
    age = _age(evaluation, condition)
    return age is not None and age >= seconds


def _status_feedback_value(evaluation: Evaluation, feedback: Any, wanted: str) -> Any:
    """The value Maestro reports under a name, in its own kind; raw JSON as its text, an absent one as ""."""
    values: Any = find(feedback, "values") if is_map(feedback) else ABSENT
    if not is_list(values):
        return ""
    evaluation.spend(len(values) * VISITING)
    for entry in values:
        if is_map(entry) and equals(evaluation, find(entry, "name"), wanted):
            field = find(entry, "fieldValue")
            for held in _FEEDBACK_TYPES:
                value = find(field, held) if is_map(field) else None
                if value is not ABSENT and value is not None:
                    return value
    return ""


def _tri_state(_: Evaluation, is_true: bool, is_false: bool) -> str:  # noqa: FBT001 - arguments of a CEL function
    if is_true:
        return "True"
    return "False" if is_false else UNKNOWN


FUNCTIONS: Final = (
    Function("now", (Overload((), _now),), weight=30),
    Function("toJson", (Overload((ANY,), to_json),), weight=60),
    Function("fromJson", (Overload((STRING,), from_json),), weight=30),
    Function("dig", (Overload((ANY, STRING), _dig),), weight=30),
    Function("conditionStatus", (Overload((LIST, STRING), _condition_status),), weight=30),
    Function("conditionAge", (Overload((LIST, STRING), _condition_age),), weight=30),
    Function("stableFor", (Overload((LIST, STRING, INT), _stable_for),), weight=30),
    Function("statusFeedbackValue", (Overload((ANY, STRING), _status_feedback_value),), weight=30),
    Function("triState", (Overload((BOOL, BOOL), _tri_state),)),
)
