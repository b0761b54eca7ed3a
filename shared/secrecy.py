"""What must never be printed: tokens, passwords and private keys, wherever in a text or a structure they turn up."""

import re
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from typing import Any

CONCEALED = "***"

_SECRET_KEY = re.compile(
    r"passw|passphrase|token|secret|authorization|credential|private.?key|api.?key|cookie", re.IGNORECASE
)
_HARMLESS_KEY = re.compile(r"_?(file|path|name|dir|ttl|type|url|mode|count)s?$", re.IGNORECASE)
_SECRET_TEXTS = (
    (re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(-----END [A-Z ]*PRIVATE KEY-----|\Z)", re.DOTALL), CONCEALED),
    (re.compile(r"\b(bearer|basic)(\s+)[A-Za-z0-9._~+/=-]+", re.IGNORECASE), rf"\1\2{CONCEALED}"),
    (re.compile(r"\beyJ[A-Za-z0-9_-]{5,}\.[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]*)?"), CONCEALED),
    (re.compile(r"(://)[^/\s@]+@"), rf"\1{CONCEALED}@"),
    (
        re.compile(
            r"\b([\w-]*(?:passw(?:or)?d|passphrase|token|secret|api[_-]?key)[\"']?\s*[=:]\s*)(\"[^\"]*\"|'[^']*'|[^\s,;&}\])]+)",
            re.IGNORECASE,
        ),
        rf"\1{CONCEALED}",
    ),
)


def conceal(value: Any, *, key: str = "") -> Any:
    """`value` without what must not be seen; what is no plain JSON value becomes its text first."""
    if _is_secret_key(key) and value not in (None, "", True, False):
        return CONCEALED
    match value:
        case None | bool() | int() | float():
            return value
        case str():
            return conceal_text(value)
        case bytes():
            return conceal_text(value.decode(errors="replace"))
        case Mapping():
            return {str(name): conceal(item, key=str(name)) for name, item in value.items()}
        case list() | tuple() | AbstractSet():
            return [conceal(item) for item in value]
        case _:
            return conceal_text(str(value))


def conceal_text(text: str) -> str:
    for pattern, replacement in _SECRET_TEXTS:
        text = pattern.sub(replacement, text)
    return text


def _is_secret_key(key: str) -> bool:
    return bool(_SECRET_KEY.search(key)) and not _HARMLESS_KEY.search(key)
