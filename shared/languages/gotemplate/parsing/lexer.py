"""From the text of a template to tokens: where actions begin and end, what is trimmed, what a word is.

Tokens are made one by one as the parser asks, so the first mistake in the source is the one that is reported. Spaces
inside an action are tokens too: `.a.b` is one operand and `.a .b` are two.
"""

import re
from collections.abc import Generator, Iterator
from enum import Enum
from typing import NamedTuple

from shared.languages.errors import Rejected
from shared.languages.gotemplate.parsing import mistakes

OPENING = "{{"
_SPACES = " \t\r\n"
_TRIMMING = ("- ", "-\t", "-\r", "-\n")
_DIGITS = tuple("0123456789")
_COMMENT = "/*"
_COMMENT_END = "*/"
_CLOSING = re.compile(r"[ \t\r\n]-}}[ \t\r\n]*|}}")
_SPACE = re.compile(r"[ \t\r\n]+?(?=[ \t\r\n]-}})|[ \t\r\n]+")
_WORD = re.compile(r"\w*")
_WHOLE_NUMBER = r"""(?:0[xX][0-9a-fA-F_]*(?:\.[0-9a-fA-F_]*)?(?:[pP][+-]?[0-9_]*)?
    | 0[oO][0-7_]*(?:\.[0-7_]*)? | 0[bB][01_]*(?:\.[01_]*)?
    | [0-9_]*(?:\.[0-9_]*)?(?:[eE][+-]?[0-9_]*)?)i?"""
_NUMBER = re.compile(rf"[+-]?{_WHOLE_NUMBER}(?:[+-]{_WHOLE_NUMBER}(?<=i))?", re.VERBOSE)


class Kind(Enum):
    TEXT = "text"
    OPEN = "{{"
    CLOSE = "}}"
    SPACE = "space"
    ASSIGN = "="
    DECLARE = ":="
    PIPE = "|"
    LEFT = "("
    RIGHT = ")"
    STRING = "string"
    NUMBER = "number"
    BOOL = "true or false"
    NIL = "nil"
    DOT = "."
    FIELD = "field"
    VARIABLE = "variable"
    IDENTIFIER = "identifier"
    KEYWORD = "keyword"
    CHARACTER = "character"
    END = "the end of the template"


class Token(NamedTuple):
    kind: Kind
    text: str
    start: int

    @property
    def end(self) -> int:
        return self.start + len(self.text)


_QUOTED = {
    '"': (Kind.STRING, re.compile(r'"[^"\\\n]*(?:\\[^\n][^"\\\n]*)*"'), "unterminated quoted string"),
    "`": (Kind.STRING, re.compile(r"`[^`]*`"), "unterminated raw string"),
    "'": (Kind.NUMBER, re.compile(r"'[^'\\\n]*(?:\\[^\n][^'\\\n]*)*'"), "unterminated character constant"),
}
_PUNCTUATION = {"=": Kind.ASSIGN, "|": Kind.PIPE, "(": Kind.LEFT, ")": Kind.RIGHT}
_KEYWORDS = frozenset({"block", "break", "continue", "define", "else", "end", "if", "range", "template", "with"})
_CONSTANTS = {"true": Kind.BOOL, "false": Kind.BOOL, "nil": Kind.NIL}


def tokenize(source: str) -> Iterator[Token]:
    """All tokens of a template; the last one is END."""
    position = 0
    while (opening := source.find(OPENING, position)) >= 0:
        inside = opening + len(OPENING)
        trimmed = source.startswith(_TRIMMING, inside)
        text = source[position:opening]
        text = text.rstrip(_SPACES) if trimmed else text
        if text:
            yield Token(Kind.TEXT, text, position)
        inside += len("- ") if trimmed else 0
        if source.startswith(_COMMENT, inside):
            position = _after_comment(source, inside)
        else:
            yield Token(Kind.OPEN, OPENING, opening)
            position = yield from _action(source, inside, opening)
    if position < len(source):
        yield Token(Kind.TEXT, source[position:], position)
    yield Token(Kind.END, "", len(source))


def _after_comment(source: str, start: int) -> int:
    end = source.find(_COMMENT_END, start + len(_COMMENT))
    if end < 0:
        raise Rejected("unclosed comment", source=source, offset=start, hint="a comment is written {{/* … */}}")
    closing = _CLOSING.match(source, end + len(_COMMENT_END))
    if closing is None:
        raise Rejected(
            "a comment must end right before }}", source=source, offset=end, hint="a comment is written {{/* … */}}"
        )
    return closing.end()


def _action(source: str, position: int, opening: int) -> Generator[Token, None, int]:
    parentheses: list[int] = []
    while (closing := _CLOSING.match(source, position)) is None:
        if position == len(source):
            raise Rejected("unclosed action", source=source, offset=opening, hint="close it with }}")
        kind, end = _scan(source, position)
        if kind is Kind.LEFT:
            parentheses.append(position)
        elif kind is Kind.RIGHT:
            if not parentheses:
                raise Rejected("unexpected )", source=source, offset=position)
            parentheses.pop()
        yield Token(kind, source[position:end], position)
        position = end
    if parentheses:
        raise Rejected("unclosed (", source=source, offset=parentheses[-1])
    yield Token(Kind.CLOSE, closing.group(), position)
    return closing.end()


def _scan(source: str, start: int) -> tuple[Kind, int]:
    """The kind and the end of the token that starts here."""
    first = source[start]
    if first in _SPACES:
        space = _SPACE.match(source, start)
        assert space is not None
        return Kind.SPACE, space.end()
    if first in _PUNCTUATION:
        return _PUNCTUATION[first], start + 1
    if first in _QUOTED:
        return _quoted(source, start)
    if first == "$" or (first == "." and not source.startswith(_DIGITS, start + 1)):
        return _field_or_variable(source, start)
    if first in "+-.0123456789":
        return _number(source, start)
    if _is_word(first):
        return _word(source, start)
    if source.startswith(":=", start):
        return Kind.DECLARE, start + 2
    if first.isascii() and first.isprintable() and first != ":":
        return Kind.CHARACTER, start + 1
    raise _bad_character(source, start, start)


def _quoted(source: str, start: int) -> tuple[Kind, int]:
    kind, pattern, problem = _QUOTED[source[start]]
    match = pattern.match(source, start)
    if match is None:
        raise Rejected(problem, source=source, offset=start)
    return kind, match.end()


def _field_or_variable(source: str, start: int) -> tuple[Kind, int]:
    end = _word_end(source, start + 1)
    _require_terminator(source, start, end)
    if source[start] == "$":
        return Kind.VARIABLE, end
    return (Kind.FIELD if end > start + 1 else Kind.DOT), end


def _number(source: str, start: int) -> tuple[Kind, int]:
    match = _NUMBER.match(source, start)
    assert match is not None
    end = match.end()
    following = source[end : end + 1]
    if following and (_is_word(following) or following in "+-"):
        raise Rejected(
            f"bad number {source[start : end + 1]!r}", source=source, offset=start, hint=mistakes.operator(following)
        )
    return Kind.NUMBER, end


def _word(source: str, start: int) -> tuple[Kind, int]:
    end = _word_end(source, start)
    _require_terminator(source, start, end)
    word = source[start:end]
    if word in _KEYWORDS:
        return Kind.KEYWORD, end
    return _CONSTANTS.get(word, Kind.IDENTIFIER), end


def _word_end(source: str, start: int) -> int:
    match = _WORD.match(source, start)
    assert match is not None
    if match.group().isascii():
        return match.end()
    return next((start + i for i, c in enumerate(match.group()) if not _is_word(c)), match.end())


def _is_word(character: str) -> bool:
    return character == "_" or character.isalpha() or character.isdecimal()


def _require_terminator(source: str, start: int, end: int) -> None:
    following = source[end : end + 1]
    if following and following not in " \t\r\n.,|:()" and not source.startswith("}}", end):
        raise _bad_character(source, start, end)


def _bad_character(source: str, start: int, offset: int) -> Rejected:
    character = source[offset]
    return Rejected(
        f"unexpected character {character!r}",
        source=source,
        offset=offset,
        hint=mistakes.character(character, source[start:offset]),
    )
