"""All functions an expression can call, by name, and which of them a call means."""

from collections.abc import Mapping
from itertools import chain
from types import MappingProxyType
from typing import Final

from shared.languages.cel.functions import (
    conversions,
    formatting,
    framework,
    lists,
    optionals,
    regex,
    strings,
    times,
)
from shared.languages.cel.functions.overloads import Function
from shared.languages.cel.parsing.syntax import Call, Identifier, Node, Select


def _library() -> Mapping[str, Function]:
    library: dict[str, Function] = {}
    modules = (conversions, times, strings, formatting, regex, lists, optionals, framework)
    for function in chain.from_iterable(module.FUNCTIONS for module in modules):
        known = library.get(function.name)
        library[function.name] = known.joined(function) if known else function
    return MappingProxyType(library)


FUNCTIONS: Final = _library()


def dotted(node: Node) -> str:
    """`a.b.c` when a node is only names and dots, and nothing otherwise."""
    names: list[str] = []
    while isinstance(node, Select) and not node.optional:
        names.append(node.field)
        node = node.operand
    return ".".join([node.name, *reversed(names)]) if isinstance(node, Identifier) else ""


def resolved(call: Call) -> tuple[str, tuple[Node, ...]]:
    """The name and all arguments of a call: the target is the first, unless it is a namespace as in `strings.quote`."""
    if call.target is None:
        return call.function, call.arguments
    qualified = f"{dotted(call.target)}.{call.function}"
    if qualified in FUNCTIONS:
        return qualified, call.arguments
    return call.function, (call.target, *call.arguments)
