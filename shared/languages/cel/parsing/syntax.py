"""The syntax tree of an expression: what was written, with the place of every part.

Macros are nodes of their own, not calls: `parser` has already decided that `xs.filter(x, p)` is a comprehension.
`start` and `end` enclose the node's text; `at` is where a caret belongs (the operator, the field, the function name).
"""

from dataclasses import dataclass
from enum import Enum
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    start: int
    end: int
    at: int

    @property
    def parts(self) -> tuple["Node", ...]:
        """The nodes it is made of, in the order they are written."""
        return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Literal(Node):
    value: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Identifier(Node):
    """`rooted` is the leading dot: never a variable of a comprehension."""

    name: str
    rooted: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Select(Node):
    """`operand.field`, or `operand.?field` when optional."""

    operand: Node
    field: str
    optional: bool = False

    @property
    def parts(self) -> tuple[Node, ...]:
        return (self.operand,)


@dataclass(frozen=True, slots=True, kw_only=True)
class Index(Node):
    """`operand[key]`, or `operand[?key]` when optional."""

    operand: Node
    key: Node
    optional: bool = False

    @property
    def parts(self) -> tuple[Node, ...]:
        return (self.operand, self.key)


@dataclass(frozen=True, slots=True, kw_only=True)
class Has(Node):
    """`has(operand.field)`."""

    field: Select

    @property
    def parts(self) -> tuple[Node, ...]:
        return (self.field,)


@dataclass(frozen=True, slots=True, kw_only=True)
class Call(Node):
    """A function or an operator (`_+_`); `target` is what stands before the dot, and counts as the first argument."""

    function: str
    arguments: tuple[Node, ...]
    target: Node | None = None

    @property
    def parts(self) -> tuple[Node, ...]:
        return self.arguments if self.target is None else (self.target, *self.arguments)


def chain_of(node: Node) -> list[Call]:
    """The binary operators of `a + b - c`, from the first to the last, which is the node itself."""
    links: list[Call] = []
    while True:
        match node:
            case Call(target=None, function=name, arguments=(left, _)) if name[0] == name[-1] == "_":
                links.append(node)
                node = left
            case _:
                return links[::-1]


@dataclass(frozen=True, slots=True, kw_only=True)
class Junction(Node):
    """A chain of `&&` (all) or `||` (any)."""

    terms: tuple[Node, ...]
    decisive: bool

    @property
    def parts(self) -> tuple[Node, ...]:
        return self.terms


@dataclass(frozen=True, slots=True, kw_only=True)
class Conditional(Node):
    condition: Node
    then: Node
    otherwise: Node

    @property
    def parts(self) -> tuple[Node, ...]:
        return (self.condition, self.then, self.otherwise)


@dataclass(frozen=True, slots=True, kw_only=True)
class Element:
    value: Node
    optional: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    key: Node
    value: Node
    optional: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ListLiteral(Node):
    elements: tuple[Element, ...]

    @property
    def parts(self) -> tuple[Node, ...]:
        return tuple(element.value for element in self.elements)


@dataclass(frozen=True, slots=True, kw_only=True)
class MapLiteral(Node):
    entries: tuple[Entry, ...]

    @property
    def parts(self) -> tuple[Node, ...]:
        return tuple(part for entry in self.entries for part in (entry.key, entry.value))


class Macro(Enum):
    """The comprehensions and bindings, by the name an author writes."""

    ALL = "all"
    EXISTS = "exists"
    EXISTS_ONE = "exists_one"
    MAP = "map"
    FILTER = "filter"
    SORT_BY = "sortBy"
    OPT_MAP = "optMap"
    OPT_FLAT_MAP = "optFlatMap"


# These bind a variable once; the other macros loop.
BINDINGS = frozenset({Macro.OPT_MAP, Macro.OPT_FLAT_MAP})


@dataclass(frozen=True, slots=True, kw_only=True)
class Comprehension(Node):
    """`source.macro(variable, body)`; `where` is the middle argument of the three-argument `map`."""

    macro: Macro
    source: Node
    variable: str
    body: Node
    where: Node | None = None

    @property
    def parts(self) -> tuple[Node, ...]:
        return (self.source, self.body) if self.where is None else (self.source, self.where, self.body)
