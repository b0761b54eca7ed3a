"""What leaves an expression: plain JSON values.

bytes become base64; timestamps, durations and types the text `string()` would show; an optional its value, or null; NaN
and the infinities their names, for JSON has none. Map keys become strings. Lists and objects that came in with the
variables leave as they are, by reference: only what the expression made is walked, and its size as JSON counted.
"""

import json
import math
import re
from base64 import b64encode
from collections.abc import Mapping
from typing import Any, Final

from shared.languages.cel.functions.times import show_duration, show_timestamp
from shared.languages.cel.runtime.evaluation import Evaluation
from shared.languages.cel.runtime.failure import Failure, LimitReached
from shared.languages.cel.runtime.numbers import show_decimal, show_double, show_int, show_special
from shared.languages.cel.runtime.values import INT_MAX, INT_MIN, Duration, Optional, Timestamp, TypeName, UInt, utf8
from shared.languages.json_size import JsonSize
from shared.untrusted_json import whole_characters

_AS_THEY_ARE: Final = frozenset({type(None), bool, int, str, list, dict})


def plain(evaluation: Evaluation, value: Any) -> Any:
    if type(value) in _AS_THEY_ARE:
        return value
    return _plain(evaluation, value, JsonSize(evaluation.growth))


def _plain(evaluation: Evaluation, value: Any, size: JsonSize) -> Any:
    if not size.takes(value):
        raise LimitReached("the result is too large when it is written as JSON")
    if type(value) in _AS_THEY_ARE:
        return value
    match value:
        case UInt():
            return int(value)
        case float():
            return value if math.isfinite(value) else show_special(value, infinity="Infinity")
        case tuple():
            evaluation.spend(len(value))
            return [_plain(evaluation, item, size) for item in value]
        case Mapping():
            evaluation.spend(len(value))
            return {_key(key): _plain(evaluation, value[key], size) for key in value}
        case Optional():
            return _plain(evaluation, value.value, size) if value.present else None
        case bytes():
            return b64encode(value).decode()
        case str() | int() | list():
            return value
    return _text(value)


def _text(value: Any) -> str:
    match value:
        case Timestamp():
            return show_timestamp(value)
        case Duration():
            return show_duration(value)
        case TypeName(name=name):
            return name
    raise Failure("a variable holds something that is not a JSON value", met=value)


def _key(key: Any) -> str:
    match key:
        case str():
            return key
        case None:
            return "null"
        case bool():
            return "true" if key else "false"
        case int():
            return show_int(int(key))
        case float():
            return show_double(key)
    return _text(key)


def _unknown(value: Any) -> Any:
    """What a variable holds beside JSON's own types, met deep inside it."""
    if isinstance(value, Mapping):
        return dict(value)
    raise Failure("this cannot be written as JSON", met=value)


_ENCODER: Final = json.JSONEncoder(
    ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False, default=_unknown
)
# Where a double may begin in compact JSON. Three patterns, for a search from a fixed character is many times faster.
_PERHAPS_DOUBLE: Final = tuple(re.compile(before + r"-?\d+[.e]", re.ASCII) for before in ('":', ",", r"\["))
_TEXT_OR_DOUBLE = re.compile(r'"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:e[+-]?\d+)?', re.ASCII)
_PLAIN_BELOW, _PLAIN_FROM = 1e21, 1e-6


def to_json(evaluation: Evaluation, value: Any) -> str:
    """Compact, keys sorted, `<`, `>` and `&` escaped and numbers written as Go's encoder does."""
    try:
        text = _ENCODER.encode(plain(evaluation, value))
    except (ValueError, TypeError):
        raise Failure("this cannot be written as JSON", met=value) from None
    if type(value) is float or _has_doubles(text):
        text = _TEXT_OR_DOUBLE.sub(_as_go_writes_it, text)
    text = text if text.isascii() else utf8(text).decode()
    for character in "<>&\u2028\u2029":
        if character in text:
            text = text.replace(character, f"\\u{ord(character):04x}")
    evaluation.grow(len(text))
    return text


def _has_doubles(text: str) -> bool:
    return ("." in text or "e-" in text or "e+" in text) and any(pattern.search(text) for pattern in _PERHAPS_DOUBLE)


def _as_go_writes_it(found: re.Match[str]) -> str:
    text = found[0]
    if text.startswith('"') or text.lstrip("-").isdigit():
        return text
    value = float(text)
    if value == 0 or _PLAIN_FROM <= abs(value) < _PLAIN_BELOW:
        return show_decimal(value)
    mantissa, _, exponent = show_double(value).partition("e")
    return f"{mantissa}e{exponent[0]}{exponent[1:].lstrip('0')}"


# Decoded JSON takes up to this many times the memory of its text.
_FROM_JSON_WEIGHT = 8
_LONGEST_INT = len(str(INT_MIN))


def from_json(evaluation: Evaluation, text: str) -> Any:
    """The value a JSON text means; whole numbers are ints where they fit."""
    evaluation.grow(len(text) * _FROM_JSON_WEIGHT)
    try:
        return _DECODER.decode(whole_characters(text))
    except ValueError as problem:
        raise Failure(f"this is not JSON: {problem}", met=text) from None


def _whole(digits: str) -> int | float:
    if len(digits) > _LONGEST_INT:
        return _double(digits)
    value = int(digits)
    return value if INT_MIN <= value <= INT_MAX else float(value)


def _double(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise ValueError("a number is too large")
    return value


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


_DECODER: Final = json.JSONDecoder(parse_int=_whole, parse_float=_double, parse_constant=_no_constant)
