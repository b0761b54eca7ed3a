"""What a quoted text in a path stands for: Go's escapes, in single or double quotes."""

import re

_ESCAPE = re.compile(
    r"\\(?:(?P<letter>[abfnrtv\\'\"])"
    r"|x(?P<byte>[0-9a-fA-F]{2})|(?P<octal>[0-7]{3})"
    r"|u(?P<short>[0-9a-fA-F]{4})|U(?P<long>[0-9a-fA-F]{8}))"
)
_LETTERS = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "\\": "\\"}


class BadEscape(Exception):
    """`at` is the offset of the escape in the quoted text."""

    def __init__(self, at: int) -> None:
        super().__init__(at)
        self.at = at


def unquote(content: str, quote: str) -> str:
    r"""`content` without its quotes. Escapes of bytes may build a character: `\xc3\xa9` is é."""
    spelled = bytearray()
    at = 0
    while at < len(content):
        if content[at] == quote:
            raise BadEscape(at)
        if content[at] != "\\":
            spelled += content[at].encode("utf-8", "surrogatepass")
            at += 1
            continue
        escape = _ESCAPE.match(content, at)
        if escape is None:
            raise BadEscape(at)
        spelled += _meaning(escape, quote)
        at = escape.end()
    return spelled.decode("utf-8", "replace")


def _meaning(escape: re.Match[str], quote: str) -> bytes:
    match escape.lastgroup:
        case "letter" if escape["letter"] in _LETTERS:
            return _LETTERS[escape["letter"]].encode()
        case "letter" if escape["letter"] == quote:
            return quote.encode()
        case "byte":
            return bytes([int(escape["byte"], 16)])
        case "octal" if int(escape["octal"], 8) <= 0xFF:  # noqa: PLR2004 - one byte
            return bytes([int(escape["octal"], 8)])
        case "short" | "long":
            code = int(escape[escape.lastgroup], 16)
            if code <= 0x10FFFF and not 0xD800 <= code <= 0xDFFF:  # noqa: PLR2004 - the characters of Unicode
                return chr(code).encode()
    raise BadEscape(escape.start())
