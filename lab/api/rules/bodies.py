"""Reading a request's JSON by the types its members must have, as a decoder of typed structures does.

A member that is absent or null counts as not given. Unknown members are ignored, or refused where the request is
strict. U+FFFD takes the place of bytes and escapes that are no whole character.
"""

import json
import math
from collections.abc import Mapping
from datetime import datetime
from typing import Any, NoReturn

from lab.api.problems import MALFORMED, Problem, invalid
from shared import times
from shared.untrusted_json import whole_characters

_INT32 = range(-(2**31), 2**31)
_NAMES = {str: "a string", int: "a number", dict: "an object", list: "an array"}


class Body:
    """A JSON object and where it was found, for messages that name the member."""

    def __init__(self, members: Mapping[str, Any], path: str = "") -> None:
        self._members, self._path = members, path

    def names(self) -> set[str]:
        return set(self._members)

    def text(self, name: str) -> str | None:
        value: str | None = self._typed(name, str)
        return value

    def integer(self, name: str) -> int | None:
        value: int | None = self._typed(name, int)
        if value is not None and value not in _INT32:
            self._refuse(name, int)
        return value

    def mapping(self, name: str) -> dict[str, Any] | None:
        value: dict[str, Any] | None = self._typed(name, dict)
        return value

    def texts(self, name: str) -> dict[str, str] | None:
        """An object whose values are all texts."""
        value = self.mapping(name)
        if value is not None and not all(isinstance(each, str) for each in value.values()):
            self._refuse(name, str)
        return value

    def time(self, name: str) -> datetime | None:
        value = self._members.get(name)
        if value is None:
            return None
        try:
            return times.parse(value)
        except (TypeError, ValueError):
            problem = f"Invalid request format: {self._path_of(name)} {value!r} is not an RFC 3339 time with a zone"
            raise Problem(MALFORMED, problem) from None

    def objects(self, name: str) -> list["Body"]:
        listed = self._typed(name, list) or []
        for each in listed:
            if not isinstance(each, dict | None):
                self._refuse(name, dict)
        return [Body(each or {}, self._path_of(name)) for each in listed]

    def _typed(self, name: str, kind: type) -> Any:
        value = self._members.get(name)
        if value is not None and type(value) is not kind:
            self._refuse(name, kind)
        return value

    def _refuse(self, name: str, kind: type) -> NoReturn:
        raise invalid(f"field '{self._path_of(name)}' must be {_NAMES[kind]}")

    def _path_of(self, name: str) -> str:
        return f"{self._path}.{name}" if self._path else name


def read(content: bytes) -> Body:
    """The request's object. Raises Problem for what is no JSON object."""
    if not content.strip():
        raise Problem(MALFORMED, "Request body is required but was empty")
    try:
        text = whole_characters(content.decode(errors="replace"))
        document = json.loads(text, parse_constant=_refuse_constant, parse_float=_fraction)
    except (ValueError, RecursionError) as error:
        raise Problem(MALFORMED, f"Invalid request format: {error}") from None
    if not isinstance(document, dict | None):
        raise invalid("field '' must be an object")
    return Body(document or {})


def read_strictly(content: bytes, known: set[str]) -> Body:
    """As `read`, where members other than the known ones are refused."""
    body = read(content)
    if unknown := sorted(body.names() - known):
        raise Problem(MALFORMED, f"Invalid request format: unknown field {json.dumps(unknown[0])}")
    return body


def _fraction(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):
        raise ValueError(f"{digits} is out of range")
    return number


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not a JSON value")
