"""Texts in disguise: Go string literals both ways, and the escapes of `html`, `js` and `urlquery`."""

import re
from urllib.parse import quote_plus

from shared.languages.gotemplate.functions.printing import is_printed
from shared.languages.gotemplate.runtime.values import from_bytes, to_bytes, without_halves

_NAMED = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "\\": "\\"}
_SHORT = {character: f"\\{name}" for name, character in _NAMED.items()}
_ESCAPE = re.compile(
    r"\\(?:x(?P<byte>[0-9a-fA-F]{2})|(?P<octal>[0-7]{3})|u(?P<short>[0-9a-fA-F]{4})|U(?P<long>[0-9a-fA-F]{8})|(?P<named>.))",
    re.DOTALL,
)
_MAX_BYTE = 0xFF
_MAX_RUNE = 0x10FFFF
_FIRST_BEYOND_PLANE_0 = 0x10000
_HTML = str.maketrans({"\0": "\ufffd", '"': "&#34;", "'": "&#39;", "&": "&amp;", "<": "&lt;", ">": "&gt;"})
_JS = str.maketrans({
    **{chr(code): f"\\u00{code:02X}" for code in range(0x20)},
    "\\": "\\\\", "'": "\\'", '"': '\\"', "<": "\\u003C", ">": "\\u003E", "&": "\\u0026", "=": "\\u003D",
})  # fmt: skip
_CONTROLS = {chr(code): f"\\x{code:02x}" for code in (*range(0x20), 0x7F)}
_ASCII_ESCAPES = {mark: str.maketrans({**_CONTROLS, **_SHORT, mark: "\\" + mark}) for mark in ('"', "'")}
_BEYOND_ASCII = re.compile("[^\x00-\x7f]")


def unquote(literal: str) -> str:
    """The text of a quoted or raw Go string literal; ValueError where Go refuses it."""
    quote, inner = literal[0], literal[1:-1]
    if quote == "`":
        return inner.replace("\r", "")
    if "\\" not in inner:
        return inner
    return from_bytes(to_bytes(_ESCAPE.sub(lambda found: _meaning(found, quote), inner)))


def unquote_character(literal: str) -> int:
    """The code point of a Go character constant."""
    inner = literal[1:-1]
    escape = _ESCAPE.fullmatch(inner)
    if escape is not None:
        code = ord(_meaning(escape, "'"))
        return code & _MAX_BYTE if escape.lastgroup in {"byte", "octal"} else code
    if len(inner) != 1:
        raise ValueError(f"malformed character constant {literal}")
    return ord(inner)


def _meaning(escape: re.Match[str], quote: str) -> str:
    kind, text = escape.lastgroup, escape.group(escape.lastgroup or 0)
    if kind in {"byte", "octal"}:
        value = int(text, 16 if kind == "byte" else 8)
        if value <= _MAX_BYTE:
            return from_bytes(bytes([value]))
    elif kind in {"short", "long"}:
        value = int(text, 16)
        if value <= _MAX_RUNE and not is_surrogate(value):
            return chr(value)
    elif text == quote or text in _NAMED:
        return _NAMED.get(text, text)
    raise ValueError(f"invalid escape {escape.group()}")


def is_surrogate(rune: int) -> bool:
    return 0xD800 <= rune <= 0xDFFF  # noqa: PLR2004  the range is its own name


def quote(text: str, mark: str = '"', *, ascii_only: bool = False) -> str:
    """The text as a Go literal between two marks."""
    escaped = without_halves(text).translate(_ASCII_ESCAPES[mark])
    if ascii_only or not is_printed(escaped):
        escaped = _BEYOND_ASCII.sub(lambda found: _escaped(found.group(), ascii_only=ascii_only), escaped)
    return mark + escaped + mark


def _escaped(character: str, *, ascii_only: bool) -> str:
    if not ascii_only and is_printed(character):
        return character
    code = ord(character)
    if is_surrogate(code):
        return f"\\x{code & _MAX_BYTE:02x}"
    return f"\\u{code:04x}" if code < _FIRST_BEYOND_PLANE_0 else f"\\U{code:08x}"


def can_backquote(text: str) -> bool:
    """Whether a raw literal can hold the text: one line, no control characters but the tab, no back-quote."""
    text = without_halves(text)
    return not any(c in "`\x7f\ufeff" or (c < " " and c != "\t") or is_surrogate(ord(c)) for c in text)


def escape_html(text: str) -> str:
    return text.translate(_HTML)


def escape_js(text: str) -> str:
    escaped = without_halves(text).translate(_JS)
    return escaped if is_printed(escaped) else _BEYOND_ASCII.sub(lambda found: _js(found.group()), escaped)


def _js(character: str) -> str:
    return character if is_printed(character) or is_surrogate(ord(character)) else f"\\u{ord(character):04X}"


def escape_query(text: str) -> str:
    return quote_plus(to_bytes(text))
