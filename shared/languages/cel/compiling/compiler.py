"""A syntax tree to closures: each node becomes one Python function of the evaluation.

Nothing is looked up at run time that is known before: names are slots or variables, functions are tables, constant
patterns are compiled. A halt passing through learns the innermost node it came from.
"""

from collections.abc import Callable, Collection, Mapping
from typing import Any, Final

from shared.languages.cel.compiling import calls, comprehensions
from shared.languages.cel.compiling.dotted_names import root_of, spelled
from shared.languages.cel.compiling.selection import Evaluate, Step, path, presence
from shared.languages.cel.functions.operators import OPERATORS
from shared.languages.cel.functions.registry import FUNCTIONS, dotted, resolved
from shared.languages.cel.parsing.syntax import (
    BINDINGS,
    Call,
    Comprehension,
    Conditional,
    Has,
    Identifier,
    Index,
    Junction,
    ListLiteral,
    Literal,
    Macro,
    MapLiteral,
    Node,
    Select,
    chain_of,
)
from shared.languages.cel.runtime.evaluation import Evaluation
from shared.languages.cel.runtime.failure import Failure, Halt, Missing
from shared.languages.cel.runtime.values import ABSENT, TYPE_NAMES, BuiltMap, Optional, kind_of, undecided

Scope = Mapping[str, int]

_LONGEST_NESTED_CHAIN: Final = 20
# What a chain has calculated so far is bound like a variable, under a name that no author can write.
_CHAINED: Final = "+"


def compiled(tree: Node, dotted_names: Collection[str] = ()) -> tuple[Evaluate, int]:
    """What evaluates a tree, and how many values it binds at once. `dotted_names` are variables with dots in theirs."""
    compiler = _Compiler(dotted_names)
    return compiler.compile(tree, {}), compiler.slots


def weight(node: Node) -> int:
    """How many steps one evaluation of a node takes; what a comprehension inside it repeats is charged by itself."""
    total, waiting = 0, [node]
    while waiting:
        part = waiting.pop()
        total += _call_weight(part) if isinstance(part, Call) else 1
        loops = isinstance(part, Comprehension) and part.macro not in BINDINGS
        waiting.extend(part.parts[:1] if loops else part.parts)
    return total


def _call_weight(node: Call) -> int:
    function = FUNCTIONS.get(resolved(node)[0])
    return function.weight if function else 1


class _Compiler:
    def __init__(self, dotted_names: Collection[str]) -> None:
        self.slots = 0
        self._dotted_names = dotted_names

    def compile(self, node: Node, scope: Scope) -> Evaluate:
        return _COMPILED[type(node)](self, node, scope)

    def literal(self, node: Literal, _: Scope) -> Evaluate:
        return _constant(node.value)

    def identifier(self, node: Identifier, scope: Scope) -> Evaluate:
        return _named(node, scope)

    def access(self, node: Select | Index, scope: Scope) -> Evaluate:
        return self._path(node, (), scope, path)

    def has(self, node: Has, scope: Scope) -> Evaluate:
        if self._is_variable(node.field, scope):
            return _constant(True)  # noqa: FBT003 - the value of `has`
        return self._path(node.field.operand, (self._step(node.field, scope),), scope, presence)

    def junction(self, node: Junction, scope: Scope) -> Evaluate:
        return _decision(node, tuple(self.compile(term, scope) for term in node.terms))

    def _path(
        self,
        root: Node,
        steps: tuple[Step, ...],
        scope: Scope,
        build: Callable[[Evaluate, tuple[Step, ...]], Evaluate],
    ) -> Evaluate:
        """The steps, and before them those of the root down to what is no access itself."""
        while (
            isinstance(root, Select | Index) and not self._is_variable(root, scope) and dotted(root) not in TYPE_NAMES
        ):
            steps = (self._step(root, scope), *steps)
            root = root.operand
        if self._is_variable(root, scope):
            start = _named(Identifier(name=spelled(root), start=root.start, end=root.end, at=root.at), {})
        elif isinstance(root, Select | Index):
            start = _constant(TYPE_NAMES[dotted(root)])
        elif isinstance(root, Identifier):
            start = _named(root, scope, has_fields=True)
        else:
            start = self.compile(root, scope)
        return build(start, steps) if steps else start

    def _is_variable(self, node: Node, scope: Scope) -> bool:
        if not self._dotted_names or spelled(node) not in self._dotted_names:
            return False
        root = root_of(node)
        return isinstance(root, Identifier) and (root.rooted or root.name not in scope)

    def _step(self, node: Select | Index, scope: Scope) -> Step:
        match node:
            case Select(field=key) | Index(key=Literal(value=key)):
                return Step(key, None, node.optional, node)
            case Index(key=key):
                return Step(None, self.compile(key, scope), node.optional, node)

    def call(self, node: Call, scope: Scope) -> Evaluate:
        links = chain_of(node)
        if len(links) > _LONGEST_NESTED_CHAIN:
            return self._chain(links, scope)
        _, parts = resolved(node)
        return self._applied(node, tuple(self.compile(part, scope) for part in parts))

    def _chain(self, links: list[Call], scope: Scope) -> Evaluate:
        """`a + b + c + ...` one after the other, for Python's stack does not hold hundreds of calls inside calls."""
        slot = self._slot(scope)
        inner = {**scope, _CHAINED: slot}
        first = self.compile(links[0].arguments[0], inner)
        left = _bound(slot)
        steps = [self._applied(link, (left, self.compile(link.arguments[1], inner))) for link in links]

        def chained(evaluation: Evaluation) -> Any:
            value = first(evaluation)
            for step in steps:
                evaluation.bound[slot] = value
                value = step(evaluation)
            return value

        return chained

    def _slot(self, scope: Scope) -> int:
        slot = max(scope.values(), default=-1) + 1
        self.slots = max(self.slots, slot + 1)
        return slot

    def _applied(self, node: Call, arguments: tuple[Evaluate, ...]) -> Evaluate:
        name, parts = resolved(node)
        function = OPERATORS.get(name) or FUNCTIONS.get(name)
        match name, parts:
            case "_==_", (_, Literal(value=str(text))):
                return calls.equals_text(arguments[0], text)
            case (("_==_" | "_!=_"), _):
                return calls.equality(*arguments, wanted=name == "_==_", node=node)
            case _ if function is None:
                return calls.unknown(name, arguments, node)
            case (("or" | "orValue"), _):
                return calls.fallback(*arguments, function=function, unwrap=name == "orValue", node=node)
            case "matches", (_, Literal(value=str(pattern))):
                return calls.matches(arguments[0], pattern, function=function, node=node)
        return calls.call(function, arguments, node)

    def conditional(self, node: Conditional, scope: Scope) -> Evaluate:
        condition, then, otherwise = (self.compile(part, scope) for part in node.parts)
        asked = node.condition

        def conditional(evaluation: Evaluation) -> Any:
            value = condition(evaluation)
            if value is True:
                return then(evaluation)
            if value is False:
                return otherwise(evaluation)
            raise _at(asked, undecided(value))

        return conditional

    def list_literal(self, node: ListLiteral, scope: Scope) -> Evaluate:
        values = tuple(self.compile(element.value, scope) for element in node.elements)
        if not any(element.optional for element in node.elements):
            return lambda evaluation: tuple([value(evaluation) for value in values])
        parts = tuple(zip(values, node.elements, strict=True))

        def built(evaluation: Evaluation) -> Any:
            made = [
                _unwrapped(value(evaluation), element.value) if element.optional else value(evaluation)
                for value, element in parts
            ]
            return tuple(value for value in made if value is not ABSENT)

        return built

    def map_literal(self, node: MapLiteral, scope: Scope) -> Evaluate:
        parts = tuple(
            (self.compile(entry.key, scope), self.compile(entry.value, scope), entry) for entry in node.entries
        )

        def built(evaluation: Evaluation) -> Any:
            made = []
            for key, value, entry in parts:
                name, held = key(evaluation), value(evaluation)
                made.append((name, _unwrapped(held, entry.value) if entry.optional else held))
            try:
                return BuiltMap(made)
            except Halt as halt:
                halt.node = node
                raise

        return built

    def comprehension(self, node: Comprehension, scope: Scope) -> Evaluate:
        source = self.compile(node.source, scope)
        slot = self._slot(scope)
        inner = {**scope, node.variable: slot}
        body = self.compile(node.body, inner)
        cost = weight(node.body)
        if node.macro in BINDINGS:
            flat = node.macro is Macro.OPT_FLAT_MAP
            return comprehensions.binding(source, slot, body, flat=flat, node=node)
        if node.where is not None:
            where = self.compile(node.where, inner)
            cost += weight(node.where)
            return comprehensions.selective_map(source, slot, where, body, weight=cost, node=node)
        return comprehensions.loop(node.macro, source, slot, body, weight=cost, node=node)


_COMPILED: Final[Mapping[type[Node], Callable[[_Compiler, Any, Scope], Evaluate]]] = {
    Literal: _Compiler.literal,
    Identifier: _Compiler.identifier,
    Select: _Compiler.access,
    Index: _Compiler.access,
    Has: _Compiler.has,
    Call: _Compiler.call,
    Junction: _Compiler.junction,
    Conditional: _Compiler.conditional,
    ListLiteral: _Compiler.list_literal,
    MapLiteral: _Compiler.map_literal,
    Comprehension: _Compiler.comprehension,
}


def _constant(value: Any) -> Evaluate:
    return lambda _: value


def _bound(slot: int) -> Evaluate:
    return lambda evaluation: evaluation.bound[slot]


def _named(node: Identifier, scope: Scope, *, has_fields: bool = False) -> Evaluate:
    """A bound name, a variable, or the name of a type, which has no fields."""
    name = node.name
    slot = None if node.rooted else scope.get(name)
    if slot is not None:
        return _bound(slot)
    type_name = ABSENT if has_fields else TYPE_NAMES.get(name, ABSENT)

    def variable(evaluation: Evaluation) -> Any:
        try:
            return evaluation.variables[name]
        except KeyError:
            if type_name is not ABSENT:
                return type_name
        raise _at(node, Missing(f"there is no variable {name}"))

    return variable


def _decision(node: Junction, terms: tuple[Evaluate, ...]) -> Evaluate:
    decisive = node.decisive
    parts = tuple(zip(terms, node.terms, strict=True))

    def decide(evaluation: Evaluation) -> bool:
        failure: Failure | None = None
        for term, part in parts:
            try:
                value = term(evaluation)
                if value is decisive:
                    return node.decisive
                if type(value) is not bool:
                    raise _at(part, undecided(value))
            except Failure as problem:
                failure = failure or problem.with_traceback(None)
        if failure is not None:
            raise failure
        return not decisive

    return decide


def _unwrapped(value: Any, node: Node) -> Any:
    """What an optional element or entry contributes: its value, or ABSENT."""
    if type(value) is Optional:
        return value.value
    raise _at(node, Failure(f"after ? an optional is expected, not {kind_of(value).described}", met=value))


def _at(node: Node, failure: Failure) -> Failure:
    failure.node = node
    return failure
