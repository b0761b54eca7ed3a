"""Reading JSON that strangers wrote, so that whatever comes in can be walked through and written on.

Refused is what Python would read and others would not: NaN, numbers beyond all bounds, halves of surrogate pairs, and
nesting so deep that whoever walks through it breaks.
"""

import json
from collections.abc import Iterable
from typing import Any

from shared.errors import Invalid

MAX_BYTES = 1024 * 1024
MAX_DEPTH = 64


def json_object(content: bytes, what: str, error: type[Invalid] = Invalid) -> dict[str, Any]:
    """The JSON object in `content`. Raises `error`, saying where and why, for anything else; `what` names it."""
    if len(content) > MAX_BYTES:
        raise error(f"{what} is too large", why=f"more than {MAX_BYTES} bytes")
    if not content.strip():
        raise error(f"{what} is empty")
    try:
        document = json.loads(content.decode("utf-8-sig"), parse_constant=_refuse_constant)
        json.dumps(document, ensure_ascii=False, allow_nan=False).encode()
    except json.JSONDecodeError as cause:
        where = f"line {cause.lineno}, column {cause.colno}"
        raise error(f"{what} is not JSON", why=f"{cause.msg} at {where}") from cause
    except ValueError as cause:
        raise error(f"{what} is not JSON", why=str(cause)) from cause
    except RecursionError:
        raise error(f"{what} is nested too deeply") from None
    if _is_too_deep(document):
        raise error(f"{what} is nested too deeply", why=f"more than {MAX_DEPTH} levels")
    if not isinstance(document, dict):
        raise error(f"{what} must be a JSON object", why=f"found {type(document).__name__}")
    return document


def _is_too_deep(document: Any) -> bool:
    level = [document]
    for _ in range(MAX_DEPTH):
        level = [child for value in level for child in _children(value)]
        if not level:
            return False
    return True


def _children(value: Any) -> Iterable[Any]:
    match value:
        case dict():
            return value.values()
        case list():
            return value
        case _:
            return ()


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not a JSON value")
