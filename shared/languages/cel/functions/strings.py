"""The functions of strings: CEL's own three and cel-go's extension (`format` has a module of its own).

Positions count characters, not bytes. What Go's and Python's string functions do differently is in the tests.
"""

from collections.abc import Callable
from typing import Any, Final

from shared.languages.cel.functions.overloads import Function, Overload
from shared.languages.cel.runtime.comparison import CHARACTERS_PER_STEP
from shared.languages.cel.runtime.evaluation import Evaluation
from shared.languages.cel.runtime.failure import Failure
from shared.languages.cel.runtime.values import Kind
from shared.languages.errors import shown

STRING, INT, LIST = Kind.STRING, Kind.INT, Kind.LIST

# Go's idea of white space; Python's also strips the separators U+001C to U+001F.
WHITE_SPACE: Final = (
    "\t\n\v\f\r \u0085\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)
_QUOTED: Final = str.maketrans(
    {
        "\a": "\\a",
        "\b": "\\b",
        "\f": "\\f",
        "\n": "\\n",
        "\r": "\\r",
        "\t": "\\t",
        "\v": "\\v",
        "\\": "\\\\",
        '"': '\\"',
        **{chr(code): "\ufffd" for code in range(0xD800, 0xE000)},
    }
)


# Python searches long texts in linear time, and short ones by trial, which costs the product of the lengths.
_LONG_TEXT, _SHORT_PART = 30_000, 6


def _search(evaluation: Evaluation, text: str, part: str) -> None:
    linear = len(text) >= _LONG_TEXT and len(part) >= _SHORT_PART
    evaluation.spend(len(text) * (4 if linear else min(len(part), len(text))) // CHARACTERS_PER_STEP)


def _contains(evaluation: Evaluation, text: str, part: str) -> bool:
    _search(evaluation, text, part)
    return part in text


def _starts_with(evaluation: Evaluation, text: str, part: str) -> bool:
    evaluation.spend(len(part) // CHARACTERS_PER_STEP)
    return text.startswith(part)


def _ends_with(evaluation: Evaluation, text: str, part: str) -> bool:
    evaluation.spend(len(part) // CHARACTERS_PER_STEP)
    return text.endswith(part)


def _within(text: str, index: int) -> int:
    if 0 <= index <= len(text):
        return index
    raise Failure(f"position {shown(index)} is outside the string", met=text)


def _char_at(_: Evaluation, text: str, index: int) -> str:
    return text[_within(text, index) : index + 1]


def _index_of(evaluation: Evaluation, text: str, part: str, offset: int = 0) -> int:
    _search(evaluation, text, part)
    if offset < 0:
        raise Failure(f"position {shown(offset)} is outside the string", met=text)
    if not part:
        return min(offset, len(text))
    return text.find(part, offset)


def _last_index_of(evaluation: Evaluation, text: str, part: str) -> int:
    """Searches the reversed texts: Python's search from the right may take the product of the lengths."""
    _search(evaluation, text, part)
    evaluation.grow_text(len(text) + len(part))
    if len(part) > len(text):
        return -1
    found = text[::-1].find(part[::-1])
    return len(text) - len(part) - found if found >= 0 else -1


def _last_index_of_from(evaluation: Evaluation, text: str, part: str, offset: int) -> int:
    if offset < 0:
        raise Failure(f"position {shown(offset)} is outside the string", met=text)
    if not part:
        return min(offset, len(text))
    return _last_index_of(evaluation, text[: offset + len(part)], part) if offset < len(text) else -1


def _lower(evaluation: Evaluation, text: str) -> str:
    evaluation.grow_text(len(text))
    return _by_bytes(text, bytes.lower)


def _upper(evaluation: Evaluation, text: str) -> str:
    evaluation.grow_text(len(text))
    return _by_bytes(text, bytes.upper)


def _by_bytes(text: str, change: Callable[[bytes], bytes]) -> str:
    """Bytes know no letters but those of ASCII, which is all that may change."""
    return change(text.encode("utf-8", "surrogatepass")).decode("utf-8", "surrogatepass")


def _replace(evaluation: Evaluation, text: str, old: str, new: str, count: int = -1) -> str:
    _search(evaluation, text, old)
    occurrences = text.count(old) if count < 0 else min(count, text.count(old))
    evaluation.grow_text(len(text) + occurrences * max(0, len(new) - len(old)))
    return text.replace(old, new, occurrences)


def _split(evaluation: Evaluation, text: str, separator: str, count: int = -1) -> tuple[str, ...]:
    _search(evaluation, text, separator)
    if count == 0:
        return ()
    most = text.count(separator) + 1 if separator else len(text)
    pieces = most if count < 0 else min(count, most)
    evaluation.grow_text(len(text))
    evaluation.grow_list(pieces)
    if separator:
        return tuple(text.split(separator, pieces - 1))
    return (*text[: pieces - 1], text[pieces - 1 :]) if text else ()


def _substring(evaluation: Evaluation, text: str, start: int) -> str:
    evaluation.grow_text(len(text) - _within(text, start))
    return text[start:]


def _substring_range(evaluation: Evaluation, text: str, start: int, end: int) -> str:
    if start > end:
        raise Failure(f"a substring cannot start at {shown(start)} and end at {shown(end)}", met=text)
    evaluation.grow_text(_within(text, end) - _within(text, start))
    return text[start:end]


def _trim(evaluation: Evaluation, text: str) -> str:
    evaluation.grow_text(len(text))
    return text.strip(WHITE_SPACE)


def _reverse(evaluation: Evaluation, text: str) -> str:
    evaluation.grow_text(len(text))
    return text[::-1]


def _join(evaluation: Evaluation, items: Any, separator: str = "") -> str:
    evaluation.spend(len(items))
    for item in items:
        if not isinstance(item, str):
            raise Failure("join() takes a list of strings", met=item, hint="make strings of them: xs.map(x, string(x))")
    evaluation.grow_text(sum(map(len, items)) + len(separator) * len(items))
    return separator.join(items)


def _quote(evaluation: Evaluation, text: str) -> str:
    evaluation.spend(len(text))
    evaluation.grow_text(len(text) * 2)
    return f'"{text.translate(_QUOTED)}"'


def _function(name: str, *overloads: Overload) -> Function:
    return Function(name, overloads, weight=10)


FUNCTIONS: Final = (
    _function("contains", Overload((STRING, STRING), _contains)),
    _function("startsWith", Overload((STRING, STRING), _starts_with)),
    _function("endsWith", Overload((STRING, STRING), _ends_with)),
    _function("charAt", Overload((STRING, INT), _char_at)),
    _function("indexOf", Overload((STRING, STRING), _index_of), Overload((STRING, STRING, INT), _index_of)),
    _function(
        "lastIndexOf",
        Overload((STRING, STRING), _last_index_of),
        Overload((STRING, STRING, INT), _last_index_of_from),
    ),
    _function("lowerAscii", Overload((STRING,), _lower)),
    _function("upperAscii", Overload((STRING,), _upper)),
    _function(
        "replace", Overload((STRING, STRING, STRING), _replace), Overload((STRING, STRING, STRING, INT), _replace)
    ),
    _function("split", Overload((STRING, STRING), _split), Overload((STRING, STRING, INT), _split)),
    _function("substring", Overload((STRING, INT), _substring), Overload((STRING, INT, INT), _substring_range)),
    _function("trim", Overload((STRING,), _trim)),
    _function("reverse", Overload((STRING,), _reverse)),
    _function("join", Overload((LIST,), _join), Overload((LIST, STRING), _join)),
    _function("strings.quote", Overload((STRING,), _quote)),
)
