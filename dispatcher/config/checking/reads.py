"""What an expression reads: every variable that is not its own, with the members that follow it."""

from collections.abc import Iterator
from dataclasses import dataclass

from shared.languages.cel import CelProgram, Limits
from shared.languages.cel.parsing.parser import parse
from shared.languages.cel.parsing.syntax import (
    Call,
    Comprehension,
    Has,
    Identifier,
    Index,
    Literal,
    Node,
    Select,
    chain_of,
)


@dataclass(frozen=True, slots=True)
class Read:
    """`path` is the variable and its members as far as they are names; `offsets` are the places of each."""

    path: tuple[str, ...]
    offsets: tuple[int, ...]


def reads(program: CelProgram) -> Iterator[Read]:
    """In the order of the source, the longest path of each read."""
    yield from _reads(parse(program.source, Limits()), frozenset())


def _reads(node: Node, bound: frozenset[str]) -> Iterator[Read]:
    match node:
        case Has(field=field):
            yield from _reads(field, bound)
        case Identifier() | Select() | Index():
            found = _path(node, bound)
            if found is not None:
                yield found
            else:
                for part in node.parts:
                    yield from _reads(part, bound)
        case Comprehension():
            yield from _reads(node.source, bound)
            for part in filter(None, (node.where, node.body)):
                yield from _reads(part, bound | {node.variable})
        case Call() if links := chain_of(node):
            yield from _reads(links[0].arguments[0], bound)
            for link in links:
                yield from _reads(link.arguments[1], bound)
        case _:
            for part in node.parts:
                yield from _reads(part, bound)


def _path(node: Node, bound: frozenset[str]) -> Read | None:
    names: list[str] = []
    offsets: list[int] = []
    while True:
        match node:
            case Select(operand=operand, field=field, at=at):
                names.append(field)
                offsets.append(at)
                node = operand
            case Index(operand=operand, key=Literal(value=str(key), start=start)):
                names.append(key)
                offsets.append(start)
                node = operand
            case Identifier(name=name, rooted=rooted, at=at) if rooted or name not in bound:
                return Read((name, *reversed(names)), (at, *reversed(offsets)))
            case _:
                return None
