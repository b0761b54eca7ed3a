"""Source text to tokens.

Longest match first, as the grammar of CEL asks: a prefix makes a string raw or bytes, a dot before a digit starts a
number. What no token starts with is refused here, with a hint when it is another language's sign.
"""

import re
from typing import NamedTuple

from shared.languages.cel.parsing import mistakes
from shared.languages.cel.parsing.literals import ESCAPE
from shared.languages.errors import Rejected


class Token(NamedTuple):
    """`kind` is the name of the pattern below that matched, or END."""

    kind: str
    text: str
    start: int
    end: int


_TEXT = rf"""
    [rR](?:\"\"\"[\s\S]*?\"\"\"|'''[\s\S]*?'''|\"[^\"\n\r]*\"|'[^'\n\r]*')
  | \"\"\"(?:[^\\\"]++|\"(?!\"\")|{ESCAPE})*+\"\"\"
  | '''(?:[^\\']++|'(?!'')|{ESCAPE})*+'''
  | \"(?:[^\\\"\n\r]++|{ESCAPE})*+\"
  | '(?:[^\\'\n\r]++|{ESCAPE})*+'
"""
_TOKEN = re.compile(
    rf"""
    (?P<SKIPPED>[\t \r\n\f]+|//[^\n]*)
  | (?P<BYTES>[bB](?:{_TEXT}))
  | (?P<STRING>{_TEXT})
  | (?P<DOUBLE>(?:\d+\.\d+|\.\d+)(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+)
  | (?P<UINT>(?:0x[0-9a-fA-F]+|\d+)[uU])
  | (?P<INT>0x[0-9a-fA-F]+|\d+)
  | (?P<NAME>[A-Za-z_]\w*)
  | (?P<QUOTED_NAME>`[A-Za-z0-9_.\-/\x20]+`)
  | (?P<SIGN>==|!=|<=|>=|&&|\|\||[\[\]{{}}().,\-!?:+*/%<>])
    """,
    re.ASCII | re.VERBOSE,
)


def tokens(source: str) -> list[Token]:
    """All tokens, the last of them END."""
    found: list[Token] = []
    position, length = 0, len(source)
    while position < length:
        token = _TOKEN.match(source, position)
        if token is None:
            raise _unknown(source, position)
        end = token.end()
        kind = token.lastgroup
        if kind and kind != "SKIPPED":
            found.append(Token(kind, token[0], position, end))
        position = end
    found.append(Token("END", "", length, length))
    return found


def _unknown(source: str, position: int) -> Rejected:
    problem, place, hint = mistakes.unknown_character(source, position)
    return Rejected(problem, source=source, offset=place, hint=hint)
