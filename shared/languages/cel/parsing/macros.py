"""Calls that are not calls: `has`, the comprehensions, and the bindings of optionals.

A macro is known by its name, its number of arguments and that it stands after a dot; anything else of that name is an
ordinary call, as in cel-go, and fails as such.
"""

from typing import Final

from shared.languages.cel.parsing.syntax import (
    Call,
    Comprehension,
    Has,
    Identifier,
    Literal,
    Macro,
    MapLiteral,
    Node,
    Select,
)

_BY_SHAPE: Final = {
    **{(macro.value, 2): macro for macro in Macro},
    (Macro.MAP.value, 3): Macro.MAP,
}
NAMES: Final = frozenset({"has", *(macro.value for macro in Macro)})

# cel-go keeps this name for its accumulator and refuses it as a variable.
_ACCUMULATOR: Final = "__result__"


class Misused(Exception):
    """A macro was recognised and its arguments are not what it takes."""

    def __init__(self, problem: str, node: Node, hint: str | None = None) -> None:
        super().__init__(problem)
        self.problem = problem
        self.node = node
        self.hint = hint


def expand(call: Call) -> Node:
    """The macro a call means, or the call itself."""
    if call.target is None:
        return _has(call) if call.function == "has" and len(call.arguments) == 1 else call
    macro = _BY_SHAPE.get((call.function, len(call.arguments)))
    if macro is None:
        return call
    if macro is Macro.SORT_BY and isinstance(call.target, Literal | MapLiteral):
        raise Misused("sortBy() sorts a list, which this is not", call.target)
    variable, *where, body = call.arguments
    return Comprehension(
        macro=macro,
        source=call.target,
        variable=_variable(variable),
        where=where[0] if where else None,
        body=body,
        start=call.start,
        end=call.end,
        at=call.at,
    )


def _has(call: Call) -> Node:
    argument = call.arguments[0]
    if isinstance(argument, Select) and not argument.optional:
        return Has(field=argument, start=call.start, end=call.end, at=call.at)
    if isinstance(argument, Identifier):
        hint = f"has() tests a field, as in has({argument.name}.field); for null write {argument.name} != null"
    elif isinstance(argument, Select):
        hint = "an optional is tested with .hasValue()"
    else:
        hint = 'has() takes a field after a dot; a key in brackets is tested with "key" in map'
    raise Misused("has() takes one field access", argument, hint)


def _variable(node: Node) -> str:
    if not isinstance(node, Identifier):
        raise Misused("the first argument names the variable, so it is one plain name", node, "as in xs.map(x, x + 1)")
    if node.name == _ACCUMULATOR:
        raise Misused(f"{_ACCUMULATOR} cannot be a variable", node)
    return f".{node.name}" if node.rooted else node.name  # with its dot it hides nothing, as in cel-go
