"""The parser's events as a tree of nodes, first document only.

PyYAML's own composer in C ends the process on a text that nests too deeply, and a rendered manifest may hold whatever
somebody wrote into a label. This one stops at a limit.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import yaml

DEEPEST = 100
MOST_NODES = 1_000_000
PLAIN = ""
_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class Unreadable(Exception):
    """A text that is no YAML, or too much of it; line and column start at 1."""

    def __init__(self, problem: str, line: int = 1, column: int = 1) -> None:
        super().__init__(problem)
        self.problem = problem
        self.line = line
        self.column = column


@dataclass(slots=True, eq=False)
class Node:
    """`start` and `end` are offsets in the text; line and column are those of `start`, counted from 1."""

    start: int
    end: int
    line: int
    column: int


@dataclass(slots=True, eq=False)
class ScalarNode(Node):
    """`style` is "" for an unquoted scalar, else one of ' " | >; `tag` only where one was written."""

    value: str
    style: str = PLAIN
    tag: str | None = None


@dataclass(slots=True, eq=False)
class ListNode(Node):
    elements: list[Node] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class MapNode(Node):
    entries: list[tuple[Node, Node]] = field(default_factory=list)


def compose(text: str) -> tuple[Node | None, bool]:
    """The first document, None where there is none, and whether another one follows. Raises Unreadable."""
    loader = _Loader(text)
    try:
        events = iter(loader.get_event, None)
        composer = _Composer(events, Lines(text))
        root = composer.document()
        return root, any(isinstance(event, yaml.DocumentStartEvent) for event in events) if root else False
    except yaml.YAMLError as error:
        raise _no_yaml(text, error) from None
    finally:
        loader.dispose()


def _no_yaml(text: str, error: yaml.YAMLError) -> Unreadable:
    if isinstance(error, yaml.MarkedYAMLError) and error.problem_mark is not None:
        return Unreadable(f"this is not YAML: {error.problem}", *Lines(text).place(error.problem_mark.index))
    place = Lines(text).place(getattr(error, "position", 0) or 0)
    return Unreadable("this is not YAML: a character is not allowed; save the file as plain text", *place)


class Lines:
    """Lines as editors count them; YAML also counts characters that editors do not show as line breaks."""

    def __init__(self, text: str) -> None:
        self._starts = [0, *(found.end() for found in re.finditer("\n", text))]
        self._end = len(text)

    def place(self, offset: int) -> tuple[int, int]:
        """Line and column of an offset, from 1."""
        offset = min(offset, self._end)
        line = bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1] + 1


class _Composer:
    def __init__(self, events: Iterator[Any], lines: Lines) -> None:
        self._events = events
        self._lines = lines
        self._anchors: dict[str, Node] = {}
        self._nodes = 0

    def document(self) -> Node | None:
        for event in self._events:
            if isinstance(event, yaml.DocumentStartEvent):
                return self._node(next(self._events), 0)
        return None

    def _node(self, event: Any, depth: int) -> Node:
        start: int = event.start_mark.index
        self._nodes += 1
        if depth > DEEPEST or self._nodes > MOST_NODES:
            limit = f"nests deeper than {DEEPEST} levels" if depth > DEEPEST else f"has more than {MOST_NODES:,} values"
            raise Unreadable(f"the document {limit}", *self._lines.place(start))
        if isinstance(event, yaml.AliasEvent):
            if event.anchor not in self._anchors:
                raise Unreadable(f"there is no anchor &{event.anchor} above", *self._lines.place(start))
            return self._anchors[event.anchor]
        node = self._started(event)
        if event.anchor:
            self._anchors[event.anchor] = node
        if isinstance(node, ListNode):
            node.end = self._list(node, depth)
        elif isinstance(node, MapNode):
            node.end = self._map(node, depth)
        return node

    def _list(self, node: ListNode, depth: int) -> int:
        event = next(self._events)
        while not isinstance(event, yaml.SequenceEndEvent):
            node.elements.append(self._node(event, depth + 1))
            event = next(self._events)
        return _end(event)

    def _map(self, node: MapNode, depth: int) -> int:
        event = next(self._events)
        while not isinstance(event, yaml.MappingEndEvent):
            key = self._node(event, depth + 1)
            node.entries.append((key, self._node(next(self._events), depth + 1)))
            event = next(self._events)
        return _end(event)

    def _started(self, event: Any) -> Node:
        start: int = event.start_mark.index
        line, column = self._lines.place(start)
        place = (start, event.end_mark.index, line, column)
        if isinstance(event, yaml.ScalarEvent):
            return ScalarNode(*place, event.value, event.style or PLAIN, event.tag)
        return ListNode(*place) if isinstance(event, yaml.SequenceStartEvent) else MapNode(*place)


def _end(event: Any) -> int:
    end: int = event.end_mark.index
    return end
