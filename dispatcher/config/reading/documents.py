"""A YAML file as data that remembers where each value stands.

The nodes of the parser are kept, and a position is looked up only when somebody asks for it, so that reading costs no
more than plain YAML does.
"""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from dispatcher.config.compiled import Place
from dispatcher.config.reading.composing import ListNode, MapNode, Node, ScalarNode
from dispatcher.config.reading.offsets import offset_in_source
from dispatcher.config.reading.paths import Path, shown

MERGE = "<<"


@dataclass(frozen=True)
class Document:
    """`file` is as users see it, `root` the parser's tree, `data` the values with their texts (see `Scalar`)."""

    file: str
    text: str
    root: Node | None = field(default=None, repr=False)
    data: Any = field(default=None, repr=False)

    @cached_property
    def lines(self) -> list[str]:
        return self.text.split("\n")

    def line(self, number: int) -> str:
        return self.lines[number - 1].rstrip("\r") if 0 < number <= len(self.lines) else ""

    def place(self, path: Path, *, key: bool = False) -> Place:
        """Where the value of a path stands, or its key; where there is none, the nearest value around it."""
        name, value = self._nodes(path)
        node = name if key and name is not None else value
        line, column = (node.line, node.column) if node else (1, 1)
        return Place(file=self.file, line=line, column=column, path=shown(path))

    def place_in(self, path: Path, offset: int, *, key: bool = False) -> Place:
        """Where a character of a text stands, also inside a block."""
        node = self._nodes(path)[0 if key else 1]
        if not isinstance(node, ScalarNode):
            return self.place(path)
        return self.place_at(offset_in_source(self.text, node, offset), path)

    def place_at(self, offset: int, path: Path = ()) -> Place:
        line, column = self.text.count("\n", 0, offset) + 1, offset - self.text.rfind("\n", 0, offset)
        return Place(file=self.file, line=line, column=column, path=shown(path))

    def has(self, path: Path) -> bool:
        node = self.root
        for step in path:
            node = child(node, step)[1]
            if node is None:
                return False
        return True

    def _nodes(self, path: Path) -> tuple[Node | None, Node | None]:
        name, node = None, self.root
        for step in path:
            key, value = child(node, step)
            if value is None:
                break
            name, node = key, value
        return name, node


def child(node: Node | None, step: str | int) -> tuple[Node | None, Node | None]:
    """The key and the value below a node; a merged mapping counts where the node itself has no such key."""
    if isinstance(node, ListNode) and isinstance(step, int):
        return None, node.elements[step] if 0 <= step < len(node.elements) else None
    if not isinstance(node, MapNode):
        return None, None
    merged: list[Node] = []
    for key, value in node.entries:
        if not isinstance(key, ScalarNode):
            continue
        if key.value == step:
            return key, value
        if key.value == MERGE:
            merged += value.elements if isinstance(value, ListNode) else [value]
    return next((found for source in merged if (found := child(source, step))[1] is not None), (None, None))
