"""Untrusted JSON: decoding it, and reading its fields.

Decoding refuses what Python would read and other readers would not: NaN, numbers out of range, lone surrogates, and
nesting so deep that a recursive reader fails. Fields are read strictly, where every wrong type is a problem that is
reported (`Fields`), or leniently, where it counts as absent (`as_object` and the functions below it).
"""

import json
import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple

from shared import times
from shared.errors import Invalid, Problem

MAX_BYTES = 1024 * 1024
MAX_DEPTH = 64
MAX_DIGITS = 400
MAX_SHOWN = 60

Json = Mapping[str, Any]

# What a backslash begins in JSON; the half is looked for behind the pair, of which it would be a part.
_ESCAPE = re.compile(r"\\(?:ud[89ab]..\\ud[c-f]..|(?P<half>ud[89a-f]..)|.)", re.IGNORECASE | re.DOTALL)


def json_object(content: bytes, what: str, error: type[Invalid] = Invalid) -> dict[str, Any]:
    """The JSON object in `content`. Raises `error`, saying where and why, for anything else; `what` names it."""
    if len(content) > MAX_BYTES:
        raise error(f"{what} is too large", why=f"more than {MAX_BYTES} bytes")
    if not content.strip():
        raise error(f"{what} is empty")
    try:
        document = json_value(utf8_text(content))
    except ValueError as cause:
        raise error(f"{what} is not JSON", why=str(cause)) from cause
    if not isinstance(document, dict):
        raise error(f"{what} must be a JSON object", why=f"found {shown_json(document)}")
    return document


def json_value(text: str) -> Any:
    """The value. Raises ValueError with a message of ours: Python's own name its functions and codecs."""
    try:
        value = json.loads(text, parse_constant=_refuse_constant, parse_int=_whole, parse_float=_fraction)
    except json.JSONDecodeError as error:
        raise ValueError(f"{error.msg} at line {error.lineno}, column {error.colno}") from None
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    if is_deeper_than(MAX_DEPTH, value):
        raise ValueError(f"it is nested too deeply: more than {MAX_DEPTH} levels")
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise ValueError("a string contains half a surrogate pair") from None
    return value


def whole_characters(text: str) -> str:
    """JSON text whose strings hold no half of a surrogate pair: U+FFFD takes its place, as in Go's decoder."""
    return _ESCAPE.sub(lambda found: "\\ufffd" if found["half"] else found[0], text) if "\\u" in text else text


def is_deeper_than(limit: int, document: Any) -> bool:
    """Whether objects and lists are nested in more than so many levels; nothing recurses."""
    level = [document] if isinstance(document, dict | list) else []
    for _ in range(limit):
        if not level:
            return False
        level = [
            child
            for holder in level
            for child in (holder.values() if isinstance(holder, dict) else holder)
            if isinstance(child, dict | list)
        ]
    return bool(level)


def shown_json(value: Any) -> str:
    """A value in an error message: as JSON, and short."""
    match value:
        case dict():
            return "an object"
        case list() | tuple():
            return "a list"
    try:
        text = json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError):
        return "a value that is not JSON"
    return text if len(text) <= MAX_SHOWN else f"{text[:MAX_SHOWN]}…"


class Fields(NamedTuple):
    """The members of one object. A member of a wrong type is added to `problems`, and counts as absent."""

    members: Json
    problems: list[Problem]
    path: str = ""

    @classmethod
    def of(cls, value: Any, problems: list[Problem], path: str = "", *, required: bool = False) -> "Fields":
        if isinstance(value, Mapping):
            return cls(value, problems, path)
        if value is not None or required:
            problems.append(Problem(path, f"must be an object, not {shown_json(value)}"))
        return cls({}, problems, path)

    def at(self, key: str) -> str:
        return f"{self.path}.{key}" if self.path else key

    def refuse(self, key: str, rule: str) -> None:
        self.problems.append(Problem(self.at(key), f"{rule}, not {shown_json(self.members.get(key))}"))

    def object(self, key: str, *, required: bool = False) -> "Fields":
        return Fields.of(self.members.get(key), self.problems, self.at(key), required=required)

    def text(self, key: str) -> str:
        value = self.members.get(key)
        if isinstance(value, str):
            return value
        if value is not None:
            self.refuse(key, "must be a string")
        return ""

    def required_text(self, key: str) -> str:
        value = self.members.get(key)
        if isinstance(value, str) and value:
            return value
        self.refuse(key, "must be a string that is not empty")
        return ""

    def texts(self, key: str) -> dict[str, str]:
        """An object whose members are strings."""
        inner = self.object(key)
        for name, value in inner.members.items():
            if not isinstance(value, str):
                inner.refuse(name, "must be a string")
        return as_texts(inner.members)

    def whole_number(self, key: str, *, least: int = 0, required: bool = False) -> int | None:
        """JSON has only one kind of number, so 3.0 is 3."""
        value = self.members.get(key)
        if value is None and not required:
            return None
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value < 2**63:
            self.refuse(key, f"must be a whole number from {least}")
            return None
        return value

    def time(self, key: str) -> datetime | None:
        value = self.members.get(key)
        if value is None:
            return None
        try:
            return times.parse(value if isinstance(value, str) else shown_json(value))
        except ValueError as error:
            self.problems.append(Problem(self.at(key), str(error)))
            return None

    def items(self, key: str) -> list[Any]:
        value = self.members.get(key)
        if value is not None and not isinstance(value, list):
            self.refuse(key, "must be a list")
        return as_items(value)

    def objects(self, key: str) -> tuple[Json, ...]:
        path = self.at(key)
        listed = enumerate(self.items(key))
        return tuple(Fields.of(each, self.problems, f"{path}[{index}]").members for index, each in listed)


def as_object(value: Any) -> Json:
    return value if isinstance(value, Mapping) else {}


def as_items(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def as_objects(value: Any) -> tuple[Json, ...]:
    return tuple(each for each in as_items(value) if isinstance(each, Mapping))


def as_texts(value: Any) -> dict[str, str]:
    return {key: text for key, text in as_object(value).items() if isinstance(text, str)}


def as_whole_number(value: Any) -> int:
    """Also of a string of digits; 0 for anything else."""
    try:
        return int(value or 0)
    except (TypeError, ValueError, OverflowError):
        return 0


def read_time(value: Any) -> datetime | None:
    try:
        return times.parse(value) if isinstance(value, str) else None
    except ValueError:
        return None


def utf8_text(content: bytes) -> str:
    """The text. Raises ValueError with a message of ours."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"byte {error.start + 1} is not UTF-8 text") from None


def _whole(digits: str) -> int:
    if len(digits) > MAX_DIGITS:
        raise ValueError(f"a number has more than {MAX_DIGITS} digits")
    return int(digits)


def _fraction(digits: str) -> float:
    number = float(digits)
    if number in (float("inf"), float("-inf")):
        raise ValueError(f"the number {digits:.40} is out of range")
    return number


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not a JSON value")
