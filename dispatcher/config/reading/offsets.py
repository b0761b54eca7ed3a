"""Where in a file a character of a scalar's value was written.

YAML folds lines, strips indentation and replaces escapes, but keeps every other visible character in order. So the n-th
visible character of the value is the n-th visible character of the source, for every style of scalar.
"""

from collections.abc import Iterator

from dispatcher.config.reading.composing import ScalarNode

_INVISIBLE_ESCAPES = frozenset(" \t\nntvfrNLP_")
_CODE_LENGTHS = {"x": 2, "u": 4, "U": 8}


def offset_in_source(source: str, node: ScalarNode, offset: int) -> int:
    """The offset in the file of the character at `offset` of the scalar's value."""
    wanted = sum(1 for character in node.value[:offset] if not character.isspace())
    last = start = _content_start(source, node)
    for place in _visible(source, start, node.end, node.style):
        if wanted == 0:
            return place
        wanted -= 1
        last = place + 1
    return last


def _content_start(source: str, node: ScalarNode) -> int:
    if node.style in {"|", ">"}:
        end_of_header = source.find("\n", node.start)
        return len(source) if end_of_header < 0 else end_of_header + 1
    return node.start + 1 if node.style in {"'", '"'} else node.start


def _visible(source: str, start: int, end: int, style: str) -> Iterator[int]:
    """The places of the characters that a value shows."""
    place = start
    while place < min(end, len(source)):
        character = source[place]
        if style == "'" and source.startswith("''", place):
            yield place
            place += 2
        elif style == '"' and character == "\\":
            escape = source[place + 1 : place + 2]
            if escape not in _INVISIBLE_ESCAPES:
                yield place
            place += 2 + _CODE_LENGTHS.get(escape, 0)
        else:
            if not character.isspace():
                yield place
            place += 1
