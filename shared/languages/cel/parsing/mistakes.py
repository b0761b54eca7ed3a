"""What authors write from the habit of other languages, and what CEL calls it."""

import difflib
import re
from collections.abc import Collection, Iterable
from typing import Final

from shared.languages.cel.parsing.literals import ESCAPE

_WORDS: Final = {
    "and": "CEL writes && for and",
    "or": "CEL writes || for or",
    "not": "CEL writes ! for not",
    "is": "CEL compares with ==, also with null",
    "if": "CEL has no if: write condition ? value : other",
    "then": "CEL has no if: write condition ? value : other",
    "else": "CEL has no if: write condition ? value : other",
}
_CONSTANTS: Final = {
    "None": "null",
    "nil": "null",
    "NULL": "null",
    "Null": "null",
    "undefined": "null",
    "True": "true",
    "TRUE": "true",
    "False": "false",
    "FALSE": "false",
}
_FUNCTIONS: Final = {
    "len": "size",
    "length": "size",
    "count": "size",
    "str": "string",
    "toString": "string",
    "float": "double",
    "number": "double",
    "lower": "lowerAscii",
    "toLower": "lowerAscii",
    "toLowerCase": "lowerAscii",
    "upper": "upperAscii",
    "toUpper": "upperAscii",
    "toUpperCase": "upperAscii",
    "strip": "trim",
    "includes": "contains",
    "hasPrefix": "startsWith",
    "hasSuffix": "endsWith",
    "any": "exists",
    "some": "exists",
    "every": "all",
    "existsOne": "exists_one",
    "quote": "strings.quote",
    "range": "lists.range",
    "default": "orValue",
    "toJSON": "toJson",
    "fromJSON": "fromJson",
}
_CHARACTERS: Final = {
    "=": "compare with ==; CEL assigns nothing",
    "&": "CEL writes && for and",
    "|": "CEL writes || for or; it has no pipelines",
    "#": "a comment starts with //",
    "$": "a variable is its name alone",
    "@": "a name has letters, digits and _ only",
    ";": "an expression is one value; it has no statements",
    "~": "match a pattern with text.matches(pattern)",
    "^": "CEL has no power and no bitwise operators",
    "\\": "a backslash belongs inside a string",
    "`": 'a name in backquotes follows a dot, as in a.`b-c`; a["b-c"] means the same',
    "\u201c": "strings take straight quotes",
    "\u201d": "strings take straight quotes",
    "\u2018": "strings take straight quotes",
    "\u2019": "strings take straight quotes",
}
_TEMPLATE_BRACES: Final = 'this is CEL, not a template: write the variable\'s name alone, as in name + "-suffix"'
_ARROW: Final = "CEL has no arrow functions: write xs.map(x, x.name)"
_SIGN_PAIRS: Final = {
    ("<", ">"): "CEL writes != for not equal",
    ("-", ">"): _ARROW,
    ("?", "?"): "a value that may be missing is written a.?b.orValue(...)",
}
_NESTED: Final = "a conditional in the middle of another needs parentheses: a ? (b ? x : y) : z"

# Comparing names costs their lengths multiplied; nobody mistypes a longer one.
_LONGEST_NAME: Final = 64

_KNOWN_ESCAPE = re.compile(ESCAPE, re.ASCII)
_OPTIONAL_CHAIN = re.compile(r"\?\.(?=[A-Za-z_`])")
_STRING_START = re.compile(r"[bB]?[rR]?(\"\"\"|'''|\"|')")


def unknown_character(source: str, position: int) -> tuple[str, int, str | None]:
    """The problem, its place and the hint for text no token starts with."""
    started = _STRING_START.match(source, position)
    if started:
        return _broken_string(source, started)
    character = source[position]
    hint = _ARROW if source.startswith("=>", position) else _CHARACTERS.get(character)
    return f"{character!r} means nothing here", position, hint


def _broken_string(source: str, started: re.Match[str]) -> tuple[str, int, str | None]:
    quote = started[1]
    place = started.end()
    while place < len(source) and not source.startswith(quote, place):
        if len(quote) == 1 and source[place] in "\r\n":
            break
        if source[place] == "\\":
            escape = _KNOWN_ESCAPE.match(source, place)
            if escape is None:
                escaped = source[place : place + 2]
                return f"{escaped} is not an escape", place, "write \\\\ for a backslash, or a raw string: r'...'"
            place = escape.end()
        else:
            place += 1
    hint = 'strings in """ may run over several lines' if len(quote) == 1 else None
    return "the string does not end", started.start(), hint


def unexpected(source: str, text: str, position: int, before: str) -> str | None:
    """The hint for a token where the grammar has no place for it; `before` is the token it follows."""
    if (before, text) in _SIGN_PAIRS:
        return _SIGN_PAIRS[before, text]
    if text == "?":
        return _NESTED if "?" in source[:position] else None
    if "{{" in source:
        return _TEMPLATE_BRACES
    if _OPTIONAL_CHAIN.search(source, 0, position + len(text)):
        return "the question mark comes after the dot: a.?b"
    for word in (text, before):
        if word in _WORDS:
            return _WORDS[word]
    return "a string has one pair of quotes" if text[:1] in {'"', "'"} and before[-1:] in {'"', "'"} else None


def name(unknown: str, known: Iterable[str], functions: Collection[str] = ()) -> str | None:
    """The hint for a variable nobody declared."""
    if unknown in _CONSTANTS:
        return f"CEL writes {_CONSTANTS[unknown]}"
    if unknown in functions:
        return f"{unknown} is a function: write {unknown}(...)"
    return _WORDS.get(unknown) or _nearest(unknown, tuple(known))


def function(unknown: str, known: Collection[str]) -> str | None:
    """The hint for a function that does not exist."""
    if unknown in _FUNCTIONS:
        return f"CEL calls it {_FUNCTIONS[unknown]}"
    return _WORDS.get(unknown) or _nearest(unknown, known)


def _nearest(unknown: str, known: Collection[str]) -> str | None:
    close = difflib.get_close_matches(unknown[:_LONGEST_NAME], known, n=1)
    return f"did you mean {close[0]}?" if close else None
