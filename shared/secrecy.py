"""What must never be printed: tokens, passwords and private keys, wherever in a text or a structure they turn up.

In doubt it conceals: a word too many is hidden rather than a secret shown.
"""

import re
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from typing import Any

CONCEALED = "***"

# A structure that contains itself ends here; what people read in a log line is never as deep.
_MAX_DEPTH = 16
_BEYOND = "..."

_TELLING_WORD = r"passw|passphrase|token|secret|authorization|credential|cookie|(?:private|api|access).?key|key.?data"
_HARMLESS_ENDING = r"(?:file|path|name|dir|ttl|type|url|mode|count)s?"
_SECRET_KEY = re.compile(_TELLING_WORD, re.IGNORECASE)
_HARMLESS_KEY = re.compile(rf"{_HARMLESS_ENDING}$", re.IGNORECASE)

# `name = value` in all its spellings: JSON, also inside a JSON string, Python's repr, YAML, query strings, prose.
_ASSIGNMENT = rf"""
    ((?:{_TELLING_WORD}) (?! [\w.-]{{0,40}}? {_HARMLESS_ENDING} (?![\w.-]) ) [\w.-]{{0,40}}
      \\*["']? \s* [=:] \s*
    )
    (?: b? (?P<quote> \\*["'] ) (?: (?!(?P=quote)) (?: \\. | [^\\] ) )* (?: (?P=quote) | \Z )
      | [\[{{(] [^\]}})]* [\]}})]?
      | [^\s&]+
    )
"""
# Lengths have limits so that no text, however made, takes more than time in proportion to its length.
_SECRET_TEXTS = (
    (re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(-----END [A-Z ]*PRIVATE KEY-----|\Z)", re.DOTALL), CONCEALED),
    (re.compile(r"\b(bearer|basic)(\s+)[^\s\"',;]+", re.IGNORECASE), rf"\1\2{CONCEALED}"),
    (re.compile(r"eyJ[A-Za-z0-9_-]{5,4000}+(\.[A-Za-z0-9_-]*)+|\bsha256~[A-Za-z0-9_-]+"), CONCEALED),
    (re.compile(r"(://)[^/\s\"'<>]+@"), rf"\1{CONCEALED}@"),
    (re.compile(_ASSIGNMENT, re.IGNORECASE | re.VERBOSE | re.DOTALL), rf"\1{CONCEALED}"),
)


def conceal(value: Any, *, key: str = "", depth: int = 0) -> Any:
    """`value` without what must not be seen; what is no plain JSON value becomes its text first."""
    if _is_secret_key(key) and not (value is None or isinstance(value, bool) or value == ""):
        return CONCEALED
    match value:
        case None | bool() | int() | float():
            return value
        case str():
            return conceal_text(value)
        case bytes():
            return conceal_text(value.decode(errors="replace"))
        case Mapping() | list() | tuple() | AbstractSet() if depth >= _MAX_DEPTH:
            return _BEYOND
        case Mapping():
            return {
                conceal_text(str(name)): conceal(item, key=_judged_by(name, value), depth=depth + 1)
                for name, item in value.items()
            }
        case (str() | bytes() as name, item):
            return [conceal(name), conceal(item, key=str(name), depth=depth + 1)]
        case list() | tuple() | AbstractSet():
            return [conceal(item, depth=depth + 1) for item in value]
        case _:
            return conceal_text(_text_of(value))


def conceal_text(text: str) -> str:
    for pattern, replacement in _SECRET_TEXTS:
        text = pattern.sub(replacement, text)
    return text


def _judged_by(member: Any, owner: Mapping[Any, Any]) -> str:
    """The name that says whether a member is secret: mostly its own."""
    if member == "value" and "name" in owner:
        return str(owner["name"])
    if member in ("data", "stringData") and owner.get("kind") == "Secret":
        return "secret"
    return str(member)


def _text_of(value: Any) -> str:
    try:
        return str(value)
    except Exception:  # noqa: BLE001 - whatever an object's own str does, a line about it must not fail
        return f"<{type(value).__name__} without a text>"


def _is_secret_key(key: str) -> bool:
    return bool(_SECRET_KEY.search(key)) and not _HARMLESS_KEY.search(key)
