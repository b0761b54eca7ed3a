"""Redaction of tokens, passwords and private keys, wherever in a text or a structure they occur.

In doubt it redacts: better to hide a harmless value than to show a secret.
"""

import re
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from functools import cache, lru_cache
from typing import Any

REDACTED = "***"

# A structure that contains itself ends here; no readable log line is as deep.
_MAX_DEPTH = 16
_BEYOND = "..."

_SENSITIVE = r"passw|passphrase|token|secret|authorization|credential|cookie|(?:private|api|access).?key|key.?data"
_HARMLESS_SUFFIX = r"(?:file|path|name|dir|ttl|type|url|mode|count)s?"
_SECRET_KEY = re.compile(_SENSITIVE, re.IGNORECASE)
_HARMLESS_KEY = re.compile(rf"{_HARMLESS_SUFFIX}$", re.IGNORECASE)

# What follows a name and a colon in a sentence about the name: `PULL_SECRET: must be set`.
_STATEMENT = (
    r"(?: (?: must | cannot | is | are | has ) \s+ \w | not \s+ (?: set | found ) \b | (?: missing | required ) \b )"
)
# `name = value` in all its spellings: JSON, also inside a JSON string, Python's repr, YAML, query strings, prose.
_ASSIGNMENT = rf"""
    ((?:{_SENSITIVE}) (?! [\w.-]{{0,40}}? {_HARMLESS_SUFFIX} (?![\w.-]) ) [\w.-]{{0,40}}
      \\*["']? \s* (?: = \s* | : \s* (?! {_STATEMENT} ) )
    )
    (?: b? (?P<quote> \\*["'] ) (?: (?!(?P=quote)) (?: \\. | [^\\] ) )* (?: (?P=quote) | \Z )
      | [\[{{(] [^\]}})]* [\]}})]?
      | [^\s&]+
    )
"""
# The same, but for `name: word`, which in a sentence of ours is no value.
_CLEAR_ASSIGNMENT = _ASSIGNMENT.replace(f"(?! {_STATEMENT} )", r"""(?= b? \\*["'\[{(] )""")
# One of these occurs in every text that has a secret. Most texts have none of them, and log lines are many.
_SUSPICIOUS = (
    *("-----begin", "bearer", "basic", "eyj", "sha256~", ":/"),
    *("passw", "passphrase", "token", "secret", "authorization", "credential", "cookie", "key"),
)
_REMEMBERED_KEYS = 1024

# Values that were read from Secrets, the latest last, and whether each could be a part of a name. A shorter text occurs
# in any other by chance.
_registered: dict[str, bool] = {}
_PART_OF_A_NAME = re.compile(r"[\w.-]+")
_SHORTEST_SECRET = 5
_MOST_SECRETS = 3000


@cache
def _patterns(assignment: str) -> tuple[tuple[re.Pattern[str], str], ...]:
    """Each secret and its replacement, compiled by the first suspicious text: a Job mostly ends without one.

    Lengths have limits so that no text, however made, takes more than time in proportion to its length.
    """
    return (
        (
            re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(-----END [A-Z ]*PRIVATE KEY-----|\Z)", re.DOTALL),
            REDACTED,
        ),
        (re.compile(r"\b(bearer|basic)(\s+)[^\s\"',;]+", re.IGNORECASE), rf"\1\2{REDACTED}"),
        (re.compile(r"eyJ[A-Za-z0-9_-]{5,4000}+(\.[A-Za-z0-9_-]*)+|\bsha256~[A-Za-z0-9_-]+"), REDACTED),
        # Also with one slash, as a path library makes it of a URL.
        (re.compile(r"(:/{1,3})[^/\s\"'<>]+@"), rf"\1{REDACTED}@"),
        (re.compile(assignment, re.IGNORECASE | re.VERBOSE | re.DOTALL), rf"\1{REDACTED}"),
    )


class Redacted(str):
    """A text without secrets, which no later redaction changes."""

    __slots__ = ()


def redact(value: Any, *, key: str = "", depth: int = 0) -> Any:
    """`value` without secrets; what is not a plain JSON value is converted to text first."""
    if _is_secret_key(key) and not (value is None or isinstance(value, bool) or value == ""):
        return REDACTED
    match value:
        case None | bool() | int() | float() | Redacted():
            return value
        case str():
            return redact_text(value)
        case bytes():
            return redact_text(value.decode(errors="replace"))
        case Mapping() | list() | tuple() | AbstractSet() if depth >= _MAX_DEPTH:
            return _BEYOND
        case Mapping():
            return {
                redact_text(str(name)): redact(item, key=_name_of_member(name, value), depth=depth + 1)
                for name, item in value.items()
            }
        case (str() | bytes() as name, item):
            return [redact(name), redact(item, key=str(name), depth=depth + 1)]
        case list() | tuple() | AbstractSet():
            return [redact(item, depth=depth + 1) for item in value]
        case _:
            return redact_text(_text_of(value))


def redact_text(text: str) -> str:
    return _redact(text, _ASSIGNMENT)


def register_secret(secret: str) -> None:
    """From now on this text is redacted wherever it occurs: as it is, inside JSON, or encoded as in a Secret."""
    from base64 import b64encode  # noqa: PLC0415 - for those who read secrets; the sidecar does not
    from json import dumps  # noqa: PLC0415

    for text in {secret, secret.strip()}:
        for spelling in (text, dumps(text)[1:-1], b64encode(text.encode()).decode()):
            if len(spelling) >= _SHORTEST_SECRET:
                _registered.pop(spelling, None)
                _registered[spelling] = bool(_PART_OF_A_NAME.fullmatch(spelling))
    while len(_registered) > _MOST_SECRETS:
        del _registered[next(iter(_registered))]


def redact_message(text: str) -> Redacted:
    """A sentence of ours without secrets. What others wrote has passed `redact_text` before it came into it."""
    return Redacted(_redact(text, _CLEAR_ASSIGNMENT))


def _redact(text: str, assignment: str) -> str:
    """Assignments are found while names are still there: a secret `token` must not hide that `token=` has a value."""
    text = _without_registered(text, part_of_a_name=False)
    for pattern, replacement in _patterns(assignment) if _is_suspicious(text) else ():
        text = pattern.sub(replacement, text)
    return _without_registered(text, part_of_a_name=True)


def _is_suspicious(text: str) -> bool:
    """Cheaper than a pattern. Letters beyond ASCII may be equal to others when case is ignored."""
    if not text.isascii():
        return True
    lowered = text.lower()
    for sign in _SUSPICIOUS:  # noqa: SIM110 - `any` takes twice as long
        if sign in lowered:
            return True
    return False


def _without_registered(text: str, *, part_of_a_name: bool) -> str:
    for secret, could_be in _registered.items():
        if could_be is part_of_a_name:
            text = text.replace(secret, REDACTED)
    return text


def _name_of_member(member: Any, owner: Mapping[Any, Any]) -> str:
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


@lru_cache(maxsize=_REMEMBERED_KEYS)
def _is_secret_key(key: str) -> bool:
    return bool(_SECRET_KEY.search(key)) and not _HARMLESS_KEY.search(key)
