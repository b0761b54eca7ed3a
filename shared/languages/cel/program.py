"""A compiled expression: what it needs, how it runs, and how its failures become errors."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from shared.languages.cel.compiling.checking import checked
from shared.languages.cel.compiling.compiler import compiled
from shared.languages.cel.compiling.dotted_names import spelled_in
from shared.languages.cel.compiling.selection import Evaluate
from shared.languages.cel.functions.registry import FUNCTIONS
from shared.languages.cel.limits import Limits
from shared.languages.cel.parsing import mistakes
from shared.languages.cel.parsing.parser import parse
from shared.languages.cel.parsing.syntax import Identifier, Node, Select
from shared.languages.cel.runtime.evaluation import Evaluation
from shared.languages.cel.runtime.failure import NOTHING, Halt, LimitReached, Missing
from shared.languages.cel.runtime.results import plain
from shared.languages.cel.runtime.values import is_list, is_map
from shared.languages.clock import Clock, system_clock
from shared.languages.errors import EvaluationError, LimitExceeded, MissingKey, Rejected, shown

_TOO_DEEP = "the expression or its values are nested too deeply"


@dataclass(frozen=True, slots=True)
class CelProgram:
    """`free_variables` are the variables it reads, `functions` the functions and macros it calls."""

    source: str
    free_variables: frozenset[str]
    functions: frozenset[str]
    _run: Evaluate = field(repr=False, compare=False)
    _slots: int = field(repr=False, compare=False)
    _limits: Limits = field(repr=False, compare=False)
    _tree: Node | None = field(default=None, repr=False, compare=False)
    _dotted_names: frozenset[str] = field(default=frozenset(), repr=False, compare=False)

    def evaluate(self, variables: Mapping[str, Any], *, clock: Clock = system_clock) -> Any:
        """The result as a plain JSON value. `clock` is what `now()` and the ages of conditions read."""
        run, slots = self._run, self._slots
        if self._tree is not None and not variables.keys().isdisjoint(self._dotted_names):
            run, slots = compiled(self._tree, self._dotted_names & variables.keys())
        evaluation = Evaluation(variables, slots, self._limits, clock)
        try:
            return plain(evaluation, run(evaluation))
        except Halt as halt:
            raise self._error(halt, variables) from None
        except RecursionError:
            raise LimitExceeded(_TOO_DEEP, source=self.source, fragment=self.source) from None

    def _error(self, halt: Halt, variables: Mapping[str, Any]) -> EvaluationError:
        error: type[EvaluationError] = EvaluationError
        if isinstance(halt, LimitReached):
            error = LimitExceeded
        elif isinstance(halt, Missing):
            error = MissingKey
        node = halt.node
        return error(
            halt.problem,
            source=self.source,
            offset=node.at if node else 0,
            hint=halt.hint or self._hint(halt, variables),
            fragment=self.source[node.start : node.end] if node else self.source,
            met="" if halt.met is NOTHING else _shown(halt.met),
        )

    def _hint(self, halt: Halt, variables: Mapping[str, Any]) -> str | None:
        if not isinstance(halt, Missing):
            return None
        match halt.node:
            case Identifier(name=name):
                return mistakes.name(name, variables, FUNCTIONS)
            case Select(field=name) if name in FUNCTIONS:
                return f"{name} is a function: write {name}()"
            case Select(operand=operand, field=name, start=start, end=end) if name.isidentifier():
                before = self.source[operand.start : operand.end]
                return f"test it first with has({self.source[start:end]}), or write {before}.?{name}.orValue(...)"
        return None


def _shown(value: Any) -> str:
    """CEL's own kinds are shown as the JSON they would become; what contains others is not walked for that."""
    if is_list(value) or is_map(value):
        return shown(value)
    try:
        return shown(plain(Evaluation({}, 0, Limits(), system_clock), value))
    except Halt:
        return shown(value)


def compile_cel(source: str, *, variables: Collection[str] | None = None, limits: Limits | None = None) -> CelProgram:
    """Compiles an expression, or raises Rejected.

    With `variables`, the names of all that evaluations will be given, an unknown variable or function is refused here;
    without, it fails when it is evaluated, as in cel-go.
    """
    limits = limits or Limits()
    try:
        tree = parse(source, limits)
        names = checked(tree, source, variables)
        run, slots = compiled(tree)
    except RecursionError:
        raise Rejected(_TOO_DEEP, source=source) from None
    return CelProgram(source, names.variables, names.functions, run, slots, limits, tree, spelled_in(tree))
