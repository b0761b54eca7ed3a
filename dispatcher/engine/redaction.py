"""Secrets that a run has read, and how they are kept out of everything that is shown.

A secret may turn up as it is, inside a URL, inside JSON, or encoded for the `data` of a Secret; each spelling is
redacted wherever it stands. Spellings shorter than a few characters are redacted only where they are the whole text,
for they turn up by chance in any text.
"""

import json
from base64 import b64encode
from collections.abc import Iterable
from typing import Any
from urllib.parse import quote

from shared.redaction import REDACTED

_SHORTEST_PART = 4


def redact_secrets(value: Any, secrets: Iterable[str]) -> Any:
    """The same JSON value without the secrets, keys included."""
    spellings = _spellings(secrets)
    return _without(value, spellings) if spellings else value


def _spellings(secrets: Iterable[str]) -> tuple[str, ...]:
    found = set()
    for secret in secrets:
        for text in {secret, secret.strip()} - {""}:
            escaped = json.dumps(text)[1:-1]
            found |= {text, escaped, json.dumps(text, ensure_ascii=False)[1:-1], json.dumps(escaped)[1:-1]}
            found |= {quote(text), quote(text, safe=""), b64encode(text.encode()).decode()}
    return tuple(sorted(found, key=len, reverse=True))


def _without(value: Any, spellings: tuple[str, ...]) -> Any:
    match value:
        case str():
            return _text(value, spellings)
        case dict():
            return {_without(key, spellings): _without(item, spellings) for key, item in value.items()}
        case list() | tuple():
            return [_without(item, spellings) for item in value]
        case None | bool():
            return value
        case _:
            return REDACTED if str(value) in spellings else value


def _text(text: str, spellings: tuple[str, ...]) -> str:
    for spelling in spellings:
        if text == spelling:
            return REDACTED
        if len(spelling) >= _SHORTEST_PART:
            text = text.replace(spelling, REDACTED)
    return text
