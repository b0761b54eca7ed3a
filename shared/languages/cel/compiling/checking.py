"""What can be known to be wrong before anything runs.

Always: a known function with a number of arguments it never takes, and an index that cannot be one, as cel-go refuses
them. When the caller declares the variables: names nobody declared, functions that do not exist, and access to what a
literal plainly does not have.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from shared.languages.cel.compiling.dotted_names import root_of, spelled
from shared.languages.cel.functions.operators import OPERATORS
from shared.languages.cel.functions.registry import FUNCTIONS, dotted, resolved
from shared.languages.cel.parsing import macros, mistakes
from shared.languages.cel.parsing.syntax import (
    Call,
    Comprehension,
    Has,
    Identifier,
    Index,
    ListLiteral,
    Literal,
    MapLiteral,
    Node,
    Select,
    chain_of,
)
from shared.languages.cel.runtime.lookup import KEY_KINDS
from shared.languages.cel.runtime.values import TYPE_NAMES, kind_of
from shared.languages.errors import Rejected

_EQUALITY = frozenset({"_==_", "_!=_"})


@dataclass(frozen=True, slots=True)
class Names:
    """What an expression asks its surroundings for."""

    variables: frozenset[str]
    functions: frozenset[str]


def checked(tree: Node, source: str, declared: Collection[str] | None) -> Names:
    """The names of a tree, or Rejected at the first thing that cannot be right."""
    return _Check(source, declared).whole(tree)


class _Check:
    def __init__(self, source: str, declared: Collection[str] | None) -> None:
        self._source = source
        self._declared = None if declared is None else frozenset(declared)
        self._variables: set[str] = set()
        self._functions: set[str] = set()

    def whole(self, tree: Node) -> Names:
        self._visit(tree, frozenset())
        return Names(frozenset(self._variables), frozenset(self._functions))

    def _visit(self, node: Node, bound: frozenset[str]) -> None:
        match node:
            case Identifier():
                self._identifier(node, bound)
            case Select() | Index() | Has() if self._is_dotted(node, bound):
                self._variables.add(spelled(node.field if isinstance(node, Has) else node))
            case Select() if dotted(node) in TYPE_NAMES:
                pass
            case Call():
                self._calls(node, bound)
            case Comprehension():
                self._functions.add(node.macro.value)
                self._visit(node.source, bound)
                for part in filter(None, (node.where, node.body)):
                    self._visit(part, bound | {node.variable})
            case Has(field=field):
                self._functions.add("has")
                self._visit(field.operand, bound)
            case _:
                self._access(node)
                for part in node.parts:
                    self._visit(part, bound)

    def _is_dotted(self, node: Select | Index | Has, bound: frozenset[str]) -> bool:
        """Whether a path is a declared variable with dots in its name."""
        path = node.field if isinstance(node, Has) else node
        root = root_of(path)
        return (
            self._declared is not None
            and spelled(path) in self._declared
            and isinstance(root, Identifier)
            and (root.rooted or root.name not in bound)
        )

    def _identifier(self, node: Identifier, bound: frozenset[str]) -> None:
        if node.name in bound and not node.rooted:
            return
        known = self._declared
        if known is not None and node.name in known:
            self._variables.add(node.name)
        elif node.name not in TYPE_NAMES:
            self._variables.add(node.name)
            if known is not None:
                hint = mistakes.name(node.name, known | bound, FUNCTIONS)
                raise self._rejected(f"there is no variable {node.name}", node, hint)

    def _calls(self, node: Call, bound: frozenset[str]) -> None:
        """A call, or a chain of operators one by one: it may be longer than Python's stack is deep."""
        checked: Node | None = None
        for link in chain_of(node) or [node]:
            self._call(link)
            for argument in resolved(link)[1]:
                if argument is not checked:
                    self._visit(argument, bound)
            checked = link

    def _call(self, node: Call) -> None:
        name, arguments = resolved(node)
        function = FUNCTIONS.get(name) or OPERATORS.get(name)
        if function is not None and len(arguments) not in function.arities:
            known = " or ".join(function.signatures)
            raise self._rejected(f"{name} does not take {_counted(len(arguments))}", node, f"there is {known}")
        if function is None and name not in _EQUALITY:
            self._unknown_function(name, arguments, node)
        if not name.endswith("_"):
            self._functions.add(name)

    def _unknown_function(self, name: str, arguments: tuple[Node, ...], node: Call) -> None:
        if self._declared is None and arguments:
            return
        if name in macros.NAMES:
            raise self._rejected(f"{name} does not take {_counted(len(node.arguments))}", node, _macro_form(name))
        hint = mistakes.function(name, [*FUNCTIONS, *macros.NAMES])
        raise self._rejected(f"there is no function {name}", node, hint)

    def _access(self, node: Node) -> None:
        match node:
            case Index(key=Literal(value=key)) if kind_of(key) not in KEY_KINDS:
                raise self._rejected(f"{kind_of(key).described} is neither a key nor an index", node.key)
            case Select(optional=False, operand=operand, field=field):
                self._literal_access(node, operand, field)
            case Index(optional=False, operand=operand, key=Literal(value=key)):
                self._literal_access(node, operand, key)

    def _literal_access(self, node: Node, operand: Node, key: object) -> None:
        if self._declared is None:
            return
        match operand:
            case Literal(value=value):
                raise self._rejected(f"{kind_of(value).described} has no {key!r}", node, _call_hint(key))
            case ListLiteral() if isinstance(key, str):
                raise self._rejected(f"a list has no {key!r}", node, _call_hint(key))
            case ListLiteral(elements=elements) if isinstance(key, int) and not any(e.optional for e in elements):
                if not 0 <= key < len(elements):
                    raise self._rejected(f"this list has no element {key}", node)
            case MapLiteral() if isinstance(key, str):
                keys = frozenset(_constant_keys(operand))
                if None not in keys and key not in keys:
                    hint = mistakes.name(key, [known for known in keys if known]) or _call_hint(key)
                    raise self._rejected(f"this map has no {key!r}", node, hint)

    def _rejected(self, problem: str, node: Node, hint: str | None = None) -> Rejected:
        return Rejected(problem, source=self._source, offset=node.at, hint=hint)


def _constant_keys(node: MapLiteral) -> Iterator[str | None]:
    """The string keys of a map literal; None for one that is only known at run time."""
    for entry in node.entries:
        match entry.key:
            case Literal(value=str(key)):
                yield key
            case Literal():
                continue
            case _:
                yield None


def _call_hint(key: object) -> str | None:
    return f"{key} is a function: write {key}()" if key in FUNCTIONS else None


def _counted(arguments: int) -> str:
    return f"{arguments} argument{'' if arguments == 1 else 's'}"


def _macro_form(name: str) -> str:
    return "write has(value.field)" if name == "has" else f"write xs.{name}(x, expression with x)"
