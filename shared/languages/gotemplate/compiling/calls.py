"""Pipelines, commands and operands as functions of the run and of the dot, and the errors they end in."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NoReturn

from shared.languages.errors import EvaluationError, LimitExceeded
from shared.languages.gotemplate.functions.registry import FUNCTIONS, Signature, require
from shared.languages.gotemplate.parsing import mistakes, syntax
from shared.languages.gotemplate.parsing.expressions import SHORT_CIRCUIT
from shared.languages.gotemplate.runtime.evaluation import Evaluation, weight
from shared.languages.gotemplate.runtime.failure import Failure, LimitReached
from shared.languages.gotemplate.runtime.values import Kind, describe, kind_of, truth, type_name

Evaluate = Callable[[Evaluation, Any], Any]
Stage = Callable[[Evaluation, Any, Any], Any]
"""A command behind a |, which also takes the value that comes through it."""
_MAPS = (dict, Mapping)
_MISSING = object()
_FRAGMENT = 80
_TIME_HINT = 'write the time with a layout: {{ now | date "2006-01-02T15:04:05Z07:00" }}'


@dataclass(frozen=True, slots=True)
class Problem:
    """A mistake that is certain before any value is seen."""

    problem: str
    offset: int
    hint: str | None


class Calls:
    def __init__(self, source: str) -> None:
        self.problems: list[Problem] = []
        self.level = 0
        self._source = source

    @contextmanager
    def deeper(self) -> Iterator[None]:
        self.level += 1
        yield
        self.level -= 1

    def doomed(self, node: syntax.Node, problem: str, hint: str | None = None) -> Callable[..., NoReturn]:
        """What can only fail, whatever the values are."""
        self.problems.append(Problem(problem, node.start, hint))

        def fail(*_: object) -> NoReturn:
            raise self.blame(node, Failure(problem, hint=hint))

        return fail

    def blame(self, node: syntax.Node, failure: Failure, offset: int | None = None) -> EvaluationError:
        """The failure with its place in the source, which is the start of the node unless `offset` says better."""
        fragment = self._source[node.start : node.end]
        return (LimitExceeded if isinstance(failure, LimitReached) else EvaluationError)(
            failure.problem,
            source=self._source,
            offset=node.start if offset is None else offset,
            hint=failure.hint,
            fragment=fragment if len(fragment) <= _FRAGMENT else fragment[:_FRAGMENT] + "…",
            met=", ".join(map(describe, failure.met)),
        )

    def pipeline(self, node: syntax.Pipeline) -> Evaluate:
        first, *others = node.commands
        evaluate = self._command(first)
        if others:
            evaluate = _piping(evaluate, [self._stage(command) for command in others])
        if node.targets:
            evaluate = _assigning(evaluate, [target.slot for target in node.targets])
        return evaluate

    def _command(self, node: syntax.Command) -> Evaluate:
        first, *arguments = node.operands
        if isinstance(first, syntax.Function):
            return self._call(node, first.name, arguments, piped=0)
        if isinstance(first, syntax.Nil):
            return self.doomed(node, "nil is not a command")
        return self._not_a_function(node) if arguments else self._operand(first)

    def _stage(self, node: syntax.Command) -> Stage:
        first, *arguments = node.operands
        if isinstance(first, syntax.Function):
            return self._call(node, first.name, arguments, piped=1)
        return self._not_a_function(node)

    def _not_a_function(self, node: syntax.Command) -> Callable[..., NoReturn]:
        text = self._source[node.operands[0].start : node.operands[0].end]
        return self.doomed(node, f"{text} is not a function and takes no arguments")

    def _operand(self, node: syntax.Operand) -> Evaluate:
        match node:
            case syntax.Dot():
                return lambda _, dot: dot
            case syntax.Variable(slot=slot):
                return lambda run, _: run.variables[slot]
            case syntax.Literal(value=value):
                return lambda *_: value
            case syntax.Fields():
                return self._fields(node)
            case syntax.Function():
                return self._call(node, node.name, (), piped=0)
            case syntax.Pipeline():
                with self.deeper():
                    return self.pipeline(node)
        return lambda *_: None

    def _fields(self, node: syntax.Fields) -> Evaluate:
        names = tuple(field.name for field in node.chain)
        if isinstance(node.base, syntax.Function) and node.base.name == "now":
            return self.doomed(node, f"a time has no field or method {names[0]}", _TIME_HINT)
        if isinstance(node.base, syntax.Dot) and len(names) == 1:
            return self._field(node, names[0])
        base = self._operand(node.base)

        def fields(run: Evaluation, dot: Any) -> Any:
            value = base(run, dot)
            for position, name in enumerate(names):
                found = value.get(name, _MISSING) if isinstance(value, _MAPS) else _MISSING
                if found is _MISSING:
                    raise self._no_field(node, position, value, run.variables[0])
                value = found
            return value

        return fields

    def _field(self, node: syntax.Fields, name: str) -> Evaluate:
        def field(run: Evaluation, dot: Any) -> Any:
            value = dot.get(name, _MISSING) if isinstance(dot, _MAPS) else _MISSING
            if value is _MISSING:
                raise self._no_field(node, 0, dot, run.variables[0])
            return value

        return field

    def _no_field(self, node: syntax.Fields, position: int, met: object, root: object) -> EvaluationError:
        """`met` is what lacks the field, `root` what the template was called with."""
        field = node.chain[position]
        if isinstance(met, Mapping):
            failure = Failure(
                f"the map has no key {field.name!r}", met, hint=_hint_for_key(node, field.name, met, root)
            )
        else:
            hint = {Kind.LIST: "an element is reached with index or range", Kind.TIME: _TIME_HINT}.get(kind_of(met))
            failure = Failure(f"{type_name(met)} has no field {field.name!r}", met, hint=hint)
        return self.blame(syntax.Node(node.start, field.end), failure, field.start)

    def _call(
        self, node: syntax.Node, name: str, arguments: Sequence[syntax.Operand], *, piped: int
    ) -> Callable[..., Any]:
        """A function that takes as many values through the pipe as `piped` says, none or one."""
        signature = FUNCTIONS[name]
        count = len(arguments) + piped
        if not signature.accepts(count):
            return self.doomed(node, f"{name} takes {signature.wanted}, got {count}")
        operands = [self._argument(n, name, signature.parameter(i)) for i, n in enumerate(arguments)]
        if name == "now":
            return lambda run, _: run.clock()
        if name in SHORT_CIRCUIT:
            return _short_circuit(operands, stops_at=name == "or")
        return self._calling(node, name, signature, operands)

    def _argument(self, node: syntax.Operand, function: str, kind: Kind | None) -> Evaluate:
        if kind is not None and isinstance(node, syntax.Literal | syntax.Nil):
            value = node.value if isinstance(node, syntax.Literal) else None
            try:
                require(value, kind, function)
            except Failure as failure:
                return self.doomed(node, failure.problem, failure.hint)
        return self._operand(node)

    def _calling(
        self, node: syntax.Node, name: str, signature: Signature, operands: Sequence[Evaluate]
    ) -> Callable[..., Any]:
        function, writes = signature.call, signature.writes
        typed = tuple((i, kind) for i, kind in enumerate(signature.parameters) if kind is not None)

        def call(run: Evaluation, dot: Any, *piped: Any) -> Any:
            values = [*[operand(run, dot) for operand in operands], *piped]
            try:
                taken = weight(values)
                run.spend(1 + taken)
                for i, kind in typed:
                    require(values[i], kind, name)
                result = run.written(function, values) if writes else function(*values)
                run.spend(max(0, weight((result,)) - taken))
            except Failure as failure:
                raise self.blame(node, failure) from None
            return result

        return call


def _hint_for_key(node: syntax.Fields, name: str, met: Mapping[Any, Any], root: object) -> str:
    near = mistakes.nearest(name, [key for key in met if isinstance(key, str)])
    if near is not None:
        return f"did you mean {near}?"
    if isinstance(node.base, syntax.Dot) and isinstance(root, Mapping) and name in root:
        return f"inside of range and with the dot is another value; write $.{name}"
    return f'a key that may be missing is read with index: {{{{ index .map "{name}" }}}}'


def _piping(first: Evaluate, stages: Sequence[Stage]) -> Evaluate:
    def pipe(run: Evaluation, dot: Any) -> Any:
        value = first(run, dot)
        for stage in stages:
            value = stage(run, dot, value)
        return value

    return pipe


def _assigning(evaluate: Evaluate, slots: Sequence[int]) -> Evaluate:
    def assign(run: Evaluation, dot: Any) -> Any:
        value = evaluate(run, dot)
        for slot in slots:
            run.variables[slot] = value
        return value

    return assign


def _short_circuit(operands: Sequence[Evaluate], *, stops_at: bool) -> Callable[..., Any]:
    """`and` and `or`: the first argument that decides, or the last one."""

    def decide(run: Evaluation, dot: Any, *piped: Any) -> Any:
        value = None
        for operand in operands:
            value = operand(run, dot)
            if truth(value) is stops_at:
                return value
        return piped[0] if piped else value

    return decide
